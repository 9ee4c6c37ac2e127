"""Speed beside the peers, each figure a ratio of one run."""
