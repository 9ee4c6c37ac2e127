import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.svm.batch import features as batch_features
from truerisk.svm.batch import gram as batch_gram
from truerisk.svm.batch.features import FEW, LANES, PIECE, Table, batch_decisions, unsure
from truerisk.svm.dense.features import solve_features


def problem(n, d, seed=0, replicates=12, cost=1.0):
    """Two overlapping classes, and exponential bounds whose mean is the cost.

    libsvm keeps inner products in single precision; those of multiples of 1/32 it keeps exactly.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    features = np.round(32 * (rng.normal(size=(n, d)) + 0.5 * y[:, None])) / 32
    weights = rng.exponential(size=(replicates, n))
    return features, y, cost * weights / weights.mean(axis=1, keepdims=True)


def exactly(features, y, train, bounds):
    """Solve one SVM after the other, the way of `low_rank`."""
    upper = np.zeros((len(bounds), len(y)))
    upper[:, train] = bounds
    return np.array([solve_features(features, y, row).decision for row in upper])


def assert_same_sides(ours, exact):
    clear = np.abs(exact) > 1e-6
    np.testing.assert_array_equal(np.sign(ours)[clear], np.sign(exact)[clear])


@pytest.fixture
def finished(monkeypatch):
    """Count the SVMs that are finished exactly."""
    counted = []
    finish = batch_features._Batch.finish  # noqa: SLF001  (what is counted is private)

    def count(self, values, bounds, which):
        counted.extend(which)
        finish(self, values, bounds, which)

    monkeypatch.setattr(batch_features._Batch, "finish", count)  # noqa: SLF001
    return counted


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("n", "d"), [(30, 1), (60, 3), (120, 12)])
def test_signs_are_those_of_libsvm(n, d, cost):
    features, y, bounds = problem(n, d, cost=cost)
    train = np.flatnonzero(np.arange(n) % 5)
    bounds = np.ascontiguousarray(bounds[:, train])
    ours = batch_decisions(features, y, train, bounds)
    for values, upper in zip(ours, bounds, strict=True):
        svc = SVC(kernel="linear", C=1.0, tol=1e-9, max_iter=10**6)
        theirs = svc.fit(features[train], y[train], sample_weight=upper).decision_function(features)
        assert_same_sides(values, theirs)
        np.testing.assert_allclose(values, theirs, atol=1e-5)


def test_two_points_by_hand():
    # x = 0 and 2: with room enough w = 1 and b = -1, which takes α = w/2 = 1/2.  With a bound U
    # below that both are at it, w = 2U, and b is anywhere in [1 - 4U, -1]: the middle is -2U.
    features, y = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    bounds = np.array([[1.0, 1.0], [9.0, 0.6], [0.25, 0.25], [0.1, 0.1], [0.1, 9.0], [7.0, 7.0]])
    expected = [[-1.0, 1.0], [-1.0, 1.0], [-0.5, 0.5], [-0.2, 0.2]]
    ours = batch_decisions(features, y, np.arange(2), bounds)
    np.testing.assert_allclose(ours[:4], expected, atol=1e-8)
    # Bounds .1 and 9: Σyα = 0 has both at α = .1, w = .2, and the second is on its margin.
    np.testing.assert_allclose(ours[4], [0.6, 1.0], atol=1e-8)


@st.composite
def problems(draw):
    """Tables in all units, of all ranks, on lattices; bounds of 0 and of all sizes among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(4, 60)), draw(st.integers(1, 8))
    features = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["normal", "lattice", "units", "equal columns", "copies", "far"]))
    if kind == "lattice":
        features = np.round(features)
    elif kind == "units":
        features *= 10.0 ** rng.integers(-3, 4, size=d)
    elif kind == "equal columns":
        features = np.column_stack([features, features, np.full(n, 7.0)])
    elif kind == "copies":
        features[n // 2 :] = features[: n - n // 2]
    elif kind == "far":
        features += 1e4
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if draw(st.booleans()):
        y = np.where(features[:, 0] > np.median(features[:, 0]), 1.0, -1.0)
    y[:4] = 1.0, -1.0, 1.0, -1.0
    train = np.unique(np.append(np.arange(4), np.flatnonzero(rng.random(n) < 0.8)))
    shape = (FEW + 4, len(train))
    weights = draw(
        st.sampled_from(
            [
                rng.exponential(size=shape),
                rng.poisson(1.0, size=shape).astype(float),
                10.0 ** rng.uniform(-6.0, 6.0, size=shape),
                np.ones(shape),
            ]
        )
    )
    return features, y, train, draw(st.sampled_from([0.01, 1.0, 100.0])) * weights


@settings(max_examples=30)
@given(problem=problems())
def test_sides_are_those_of_the_exact_optimum_on_any_table(problem):
    assert_same_sides(batch_decisions(*problem), exactly(*problem))


def test_a_loose_answer_is_finished_where_it_is_unsure(finished, monkeypatch):
    monkeypatch.setattr(batch_features, "GRAM_EXAMPLES", 0)
    features, y, bounds = problem(60, 3)
    train = np.arange(60)
    loose = batch_decisions(features, y, train, bounds, tolerance=1.0)
    exact = exactly(features, y, train, bounds)
    assert 0 < len(finished) < 12
    np.testing.assert_array_equal(loose[finished], exact[finished])
    assert_same_sides(loose, exact)


def test_hardly_any_machine_needs_the_exact_finish(finished):
    features, y, bounds = problem(100, 10, replicates=PIECE)
    batch_decisions(features, y, np.arange(100), bounds)
    assert len(finished) <= PIECE // 100


def test_an_example_that_the_gap_allows_on_both_sides_is_unsure():
    # √(2 · .02) = .2: with a reach of 1 values beyond .2 are sure, and beyond .25 with a slip.
    values, reach = np.array([[0.3, -0.21], [0.3, -0.19], [0.3, -0.21]]), np.ones(2)
    gaps, slips = np.full(3, 0.02), np.array([0.0, 0.0, 0.05])
    assert unsure(values, gaps, slips, reach).tolist() == [False, True, True]


def test_no_example_is_farther_from_one_trained_on_than_its_reach():
    features, _, _ = problem(30, 3)
    train = np.arange(0, 30, 2)
    features = features * [1.0, 100.0, 0.01] + 7.0
    distances = np.linalg.norm(features[:, None] - features[train], axis=2)
    reach = Table.of(features, train).reach
    assert np.all(reach >= distances.max(axis=1))
    assert np.all(reach <= 3.0 * distances.max())


@pytest.mark.parametrize(("gap", "slip"), [(np.inf, 0.0), (0.0, np.inf), (np.nan, 0.0)])
def test_what_is_not_known_is_unsure(gap, slip):
    assert unsure(np.ones((1, 2)), np.array([gap]), np.array([slip]), np.zeros(2)).all()


def test_workers_change_no_bit():
    features, y, bounds = problem(30, 3, replicates=PIECE + LANES + 1)
    train = np.arange(25)
    one, two = (
        batch_decisions(features, y, train, bounds[:, :25], workers=workers) for workers in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_the_order_of_svms_and_examples_does_not_matter():
    features, y, bounds = problem(50, 4, replicates=2 * LANES)
    rng = np.random.default_rng(1)
    order, shuffled = rng.permutation(len(bounds)), rng.permutation(50)
    here = batch_decisions(features, y, np.arange(50), bounds)
    there = batch_decisions(
        features[shuffled], y[shuffled], np.arange(50), bounds[order][:, shuffled]
    )
    np.testing.assert_allclose(there, here[order][:, shuffled], atol=1e-5)


def test_what_is_left_out_is_as_if_not_trained_on():
    features, y, bounds = problem(40, 3)
    train = np.arange(30)
    left_out = np.where(np.arange(40) < 30, bounds, 0.0)
    whole = batch_decisions(features, y, np.arange(40), left_out)
    part = batch_decisions(features, y, train, bounds[:, :30])
    np.testing.assert_allclose(whole, part, atol=1e-5)


def test_one_class_is_what_the_machine_says():
    features, y, bounds = problem(20, 2)
    bounds[0, y < 0.0] = 0.0
    bounds[1, y > 0.0] = 0.0
    bounds[2] = 0.0
    ours = batch_decisions(features, y, np.arange(20), bounds)
    np.testing.assert_array_equal(ours[:3], np.repeat([[1.0], [-1.0], [0.0]], 20, axis=1))
    assert_same_sides(ours[3:], exactly(features, y, np.arange(20), bounds[3:]))


def test_one_class_for_all_svms():
    features, _, bounds = problem(6, 2)
    np.testing.assert_array_equal(
        batch_decisions(features, np.ones(6), np.arange(6), bounds), np.ones((12, 6))
    )


def test_constant_features_leave_the_bias():
    _, y, bounds = problem(20, 1)
    features, train = np.full((20, 2), 3.0), np.arange(20)
    ours = batch_decisions(features, y, train, bounds)
    heavier = np.sign(bounds @ y)
    np.testing.assert_allclose(ours, np.repeat(heavier[:, None], 20, axis=1), atol=1e-6)


@pytest.mark.parametrize("limit", ["FEW", "LARGEST"])
def test_few_svms_and_large_tables_go_one_by_one(monkeypatch, limit):
    features, y, bounds = problem(30, 2)
    monkeypatch.setattr(batch_features, limit, {"FEW": 99, "LARGEST": 0}[limit])
    ours = batch_decisions(features, y, np.arange(30), bounds)
    np.testing.assert_array_equal(ours, exactly(features, y, np.arange(30), bounds))


@pytest.mark.parametrize("by_paths", [False, True])
@pytest.mark.parametrize("objecting", [0.005, 1.0])
@pytest.mark.parametrize("zeros", [False, True])
def test_those_on_one_side_are_left_out_until_they_object(monkeypatch, by_paths, objecting, zeros):
    # With many objections allowed even some on the margin are left out, and object.
    features, y, bounds = problem(60, 9, seed=3, replicates=300)
    features += 0.4 * y[:, None]
    bounds = np.where(np.arange(18000).reshape(300, 60) % 3 > 0, bounds, 0.0) if zeros else bounds
    monkeypatch.setattr(batch_gram, "OBJECTING", objecting)
    monkeypatch.setattr(batch_features, "GRAM_EXAMPLES", 60 if by_paths else 0)
    shares, problems = [], batch_features._Batch.problems  # noqa: SLF001

    def counted(batch, *args, is_rough=False):
        shares.append(batch.core.mean())
        return problems(batch, *args, is_rough=is_rough)

    monkeypatch.setattr(batch_features._Batch, "problems", counted)  # noqa: SLF001
    train = np.arange(60)
    decisions = batch_decisions(features, y, train, bounds)
    assert shares[0] == 1.0
    assert min(shares) < 1.0
    some = slice(0, 300, 7)
    expected = exactly(features, y, train, bounds[some])
    assert_same_sides(decisions[some], expected)
    np.testing.assert_allclose(decisions[some], expected, atol=1e-7 if by_paths else 1e-3)


def test_paths_are_enough_where_some_are_held_at_their_bounds(monkeypatch):
    features, y, bounds = problem(90, 8, seed=2, replicates=300)
    features += 0.6 * y[:, None]
    features[:4] -= 4.0 * y[:4, None]  # far on the wrong side
    held, by_paths = [], batch_features._Batch.by_paths  # noqa: SLF001

    def counted(batch, some):
        held.append(batch.held.sum())
        return by_paths(batch, some)

    monkeypatch.setattr(batch_features._Batch, "by_paths", counted)  # noqa: SLF001
    monkeypatch.setattr(batch_features._Batch, "in_lanes", None)  # noqa: SLF001
    decisions = batch_decisions(features, y, np.arange(90), bounds)
    assert max(held) > 0
    some = slice(0, 300, 23)
    expected = exactly(features, y, np.arange(90), bounds[some])
    np.testing.assert_allclose(decisions[some], expected, atol=1e-7)


@pytest.mark.parametrize("paths", [0, 2])
def test_what_paths_do_not_reach_is_left_to_lanes(monkeypatch, paths):
    features, y, bounds = problem(80, 5, replicates=40)
    monkeypatch.setattr(batch_features, "PATHS", paths)
    left, in_lanes = [], batch_features._Batch.in_lanes  # noqa: SLF001

    def counted(batch, some, tolerance):
        left.append(len(some))
        return in_lanes(batch, some, tolerance)

    monkeypatch.setattr(batch_features._Batch, "in_lanes", counted)  # noqa: SLF001
    decisions = batch_decisions(features, y, np.arange(80), bounds)
    assert left == ([40] if paths == 0 else [])
    assert_same_sides(decisions, exactly(features, y, np.arange(80), bounds))


def test_features_of_many_scales_are_not_multiplied(monkeypatch):
    features, y, bounds = problem(40, 3)
    monkeypatch.setattr(batch_features._Batch, "by_paths", None)  # noqa: SLF001
    assert_same_sides(
        batch_decisions(features * [1.0, 1e7, 1.0], y, np.arange(40), bounds),
        exactly(features * [1.0, 1e7, 1.0], y, np.arange(40), bounds),
    )
