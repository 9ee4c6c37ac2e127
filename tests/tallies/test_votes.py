"""Votes against figures worked by hand, and the laws that hold whatever the refits say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta

import truerisk as tr
from truerisk.evaluation.count_estimates import CountEstimates
from truerisk.evaluation.request import Request
from truerisk.intervals.agreement import agreement_interval
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.variance_components import components, refit_interval
from truerisk.measures.registry import find_measure
from truerisk.tallies.votes import NOT_JUDGED, CellPairs, Votes

# Six examples, two repetitions.  Of the four positives one is found once; of the two negatives one
# is called positive once.
TRUTH = np.array([1, 1, 1, 1, 0, 0])
CALLED = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]])


def votes_of(truth, called, groups=None, classes=2):
    votes = Votes(np.asarray(truth), tuple("abcdefgh"[:classes]), groups, len(called))
    for repetition, row in enumerate(called):
        votes.add(np.arange(len(truth)), np.asarray(row), repetition)
    return votes


def by_agreement(votes):
    cells = votes.cells()
    return replace(cells, judgements=replace(cells.judgements, rule="agreement"))


def estimates_of(votes, positive=1, cells=None):
    cells = votes.cells() if cells is None else cells
    counted = CountEstimates(
        cells, Request(random_state=1, pos_label="abcdefgh"[positive]).checked()
    )
    names = [*counted.overall(), *counted.averaged()]
    if len(votes.labels) == 2:
        names += counted.of_label(positive)
    return {one.measure: one for one in names}


def error_gradient(votes):
    cells = votes.cells()
    wrong = ~cells.right
    p = cells.totals[wrong].sum() / cells.totals.sum()
    return (wrong - p) / cells.totals.sum()


def components_of(votes):
    judgements = votes.cells().judgements
    influence = judgements.influence(error_gradient(votes))
    return components(influence, judgements.refits, judgements.groups)


def effective_binomial(p, m):
    return beta.ppf(0.025, m * p, m - m * p + 1), beta.ppf(0.975, m * p + 1, m - m * p)


@st.composite
def judged(draw, max_classes=4, most_groups=None):
    """Draw a truth of several classes, and what several repetitions call it."""
    classes = draw(st.integers(2, max_classes))
    n = draw(st.integers(classes, 25))
    repetitions = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth = rng.permutation(np.r_[np.arange(classes), rng.integers(classes, size=n - classes)])
    called = np.where(
        rng.random((repetitions, n)) < draw(st.sampled_from([0.0, 0.2, 0.6, 1.0])),
        rng.integers(classes, size=(repetitions, n)),
        truth,
    )
    groups = None if most_groups is None else rng.integers(most_groups, size=n)
    if groups is not None:
        groups = np.unique(groups, return_inverse=True)[1]
    return truth, called, groups, classes


def test_a_vote_is_its_share_of_an_example():
    cells = votes_of(TRUTH, CALLED).cells()
    assert cells.confusion().tolist() == [[1.5, 0.5], [1.5, 2.5]]
    assert cells.n == 6


def test_an_example_that_is_judged_more_often_counts_no_more():
    votes = Votes(np.array([0, 1]), ("a", "b"), repetitions=3)
    votes.add(np.array([0, 1]), np.array([0, 1]), 0)
    votes.add(np.array([0]), np.array([1]), 1)
    votes.add(np.array([0]), np.array([1]), 2)
    assert votes.cells().confusion() == pytest.approx(np.array([[1 / 3, 2 / 3], [0, 1]]))


def test_an_example_that_nobody_judged_is_not_there():
    votes = Votes(np.array([0, 1, 1]), ("a", "b")).add(np.array([0, 1]), np.array([0, 1]))
    assert votes.judged.tolist() == [True, True, False]
    assert votes.cells().n == 2
    assert votes.cells().confusion().tolist() == [[1, 0], [0, 1]]


def test_each_refit_has_a_number_of_its_own():
    votes = Votes(np.array([0, 1, 1]), ("a", "b"), repetitions=2)
    votes.add(np.array([0, 2]), np.array([0, 1]), 0)
    votes.add(np.array([1]), np.array([1]), 0)
    votes.add(np.arange(3), np.array([0, 1, 0]), 1)
    judgements = votes.cells().judgements
    assert judgements.refits.tolist() == [[0, 1, 0], [2, 2, 2]]
    assert judgements.n == 3
    assert judgements.repeated


def test_the_totals_may_be_those_of_other_calls():
    own = np.array([1, 1, 1, 1, 1, 0])
    votes = votes_of(TRUTH, CALLED)
    cells = votes.cells(valued_by=own)
    assert cells.confusion().tolist() == [[1, 1], [0, 4]]
    found = estimates_of(votes, cells=cells)["error_rate"]
    assert found.value == pytest.approx(1 / 6)
    assert found.interval.method == "variance_components"
    assert found.interval.disagreement > 0


def test_cells_beside_others_are_those_of_the_votes_and_share_their_judgements():
    votes = votes_of(TRUTH, CALLED)
    valued = votes.cells(valued_by=np.array([1, 1, 1, 1, 1, 0]))
    found, expected = votes.cells_beside(valued), votes.cells()
    assert found.totals.tolist() == expected.totals.tolist()
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.confusion().tolist() == expected.confusion().tolist()
    assert found.judgements is valued.judgements


def test_cells_beside_one_without_votes_leave_it_out():
    votes = votes_of([0, 1], [[0, 1], [0, 1]])
    valued = votes.cells(valued_by=np.array([1, 1]))
    assert len(valued.totals) == 3
    assert votes.cells_beside(valued).totals.tolist() == [1.0, 1.0]


def test_the_variance_of_the_error_rate_worked_by_hand():
    # Wrong: q = (0, 0, ½, 1, 0, ½), p = 2/6.  Mean of q (1 − q) = (¼ + ¼)/6 = 1/12, so that
    # u = 2 · (1/12) / (2/9) = ¾ and V = (2/9)/6 · (1 + ¾) = 7/108.
    parts = components_of(votes_of(TRUTH, CALLED))
    assert parts.disagreement == pytest.approx(3 / 4)
    assert parts.agreement == pytest.approx(7 / 108)


def test_the_interval_of_the_error_rate_worked_by_hand():
    votes = votes_of(TRUTH, CALLED)
    found = estimates_of(votes, cells=by_agreement(votes))["error_rate"]
    assert found.value == pytest.approx(1 / 3)
    ends = effective_binomial(1 / 3, 6 / (1 + 3 / 4))
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)
    assert found.interval.method == "agreement_binomial"


def test_recall_has_the_positives_as_its_own_denominator():
    # Found: q = (1, 1, ½, 0), p = 5/8; u = 2 · (1/16) / (15/64) = 8/15; m = 4 / (1 + 8/15) = 60/23.
    votes = votes_of(TRUTH, CALLED)
    found = estimates_of(votes, cells=by_agreement(votes))["recall"]
    assert (found.value, found.n) == pytest.approx((5 / 8, 4))
    ends = effective_binomial(5 / 8, 60 / 23)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_precision_has_the_votes_for_positive_as_its_own_denominator():
    # Called positive: 1, 1, ½, ½ of an example, of which the last is a negative: p = 5/6, n = 3.
    # z of the two that waver: (1/6, 0) and (−5/6, 0), variances 1/72 and 25/72.
    # u = (26/72) / (3 · 5/36) = 13/15.
    votes = votes_of(TRUTH, CALLED)
    found = estimates_of(votes, cells=by_agreement(votes))["precision"]
    assert (found.value, found.n) == pytest.approx((5 / 6, 3))
    ends = effective_binomial(5 / 6, 3 / (1 + 13 / 15))
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_disagreement_is_measured_where_an_example_was_judged_twice():
    # Examples 0 and 1 are judged twice, 2 and 3 once, all of class a.
    votes = Votes(np.zeros(4, dtype=int), ("a", "b"), repetitions=2)
    votes.add(np.arange(4), np.array([0, 1, 0, 1]), 0)
    votes.add(np.arange(2), np.array([1, 1]), 1)
    assert votes.cells().judgements.cells[1].tolist() == [1, 1, NOT_JUDGED, NOT_JUDGED]
    # Wrong: q = (½, 1, 0, 1), p = 5/8.  Of the two: mean squares of g·4 are (9 + 25)/128 and 9/64,
    # within-variances ½ · 1 and 0.
    disagreement = components_of(votes).disagreement
    assert disagreement == pytest.approx(min(1, 0.5 / (34 / 128 + 9 / 64)))
    once = Votes(np.zeros(4, dtype=int), ("a", "b")).add(np.arange(4), np.array([0, 1, 0, 1]))
    assert components_of(once).agreement == pytest.approx(1 / 16)
    assert not once.cells().judgements.repeated


def test_the_sums_over_groups_are_the_units():
    # Two groups of three, p = 1/3: the errors of a group less 1 are −1 and 0 in the first
    # repetition, 0 and 1 in the second.
    groups = np.array([0, 0, 0, 1, 1, 1])
    votes = votes_of(TRUTH, CALLED, groups)
    judgements, parts = votes.cells().judgements, components_of(votes)
    # Mean squares (1 + 0)/2 and (0 + 1)/2; variances ½ and ½; all over 6²; G/(G − 1) = 2.
    assert parts.disagreement == pytest.approx(1.0)
    assert parts.agreement == pytest.approx(2 * (1 + 1) * (1 / 2 + 1 / 2) / 36)
    assert (judgements.units, judgements.unit, judgements.n) == (2, 3.0, 6)


def test_groups_that_some_repetitions_leave_out_are_judged_by_the_others():
    groups = np.array([0, 0, 0, 1, 1, 1])
    votes = Votes(np.array(TRUTH), ("no", "yes"), groups, 3)
    votes.add(np.arange(6), np.array(CALLED[0]), 0)
    votes.add(np.arange(3), np.array(CALLED[1])[:3], 1)  # the first group only
    judgements = votes.cells().judgements
    assert judgements.totals(4).sum() == pytest.approx(6)
    whole = votes_of(TRUTH, CALLED, groups).cells().judgements
    assert (judgements.units, judgements.repeated) == (whole.units, True)
    parts = components_of(votes)
    assert np.isfinite(parts.agreement)
    assert 0 <= parts.disagreement <= 1


def test_a_typical_group_is_that_of_a_typical_example():
    groups = np.array([0, 1, 1, 1, 1, 1])
    judgements = votes_of(TRUTH, CALLED, groups).cells().judgements
    assert judgements.unit == pytest.approx((1 * 1 + 5 * 5) / 6)


def test_groups_that_always_agree_have_no_disagreement():
    groups = np.array([0, 0, 0, 1, 1, 1])
    votes = votes_of(TRUTH, [CALLED[0]] * 3, groups)
    parts = components_of(votes)
    once = votes_of(TRUTH, CALLED[:1], groups)
    assert parts.disagreement == pytest.approx(0, abs=1e-9)
    assert parts.agreement == pytest.approx(components_of(once).independent)


@settings(max_examples=20)
@given(judged(max_classes=2))
def test_error_rate_and_accuracy_have_the_agreement_interval(case):
    truth, called, _, _ = case
    votes = votes_of(truth, called)
    found = estimates_of(votes, cells=by_agreement(votes))
    wrong = called != truth
    for name, losses in (("error_rate", wrong), ("accuracy", ~wrong)):
        expected = agreement_interval(losses)
        interval = found[name].interval
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
        assert found[name].value == pytest.approx(losses.mean())


@settings(max_examples=20)
@given(judged(max_classes=2))
def test_precision_and_recall_have_the_agreement_interval_of_what_they_count(case):
    truth, called, _, _ = case
    votes = votes_of(truth, called)
    found = estimates_of(votes, cells=by_agreement(votes))
    counted = {
        "recall": np.broadcast_to(truth == 1, called.shape),
        "precision": called == 1,
        "specificity": np.broadcast_to(truth == 0, called.shape),
    }
    for name, which in counted.items():
        if not which.any():
            assert not found[name].is_defined
            continue
        expected = agreement_interval((called == truth).astype(float), counted=which)
        interval = found[name].interval
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@settings(max_examples=20)
@given(judged())
def test_equal_repetitions_are_as_many_independent_examples(case):
    truth, called, _, classes = case
    votes = votes_of(truth, [called[0]] * 3, classes=classes)
    found = estimates_of(votes, cells=by_agreement(votes))["error_rate"].interval
    exact = binomial_interval(int((called[0] != truth).sum()), len(truth))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert components_of(votes).disagreement == pytest.approx(0, abs=1e-9)


@settings(max_examples=10)
@given(judged())
def test_equal_repetitions_say_what_evaluate_says_of_one(case):
    truth, called, _, classes = case
    votes = votes_of(truth, [called[0]] * 3, classes=classes)
    found = estimates_of(votes, cells=by_agreement(votes))
    names = np.array(list("abcdefgh"))
    plain = tr.evaluate(
        names[truth], names[called[0]], pos_label="b", cell_interval="smoothed_delta"
    )
    for name in set(found) & set(plain):
        assert found[name].value == pytest.approx(plain[name].value, nan_ok=True), name
        ends = (plain[name].interval.low, plain[name].interval.high)
        assert (found[name].interval.low, found[name].interval.high) == pytest.approx(ends), name


@settings(max_examples=20)
@given(n=st.integers(2, 30))
def test_examples_on_which_the_refits_never_agree_are_worth_half(n):
    votes = votes_of(np.zeros(n, dtype=int), [np.zeros(n, dtype=int), np.ones(n, dtype=int)])
    found = estimates_of(votes, cells=by_agreement(votes))["error_rate"].interval
    assert (found.low, found.high) == pytest.approx(effective_binomial(0.5, n / 2))


@settings(max_examples=15)
@given(judged())
def test_every_interval_contains_its_value_and_lies_in_the_range(case):
    truth, called, _, classes = case
    _check_intervals(estimates_of(votes_of(truth, called, classes=classes)))


# Without errors a likelihood ratio is infinite.
FAULTLESS = np.array([1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1])
GROUPS = np.array([1, 5, 1, 5, 2, 2, 4, 5, 4, 3, 0, 4, 4, 2, 2, 1, 5, 1, 2, 1])


@settings(max_examples=15)
@given(judged(most_groups=6))
@example((FAULTLESS, FAULTLESS[None, :], GROUPS, 2))
def test_every_interval_of_groups_contains_its_value_and_lies_in_the_range(case):
    truth, called, groups, classes = case
    _check_intervals(estimates_of(votes_of(truth, called, groups, classes)))


def _check_intervals(found):
    for name, one in found.items():
        low, high = find_measure(name.rsplit("_m", 1)[0].removesuffix("_weighted")).measure_range
        assert low <= one.interval.low <= one.interval.high <= high, name
        assert one.interval.width > 0, name
        if one.is_defined:
            assert one.interval.low - 1e-12 <= one.value <= one.interval.high + 1e-12, name


@settings(max_examples=20)
@given(judged(), st.integers(2, 5))
def test_error_rate_and_accuracy_have_their_interval_of_components(case, folds):
    truth, called, _, classes = case
    parts = np.stack([np.roll(np.arange(len(truth)), 3 * r) % folds for r in range(len(called))])
    votes = Votes(truth, tuple("abcdefgh"[:classes]), None, len(called))
    for r, row in enumerate(called):
        for k in range(folds):
            votes.add(np.flatnonzero(parts[r] == k), row[parts[r] == k], r)
    found = estimates_of(votes)
    if len(called) == 1:
        assert found["error_rate"].interval.method == "pooled_binomial"
        return
    for name, losses in (("error_rate", called != truth), ("accuracy", called == truth)):
        expected = refit_interval(losses, parts)
        interval = found[name].interval
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_f1_is_that_of_its_share_of_components():
    # J = TP/(TP + FP + FN): 2.5 of 4.5, and its transform 2J/(1 + J)
    found = estimates_of(votes_of(TRUTH, CALLED))
    jaccard, f1 = found["jaccard"].interval, found["f1"].interval
    assert found["jaccard"].value == pytest.approx(2.5 / 4.5)
    for end in ("low", "high"):
        share = getattr(jaccard, end)
        assert getattr(f1, end) == pytest.approx(2 * share / (1 + share))


def test_with_few_positives_the_mcc_reaches_as_far_as_precision_and_recall():
    truth = np.repeat([1, 0], [5, 40])
    called = np.tile(truth, (2, 1))
    called[:, 0], called[0, 7], called[1, 9] = 0, 1, 1
    found = estimates_of(votes_of(truth, called))
    ends = [found[name].interval for name in ("precision", "recall")]
    mcc = found["matthews_correlation"].interval
    assert mcc.low <= np.sqrt(ends[0].low * ends[1].low)
    assert mcc.high >= np.sqrt(ends[0].high * ends[1].high) - 1e-12


@settings(max_examples=10)
@given(judged(), st.randoms(use_true_random=False))
def test_neither_the_order_of_examples_nor_that_of_refits_matters(case, random):
    truth, called, _, classes = case
    rows, columns = list(range(len(called))), list(range(len(truth)))
    random.shuffle(rows)
    random.shuffle(columns)
    one = estimates_of(votes_of(truth, called, classes=classes))
    other = estimates_of(votes_of(truth[columns], called[rows][:, columns], classes=classes))
    _check_equal(one, other)


@settings(max_examples=10)
@given(judged(), st.randoms(use_true_random=False))
def test_the_names_of_the_labels_do_not_matter(case, random):
    truth, called, _, classes = case
    renamed = list(range(classes))
    random.shuffle(renamed)
    renamed = np.array(renamed)
    one = estimates_of(votes_of(truth, called, classes=classes))
    votes = votes_of(renamed[truth], renamed[called], classes=classes)
    _check_equal(one, estimates_of(votes, positive=int(renamed[1])))


def _check_equal(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert other[name].value == pytest.approx(one[name].value, nan_ok=True), name
        ends = (one[name].interval.low, one[name].interval.high)
        assert (other[name].interval.low, other[name].interval.high) == pytest.approx(ends), name


def test_merged_pairs_are_those_of_merged_cells():
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 6, (4, 80))
    refits = np.arange(4)[:, None] * 5 + rng.integers(0, 5, (4, 80))
    outcome = np.array([2, 0, 1, 2, 0, 2])
    merged = CellPairs.of(cells, refits).merged(outcome)
    counted = CellPairs.of(outcome[cells], refits)
    for name in ("repetitions", "totals", "sizes", "moved", "pairs", "split"):
        assert np.array_equal(getattr(merged, name), getattr(counted, name)), name
