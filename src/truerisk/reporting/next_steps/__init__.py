"""What to do next, in a few sentences, by rules; one file a family of results."""
