"""Records of files: CSV, JSON lines, Parquet, svmlight → checked batches."""
