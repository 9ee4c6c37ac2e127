"""Names of types that are used all over the package, each written once."""

from typing import TYPE_CHECKING, NewType

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

if TYPE_CHECKING:
    ArrayLike = npt.ArrayLike
else:
    # In help and notebooks a signature shows a name, not the many types of NumPy's union.
    ArrayLike = NewType("ArrayLike", object)

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Codes = NDArray[np.int32]

Ends = tuple[float, float]  # of an interval: low, high
Bounds = tuple[Array, Array]  # of many intervals at once: lows, highs
