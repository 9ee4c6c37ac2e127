import numpy as np
import pytest

from truerisk.intervals.delta import STEP, cell_gradient
from truerisk.intervals.tracing import traced_gradient
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import find_measure, measures_that_need
from truerisk.tallies.cells import ClassCounts

OF_ALL = [one.name for one in measures_that_need("class counts")]
OF_ONE = [one.name for one in measures_that_need("binary counts")]


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
