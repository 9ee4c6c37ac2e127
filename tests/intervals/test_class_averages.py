import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import truerisk as tr
from truerisk.intervals.class_averages import (
    BY_FORMULA,
    Shares,
    average_shortfalls,
    macro_interval,
    micro_interval,
    recall_interval,
    specificity_interval,
    weighted_interval,
)
from truerisk.intervals.means import gamma_ends
from truerisk.results import has_code
from truerisk.tallies.cells import CellTally

REFERENCE = Path(__file__).parents[1] / "reference" / "holdout.json"
VECTORS = json.loads(REFERENCE.read_text())["vectors"]
MACRO = ("recall", "precision", "f1", "jaccard")


def vectors(method):
    return [pytest.param(one, id=one["id"]) for one in VECTORS if one["method"] == method]


def ends(interval):
    return interval.low, interval.high


def cells_of(table, weight=None):
    table = np.asarray(table)
    true, called = (np.repeat(axis.ravel(), table.ravel()) for axis in np.indices(table.shape))
    names = [(f"{k:02d}",) for k in range(len(table))]
    weights = None if weight is None else np.broadcast_to(weight, true.shape).astype(float)
    tally = CellTally(weighted=weight is not None).add(true, called, weight=weights)
    return tally.cells(names, also=[name for (name,) in names])


def cells_of_sets(truth, predicted):
    truth, predicted = np.asarray(truth, dtype=bool), np.asarray(predicted, dtype=bool)
    n_labels = truth.shape[1]
    sets = [tuple(str(k) for k in range(n_labels) if code >> k & 1) for code in range(2**n_labels)]
    power = 2 ** np.arange(n_labels)
    tally = CellTally().add(truth @ power, predicted @ power)
    return tally.cells(sets, multilabel=True, also=map(str, range(n_labels)))


def taken(cells, measure):
    _, truth, predicted = cells.by_class(cells.totals)
    flags = truth > 0
    if measure == "precision":
        flags &= predicted > 0
    return flags & (truth < cells.totals.sum()) if measure == "specificity" else flags


@pytest.mark.parametrize("vector", vectors("macro_table"))
def test_macro_averages_are_those_of_the_reference(vector):
    given_, expected = vector["inputs"], vector["expected"]
    cells = cells_of(given_["table"])
    flags = taken(cells, given_["measure"])
    found = macro_interval(cells, given_["measure"], flags, level=given_["level"])
    assert ends(found) == pytest.approx(tuple(expected["interval"]), rel=1e-9)
    if given_["measure"] != "precision" or flags.all():
        name = f"{given_['measure']}_macro"
        estimate = tr.evaluate_counts(given_["table"], measures=(name,), level=given_["level"])
        assert estimate[name].value == pytest.approx(expected["value"])
        assert ends(estimate[name].interval) == pytest.approx(tuple(expected["interval"]))


@pytest.mark.parametrize("vector", [*vectors("macro_sets"), *vectors("micro_sets")])
def test_averages_of_label_sets_are_those_of_the_reference(vector):
    given_, expected = vector["inputs"], vector["expected"]
    cells = cells_of_sets(given_["truth"], given_["predicted"])
    if vector["method"] == "macro_sets":
        flags = taken(cells, given_["measure"])
        found = macro_interval(cells, given_["measure"], flags, level=given_["level"])
    else:
        found = micro_interval(cells, given_["measure"], None, level=given_["level"])
    assert ends(found) == pytest.approx(tuple(expected["interval"]), rel=1e-9)


def test_macro_recall_worked_by_hand():
    # 8 of 10 and 18 of 20.  Pooled prior: 3 units at p = (.8 + .9 + ½)/3.
    p = (0.8 + 0.9 + 0.5) / 3
    a, b = np.array([8, 18]) + 3 * p, np.array([2, 2]) + 3 * (1 - p)
    v = a * b / ((a + b) * (a + b + 1)) / np.array([10, 20])
    t = stats.t.isf(0.025, v.sum() ** 2 / (v**2 / np.array([12, 22])).sum())
    inside = np.mean(a / (a + b))
    m = inside * (1 - inside) / (v.sum() / 4)
    root = t * math.sqrt(0.85 * 0.15 / m + t**2 / (4 * m**2))
    middle = 0.85 + t**2 / (2 * m)
    expected = (middle - root) / (1 + t**2 / m), (middle + root) / (1 + t**2 / m)
    found = tr.evaluate_counts([[8, 2], [2, 18]])["balanced_accuracy"].interval
    assert ends(found) == pytest.approx(expected, rel=1e-9)
    assert found.method == "class_shares"


def test_youdens_index_is_twice_the_balanced_accuracy_less_one():
    found = tr.evaluate_counts([[18, 2], [3, 7]])
    low, high = ends(found["balanced_accuracy"].interval)
    assert ends(found["youden"].interval) == pytest.approx((2 * low - 1, 2 * high - 1))


def test_a_class_seen_twice_would_have_been_seen_one_point_six_times():
    # λ/(1 − exp(−λ)) = 2 at λ = 1.5936: precision of a class with 1 right of 2 and 1 false call is
    # .797/(.797 + 1) and not ½.  One more class, 2 of 2, has precision 1 in any case.
    cells = cells_of([[1, 1], [1, 200]])
    found = macro_interval(cells, "precision", taken(cells, "precision"), level=0.95)
    # The hull reaches lower than the interval about the value alone would.
    assert found.low < 0.25
    assert found.covers(np.mean([1 / 2, 200 / 201]))


def test_micro_averages_of_sets_worked_by_hand():
    # Rows find (2, 1, 1, 1, 0, 0) of (2, 2, 1, 1, 1, 1) labels: D = 8, J = 5/8.
    truth = [["a", "b"], ["a", "b"], ["a"], ["b"], ["b"], ["a"]]
    called = [["a", "b"], ["a"], ["a"], ["b"], ["a"], []]
    k, d = np.array([2, 1, 1, 1, 0, 0]), np.array([2, 2, 1, 1, 1, 1])
    share, inside = 5 / 8, 6 / 10
    variance = 6 / 5 * ((k - share * d) ** 2).sum() / 64 + 2 * inside * (1 - inside) / 64
    m = inside * (1 - inside) / variance
    t = stats.t.isf(0.025, 64 / (d**2).sum() - 1)
    root = t * math.sqrt(share * (1 - share) / m + t**2 / (4 * m**2))
    middle = share + t**2 / (2 * m)
    expected = (middle - root) / (1 + t**2 / m), (middle + root) / (1 + t**2 / m)
    estimate = tr.evaluate(truth, called, multilabel=True)["recall_micro"]
    assert estimate.value == share
    assert ends(estimate.interval) == pytest.approx(expected, rel=1e-9)


def test_micro_specificity_of_single_labels_is_a_share_of_errors():
    found = tr.evaluate_counts([[8, 1, 1], [2, 12, 6], [0, 1, 4]])
    low, high = ends(found["accuracy"].interval)
    expected = 1 - (1 - low) / 2, 1 - (1 - high) / 2
    assert ends(found["specificity_micro"].interval) == pytest.approx(expected)
    assert ends(found["recall_weighted"].interval) == pytest.approx((low, high))


def test_macro_specificity_worked_by_hand():
    # Rows 10, 20, 5: false calls 2, 2, 7 of 25, 15, 30; each counts 1/3 of 1/25, 1/15, 1/30.
    table = [[8, 1, 1], [2, 12, 6], [0, 1, 4]]
    each, errors = np.array([1 / 25, 1 / 15, 1 / 30]) / 3, np.array([2, 2, 7])
    missed = errors @ each
    widening = (stats.t.isf(0.025, 34) / stats.norm.isf(0.025)) ** 2
    variance = (errors @ each**2 - missed**2 / 35) * widening
    low, high = gamma_ends(missed, variance, math.sqrt(widening) / 45, level=0.95)
    estimate = tr.evaluate_counts(table)["specificity_macro"]
    assert estimate.value == pytest.approx(1 - missed)
    assert ends(estimate.interval) == pytest.approx((1 - high, 1 - low), rel=1e-9)
    assert estimate.interval.method == "gamma_of_errors"


@pytest.mark.parametrize("measure", ["precision", "f1", "jaccard"])
def test_the_influence_of_a_row_is_the_derivative_of_the_average(measure):
    # The variance of the weighted average is that of the delta method, by numerical steps.
    table = np.array([[60, 9, 4], [12, 40, 8], [5, 3, 20]])
    name = f"{measure}_weighted"

    def value(counts):
        tp, truth, called = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
        size = {"precision": called, "f1": (truth + called) / 2, "jaccard": truth + called - tp}
        return (truth * tp / size[measure]).sum() / truth.sum()

    step, slopes = 1e-5, np.zeros((3, 3))
    for at in np.ndindex(3, 3):
        up, down = table.astype(float), table.astype(float)
        up[at], down[at] = up[at] + step, down[at] - step
        slopes[at] = (value(up) - value(down)) / (2 * step)
    variance = (table * slopes**2).sum()
    n = table.sum()
    inside = (value(table) * n + 0.5) / (n + 1)
    floor = inside * (1 - inside) / (n + 1) * ((1 + inside) ** 2 / 2 if measure == "jaccard" else 1)
    assert variance > floor  # or the test would say nothing of the slopes
    m = inside * (1 - inside) / variance
    t = stats.t.isf(0.025, n - 1)
    centre = value(table)
    root = t * math.sqrt(centre * (1 - centre) / m + t**2 / (4 * m**2))
    high = (centre + t**2 / (2 * m) + root) / (1 + t**2 / m)
    found = tr.evaluate_counts(table, measures=(name,))[name]
    assert found.value == pytest.approx(centre)
    assert found.interval.high == pytest.approx(high, rel=1e-7)


TABLES = (
    st.integers(2, 6)
    .flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k
        )
    )
    .filter(lambda table: np.sum(table) > 1)
)


def intervals_of(cells, level=0.95):
    for measure in BY_FORMULA:
        flags = taken(cells, measure)
        if not flags.any():
            continue
        if measure == "specificity":
            yield specificity_interval(cells, flags, flags / flags.sum(), level=level)
        else:
            yield macro_interval(cells, measure, flags, level=level)
        if measure in {"precision", "f1", "jaccard"}:
            yield weighted_interval(cells, measure, flags, level=level)


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_every_interval_lies_in_its_range_and_grows_with_the_level(table):
    cells = cells_of(table)
    for narrow, wide in zip(intervals_of(cells, 0.9), intervals_of(cells, 0.99), strict=True):
        assert 0 <= wide.low <= narrow.low <= narrow.high <= wide.high <= 1


@settings(max_examples=40, deadline=None)
@given(TABLES, st.randoms(use_true_random=False))
def test_neither_the_names_of_the_classes_nor_equal_weights_matter(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    plain = [ends(one) for one in intervals_of(cells_of(table))]
    renamed = [ends(one) for one in intervals_of(cells_of(np.array(table)[np.ix_(order, order)]))]
    weighted = [ends(one) for one in intervals_of(cells_of(table, weight=3.0))]
    assert renamed == [pytest.approx(one, abs=1e-9) for one in plain]
    assert weighted == [pytest.approx(one, abs=1e-7) for one in plain]


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_every_average_contains_its_value(table):
    evaluation = tr.evaluate_counts(table)
    for name, estimate in evaluation.items():
        if not math.isnan(estimate.value):
            assert estimate.interval.covers(estimate.value), name


def test_weights_that_differ_widen():
    table = [[8, 1, 1], [2, 12, 6], [0, 1, 4]]
    uneven = np.where(np.arange(35) % 3 == 0, 5.0, 1.0)
    plain, weighted = cells_of(table), cells_of(table, weight=uneven)
    for one, other in zip(intervals_of(plain), intervals_of(weighted), strict=True):
        assert other.width > one.width


def test_weights_that_go_with_errors_count_by_their_variance():
    # 6 right of weight 1, 2 wrong of weight 2: as in `test_choose`, 6.25 and not Kish's 7.14.
    sums = Shares(np.array([6.0]), np.array([10.0]))
    found = sums.effective(Shares(np.array([6.0]), np.array([14.0])))
    assert found.size == pytest.approx([6.25])
    assert found.right == pytest.approx([3.75])
    alone = recall_interval(found, None, level=0.95)
    assert ends(alone) == pytest.approx(
        ends(recall_interval(sums, Shares(np.array([6.0]), np.array([14.0])), level=0.95))
    )


def test_undefined_classes_that_count_as_zero_do_not_vary():
    table = [[8, 2, 0], [1, 9, 0], [3, 2, 0]]  # the third class is never called
    plain = tr.evaluate_counts(table)["precision_macro"]
    filled = tr.evaluate_counts(table, zero_division=0.0)["precision_macro"]
    assert filled.value == pytest.approx(2 / 3 * plain.value)
    assert ends(filled.interval) == pytest.approx([2 / 3 * end for end in ends(plain.interval)])


def test_few_examples_per_class_break_the_promise_and_the_estimate_says_so():
    few, many = np.eye(20, dtype=int) * 3, np.eye(20, dtype=int) * 7
    for name in ("precision_macro", "precision_weighted", "f1_macro", "jaccard_macro"):
        estimate = tr.evaluate_counts(few)[name]
        assert has_code(estimate.notes, "not_kept_at_this_size"), name
        note = next(one for one in estimate.notes if "promise" in one)
        assert note.startswith("the promise is not kept at this size: with 20 classes and under ")
        assert not has_code(tr.evaluate_counts(many)[name].notes, "not_kept_at_this_size")
    assert not has_code(tr.evaluate_counts(few)["recall_macro"].notes, "not_kept_at_this_size")
    # Nine classes: F1 holds, precision does not.
    fewer = np.eye(9, dtype=int) * 3
    assert average_shortfalls(cells_of(fewer), "f1", "macro") == ()
    assert average_shortfalls(cells_of(fewer), "precision", "macro") != ()
    row = next(
        one for one in tr.evaluate_counts(few).to_rows() if one["measure"] == "precision_macro"
    )
    assert "not kept at this size" in row["notes"]


def test_weights_worth_few_examples_break_the_promise():
    table = [[8, 2], [2, 8]]
    uneven = np.where(np.arange(20) % 5 == 0, 30.0, 1.0)  # worth 5.1 examples
    for measure in ("recall", "f1"):
        assert average_shortfalls(cells_of(table, uneven), measure, "macro") != ()
        assert average_shortfalls(cells_of(table, 1.0), measure, "macro") == ()


def test_a_row_with_several_labels_is_as_many_decisions():
    # Four labels on each of 10 rows, one of them missed once: as sure as 40 single labels, nearly.
    truth = np.ones((10, 4), dtype=int)
    called = truth.copy()
    called[0, 0] = 0
    sets = cells_of_sets(truth, called)
    every = np.ones(4, dtype=bool)
    found = weighted_interval(sets, "f1", every, level=0.95)
    inside = (np.mean([18 / 19, 1, 1, 1]) * 40 + 0.5) / 41
    floor = inside * (1 - inside) / 41
    m = inside * (1 - inside) / floor
    assert (
        found.width
        < weighted_interval(cells_of([[10, 0], [1, 9]]), "f1", every[:2], level=0.95).width
    )
    assert m == pytest.approx(41)


@pytest.mark.parametrize("method", ["smoothed_delta", "delta", "percentile", "bca", "dirichlet"])
def test_other_methods_remain_on_request(method):
    table = [[8, 1, 1], [2, 12, 6], [0, 1, 4]]
    found = tr.evaluate_counts(table, cell_interval=method, random_state=1)["f1_macro"]
    assert found.interval.method == method
