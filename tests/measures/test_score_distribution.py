import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.measures.score_distribution import distribution_of, round_edges, score_distribution
from truerisk.measures.thresholds import sweep
from truerisk.tallies.ranking import rank

numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_counts_worked_by_hand():
    found = score_distribution([0, 0, 1, 0, 1, 1], [0.0, 0.1, 0.25, 0.5, 0.75, 1.0], bins=4)
    assert found.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert found.negatives.tolist() == [2, 0, 1, 0]
    assert found.positives.tolist() == [0, 1, 0, 2]
    assert found.infinite == 0


def test_an_edge_is_the_number_that_it_is_written_as():
    # 3 × 0.1 is not 0.3, and 12 × 0.025 is not either.
    assert 0.3 in round_edges(0.0, 1.0, 10).tolist()
    assert 0.3 in round_edges(0.0, 1.0, 40).tolist()
    found = score_distribution([1, 0], [0.3, 0.95], bins=10)
    assert found.positives[found.edges[:-1].tolist().index(0.3)] == 1


@pytest.mark.parametrize(
    ("low", "high", "bins", "edges"),
    [
        (0.03, 0.88, 10, np.arange(10) / 10),
        (-3.2, 4.1, 9, np.arange(-4, 6)),
        (-3.2, 4.1, 8, [-4, -2, 0, 2, 4, 6]),
        (120, 180, 3, [120, 140, 160, 180]),
        (121, 180, 2, [100, 150, 200]),
        (-1, 1, 2, [-1, 0, 1]),
        (-0.1, 70, 2, [-100, 0, 100]),
    ],
)
def test_edges_are_round_and_as_many_as_fit(low, high, bins, edges):
    assert round_edges(low, high, bins).tolist() == list(edges)


@settings(max_examples=60)
@given(numbers, numbers, st.integers(2, 40))
def test_edges_ascend_hold_the_range_and_are_at_most_so_many(one, other, bins):
    low, high = min(one, other), max(one, other)
    edges = round_edges(low, high, bins)
    assert 2 <= len(edges) <= bins + 1
    assert np.isfinite(edges).all()
    assert np.all(np.diff(edges / 2) > 0)
    assert edges[0] <= low
    assert high <= edges[-1]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(-30, 30), st.booleans()), min_size=1, max_size=50),
    st.integers(2, 40),
)
def test_counts_are_those_of_a_histogram(some, bins):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    scores = scores / 8  # exact in binary
    found = score_distribution(truth.astype(bool), scores, bins=bins)
    for counts, chosen in ((found.positives, truth), (found.negatives, ~truth)):
        expected, _ = np.histogram(scores[chosen], bins=found.edges)
        np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize(
    "scores",
    [
        [0.5, 0.5],
        [0.0, 0.0],
        [1e300, -1e300],
        [1.7e308, -1.7e308],
        [1.7e308, 1.7e308],
        [5e-324, 0.0],
        [1e15, 1e15 + 1],
        [0.5, np.nextafter(0.5, 1)],
    ],
)
def test_scores_of_any_size_are_counted(scores):
    found = score_distribution([0, 1], scores)
    assert (found.negatives.sum(), found.positives.sum()) == (1, 1)
    assert np.isfinite(found.edges).all()


def test_infinite_scores_are_told_and_not_drawn():
    found = score_distribution([0, 1, 1, 0], [-np.inf, np.inf, 0.25, 0.75])
    assert found.infinite == 2
    assert (found.negatives.sum(), found.positives.sum()) == (1, 1)
    assert (found.edges[0], found.edges[-1]) == (0.24, 0.76)
    nothing = score_distribution([0, 1], [-np.inf, np.inf])
    assert (nothing.infinite, nothing.positives.sum()) == (2, 0)


def test_a_thinned_table_gives_nearly_the_same_counts():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=80_000)
    truth = rng.random(80_000) < 0.3
    found = distribution_of(sweep(rank(scores, truth)))
    expected, _ = np.histogram(scores[truth], bins=found.edges)
    assert np.abs(found.positives - expected).max() <= truth.sum() / 4000
    assert found.positives.sum() == truth.sum()


def test_too_few_bins_are_refused():
    with pytest.raises(InputError, match=r"`bins` must lie in \[2, 10000\]; got 1"):
        score_distribution([0, 1], [0.1, 0.2], bins=1)


def test_both_classes_are_drawn_as_shares_of_their_own():
    ax = Figure().subplots()
    found = score_distribution([0, 0, 0, 1], [0.1, 0.1, 0.2, 0.9])
    assert found.plot(ax) is ax
    heights = [patch.get_data().values for patch in ax.patches]
    assert [total.sum() for total in heights] == pytest.approx([1, 1])
    assert [text.get_label() for text in ax.patches] == ["negative", "positive"]
