"""The order of the site is the order of the links in index.md; its headings are the captions.

index.md stays plain Markdown, which reads well where there is no Sphinx.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = re.compile(r"\]\((?P<page>[\w-]+)\.md\)")
MADE_BY_THE_BUILD = {"Examples and reference": ["examples/index", "reference/index"]}


def toctrees(index: str) -> str:
    """Give one hidden table of contents for each heading with links under it."""
    parts = re.split(r"^## (.*)$", index, flags=re.MULTILINE)
    listed = {
        caption: list(dict.fromkeys(LINK.findall(text)))
        for caption, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return "\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
        for caption, pages in (listed | MADE_BY_THE_BUILD).items()
        if pages
    )


def append(_: "Sphinx", docname: str, source: list[str]) -> None:
    """Append the tables to the first page."""
    if docname == "index":
        source[0] += "\n" + toctrees(source[0])


def setup(app: "Sphinx") -> dict[str, bool]:
    """Read index.md before it is parsed."""
    app.connect("source-read", append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
