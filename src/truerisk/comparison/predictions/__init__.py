"""Two or more models compared by their predictions on the same examples."""
