import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.tallies.ranking import rank
from truerisk.tallies.score_histogram import ScoreHistogram

SHARED = ScoreHistogram()  # 256 MiB: made once, emptied before each use


def histogram_of(scores, positive):
    SHARED.counts[:] = 0
    SHARED.rows = 0
    SHARED.add(scores, positive)
    return SHARED.ranking()


near_one = st.builds(lambda steps: 1 + steps * 2.0**-18, st.integers(-40, 40))
anything = st.floats(allow_nan=False)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            near_one | anything | st.sampled_from([np.inf, -np.inf, -0.0, -1e-60]), st.booleans()
        ),
        min_size=2,
        max_size=40,
    ),
    st.sampled_from([np.float32, np.float64]),
)
def test_the_bounds_hold_and_the_counts_are_exact_at_the_thresholds(pairs, kind):
    scores, positive = (np.array(column) for column in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        scores = scores.astype(kind)
    found, exact = histogram_of(scores, positive), rank(scores, positive)
    called = scores >= found.thresholds[:, None]
    np.testing.assert_array_equal(found.tp, (called & positive).sum(axis=1))
    np.testing.assert_array_equal(found.fp, (called & ~positive).sum(axis=1))
    if np.isnan(exact.auc):
        assert np.isnan(found.auc_bounds).all()
    else:
        low, high = found.auc_bounds
        assert low - 1e-15 <= exact.auc <= high + 1e-15
        assert 0 <= low <= found.auc <= high <= 1


def test_the_error_bound_worked_by_hand():
    # all four in one bucket: each of the 4 pairs may be won or lost, so ½ ± ½
    scores = np.array([1.0, 1.0 + 2**-20, 1.0 + 2**-19, 1.0 + 2**-18])
    found = histogram_of(scores, np.array([True, False, True, False]))
    assert found.auc == 0.5
    assert found.auc_bounds == (0.0, 1.0)
    # one pair of four shares a bucket: ½ · 1/4 on either side
    scores = np.array([3.0, 1.0, 1.0 + 2**-20, 0.5])
    found = histogram_of(scores, np.array([True, True, False, False]))
    assert found.auc == 0.875
    assert found.auc_bounds == (0.75, 1.0)
    assert not found.exact
    assert not found.complete


def test_histograms_add_up():
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=200), rng.random(200) < 0.5
    whole = histogram_of(scores, positive)
    other = ScoreHistogram()
    other.add(scores[:80], positive[:80])
    SHARED.counts[:] = 0
    SHARED.rows = 0
    SHARED.add(scores[80:], positive[80:])
    SHARED.merge(other)
    assert SHARED.rows == 200
    assert str(SHARED.ranking().summary) == str(whole.summary)
