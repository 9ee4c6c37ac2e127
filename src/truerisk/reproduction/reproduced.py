"""The one form in which a table of a document is recomputed and shown."""

from dataclasses import dataclass

from truerisk.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A table of a document, the paper's figure beside ours, and what follows from it.

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

    def __post_init__(self) -> None:
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
