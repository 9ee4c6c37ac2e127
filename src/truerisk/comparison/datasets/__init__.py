"""Models compared over many data sets."""
