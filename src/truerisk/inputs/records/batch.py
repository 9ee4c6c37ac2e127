"""What reading hands to those who count: the checked columns of some rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.inputs.labels import LabelColumn

Floats = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Some rows of one file, checked; what plays no role is None.

    `first_row` is the number of the first row in its file, from 1; `score` has one column, or one
    for each class.  Arrays may be read-only views of the reader's memory.
    """

    file: str
    first_row: int
    truth: LabelColumn | None
    pred: LabelColumn | None
    score: Floats | None
    group: LabelColumn | None
    weight: NDArray[np.float64] | None
    ids: Any | None

    def __len__(self) -> int:
        columns = (self.truth, self.pred, self.score, self.group, self.weight, self.ids)
        return next(len(column) for column in columns if column is not None)
