from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.intervals.cell_sample import CellSample
from truerisk.intervals.choose import (
    average_interval,
    precision_floor,
    proportion_interval,
    refit_average_precision,
)
from truerisk.intervals.variance_components import Components, RefitQuestion, rule_of
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Interval, has_code
from truerisk.tallies.cells import ClassCounts, GroupTotals, Proportion

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


def test_an_unseen_negative_moves_the_lower_end_by_half_its_distance_at_most():
    question = RefitQuestion(
        value=0.99,
        parts=Components(0.0001, 0.0, 0.0, 100),
        rule=rule_of("average_precision"),
        counted=50,
        level=0.95,
    )
    low = fractional_interval(98.01, 99).low  # m = .99 · .01/.0001 = 99
    alone, little, much = (refit_average_precision(question, 0.0, top) for top in (0, 0.012, 0.3))
    assert alone.low == pytest.approx(low)
    m = 0.0099 / (0.0001 + 0.012**2 / 8)
    assert little.low == pytest.approx(fractional_interval(0.99 * m, m).low)
    assert much.low == pytest.approx(low - (0.99 - low) / 2)
    assert {one.high for one in (alone, little, much)} == {1.0}


def test_the_least_variance_of_an_average_precision_is_that_of_few_positives():
    # inside = (.6 · 4 + ½)/5 = .58: ¼ · .58 · .42/5
    assert precision_floor(0.6, 4) == pytest.approx(0.25 * 0.58 * 0.42 / 5)
    assert precision_floor(0.6, 10) == 0.0


def test_groups_that_are_all_right_count_as_groups():
    groups = GroupTotals.of(np.arange(4), np.zeros(4, dtype=int), np.full(4, 3), cells=2)
    sample = CellSample(np.array([12, 0]), np.eye(2), by_group=groups)
    found = proportion_interval(sample, share, level=0.95, method="clopper_pearson")
    assert ends(found) == pytest.approx(ends(binomial_interval(4, 4)), rel=1e-12)


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
    found = tr.evaluate_counts([[8, 2], [2, 18]], cell_interval="smoothed_delta")
    found = found["balanced_accuracy"].interval
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


def test_where_classes_are_given_less_is_left_to_chance():
    table = [[180, 20], [600, 5200]]
    every, within = (
        tr.evaluate_counts(table, random_state=1, cell_interval=one, replicates=4000)
        for one in ("bca", "stratified_bca")
    )
    assert within["cohen_kappa"].interval.width < 0.9 * every["cohen_kappa"].interval.width
    assert ends(within["gmean"].interval) == pytest.approx(ends(every["gmean"].interval), abs=0.01)
    assert has_code(within.notes, "stratified")
    assert not has_code(every.notes, "stratified")


@pytest.mark.parametrize("kind", ["percentile", "basic"])
def test_a_stratified_bootstrap_is_that_of_rows_drawn_class_by_class(kind):
    rng = np.random.default_rng(3)
    truth = np.repeat([1, 0], [60, 240])
    called = (rng.random(300) < np.where(truth == 1, 0.7, 0.2)).astype(int)
    names = ["matthews_correlation", "f2", "cohen_kappa", "gmean"]
    values = {name: [] for name in names}
    for _ in range(2000):
        rows = np.concatenate([rng.choice(np.flatnonzero(truth == side), n) for side, n in
                               ((1, 60), (0, 240))])  # fmt: skip
        tp, fp = (int(np.sum((truth[rows] == side) & (called[rows] == 1))) for side in (1, 0))
        fn, tn = 60 - tp, 240 - fp
        marginal = (tp + fp) * 60 + (fn + tn) * 240
        values["matthews_correlation"].append(
            (tp * tn - fp * fn) / np.sqrt((tp + fp) * 60.0 * 240 * (fn + tn))
        )
        values["f2"].append(5 * tp / (5 * tp + 4 * fn + fp))
        values["cohen_kappa"].append(((tp + tn) / 300 - marginal / 90000) / (1 - marginal / 90000))
        values["gmean"].append(np.sqrt(tp / 60 * tn / 240))
    found = tr.evaluate(
        truth, called, cell_interval=f"stratified_{kind}", measures=names, betas=[2],
        random_state=1, replicates=20_000,
    )  # fmt: skip
    for name in names:
        low, high = np.quantile(values[name], [0.025, 0.975])
        if kind == "basic":
            low, high = 2 * found[name].value - high, 2 * found[name].value - low
        interval = found[name].interval
        assert interval.method == f"stratified_{kind}"
        assert ends(interval) == pytest.approx((low, high), abs=0.08 * interval.width), name


def test_a_stratified_bootstrap_of_two_examples_of_each_class_done_by_hand():
    # Of two examples, one right: recall and specificity are 0, ½ and 1 with ¼, ½ and ¼ each.
    # √(recall · specificity): 0 (7/16), ½ (¼), √½ (¼), 1 (1/16).
    found = tr.evaluate_counts(
        [[1, 1], [1, 1]], cell_interval="stratified_percentile", level=0.8, random_state=1,
        measures=["gmean"],
    )["gmean"]  # fmt: skip
    assert ends(found.interval) == pytest.approx((0.0, np.sqrt(0.5)))


@settings(max_examples=40)
@given(
    table=st.lists(
        st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3
    ).filter(lambda rows: sum(map(sum, rows)) > 0),
    kind=st.sampled_from(["percentile", "basic", "bca"]),
)
def test_a_stratified_interval_lies_in_the_range_and_contains_the_value(table, kind):
    found = tr.evaluate_counts(
        table, cell_interval=f"stratified_{kind}", random_state=1, replicates=200
    )
    for one in found.values():
        if not np.isnan(one.value):
            entry = find_measure(base_and_average(one.measure)[0])
            low, high = entry.measure_range
            assert low <= one.interval.low <= one.value <= one.interval.high <= high


def test_skewness_within_the_classes_is_that_of_two_binomials():
    # Accuracy is (a + b)/200 with a of 40 at .75 and b of 160 at .875: the third moments
    # npq(q − p) are 7.5 · −.5 and 17.5 · −.75, the variances 7.5 and 17.5; a sixth of the skewness.
    sample = CellSample(np.array([30, 10, 20, 140]), np.eye(4), strata=np.array([0, 0, 1, 1]))
    gradient = sample.gradient(lambda cells: (cells[..., 0] + cells[..., 3]) / cells.sum(axis=-1))
    expected = (7.5 * -0.5 + 17.5 * -0.75) / 25**1.5 / 6
    assert sample.acceleration(gradient) == pytest.approx(expected, rel=1e-9)
    assert sample.standard_error(gradient) == pytest.approx(5 / 200, rel=1e-9)


def test_draws_within_the_classes_keep_the_classes():
    cells = tr.evaluate_counts([[7, 3, 0], [2, 5, 1], [0, 0, 4]]).tallies
    sample = replace(CellSample.of(cells), strata=cells.truth.numbers)
    drawn = ClassCounts.from_features(sample.draw(300, np.random.default_rng(1)))
    assert (drawn.truth == [10, 8, 4]).all()
    assert len(np.unique(drawn.predicted[:, 0])) > 1


def test_a_method_that_degenerates_says_what_spoke_instead():
    found = tr.evaluate_counts([[10, 0], [0, 10]], random_state=1, cell_interval="bca")
    assert found["matthews_correlation"].interval.method == "smoothed_delta"
    assert found["matthews_correlation"].interval.low < 0.95


def by_hand(centre, error, z=1.959963984540):
    """Give the ends on the logit scale, and what the method would say."""
    spread, logit = z * error / (centre * (1 - centre)), np.log(centre / (1 - centre))
    return [1 / (1 + np.exp(-(logit + side * spread))) for side in (-1, 1)]


def test_two_of_several_measures_smooth_two_classes_in_full():
    # √(recall · specificity) of 8.5/11 and 18.5/21; d ln g = ½ (d ln a + d ln b).
    a, b = 8.5 / 11, 18.5 / 21
    centre = np.sqrt(a * b)
    error = centre / 2 * np.sqrt((1 - a) / a / 11 + (1 - b) / b / 21)
    found = tr.evaluate_counts([[8, 2], [2, 18]], random_state=1)["gmean"].interval
    assert ends(found) == pytest.approx(by_hand(centre, error), rel=1e-10)


def test_three_classes_worked_by_hand():
    # Half an example right and half wrong in each class make the variance; a third of one each,
    # two in all, make the centre, of which √(2/3) is gone towards.
    table = np.array([[8, 1, 1], [2, 12, 6], [0, 1, 4]])
    right, n = np.diag(table), table.sum(axis=1)
    smooth = (right + 0.5) / (n + 1)
    error = np.sqrt(np.sum(smooth * (1 - smooth) / (n + 1))) / 3
    value, light = np.mean(right / n), np.mean((right + 1 / 3) / (n + 2 / 3))
    centre = value + np.sqrt(2 / 3) * (light - value)
    found = tr.evaluate_counts(table, cell_interval="smoothed_delta")["recall_macro"]
    assert found.value == pytest.approx(value)
    assert ends(found.interval) == pytest.approx(by_hand(centre, error), rel=1e-10)


def test_sets_of_labels_worked_by_hand():
    # Of each row, how many labels are found and how many missed; then half a row found, half a
    # row missed and half a row falsely called for either label.
    truth = [["a", "b"], ["a", "b"], ["a"], ["b"], ["b"], ["a"]]
    called = [["a", "b"], ["a"], ["a"], ["b"], ["a"], []]
    found, missed = np.array([2, 1, 1, 1, 0, 0]), np.array([0, 1, 0, 0, 1, 1])
    value = 5 / 8
    light = (5 + 2 / 3) / (8 + 4 / 3)  # two rows in all: ⅓ for each of the six halves
    tp, fn = 5 + 1, 3 + 1
    slopes = (fn * found - tp * missed) / (tp + fn) ** 2
    extra = 2 * 0.5 * (fn**2 + tp**2) / (tp + fn) ** 4
    error = np.sqrt(np.sum(slopes**2) + extra)
    estimate = tr.evaluate(truth, called, multilabel=True, cell_interval="smoothed_delta")
    estimate = estimate["recall_micro"]
    assert estimate.value == value
    assert ends(estimate.interval) == pytest.approx(by_hand(light, error), rel=1e-10)


@pytest.mark.parametrize("method", ["percentile", "bca", "dirichlet"])
def test_equal_weights_are_resampled_as_examples(method):
    options = {"cell_interval": method, "random_state": 1, "measures": ("gmean",)}
    plain = tr.evaluate(Y, PRED, **options)["gmean"].interval
    heavy = tr.evaluate(Y, PRED, sample_weight=np.full(200, 5.0), **options)["gmean"].interval
    assert ends(heavy) == pytest.approx(ends(plain), rel=1e-9)


def test_many_classes_that_are_all_right_leave_little_open():
    # Eight labels, 20 examples each, none falsely called: a micro precision of 1 from 160 calls.
    truth = [(str(at % 8),) for at in range(160)]
    found = tr.evaluate(truth, truth, multilabel=True, cell_interval="smoothed_delta")
    found = found["precision_micro"]
    # Half a false call for each of eight labels beside 160 + 4 right ones: 4 of 168.
    assert found.value == 1
    assert 0.9 < found.interval.low < 160 / 168
    assert found.interval.high == 1


def test_one_mistake_among_many_classes_leaves_little_more_open():
    truth = [(str(at % 8),) for at in range(160)]
    called = [("0", "1"), *truth[1:]]  # one false call
    for average in ("micro", "macro"):
        found = tr.evaluate(truth, called, multilabel=True)[f"precision_{average}"]
        assert 0.9 < found.interval.low < found.value < found.interval.high
        assert found.interval.high > 0.998  # the smoothed cells alone would end below the value


def test_a_measure_that_cannot_vary_on_these_examples_is_left_open():
    # All truth is of one class: κ is 0 whatever is called, and says nothing.
    found = tr.evaluate_counts([[1, 5], [0, 0]])["cohen_kappa"]
    assert (found.interval.low, found.interval.high) == (-1, 1)
    assert found.interval.method == "whole_range"


def test_cells_that_are_two_kinds_of_right_share_the_prior():
    # A threshold tells "b" from the rest: true "a" and true "c" are both right when called "not b".
    truth, score = ["a", "b", "c", "b"] * 10, [0.1, 0.9, 0.2, 0.4] * 10
    several = tr.evaluate(truth, y_score=score, pos_label="b", threshold=0.5)
    two = tr.evaluate(
        ["b" if one == "b" else "rest" for one in truth],
        y_score=score,
        pos_label="b",
        threshold=0.5,
    )
    for name in ("cohen_kappa", "matthews_correlation"):
        assert ends(several[name].interval) == pytest.approx(ends(two[name].interval), rel=1e-12)


def test_classes_of_which_nothing_is_known_err_together():
    values, shares = np.array([0.4, 0.8]), np.array([0.5, 0.5])
    each = [Interval(0.3, 0.6, 0.95, "x"), Interval(0.6, 0.9, 0.95, "x")]
    together = average_interval(values, each, shares, None, level=0.95)
    # The mean of the distances: .6 − (.1 + .2)/2 and .6 + (.2 + .1)/2.
    assert (together.low, together.high) == pytest.approx((0.45, 0.75))
    apart = average_interval(values, each, shares, np.eye(2), level=0.95)
    assert apart.low == pytest.approx(0.6 - np.hypot(0.1, 0.2) / 2)
    assert (together.method, apart.method) == ("mean_of_intervals", "mean_of_correlated")
    lower = average_interval(values, each, shares, np.eye(2), level=0.95, bias=0.05)
    assert (lower.low, lower.high) == pytest.approx((apart.low - 0.05, apart.high))
