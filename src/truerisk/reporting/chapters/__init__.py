"""One result → one chapter of a page; one file a kind of result."""
