"""Results → pictures on axes of matplotlib, and as files."""
