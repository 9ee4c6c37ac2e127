"""All categories of a corpus, from one training."""
