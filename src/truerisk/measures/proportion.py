"""The value of a measure that is k of n, and division that knows when it is undefined."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def ratio(numerator: Any, denominator: Any) -> Any:  # noqa: ANN401
    """Divide elementwise; NaN where the denominator is 0.  Works on complex numbers too.

    Examples
    --------
    >>> ratio(3, 4).item(), ratio(3, 0).item()
    (0.75, nan)
    """
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    undefined = bottom == 0
    return np.where(undefined, np.nan, top / np.where(undefined, 1, bottom))


@dataclass(frozen=True)
class Proportion:
    """k of n, or a monotone function of that share: the measures that have exact intervals.

    Given n, the count k is binomial; the exact interval of k/n, taken through `transform`, is an
    exact interval of the value.
    """

    k: Any
    n: Any
    transform: Callable[[Any], Any] | None = None

    @property
    def value(self) -> Any:  # noqa: ANN401
        """The measure itself; NaN where n is 0."""
        share = ratio(self.k, self.n)
        return share if self.transform is None else self.transform(share)
