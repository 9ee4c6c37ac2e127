"""Which label is the positive one: told, or plain from the labels; never guessed from order."""

from collections.abc import Collection

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.tallies.labels import PLAIN_PAIRS, in_order, plain_positive


def other_of_pair(pos_label: str, labels: Collection[str]) -> tuple[str, ...]:
    """Name the labels of a two-class problem, whether or not both occur."""
    known = next((pair for pair in PLAIN_PAIRS if {*labels, pos_label} <= set(pair)), (pos_label,))
    return in_order({*known, *labels})


def positive_of_two(labels: Collection[str], asked: str | None) -> str:
    """Give the positive label of at most two, or say why it cannot be known."""
    pos_label = plain_positive(labels) if asked is None else asked
    if pos_label is None:
        listed = ", ".join(map(shown, in_order(labels)))
        raise InputError(
            f"`pos_label` must be given: the labels are {listed}, and which of them is the one "
            "to be found is not plain. Use --positive (pos_label= in Python)."
        )
    return pos_label
