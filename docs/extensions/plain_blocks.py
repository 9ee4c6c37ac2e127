"""The blocks ```` ```csv name ```` of the pages are plain text, named by the file they write."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Give the word `csv` a lexer, as Pygments has none for it."""
    app.add_lexer("csv", TextLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
