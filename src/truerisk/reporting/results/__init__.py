"""One presenter per kind of result: title, verdict, tiles, sections, facts, next steps, tables."""
