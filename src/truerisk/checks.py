"""Every check of an argument, and the sentence of its failure.

The form is: `` `argument` must be <what>; got <value>. <Remedy, if one is known.> ``
"""

import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags
from truerisk.errors import InputError

LARGEST_COUNT = 2**53  # the last integer below which float64 tells neighbours apart
SHOWN_CHARACTERS = 80


def shown(value: object) -> str:
    """Write a value as a message shows it: escaped, and never longer than a line."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def listed(values: Sequence[Any], limit: int, write: Callable[[Any], str] = shown) -> str:
    """Write values in a row, and how many more there are than the limit.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2), listed(["a"], 2, str)
    ("'a', 'b' and 1 more", 'a')
    """
    more = f" and {len(values) - limit} more" if len(values) > limit else ""
    return ", ".join(map(write, values[:limit])) + more


def counted(wrong: Sequence[bool] | Flags, what: str) -> str:
    """Write how many entries of a column are wrong, and where the first of them is.

    Examples
    --------
    >>> counted([False, True, False], "NaN"), counted([True, True], "missing")
    ('1 is NaN, at index 1', '2 are missing, the first at index 0')
    """
    places = np.argwhere(wrong)
    first = places[0].tolist()
    where = f"index {first[0] if len(first) == 1 else tuple(first)}"
    if len(places) == 1:
        return f"1 is {what}, at {where}"
    return f"{len(places):,} are {what}, the first at {where}"


def check_level(level: float, name: str = "level") -> float:
    """Return `level` if it is a confidence level."""
    if not _is_number(level) or not 0 < level < 1:
        percent = _is_number(level) and 1 < level < 100
        remedy = f" Write {level / 100:g} for {level:g} %." if percent else ""
        raise InputError(f"`{name}` must lie strictly between 0 and 1; got {shown(level)}.{remedy}")
    return float(level)


def check_choice(value: str, choices: Iterable[str], name: str) -> str:
    """Return `value` if it is one of `choices`, spelt in full."""
    allowed = list(choices)
    if value not in allowed:
        raise InputError(
            f"`{name}` must be one of {', '.join(allowed)}; got {shown(value)}."
            f"{did_you_mean(value, allowed)}"
        )
    return value


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Write the question that ends a message about an unknown name; empty if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(str(value).lower(), choices, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def check_number(
    value: float, name: str, *, low: float = -math.inf, high: float = math.inf
) -> float:
    """Return `value` if it is a number within [low, high]."""
    if not _is_number(value) or not low <= value <= high:  # NaN fails here too
        raise InputError(f"`{name}` must lie in [{low:g}, {high:g}]; got {shown(value)}.")
    return float(value)


def check_whole_number(value: int, name: str, *, low: int = 0, high: int = LARGEST_COUNT) -> int:
    """Return `value` if it is an integer within [low, high]."""
    if not _is_whole(value):
        raise InputError(f"`{name}` must be a whole number; got {shown(value)}.")
    if not low <= value <= high:
        raise InputError(f"`{name}` must lie in [{low}, {high}]; got {shown(value)}.")
    return int(value)


def check_shares(values: Array, name: str) -> Array:
    """Return the values if all of them lie in [0, 1]."""
    wrong = ~((values >= 0) & (values <= 1))  # NaN is wrong too
    if wrong.any():
        raise InputError(f"`{name}` must lie in [0, 1]; got {shown(values[wrong][0].item())}.")
    return values


def check_counts(k: ArrayLike, n: ArrayLike) -> tuple[Array, Array]:
    """Return successes and trials as float64 arrays of one shape, if 0 ≤ k ≤ n ≤ 2⁵³ and whole."""
    successes, trials = np.broadcast_arrays(np.asarray(k), np.asarray(n))
    for name, array in (("k", successes), ("n", trials)):
        if array.dtype.kind not in "iuf" or not np.all(np.equal(np.floor(array), array)):
            values = array.ravel().tolist()
            # Whole numbers that NumPy keeps as objects are those too large for its integers.
            must = "at most 2**53" if all(map(_is_whole, values)) else "a whole number"
            first = next((v for v in values if not _is_whole(v)), values[0])
            raise InputError(f"`{name}` must be {must}; got {shown(first)}.")
    if np.any(trials > LARGEST_COUNT):
        raise InputError(f"`n` must be at most 2**53; got {shown(trials.max().item())}.")
    wrong = (successes < 0) | (successes > trials)
    if np.any(wrong):
        at = np.flatnonzero(wrong.ravel())[0]
        pair = f"k = {successes.ravel()[at]:g}, n = {trials.ravel()[at]:g}"
        raise InputError(f"`k` must lie between 0 and `n`; got {pair}.")
    return successes.astype(np.float64), trials.astype(np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value) and value == math.floor(value)


def check_same_length(**columns: Sequence[Any] | NDArray[Any] | None) -> int:
    """Return the common length of the columns that are given."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise InputError(f"All columns must have one length; {listed}.")
    n = next(iter(lengths.values()))
    if n == 0:
        raise InputError(f"`{next(iter(lengths))}` must have at least one example; got 0.")
    return n


def stated_seed(random_state: Any, *, generators: bool = False) -> int:
    """Give the seed that a result can state: the one given, or one that is drawn.

    With `generators`, it may be drawn from a generator that is given.
    """
    drawn = generators and isinstance(random_state, np.random.Generator)
    if random_state is None or drawn:
        return int(check_random_state(random_state).integers(2**32))
    return check_whole_number(random_state, "random_state")


def check_random_state(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return the generator that all randomness of one call comes from."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is not None:
        check_whole_number(random_state, "random_state")
    return np.random.default_rng(random_state)
