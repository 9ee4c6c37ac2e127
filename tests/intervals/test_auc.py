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
    hanley_mcneil_standard_error,
    placements,
)

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
        interval = delong_interval(
            area,
            variance,
            len(positive),
            len(negative),
            level=inputs["confidence"],
            scale="identity",
        )
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
@given(
    auc=st.floats(0, 1), variance=st.floats(0, 0.25), scale=st.sampled_from(["logit", "identity"])
)
def test_the_interval_lies_in_the_unit_interval_and_contains_the_area(auc, variance, scale):
    interval = delong_interval(auc, variance, 12, 9, scale=scale)
    assert 0 <= interval.low <= auc <= interval.high <= 1


def test_slips_are_told():
    with pytest.raises(InputError, match="Scores must not be NaN; got 1"):
        placements([1.0, math.nan], [0.0])
    with pytest.raises(InputError, match="`scores_negative` must have 2 columns"):
        placements([[1.0, 2.0]], [0.0])
    with pytest.raises(InputError, match="at least one score"):
        placements([], [0.0])
    with pytest.raises(InputError, match="`scale` must be one of logit, identity"):
        delong_interval(0.5, 0.1, 3, 3, scale="log")
