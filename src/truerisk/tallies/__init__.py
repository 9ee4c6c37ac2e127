"""Columns → mergeable summaries: one pass, any number of chunks, the same exact counts."""
