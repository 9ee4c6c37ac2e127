"""SVMs on a Gram matrix: one optimum, paths of optima, leaving one example out."""
