import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.intervals.auc import (
    delong_covariance,
    delong_interval,
    delong_paired,
    delong_unpaired,
    hanley_mcneil_standard_error,
    placements,
)
from truerisk.intervals.delta import normal_interval

REFERENCE = Path(__file__).parents[1] / "reference" / "auc.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
METHODS = ("auc_delong", "auc_delong_ci", "delong_covariance")
ON_DATA = [vector for vector in VECTORS if vector["method"] in METHODS]
small_scores = st.lists(st.integers(0, 5), min_size=2, max_size=12)


@pytest.fixture(scope="module")
def rows():
    folder = os.environ.get("TRUERISK_DATA")
    path = Path(folder) / ".." / "vectors" / "auc_aSAH_data.json" if folder else None
    if path is None or not path.exists():
        pytest.skip("the aSAH rows (GPL) stand outside of the project, beside TRUERISK_DATA")
    return {name: np.array(column) for name, column in json.loads(path.read_text()).items()}


def split(rows, inputs):
    kept = np.ones(len(rows["outcome"]), dtype=bool)
    if inputs.get("subset") == "gender==Female":
        kept = rows["gender"] == "Female"
    scores = np.column_stack([rows[name] for name in inputs["scores"]])
    positive = rows["outcome"] == 1
    return scores[kept & positive], scores[kept & ~positive]


@pytest.mark.data
@pytest.mark.parametrize("vector", ON_DATA, ids=lambda vector: vector["id"])
def test_it_gives_the_numbers_of_proc(vector, rows):
    inputs, expected = vector["inputs"], vector["expected"]
    positive, negative = split(rows, inputs)
    placed = placements(positive, negative)
    covariance = delong_covariance(placed)
    area, variance = float(placed.areas[0]), float(covariance[0, 0])
    got = {"auc": area, "variance": variance, "covariance": covariance[0, -1]}
    tolerance = vector["tolerance"]["abs"]
    for name in set(expected) & set(got):
        assert got[name] == pytest.approx(expected[name], abs=tolerance)
    if "interval" in expected:
        # Others give A ± z√V, cut off at 0 and 1.
        error, level = math.sqrt(variance), inputs["confidence"]
        interval = normal_interval(area, error, level=level, method="delong")
        assert [interval.low, interval.high] == pytest.approx(expected["interval"], abs=tolerance)


def test_the_ratings_of_hanley_and_mcneil():
    vector = next(v for v in VECTORS if v["method"] == "auc")
    ratings, inputs = vector["inputs"]["ratings"], vector["inputs"]
    placed = placements(
        np.repeat(ratings, inputs["abnormal_counts"]), np.repeat(ratings, inputs["normal_counts"])
    )
    tolerance = vector["tolerance"]["abs"]
    assert placed.areas[0] == pytest.approx(vector["expected"]["auc"], abs=tolerance)
    vector = next(v for v in VECTORS if v["method"] == "auc_hanley_mcneil_se")
    inputs = vector["inputs"]
    error = hanley_mcneil_standard_error(inputs["auc"], inputs["n_pos"], inputs["n_neg"])
    assert error == pytest.approx(vector["expected"]["se"], abs=vector["tolerance"]["abs"])
    assert error == pytest.approx(0.032486579607342, abs=1e-14)  # the formula in 15 digits


def test_the_variance_by_hand():
    # Placements 1/2, 5/6, 1 on either side: mean 7/9, variance 7/108, each divided by 3.
    placed = placements([1, 2, 3], [0, 1, 2])
    np.testing.assert_allclose(placed.of_positives.ravel(), [1 / 2, 5 / 6, 1], rtol=1e-15)
    np.testing.assert_allclose(placed.of_negatives.ravel(), [1, 5 / 6, 1 / 2], rtol=1e-15)
    assert delong_covariance(placed)[0, 0] == pytest.approx(2 * 7 / 108 / 3, rel=1e-14)


@settings(max_examples=40, deadline=None)
@given(positive=small_scores, negative=small_scores)
def test_placements_are_those_of_all_pairs(positive, negative):
    above = np.subtract.outer(np.array(positive), np.array(negative))
    won = (above > 0) + 0.5 * (above == 0)
    placed = placements(positive, negative)
    np.testing.assert_allclose(placed.of_positives.ravel(), won.mean(axis=1), atol=1e-15)
    np.testing.assert_allclose(placed.of_negatives.ravel(), won.mean(axis=0), atol=1e-15)
    by_numpy = np.var(won.mean(axis=1), ddof=1) / len(positive)
    by_numpy += np.var(won.mean(axis=0), ddof=1) / len(negative)
    assert delong_covariance(placed)[0, 0] == pytest.approx(by_numpy, abs=1e-15)


def test_infinite_scores_are_ranks():
    assert placements([math.inf, 1.0], [-math.inf, 0.0]).areas[0] == 1.0


def test_the_interval_by_hand():
    # logit(0.9) = 2.1972246; 1.959964 · 0.03 / 0.09 = 0.6533213 → 1 / (1 + exp(−…))
    interval = delong_interval(0.9, 0.0009, 60, 80)
    expected = [1 / (1 + math.exp(-2.1972246 + 0.6533213)), 1 / (1 + math.exp(-2.8505459))]
    assert [interval.low, interval.high] == pytest.approx(expected, abs=1e-7)
    assert interval.method == "delong_logit"


@pytest.mark.parametrize(
    ("auc", "variance"), [(1.0, 0.0), (0.0, 0.0), (0.5, 0.0), (0.8, math.nan), (1.0, 0.1)]
)
def test_where_the_variance_fails_pairs_are_counted(auc, variance):
    interval = delong_interval(auc, variance, 7, 30)
    assert interval.method == "paired_binomial"
    assert 0 <= interval.low <= auc <= interval.high <= 1
    assert interval.width > 0.2


def test_a_perfect_area_is_as_good_as_its_pairs():
    # 7 of 7 won: 0.025^(1/7)
    assert delong_interval(1.0, 0.0, 7, 30).low == pytest.approx(0.025 ** (1 / 7), rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(auc=st.floats(0, 1), variance=st.floats(0, 0.25))
def test_the_interval_lies_in_the_unit_interval_and_contains_the_area(auc, variance):
    interval = delong_interval(auc, variance, 12, 9)
    assert 0 <= interval.low <= auc <= interval.high <= 1


def test_slips_are_told():
    with pytest.raises(InputError, match="Scores must not be NaN; got 1"):
        placements([1.0, math.nan], [0.0])
    with pytest.raises(InputError, match="`scores_negative` must have 2 columns"):
        placements([[1.0, 2.0]], [0.0])
    with pytest.raises(InputError, match="at least one score"):
        placements([], [0.0])


PAIRED = [
    vector
    for vector in json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
    if vector["method"].endswith("_test")
]


@pytest.mark.data
@pytest.mark.parametrize("vector", PAIRED, ids=lambda vector: vector["id"])
def test_comparisons_give_the_numbers_of_proc(vector, rows):
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
        InputError, match="`scores_positive` must have 2 columns, one per model; got 1"
    ):
        delong_paired([1, 2], [0, 1])
