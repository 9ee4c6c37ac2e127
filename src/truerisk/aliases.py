"""Names of types that are used all over the package, each written once."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Codes = NDArray[np.int32]

Ends = tuple[float, float]  # of an interval: low, high
Bounds = tuple[Array, Array]  # of many intervals at once: lows, highs
