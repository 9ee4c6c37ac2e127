import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.evaluation.cell_sample import CellSample
from truerisk.evaluation.count_intervals import proportion_interval
from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.measures.proportion import Proportion

RNG = np.random.default_rng(0)
Y = RNG.random(200) < 0.4
PRED = np.where(RNG.random(200) < 0.8, Y, ~Y)


def share(features):
    return Proportion(features[..., 0], features.sum(axis=-1))


def ends(interval):
    return interval.low, interval.high


def test_weights_worked_by_hand():
    # 6 right of weight 1, 2 wrong of weight 2: p = 6/10, se² = (6 · .4² + 8 · .6²)/100 = .0384,
    # m = .24/.0384 = 6.25, which is less than Kish's 10²/(6 + 8) = 7.14.
    sample = CellSample(np.array([6.0, 4.0]), np.eye(2), np.array([6.0, 8.0]))
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    assert ends(found) == pytest.approx(ends(fractional_interval(3.75, 6.25)), rel=1e-12)
    assert found.method == "effective_binomial"


def test_weights_never_count_for_more_than_kishs_size():
    sample = CellSample(np.array([8.0, 2.0]), np.eye(2), np.array([16.0, 2.0]))
    # 4 right of weight 2, 2 wrong of weight 1: p = .8, se² = (16 · .04 + 2 · .64)/100 = .0192,
    # .16/.0192 = 8.33 of only 6 examples; Kish: 100/18.
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    expected = fractional_interval(0.8 * 100 / 18, 100 / 18)
    assert ends(found) == pytest.approx(ends(expected), rel=1e-12)


def test_groups_worked_by_hand():
    # Three groups, right/wrong (4, 0), (2, 2), (0, 4): p = ½, influences 1/6, 0, −1/6, G/(G − 1)
    # = 3/2: se² = 1/12.  Student's t with 2 degrees widens by 4.302653/1.959964.
    table = np.array([[4, 0], [2, 2], [0, 4]])
    sample = CellSample(table.sum(axis=0), np.eye(2), by_group=table)
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    size = 0.25 / (1 / 12 * (4.302652729911 / 1.959963984540) ** 2)
    expected = fractional_interval(size / 2, size)
    assert ends(found) == pytest.approx(ends(expected), rel=1e-9)
    assert found.method == "cluster_binomial"


def test_groups_that_are_all_right_count_as_groups():
    table = np.array([[3, 0], [3, 0], [3, 0], [3, 0]])
    sample = CellSample(table.sum(axis=0), np.eye(2), by_group=table)
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    assert ends(found) == pytest.approx(ends(binomial_interval(4, 4)), rel=1e-12)


def test_groups_that_are_all_alike_count_as_groups():
    # 2 of 3 in each of two groups: no spread but rounding, and no reason to trust six rows.
    table = np.array([[2, 1], [2, 1]])
    sample = CellSample(table.sum(axis=0), np.eye(2), by_group=table)
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    assert ends(found) == pytest.approx(ends(fractional_interval(4 / 3, 2)), rel=1e-12)


def test_groups_that_vary_less_than_rows_count_as_rows():
    # Every group holds one wrong of four but one, which holds two.
    table = np.array([[3, 1]] * 19 + [[2, 2]])
    sample = CellSample(table.sum(axis=0), np.eye(2), by_group=table)
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    assert ends(found) == pytest.approx(ends(binomial_interval(59, 80)), rel=1e-12)


@given(st.floats(1e-6, 1e6))
@settings(max_examples=10, deadline=None)
def test_the_unit_of_the_weights_does_not_matter(factor):
    weight = 0.5 + np.arange(200) % 7
    first = tr.evaluate(Y, PRED, sample_weight=weight, random_state=1)
    second = tr.evaluate(Y, PRED, sample_weight=factor * weight, random_state=1)
    for name, one in first.items():
        other = second[name]
        assert other.value == pytest.approx(one.value, rel=1e-9), name
        assert ends(other.interval) == pytest.approx(ends(one.interval), rel=1e-6), name
        assert other.n == one.n, name


def test_n_counts_examples_whatever_they_weigh():
    weight = np.full(200, 0.001)
    evaluation = tr.evaluate(Y, PRED, sample_weight=weight, random_state=1)
    assert evaluation["recall"].n == Y.sum()
    assert evaluation["precision"].n == PRED.sum()
    assert evaluation["accuracy"].n == 200
    assert not any("from 0 " in sentence for sentence in evaluation.verdict)


def test_the_smoothed_delta_method_worked_by_hand():
    # 8 of 10 positives and 18 of 20 negatives right.  With half an example right and wrong in both:
    # recall 8.5/11, specificity 18.5/21, balanced accuracy .826840; variance
    # ¼ (8.5 · 2.5/11³ + 18.5 · 2.5/21³) = .0052398.
    a, b = 8.5 / 11, 18.5 / 21
    centre, error = (a + b) / 2, np.sqrt(8.5 * 2.5 / 11**3 + 18.5 * 2.5 / 21**3) / 2
    spread = 1.959963984540 * error / (centre * (1 - centre))
    logit = np.log(centre / (1 - centre))
    expected = [1 / (1 + np.exp(-(logit + side * spread))) for side in (-1, 1)]
    found = tr.evaluate_counts([[8, 2], [2, 18]], random_state=1)["balanced_accuracy"].interval
    assert ends(found) == pytest.approx(expected, rel=1e-10)
    assert found.method == "smoothed_delta"


@pytest.mark.parametrize("classes", [10, 50])
def test_many_classes_do_not_move_the_centre_further_than_it_varies(classes):
    # Every class 19 of 20 right: all measures are near .95, and the intervals lie around it.
    table = 19 * np.eye(classes, dtype=int) + np.roll(np.eye(classes, dtype=int), 1, axis=1)
    evaluation = tr.evaluate_counts(table, random_state=1)
    for name in ("cohen_kappa", "matthews_correlation", "recall_macro", "f1_macro"):
        one = evaluation[name]
        below, above = one.value - one.interval.low, one.interval.high - one.value
        assert above > 0.4 * below, name  # the logit scale leans to the longer tail
        # As narrow as 20 · classes independent examples allow, half as wide again at most.
        assert one.interval.width < 1.5 * 2 * 1.96 * np.sqrt(0.95 * 0.05 / (20 * classes)), name


def test_a_class_of_many_has_the_interval_it_has_against_the_rest():
    table = np.array([[30, 2, 3], [1, 40, 4], [2, 2, 16]])
    three = tr.evaluate_counts(table, labels="abc", random_state=1).by_class["a"]["gmean"]
    two = tr.evaluate_counts([[30, 5], [3, 62]], random_state=1)["gmean"]
    assert ends(three.interval) == pytest.approx(ends(two.interval), rel=1e-12)


def test_a_wrong_half_is_spread_over_the_wrong_cells():
    found = tr.evaluate_counts([[9, 1, 0], [0, 10, 0], [0, 0, 10]], random_state=1)
    assert found["recall_macro"].interval.high < 1
    assert found["recall_macro"].interval.low < 0.9


@pytest.mark.parametrize("method", ["delta", "percentile", "basic", "bca", "dirichlet"])
def test_every_method_is_near_the_default_with_many_examples(method):
    table = [[1800, 200], [300, 2700]]
    default = tr.evaluate_counts(table, random_state=1)["matthews_correlation"].interval
    found = tr.evaluate_counts(table, random_state=1, cell_interval=method, replicates=4000)
    interval = found["matthews_correlation"].interval
    assert interval.method == method
    assert ends(interval) == pytest.approx(ends(default), abs=0.15 * default.width)


def test_a_method_that_degenerates_says_what_spoke_instead():
    found = tr.evaluate_counts([[10, 0], [0, 10]], random_state=1, cell_interval="bca")
    assert found["matthews_correlation"].interval.method == "smoothed_delta"
    assert found["matthews_correlation"].interval.low < 0.95
