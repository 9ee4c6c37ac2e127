import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from truerisk.intervals.delta import (
    STEP,
    cell_gradient,
    delta_interval,
    standard_error,
    traced_gradient,
)
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import find_measure, measures_that_need
from truerisk.tallies.cells import ClassCounts

OF_ALL = [one.name for one in measures_that_need("class counts")]
OF_ONE = [one.name for one in measures_that_need("binary counts")]

REFERENCE = Path(__file__).parents[1] / "reference" / "f1_ci.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
POINTS = [v for v in VECTORS if v["method"] == "point_metrics"]
INTERVALS = [v for v in VECTORS if v["method"] != "point_metrics"]


def table(cells):
    """Cells (…, K²) as (…, K, K): rows predicted, columns true."""
    size = math.isqrt(cells.shape[-1])
    return cells.reshape(*cells.shape[:-1], size, size)


def diagonal(cells):
    return np.diagonal(table(cells), axis1=-2, axis2=-1)


def precisions(cells):
    return diagonal(cells) / table(cells).sum(axis=-1)


def recalls(cells):
    return diagonal(cells) / table(cells).sum(axis=-2)


def macro_precision(cells):
    return precisions(cells).mean(axis=-1)


def macro_recall(cells):
    return recalls(cells).mean(axis=-1)


def f1_by_class(cells):
    return 2 * diagonal(cells) / (table(cells).sum(axis=-1) + table(cells).sum(axis=-2))


def macro_f1_star(cells):
    p, r = macro_precision(cells), macro_recall(cells)
    return 2 * p * r / (p + r)


def micro_f1(cells):
    return diagonal(cells).sum(axis=-1) / cells.sum(axis=-1)


def binary_f1(cells):
    return f1_by_class(cells)[..., 1]


MEASURES = {
    "micro_f1_wald_ci": micro_f1,
    "macro_f1_wald_ci": lambda cells: f1_by_class(cells).mean(axis=-1),
    "macro_f1_star_wald_ci": macro_f1_star,
    "macro_precision_wald_ci": macro_precision,
    "macro_recall_wald_ci": macro_recall,
    "binary_f1_wald_ci": binary_f1,
}


@pytest.mark.parametrize("vector", INTERVALS, ids=lambda vector: vector["id"])
def test_it_gives_the_standard_errors_of_takahashi(vector):
    cells = np.ravel(vector["inputs"]["confusion_rows_predicted_cols_truth"]).astype(float)
    measure, expected = MEASURES[vector["method"]], vector["expected"]
    value = float(measure(cells))
    error = standard_error(cell_gradient(measure, cells), cells)
    tolerance = vector["tolerance"]["abs"]
    assert value == pytest.approx(expected["estimate"], abs=tolerance)
    assert error == pytest.approx(expected["se"], abs=tolerance)
    if "interval" in expected:
        half = norm.ppf(0.5 + vector["inputs"]["confidence"] / 2) * error
        ends = [value - half, value + half]
        assert ends == pytest.approx(expected["interval"], abs=tolerance)


@pytest.mark.parametrize("vector", POINTS, ids=lambda vector: vector["id"])
def test_the_measures_of_these_tests_are_the_right_ones(vector):
    true, predicted = vector["inputs"]["y_true"], vector["inputs"]["y_pred"]
    cells = np.zeros((2, 2))
    np.add.at(cells, (predicted, true), 1)
    cells = cells.ravel()
    got = {
        "accuracy": micro_f1(cells),
        "micro_precision": micro_f1(cells),
        "macro_f1": f1_by_class(cells).mean(),
    }
    assert got == pytest.approx(vector["expected"], abs=1e-12)


def test_a_gradient_by_hand():
    # tp / (tp + fn) at 30, 10: 10/1600 and −30/1600
    gradient = cell_gradient(lambda c: c[..., 0] / (c[..., 0] + c[..., 2]), [30, 5, 10, 55])
    np.testing.assert_allclose(gradient, [10 / 1600, 0, -30 / 1600, 0], rtol=1e-15)


def test_a_gradient_of_many_cells_is_taken_in_blocks(monkeypatch):
    cells = np.arange(1.0, 26.0)
    whole = cell_gradient(macro_recall, cells)
    monkeypatch.setattr("truerisk.intervals.delta.BLOCK", 60)
    np.testing.assert_array_equal(cell_gradient(macro_recall, cells), whole)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=9, max_size=9))
def test_the_sum_of_squares_is_the_full_multinomial_variance(counts):
    cells = np.array(counts, dtype=float)
    gradient, n = cell_gradient(macro_f1_star, cells), cells.sum()
    covariance = np.diag(cells) - np.outer(cells, cells) / n
    full = math.sqrt(gradient @ covariance @ gradient)
    assert standard_error(gradient, cells) == pytest.approx(full, rel=1e-6)


def test_weights_count_by_their_squares():
    # Three right of weight 2 and one wrong of weight 1: w²-sums 12 and 1, totals 6 and 1.
    gradient = cell_gradient(lambda c: c[..., 0] / c.sum(axis=-1), [6.0, 1.0])
    # g = (1/49, −6/49)
    assert standard_error(gradient, [12.0, 1.0]) == pytest.approx(
        math.sqrt(12 + 36) / 49, rel=1e-14
    )


def test_an_empty_cell_adds_nothing_whatever_its_slope():
    assert standard_error([1.0, math.nan], [4.0, 0.0]) == 2.0


def test_the_interval_by_hand():
    # logit 0.5 is 0; 1.959964 · 0.1 / 0.25 = 0.7839856; 1 / (1 + exp(0.7839856)) = 0.3134615
    interval = delta_interval(0.5, 0.1)
    assert [interval.low, interval.high] == pytest.approx([0.3134615, 0.6865385], abs=5e-7)
    # On [−1, 1] the same share and a doubled error give the same, stretched.
    wide = delta_interval(0.0, 0.2, measure_range=(-1.0, 1.0))
    assert [wide.low, wide.high] == pytest.approx([2 * 0.3134615 - 1, 2 * 0.6865385 - 1], abs=1e-6)
    # A ratio: 2 · exp(± 1.959964 · 0.2 / 2), and exp(0.1959964) = 1.2165225
    ratio = delta_interval(2.0, 0.2, measure_range=(0.0, math.inf))
    assert [ratio.low, ratio.high] == pytest.approx([2 / 1.2165225, 2 * 1.2165225], abs=1e-6)
    mirrored = delta_interval(-2.0, 0.2, measure_range=(-math.inf, 0.0))
    assert [mirrored.low, mirrored.high] == pytest.approx([-ratio.high, -ratio.low], rel=1e-14)
    plain = delta_interval(2.0, 0.2, measure_range=(-math.inf, math.inf))
    assert [plain.low, plain.high] == pytest.approx([2 - 0.3919928, 2 + 0.3919928], abs=1e-7)


@settings(max_examples=80, deadline=None)
@given(
    value=st.floats(-1, 1, exclude_min=True, exclude_max=True),
    error=st.floats(1e-12, 10),
    level=st.floats(0.01, 1 - 1e-9),
)
def test_the_interval_lies_in_the_range_and_contains_the_value(value, error, level):
    interval = delta_interval(value, error, measure_range=(-1.0, 1.0), level=level)
    assert interval is not None
    assert -1 <= interval.low <= value <= interval.high <= 1


@pytest.mark.parametrize(
    ("value", "error"), [(1.0, 0.1), (0.0, 0.1), (0.5, 0.0), (0.5, math.nan), (math.nan, 0.1)]
)
def test_where_it_degenerates_there_is_none(value, error):
    assert delta_interval(value, error) is None


def features(classes=6, *, empty=()):
    rng = np.random.default_rng(5)
    table = rng.integers(1, 30, (classes, classes)).astype(float)
    table[list(empty)] = 0
    table[:, list(empty)] = 0
    sides = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    return np.concatenate([*sides, [np.trace(table), table.sum(), 7.0]])


def by_steps(function, totals):
    steps = np.tile(totals.astype(complex), (len(totals), 1)) + 1j * STEP * np.eye(len(totals))
    return np.imag(function(steps)) / STEP


def test_a_quotient_worked_by_hand():
    # f = a·b/(a + c): by a, b·c/(a + c)²; by b, a/(a + c); by c, −a·b/(a + c)².
    def function(x):
        return x[..., 0] * x[..., 1] / (x[..., 0] + x[..., 2])

    found = traced_gradient(function, np.array([2.0, 3.0, 4.0]))
    assert found == pytest.approx([12 / 36, 2 / 6, -6 / 36])


@pytest.mark.parametrize("name", OF_ALL)
def test_measures_of_all_classes_have_the_gradient_of_complex_steps(name):
    def function(x):
        return find_measure(name).value(ClassCounts.from_features(x))

    totals = features()
    assert traced_gradient(function, totals) == pytest.approx(by_steps(function, totals), abs=1e-14)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("over", [None, [0, 2, 3]])
@pytest.mark.parametrize("zero", [np.nan, 0.0])
@pytest.mark.parametrize("name", OF_ONE)
def test_averages_have_the_gradient_of_complex_steps(name, average, over, zero):
    chosen = None if over is None else np.isin(np.arange(6), over)

    def function(x):
        counts = ClassCounts.from_features(x)
        return AVERAGES[average].function(find_measure(name), counts, chosen, zero)

    totals = features()
    expected = by_steps(function, totals)
    scale = np.abs(expected).max()
    assert traced_gradient(function, totals) == pytest.approx(expected, abs=1e-12 * scale)


def test_a_class_that_is_left_out_has_no_slope():
    def function(x):
        counts = ClassCounts.from_features(x)
        return AVERAGES["macro"].function(find_measure("f1"), counts, None, np.nan)

    found = traced_gradient(function, features(empty=[2]))
    assert found[[2, 8, 14]].tolist() == [0, 0, 0]
    assert np.isfinite(found).all()


@pytest.mark.parametrize("function", [lambda x: np.exp(x).sum(axis=-1), np.max, lambda x: x])
def test_what_is_not_known_is_left_to_steps(function):
    assert traced_gradient(function, np.ones(3)) is None


def test_many_totals_are_traced_and_few_are_stepped():
    def function(x):
        return (x**2).sum(axis=-1) ** 0.5

    for size in (5, 500):
        totals = np.arange(1.0, size + 1)
        expected = totals / np.sqrt((totals**2).sum())
        assert cell_gradient(function, totals) == pytest.approx(expected)


def test_an_undefined_value_has_no_gradient():
    found = traced_gradient(lambda x: x[..., 0] / (x[..., 1] - x[..., 1]), np.ones(2))
    assert np.isnan(found).all()
