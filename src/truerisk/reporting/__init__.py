"""Results → what people read: terminal, JSON, CSV, Markdown, LaTeX, one HTML page, figures.

=============  ===================================================================
where          what
=============  ===================================================================
`summary`      tables on a terminal (needs rich)
`formats`      JSON, CSV, Markdown, LaTeX: `FORMATS`
`page`         the page: parts, charts, the template around them, the file, notebooks
`chapters`     one result → one chapter of a page
`sections`     what chapters share, the threshold explorer among them
`next_steps`   what to do next
`figures`      pictures on axes of matplotlib, and as files
`files`        writing a file whole or not at all
`escaping`     text that came from data, made inert: all of it passes here
`wording`      how measures, numbers and intervals are written
=============  ===================================================================

The modules `comparisons`, `rankings`, `learning_curves`, `categories` and `model_comparison` hold
the tables of their results for terminal and formats.  Nothing is imported here: a table in the
terminal needs no page, and a page needs no terminal.
"""
