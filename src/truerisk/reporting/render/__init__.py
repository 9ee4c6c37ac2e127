"""Documents → HTML, terminal, JSON, CSV, Markdown, LaTeX and figures."""
