import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.neighbors import KNeighborsClassifier

from truerisk.errors import InputError
from truerisk.estimation.refits.jackknife import JackknifeTally


@st.composite
def refits(draw):
    """Classes of n examples, how each refit without one calls them all, and the model of all."""
    n = draw(st.integers(2, 8))
    codes = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return draw(codes), draw(st.lists(codes, min_size=n, max_size=n)), draw(codes)


def tally_of(y, predictions, which=None):
    tally = JackknifeTally(y, 3)
    for i in range(len(y)) if which is None else which:
        tally.add(i, predictions[i])
    return tally


def test_it_is_right_by_hand():
    # Wrong calls: refit 0 of {0, 3}, 1 of {}, 2 of {2, 3}, 3 of {1}; the model of all of {3}.
    # Left out: 0 and 2 of 4; everywhere: (2 + 0 + 2 + 1)/16; bias 1/2 − 5/16; value 1/4 + 3/16.
    y = [0, 0, 1, 1]
    predictions = [[1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1]]
    found = tally_of(y, predictions).errors([0, 0, 1, 0])
    assert (found.apparent, found.left_out, found.everywhere) == (0.25, 0.5, 5 / 16)
    assert (found.bias, found.value) == (3 / 16, 7 / 16)
    assert found.wrong.tolist() == [1, 0, 1, 0]


@given(refits())
def test_it_is_the_jackknife_of_the_bootstraps_optimism(given_refits):
    # Efron 1982: R(P) = Σⱼ (1/n − Pⱼ) Qⱼ(P) is 0 at the sample itself, so that its jackknife is
    # (n − 1) times its mean over the samples that lack one example, where Pⱼ = 1/(n − 1).
    y, predictions, by_all = given_refits
    n = len(y)
    optimisms = []
    for i in range(n):
        wrong = np.array(predictions[i]) != y
        share = np.where(np.arange(n) == i, 0.0, 1 / (n - 1))
        optimisms.append(((1 / n - share) * wrong).sum())
    expected = (n - 1) * np.mean(optimisms)
    assert tally_of(y, predictions).errors(by_all).bias == pytest.approx(expected, abs=1e-12)


@given(refits())
def test_it_differs_from_leave_one_out_by_what_the_refits_change(given_refits):
    y, predictions, by_all = given_refits
    found = tally_of(y, predictions).errors(by_all)
    loo = np.mean([predictions[i][i] != y[i] for i in range(len(y))])
    change = found.apparent - np.mean(np.array(predictions) != y)
    assert found.left_out == pytest.approx(loo, abs=1e-15)
    assert found.value == pytest.approx(loo + change, abs=1e-12)


@given(refits())
def test_where_no_refit_changes_its_mind_all_three_agree(given_refits):
    y, _, by_all = given_refits
    found = tally_of(y, [by_all] * len(y)).errors(by_all)
    assert found.value == found.left_out == found.apparent


def test_a_nearest_neighbour_is_judged_as_by_leave_one_out_nearly():
    # Each refit is wrong about at most the example it lacks: everywhere = left_out / n.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    tally = JackknifeTally(y, 2)
    for i in range(60):
        kept = np.arange(60) != i
        tally.add(i, KNeighborsClassifier(1).fit(X[kept], y[kept]).predict(X))
    found = tally.errors(y)
    assert found.left_out > 0.3
    assert found.value == pytest.approx(found.left_out * 59 / 60, abs=1e-12)


@settings(max_examples=30)
@given(refits(), st.integers(0, 8))
def test_parts_merge_to_the_whole(given_refits, cut):
    y, predictions, by_all = given_refits
    first, second = range(min(cut, len(y))), range(min(cut, len(y)), len(y))
    merged = tally_of(y, predictions, second)
    merged.merge(tally_of(y, predictions, first))
    whole = tally_of(y, predictions).errors(by_all)
    parts = merged.errors(by_all)
    assert (parts.value, parts.left_out) == (whole.value, whole.left_out)
    assert parts.wrong.tolist() == whole.wrong.tolist()


def test_the_interval_is_exact_at_n_examples():
    y = [0, 0, 1, 1]
    predictions = [[1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1]]
    estimate = tally_of(y, predictions).errors([0, 0, 1, 0]).as_estimate(0.9)
    x = 4 * 7 / 16
    assert estimate.interval.low == pytest.approx(beta.ppf(0.05, x, 5 - x), rel=1e-9)
    assert estimate.interval.high == pytest.approx(beta.ppf(0.95, x + 1, 4 - x), rel=1e-9)
    assert (estimate.measure, estimate.method, estimate.n) == ("error_rate", "jackknife", 4)
    assert estimate.target == "the learner at this sample size"
    assert "bias of the apparent error 0.1875" in estimate.notes[0]


def test_a_value_outside_the_range_is_told_and_its_interval_is_not():
    # Every refit is wrong about all others and right about its own: 0 + 0 − 2/4
    found = tally_of([0, 0], [[0, 1], [1, 0]]).errors([0, 0])
    assert found.value == -0.5
    assert found.as_estimate().interval.low == 0.0


def test_what_is_not_the_jackknife_is_refused():
    tally = JackknifeTally([0, 1], 2)
    tally.add(0, [0, 1])
    with pytest.raises(InputError, match="must come after all 2 refits; got 1"):
        tally.errors([0, 1])
    with pytest.raises(InputError, match="`left_out` must be a new example; got 0 twice"):
        tally.add(0, [0, 1])
    with pytest.raises(InputError, match=r"`left_out` must lie in \[0, 1\]; got 2"):
        tally.add(2, [0, 1])
    with pytest.raises(InputError, match="an example left out twice"):
        tally.merge(tally_of([0, 1], [[0, 1]], [0]))
    with pytest.raises(InputError, match="tally of the same examples"):
        tally.merge(JackknifeTally([0, 0], 2))
    with pytest.raises(InputError, match="`predicted` must hold"):
        tally.add(1, [0])
