"""Signatures name array types as the source does, and not by what NumPy expands them to."""

import re

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

EXPANDED = stringify_annotation(ArrayLike, "smart")
ARRAY = re.compile(
    r"(?:~?numpy\.)?ndarray\[tuple\[(?:~?typing\.)?Any, \.\.\.\], (?:~?numpy\.)?dtype\[([^\]]*)\]\]"
)
# Text that is read on the terminal as it stands, and that reStructuredText takes for markup.
LITERAL = re.compile(r"(?<!`)(reut2-\*\.sgm|exp\(−γ\|x − x′\|²\))")


def shorten(text: str | None) -> str | None:
    """Write ArrayLike and NDArray for their expansions."""
    if text is None:
        return None
    shorter = text.replace(EXPANDED, "~numpy.typing.ArrayLike")
    return ARRAY.sub(r"~numpy.typing.NDArray[\1]", shorter)


def _signature(*arguments: object) -> tuple[str | None, str | None]:
    signature, returned = arguments[-2:]
    return shorten(signature), shorten(returned)  # type: ignore[arg-type]


def _docstring(*arguments: object) -> None:
    lines = arguments[-1]
    lines[:] = [LITERAL.sub(r"``\1``", line) for line in lines]  # type: ignore[index, attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc, before numpydoc does."""
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
