"""Class labels as text: their order, how they are spelt, and which of two is the positive one.

The positive label is given, or plain from the labels themselves; it is never guessed from an order.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from unicodedata import normalize

from truerisk.checks import listed, shown
from truerisk.errors import InputError

# Booleans as Python, Arrow and R write them.
BOOLEANS = (("False", "True"), ("false", "true"), ("FALSE", "TRUE"))
PLAIN_PAIRS = (("0", "1"), ("-1", "1"), *BOOLEANS)
LARGEST_WHOLE = 2**53  # beyond it neighbours become one number
LISTED = 5
MIN_SCORES = 3
# Letters of other scripts that are drawn as those of the Latin one (Unicode's confusables).
LATIN = "ABCEHIJKMOPSTXYaceijopsxy" + "ABEZHIKMNOPTYXo"
DRAWN_AS_LATIN = str.maketrans("АВСЕНІЈКМОРЅТХУасеіјорѕху" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", LATIN)


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as people do: whole numbers by value, everything else as text."""
    texts = list(labels)
    if all(label.lstrip("-").isdecimal() for label in texts):
        return tuple(sorted(texts, key=lambda label: (int(label), label)))
    return tuple(sorted(texts))


def label_among(label: object, labels: Collection[str]) -> str:
    """Write a label as it is written among others: 1.0 is '1.0' if that is one of them, else '1'.

    Examples
    --------
    >>> label_among(1.0, ["0", "1"]), label_among(1.0, ["0.0", "1.0"]), label_among("1.0", ["1"])
    ('1', '1.0', '1.0')
    """
    text = str(label)
    if isinstance(label, Real) and not isinstance(label, Integral) and text not in labels:
        return str(float(label) + 0.0).removesuffix(".0")  # −0.0 + 0.0 is 0.0
    return text


def plain_positive(labels: Collection[str]) -> str | None:
    """Return the positive label of {0, 1}, {-1, 1} or booleans; None for any other labels."""
    for pair in PLAIN_PAIRS:
        if labels and set(labels) <= set(pair):
            return pair[1]
    return None


def positive_of_two(labels: Collection[str], pos_label: str | None) -> str:
    """Return the positive label of at most two; refuse labels of which it is not plain."""
    positive = plain_positive(labels) if pos_label is None else pos_label
    if positive is None:
        names = ", ".join(map(shown, in_order(labels)))
        raise InputError(
            f"`pos_label` must be given: the labels are {names}, and which of them is the one "
            "to be found is not plain. Use --positive (pos_label= in Python)."
        )
    return positive


def other_of_pair(pos_label: str, labels: Collection[str]) -> tuple[str, ...]:
    """Name the labels of a two-class problem, whether or not both occur."""
    pair = next((pair for pair in PLAIN_PAIRS if {*labels, pos_label} <= set(pair)), (pos_label,))
    return in_order({*pair, *labels})


@dataclass(frozen=True)
class Spelling:
    """How labels are rewritten before they are counted: trimmed, renamed, then read as numbers."""

    strip: bool = False
    numeric: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *,
        strip: bool = False,
        numeric_labels: bool = False,
        label_map: Mapping[object, object] | None = None,
    ) -> "Spelling":
        """Check the options of the public functions."""
        if label_map is not None and not isinstance(label_map, Mapping):
            raise InputError(
                f"`label_map` must map labels to labels, such as {{'Yes': 'yes'}}; "
                f"got {shown(label_map)}."
            )
        renamed = {str(old): str(new) for old, new in (label_map or {}).items()}
        return cls(strip, numeric_labels, renamed)

    def __bool__(self) -> bool:
        return self.strip or self.numeric or bool(self.renamed)

    def __call__(self, text: str) -> str:
        """Rewrite one label."""
        if self.strip:
            text = text.strip()
        text = self.renamed.get(text, text)
        return _as_written_number(text) if self.numeric else text


def _as_written_number(text: str) -> str:
    """Write a number in the shortest way; leave any other label alone."""
    value = as_number(text)
    if value is None or abs(value) > LARGEST_WHOLE:
        return text
    return str(int(value)) if value == int(value) else repr(value)


def as_number(text: str) -> float | None:
    """Read a label as a number; booleans are 0 and 1, and None is what is no finite number."""
    for pair in BOOLEANS:
        if text.strip() in pair:
            return float(pair.index(text.strip()))
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


class SpellingError(InputError):
    """The predictions are not in the labels of the truth."""


def check_same_spelling(
    true: Collection[str],
    predicted: Collection[str],
    known: Collection[str] = (),
    pos_label: str | None = None,
    score_argument: str = "y_score",
) -> None:
    """Refuse predictions whose labels are not those of the truth, or are spelt in another way.

    Labels that occur on both sides, or are `known` to be classes, are never in question.
    `score_argument` is the argument that takes scores.
    """
    if not true or not predicted:
        return
    only_true = in_order(set(true) - set(predicted) - set(known))
    only_predicted = in_order(set(predicted) - set(true) - set(known))
    _refuse_scores(true, predicted, only_predicted, score_argument)
    if not only_true or not only_predicted:
        return
    for same, remedy, key in _spellings():
        _refuse_equal(only_true, only_predicted, same, remedy, key)
    every = {*true, *predicted}
    is_pair = plain_positive(every) is not None or (len(every) == 2 and pos_label in every)
    if set(true).isdisjoint(predicted) and not is_pair:
        raise SpellingError(
            f"The truth and the predictions must have labels in common; the truth has "
            f"{listed(only_true, LISTED)}, the predictions have {listed(only_predicted, LISTED)}. "
            f"Rename them with --map {shown(only_predicted[0])} {shown(only_true[0])} (label_map= "
            "in Python); if all are classes, name them with --average-over (average_over=)."
        )


def _spellings() -> tuple[tuple[str, str, Callable[[str], object]], ...]:
    """List how two labels may be one, the option that makes them one, and what is then equal."""
    return (
        ("differ only in white space", "--strip (strip=True in Python)", str.strip),
        ("are the same number", "--numeric-labels (numeric_labels=True in Python)", as_number),
        ("differ only in case", "", str.casefold),
        ("are written alike in other characters", "", _as_read),
    )


def remedy_of_spelling(label: str, other: str) -> str:
    """Say how two labels that differ become one; nothing where they are not spelt alike.

    Examples
    --------
    >>> remedy_of_spelling("0", "0.0"), remedy_of_spelling("0", "1")
    (' They are the same number: use --numeric-labels (numeric_labels=True in Python).', '')
    """
    for same, remedy, key in _spellings():
        if key(label) is not None and key(label) == key(other):
            renaming = f"--map {shown(other)} {shown(label)} (label_map= in Python)"
            return f" They {same}: use {remedy or renaming}."
    return ""


def as_drawn(text: str) -> str:
    r"""Give labels that look the same one form: é in one character or two, a no-break space, а, a.

    Examples
    --------
    >>> as_drawn("cafe\u0301\u00a01") == as_drawn("caf\u00e9 1")
    True
    >>> as_drawn("\u0430") == "a", as_drawn("A") == "a"
    (True, False)
    """
    if not text.isascii():
        text = normalize("NFC", text).translate(DRAWN_AS_LATIN)
    return " ".join(text.split())


def _as_read(text: str) -> str:
    """Give labels one form that are the same but for case, width and the like."""
    return as_drawn(normalize("NFKC", text)).casefold()


def told_apart(label: str, other: str) -> tuple[str, str]:
    """Write two labels, with their codes where the codes alone tell which is which."""
    if ascii(other) == repr(other) and ascii(label) == repr(label):
        return shown(label), shown(other)
    return f"{shown(label)} ({label!a})", f"{shown(other)} ({other!a})"


def _refuse_equal(
    true: Iterable[str],
    predicted: Iterable[str],
    same: str,
    remedy: str,
    key: Callable[[str], object],
) -> None:
    others = {key(label): label for label in predicted if key(label) is not None}
    for label in true:
        other = others.get(key(label))
        if other is None:
            continue
        renaming = f"--map {shown(other)} {shown(label)} (label_map="
        renaming += ")" if remedy else " in Python)"
        names = told_apart(label, other)
        way = f"{remedy} to make them one, or {renaming}" if remedy else renaming
        raise SpellingError(
            f"The labels must be spelt in one way; the truth has {names[0]} and the "
            f"predictions have {names[1]}, which {same}. Use {way}."
        )


def _refuse_scores(
    true: Collection[str],
    predicted: Collection[str],
    only_predicted: tuple[str, ...],
    score_argument: str,
) -> None:
    """Refuse fractions in the place of predicted labels."""
    numbers = [as_number(label) for label in only_predicted]
    fractions = sum(number is not None and number % 1 != 0 for number in numbers)
    if None in numbers:
        return
    inside = all(number is not None and 0 <= number <= 1 for number in numbers)
    # Outside [0, 1] they are decision values where nearly all are fractions, and none is a label.
    if not inside and not (set(true).isdisjoint(predicted) and fractions > len(numbers) / 2):
        return
    # A single new fraction beside the labels of the truth may be a class that is rare.
    if not fractions or (fractions < MIN_SCORES and not set(true).isdisjoint(predicted)):
        return
    if any((as_number(label) or 0.0) % 1 for label in true):
        return
    raise SpellingError(
        f"The predictions must be labels; {listed(only_predicted, LISTED)} look like scores. "
        f"Use --score for their column ({score_argument}= in Python), with --threshold to make "
        "predictions of them."
    )
