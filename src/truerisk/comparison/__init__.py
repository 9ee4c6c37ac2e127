"""Is this classifier really better than that one: two models or more → `Comparison`."""
