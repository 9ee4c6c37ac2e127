"""What an SVM is worth, read off its solution: ξα, leave-one-out, selection, perturbation."""
