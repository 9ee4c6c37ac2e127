"""What a column of a table is: a number, a category or a text; and what is refused as either."""

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import refusal
from truerisk.inputs.roles import USUAL_NAMES
from truerisk.inputs.table_cells import as_number

Kind = Literal["number", "category", "text"]
FEW = 10  # so few distinct numbers lose nothing as categories
MANY_CATEGORIES = 50
UNLIKELY_SHARE = 0.5  # of the rows: more distinct values are ids or texts, not categories
MISSING_WORDS = {"?", "NA", "N/A", "na", "n/a", "nan", "NaN", "null", "NULL", "None", "none"}
OTHER_MARK = {".": ",", ",": "."}


def check_category(
    path: Path,
    name: str,
    codes: NDArray[np.int32],
    words: tuple[str, ...],
    options: ReadingOptions,
) -> None:
    """Refuse a column of words which are ids, texts, or numbers with a few strays."""
    numbers = [word for word in words if as_number(word, options) is not None]
    if len(numbers) > FEW and len(numbers) > len(words) / 2:
        raise _strays(path, name, codes, words, options)
    other = OTHER_MARK[options.decimal]
    marked = [word for word in words if _is_marked(word, other)]
    if len(marked) > FEW and len(marked) > len(words) / 2:
        raise refusal(
            path,
            f"{shown(name)} must hold numbers with the decimal mark {options.decimal!r}; "
            f"got {shown(marked[0])}. Use --decimal {other} if that is the decimal mark.",
        )
    if len(words) > max(MANY_CATEGORIES, UNLIKELY_SHARE * len(codes)):
        several = sum(len(word.split()) > 1 for word in words) > len(words) / 2
        what = "texts" if several else "ids"
        remedy = f"Use --text {name} for texts, or" if several else "Use"
        raise refusal(
            path,
            f"{shown(name)} must be a category; {len(words)} distinct values in {len(codes)} rows, "
            f"such as {shown(words[0])}, are probably {what}. {remedy} --drop {name} to leave it "
            f"out, or --categorical {name} if it is one.",
        )


def note_of_words(name: str, words: tuple[str, ...]) -> list[str]:
    """Say which words look as if they said that a value is missing.

    Examples
    --------
    >>> note_of_words("sex", ("?", "f", "m"))
    ["sex: '?' is a category of its own; --missing-values '?' says that the value is missing."]
    """
    return [
        f"{name}: {word.strip()!r} is a category of its own; --missing-values {word.strip()!r} "
        f"says that the value is missing."
        for word in words
        if word.strip() in MISSING_WORDS
    ]


def check_number_column(path: Path, name: str, values: NDArray[np.float64]) -> str | None:
    """Refuse what is named as an id and numbers the rows; give a note when only one is so."""
    known = values[~np.isnan(values)]
    if len(known) < len(values) or len(known) < 3 or (known != np.floor(known)).any():
        return None
    if name.strip().lower() in USUAL_NAMES["id"] and len(np.unique(known)) == len(known):
        raise refusal(
            path,
            f"{shown(name)} must be a feature; its {len(known)} whole numbers are all different, "
            f"and its name says that they are ids. Use --drop {name}, or rename it.",
        )
    if (np.diff(known) == 1).all():
        return (
            f"{name}: numbers the rows; if that is no feature, a learner can read from it in "
            f"which order the file was written. --drop {name} leaves it out."
        )
    return None


def check_target(
    path: Path, name: str, labels: tuple[str, ...], n: int, options: ReadingOptions
) -> None:
    """Refuse a target that is no set of classes."""
    if n < 2:
        raise refusal(path, f"must hold at least 2 examples; got {n}.")
    if len(labels) == 1:
        raise refusal(
            path,
            f"{shown(name)} must have at least two classes; all {n} examples are of "
            f"{shown(labels[0])}.",
        )
    if len(labels) <= 20:
        return
    numbers = [as_number(label, options) for label in labels]
    if any(number is not None and number != np.floor(number) for number in numbers) and all(
        number is not None for number in numbers
    ):
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct numbers such as "
            f"{shown(labels[0])} are a quantity. Cut it into classes, or choose another --target.",
        )
    if len(labels) > UNLIKELY_SHARE * n:
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct labels in {n} rows are too "
            f"many to learn. Was an id chosen? Choose another --target.",
        )


def _strays(
    path: Path,
    name: str,
    codes: NDArray[np.int32],
    words: tuple[str, ...],
    options: ReadingOptions,
) -> InputError:
    wrong = [code for code, word in enumerate(words) if as_number(word, options) is None]
    rows = np.flatnonzero(np.isin(codes, wrong))
    stray = words[codes[rows[0]]]
    return refusal(
        path,
        f"{shown(name)} must be a finite number, as in most rows; got {shown(stray)} "
        f"({len(rows)} such rows). Use --missing-values {stray.strip()!r} if it says that the "
        f"value is missing, or --categorical {name}.",
        f"row {rows[0] + 1}",
    )


def _is_marked(word: str, mark: str) -> bool:
    return mark in word and as_number(word, ReadingOptions(decimal=mark)) is not None
