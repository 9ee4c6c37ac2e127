"""Signatures name array types as the source does, and not by what NumPy expands them to."""

import re

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

EXPANDED = stringify_annotation(ArrayLike, "smart")
ARRAY = re.compile(
    r"(?:~?numpy\.)?ndarray\[tuple\[(?:~?typing\.)?Any, \.\.\.\], (?:~?numpy\.)?dtype\[([^\]]*)\]\]"
)


def shorten(text: str | None) -> str | None:
    """Write ArrayLike and NDArray for their expansions."""
    if text is None:
        return None
    shorter = text.replace(EXPANDED, "~numpy.typing.ArrayLike")
    return ARRAY.sub(r"~numpy.typing.NDArray[\1]", shorter)


def _signature(*arguments: object) -> tuple[str | None, str | None]:
    signature, returned = arguments[-2:]
    return shorten(signature), shorten(returned)  # type: ignore[arg-type]


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to autodoc, before numpydoc does."""
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
