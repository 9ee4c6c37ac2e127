"""Which label is the positive one: told, or plain from the labels; never guessed from order."""

from collections.abc import Collection

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.tallies.labels import PLAIN_PAIRS, in_order, plain_positive


def other_of_pair(positive: str, labels: Collection[str]) -> tuple[str, ...]:
    """Name the labels of a two-class problem, whether or not both occur."""
    known = next((pair for pair in PLAIN_PAIRS if {*labels, positive} <= set(pair)), (positive,))
    return in_order({*known, *labels})


def positive_of_two(labels: Collection[str], asked: str | None) -> str:
    """Give the positive label of at most two, or say why it cannot be known."""
    positive = plain_positive(labels) if asked is None else asked
    if positive is None:
        listed = ", ".join(map(shown, in_order(labels)))
        raise InputError(
            f"`positive` must be given: the labels are {listed}, and which of them is the one "
            "to be found is not plain. Use --positive (positive= in Python)."
        )
    return positive
