"""The one form in which a table of a document is recomputed and shown."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from truerisk.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Picture(Protocol):
    """Something that can be drawn into axes."""

    def plot(self, ax: "Axes") -> "Axes":
        """Draw into the axes, and give them back."""


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A table of a document, the paper's figure beside ours, and what follows from it.

    `pictures` are the same figures drawn, where drawing them says more.

    Examples
    --------
    >>> table = Reproduction(title="Table 9", source="A. Author, 1999",
    ...                      columns=("risk", "paper", "ours"), rows=(("0.1", "0.2", "0.2"),),
    ...                      conclusion=("The row is reproduced.",))
    >>> print(table)
    Table 9
    A. Author, 1999
    <BLANKLINE>
    risk  paper  ours
    0.1   0.2    0.2
    <BLANKLINE>
    The row is reproduced.
    """

    title: str
    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    conclusion: tuple[str, ...]
    pictures: tuple[Picture, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        twice = [name for name in self.columns if self.columns.count(name) > 1]
        if twice:  # in JSON the second would take the place of the first
            raise InputError(f"`columns` must have names of their own; got {twice[0]!r} twice.")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(
                    f"`rows` must have {len(self.columns)} cells each; got {len(row)} in {row!r}."
                )

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([self.title, self.source, "", *table, "", *self.conclusion])

    def written(self, form: str | None = None) -> str:
        """Write it as text, or as "json", "csv" or "markdown"."""
        if form is None:
            return str(self)
        if form == "markdown":
            return self.as_markdown()
        if form == "csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
            return text.getvalue().rstrip("\n")
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        facts = {"title": self.title, "source": self.source, "conclusion": self.conclusion}
        return json.dumps({**facts, "rows": rows}, ensure_ascii=False, indent=2)

    def as_markdown(self) -> str:
        r"""Write the same as a section of a page.

        Examples
        --------
        >>> print(Reproduction(title="Table 9", source="A. Author, 1999", columns=("a", "b"),
        ...                    rows=(("1", "x|y"),), conclusion=("So it is.",)).as_markdown())
        ## Table 9
        <BLANKLINE>
        A. Author, 1999
        <BLANKLINE>
        | a | b |
        | --- | --- |
        | 1 | x\|y |
        <BLANKLINE>
        * So it is.
        """
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = [_markdown_row(line) for line in lines]
        remarks = [f"* {sentence}" for sentence in self.conclusion]
        return "\n".join([f"## {self.title}", "", self.source, "", *table, "", *remarks])


def _markdown_row(cells: Sequence[str]) -> str:
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"
