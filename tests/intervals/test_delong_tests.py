import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.intervals.delong_tests import delong_paired, delong_unpaired

REFERENCE = Path(__file__).parents[1] / "reference" / "auc.json"
VECTORS = [
    vector
    for vector in json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
    if vector["method"].endswith("_test")
]


@pytest.fixture(scope="module")
def rows():
    folder = os.environ.get("TRUERISK_DATA")
    path = Path(folder) / ".." / "vectors" / "auc_aSAH_data.json" if folder else None
    if path is None or not path.exists():
        pytest.skip("the aSAH rows (GPL) stand outside of the project, beside TRUERISK_DATA")
    return {name: np.array(column) for name, column in json.loads(path.read_text()).items()}


@pytest.mark.data
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_numbers_of_proc(vector, rows):
    positive = rows["outcome"] == 1
    scores = [(rows[name][positive], rows[name][~positive]) for name in vector["inputs"]["scores"]]
    expected, tolerance = vector["expected"], vector["tolerance"]["abs"]
    if vector["method"] == "delong_paired_test":
        result = delong_paired(*(np.column_stack(side) for side in zip(*scores, strict=True)))
        assert result.statistic == pytest.approx(expected["z"], abs=tolerance)
        ends = [result.interval.low, result.interval.high]
        assert ends == pytest.approx(expected["difference_interval"], abs=tolerance)
    else:
        result = delong_unpaired(*scores)
        assert result.statistic == pytest.approx(expected["D"], abs=tolerance)
    assert result.p_value == pytest.approx(expected["pvalue"], abs=tolerance)


def test_the_unpaired_test_by_hand():
    # Twice the example with variance 14/324 and 6 scores, against one with area 1 and no variance:
    # D = (7/9 − 1) / √(14/324), with 5 degrees of freedom.
    result = delong_unpaired(([1, 2, 3], [0, 1, 2]), ([5, 6, 7], [0, 1, 2]))
    assert result.statistic == pytest.approx((7 / 9 - 1) / math.sqrt(14 / 324), rel=1e-12)
    assert result.degrees == pytest.approx(5.0, rel=1e-12)


def test_the_paired_test_by_hand():
    # The second score is perfect and has no variance: z is that of the first alone.
    positive, negative = [[1, 5], [2, 6], [3, 7]], [[0, 0], [1, 1], [2, 2]]
    result = delong_paired(positive, negative)
    assert result.difference == pytest.approx(7 / 9 - 1, rel=1e-14)
    assert result.statistic == pytest.approx((7 / 9 - 1) / math.sqrt(14 / 324), rel=1e-12)
    assert result.interval.covers(result.difference)


def test_swapping_the_models_turns_the_sign():
    rng = np.random.default_rng(4)
    positive, negative = rng.normal(1, 1, (30, 2)), rng.normal(0, 1, (40, 2))
    one, other = (
        delong_paired(positive, negative),
        delong_paired(positive[:, ::-1], negative[:, ::-1]),
    )
    assert one.statistic == pytest.approx(-other.statistic, rel=1e-10)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-10)
    assert (one.first, one.second) == (other.second, other.first)


def test_identical_scores_are_never_different():
    rng = np.random.default_rng(4)
    positive, negative = rng.normal(1, 1, 30), rng.normal(0, 1, 40)
    result = delong_paired(np.c_[positive, positive], np.c_[negative, 2 * negative])
    same = delong_paired(np.c_[positive, positive], np.c_[negative, negative])
    assert (same.p_value, same.statistic, same.interval) == (1.0, 0.0, None)
    assert result.p_value < 1


def test_a_difference_without_variance_has_no_p_value():
    result = delong_paired([[1, 0], [2, 0]], [[0, 1], [0, 2]])
    assert result.difference == 1.0
    assert math.isnan(result.p_value)
    assert result.interval is None


def test_two_columns_are_needed():
    with pytest.raises(
        InputError, match="`scores_positive` must have 2 columns, one a model; got 1"
    ):
        delong_paired([1, 2], [0, 1])
