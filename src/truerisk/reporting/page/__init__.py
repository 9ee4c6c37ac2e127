"""What a page is made of, and how it is drawn: parts, charts, the template, the file."""
