"""Results → what people read: terminal, JSON, CSV, Markdown, LaTeX, one HTML page, figures.

=============  ===========================================================
module         gives
=============  ===========================================================
`summary`      tables on a terminal (needs rich)
`formats`      JSON, CSV, Markdown, LaTeX: `FORMATS`
`page`         the plain dictionary a page is drawn from: `page_data`
`html`         the page: `page_html`, `save_report` (needs jinja2)
`figures`      `forest`, on axes of matplotlib
`files`        writing a file whole or not at all
`escaping`     text that came from data, made inert: all of it passes here
=============  ===========================================================

Nothing is imported here: a table in the terminal needs no page, and a page needs no terminal.
"""
