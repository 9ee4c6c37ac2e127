"""Results → what people read: terminal, JSON, CSV, Markdown, LaTeX, one HTML page, figures.

=============  ====================================================================
where          what
=============  ====================================================================
`results`      one presenter per kind of result: title, verdict, tiles, sections,
               facts, next steps, tables, pictures
`presenter`    which presenter a result has, by the `kind` that it declares
`document`     chapters, sections, tables, charts: plain data
`sections`     what presenters share, the threshold explorer among them
`render`       html, terminal, formats (JSON, CSV, Markdown, LaTeX), figures
`page`         the page of one result or several, the file, and notebooks
`colours`      every colour of pages and figures
`wording`      how measures, numbers and intervals are written
`escaping`     text that came from data, made inert: all of it passes here
`files`        writing a file whole or not at all
=============  ====================================================================

Nothing is imported here: a table in the terminal needs no page, and a page needs no terminal.
"""
