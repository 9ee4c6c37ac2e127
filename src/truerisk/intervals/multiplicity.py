"""Many tests at once: p-values adjusted to keep a false finding among all of them rare."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from truerisk.aliases import Array, ArrayLike

PValues = ArrayLike | Sequence[float | None]


def holm(p_values: PValues) -> Array:
    """Adjust p-values by Holm's step-down rule: p̃₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1) p₍ⱼ₎).

    Findings up to t are all true with probability 1 − t at least, however the tests depend on each
    other.  NaN and None, no test, are NaN and not counted.
    Source: S. Holm, Scandinavian Journal of Statistics 6(2), 65-70, 1979.
    """
    return _stepped(p_values, lambda m: np.arange(m, 0, -1), down=True)


def bonferroni(p_values: ArrayLike) -> Array:
    """Adjust p-values by their number: min(1, m·p); Holm's promise at a higher price.

    Source: O. J. Dunn, "Multiple comparisons among means", JASA 56(293), 52-64, 1961.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    return np.minimum(np.count_nonzero(~np.isnan(raw)) * raw, 1.0)


def hochberg(p_values: ArrayLike) -> Array:
    """Adjust p-values by Hochberg's step-up rule: p̃₍ᵢ₎ = min over j ≥ i of (m − j + 1) p₍ⱼ₎.

    Holm's promise for independent and positively dependent tests only.
    Source: Y. Hochberg, Biometrika 75(4), 800-802, 1988.
    """
    return _stepped(p_values, lambda m: np.arange(1, m + 1), down=False)


def benjamini_hochberg(p_values: PValues) -> Array:
    """Adjust p-values by Benjamini and Hochberg's step-up rule: p̃₍ᵢ₎ = min over j ≥ i of m·p₍ⱼ₎/j.

    Of the findings up to t, a share t at most is false on average, for independent and positively
    dependent tests.  NaN and None, no test, are NaN and not counted.
    Source: Y. Benjamini and Y. Hochberg, J. Royal Statistical Society B 57(1), 289-300, 1995.
    """
    return _stepped(p_values, lambda m: m / np.arange(m, 0, -1), down=False)


def _stepped(p_values: PValues, factors: Callable[[int], Any], *, down: bool) -> Array:
    """Multiply sorted p-values by factors, keeping their order: from the least on, if down."""
    raw = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(raw.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(raw))
    order = defined[np.argsort(raw[defined] if down else -raw[defined], kind="stable")]
    kept = np.maximum if down else np.minimum
    adjusted[order] = np.minimum(kept.accumulate(factors(order.size) * raw[order]), 1.0)
    return adjusted
