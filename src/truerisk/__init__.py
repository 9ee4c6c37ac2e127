"""How well a classifier will do on data it has not seen, and how sure that is."""
