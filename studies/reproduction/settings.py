"""How an experiment of a paper is repeated: on which data, how often, from which seed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from truerisk.checks import check_whole_number

Item = TypeVar("Item")


class Steps(Protocol):
    """Passes items on, and may show how many of the total are done."""

    def __call__(self, items: Iterable[Item], total: int) -> Iterator[Item]:
        """Give the items, one by one."""


def in_silence(items: Iterable[Item], total: int) -> Iterator[Item]:  # noqa: ARG001
    """Pass the items on, and show nothing."""
    return iter(items)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where the documents are, how many random splits are tried, and the seed they come from.

    `progress` passes the trials on one by one, and gets how many there will be.

    Examples
    --------
    >>> Settings(data=Path("corpora")).splits
    10
    """

    data: Path
    splits: int = 10
    random_state: int = 0
    progress: Steps = in_silence

    def __post_init__(self) -> None:
        check_whole_number(self.splits, "splits", low=1)
        check_whole_number(self.random_state, "random_state")
