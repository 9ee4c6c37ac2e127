"""Arrow columns seen as NumPy arrays, without a copy and without pandas.

Arrow's own conversion imports pandas wherever that is installed, which takes a fifth of a second;
its compute functions, which casting and filling need, take a twentieth.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def as_numpy(array: Any) -> NDArray[Any]:  # noqa: ANN401
    """View a column of numbers or booleans; NaN where a floating-point one has no value.

    Columns of other types must have no null.
    """
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    if array.null_count and pa.types.is_floating(array.type):
        array = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
        array = array.fill_null(float("nan"))
    return np.from_dlpack(array)


def filled(array: Any, value: Any) -> Any:  # noqa: ANN401
    """Put a value where there is none.

    Arrow imports pandas to make the value one of its own, hence only where there is a null.
    """
    return array.fill_null(value) if array.null_count else array


def nulls(array: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    """Tell the rows that have no value."""
    if not array.null_count:
        return np.zeros(len(array), dtype=np.bool_)
    return as_numpy(array.is_null())
