"""Many SVMs on the same examples, which differ in the bounds of α only."""
