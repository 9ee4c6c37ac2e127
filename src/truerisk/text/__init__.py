"""Documents → vectors of unit length, and one binary problem a category."""
