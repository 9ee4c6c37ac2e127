import numpy as np
import pytest

from truerisk.svm.solvers import batch_lanes
from truerisk.svm.solvers.batch_lanes import (
    BOUND,
    CENTRE,
    D_SHARE,
    D_SLACK,
    D_SURPLUS,
    GAP,
    LANE,
    LANES,
    MARGIN,
    MASS,
    PER_BOUND,
    QUADRATIC,
    REST,
    SHARE,
    SLACK,
    STEEPEST,
    STEP,
    SURPLUS,
    TILE,
    YIELD,
    advance,
    correct,
    direct,
    predict,
)


def of(table, row):
    return table[..., row : row + LANES]


@pytest.fixture
def state():
    """Five examples somewhere inside their bounds, and changes of their margins."""
    rng = np.random.default_rng(0)
    tile, lanes = rng.uniform(0.2, 2.0, (5, TILE)), rng.uniform(0.1, 0.9, LANE)
    of(tile, SHARE)[:] = rng.uniform(0.1, 0.9, (5, LANES))
    of(tile, REST)[:] = 1.0 - of(tile, SHARE)
    of(tile, PER_BOUND)[:] = 1.0 / of(tile, BOUND)
    of(tile, YIELD)[:] = 1.0 / (
        of(tile, SURPLUS) * of(tile, REST) + of(tile, SLACK) * of(tile, SHARE)
    )
    return tile, lanes, rng.normal(size=(5, LANES)), rng.normal(size=(5, LANES))


def predicted(tile, first):
    """Newton's step towards products of 0, from its four equations."""
    share, rest, surplus, slack = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK))
    # r·du + d_slack − d_surplus = −violation, with the violation r·u − 1 + slack − surplus.
    want = 1.0 - of(tile, MARGIN) - first
    d_share = want / (surplus / share + slack / rest)
    return d_share, -surplus - surplus * d_share / share, -slack + slack * d_share / rest


def longest(tile, d_share, d_surplus, d_slack):
    """The steepest descent of any number towards 0, for each unit of itself."""
    changes = (d_share, -d_share, d_surplus, d_slack)
    ratios = [
        -change / of(tile, k)
        for change, k in zip(changes, (SHARE, REST, SURPLUS, SLACK), strict=True)
    ]
    return np.max(ratios, axis=(0, 1))


def test_the_step_is_made_and_the_system_written(state):
    tile, lanes, first, second = state
    before, weights, right = tile.copy(), np.empty((5, LANES)), np.empty((5, LANES))
    advance(tile, first, second, lanes, weights, right)
    step = of(lanes, STEP)
    for row, change in ((SHARE, D_SHARE), (SURPLUS, D_SURPLUS), (SLACK, D_SLACK)):
        np.testing.assert_allclose(of(tile, row), of(before, row) + step * of(before, change))
    np.testing.assert_allclose(of(tile, REST), of(before, REST) - step * of(before, D_SHARE))
    np.testing.assert_allclose(of(tile, MARGIN), of(before, MARGIN) + step * (first + second))
    upper, share, rest, surplus, slack = (of(tile, k) for k in (BOUND, SHARE, REST, SURPLUS, SLACK))
    np.testing.assert_allclose(weights, upper / (surplus / share + slack / rest))
    np.testing.assert_allclose(right, upper * share + weights * (1.0 - of(tile, MARGIN)))
    gap = np.sum(upper * (share * surplus + rest * slack), axis=0)
    np.testing.assert_allclose(of(lanes, GAP), gap)
    np.testing.assert_allclose(of(lanes, MASS), np.sum(upper * share, axis=0))


def test_the_prediction_tells_its_longest_step_and_its_gap(state):
    tile, lanes, first, _ = state
    predict(tile, first, lanes)
    d_share, d_surplus, d_slack = predicted(tile, first)
    np.testing.assert_allclose(of(lanes, STEEPEST), longest(tile, d_share, d_surplus, d_slack))
    share, rest, surplus, slack = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK))
    now = np.sum(of(tile, BOUND) * (share * surplus + rest * slack), axis=0)
    after = np.sum(
        of(tile, BOUND)
        * (
            (share + 0.3 * d_share) * (surplus + 0.3 * d_surplus)
            + (rest - 0.3 * d_share) * (slack + 0.3 * d_slack)
        ),
        axis=0,
    )
    np.testing.assert_allclose(0.7 * now + 0.09 * of(lanes, QUADRATIC), after)


def test_the_corrected_step_solves_all_equations(state):
    tile, lanes, first, second = state
    share, rest, surplus, slack, upper = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK, BOUND))
    d_share, d_surplus, d_slack = predicted(tile, first)
    centre = of(lanes, CENTRE) / upper
    want, want_rest = centre - d_share * d_surplus, centre + d_share * d_slack
    right = np.empty((5, LANES))
    correct(tile, first, lanes, right)
    pull = want / share - want_rest / rest
    np.testing.assert_allclose(right, upper * pull / (surplus / share + slack / rest), atol=1e-12)
    direct(tile, first, second, lanes)
    steps = tuple(of(tile, k) for k in (D_SHARE, D_SURPLUS, D_SLACK))
    margin = of(tile, MARGIN) + first + second
    np.testing.assert_allclose(margin - 1.0, surplus + steps[1] - slack - steps[2], atol=1e-9)
    np.testing.assert_allclose(
        share * steps[1] + surplus * steps[0], want - share * surplus, atol=1e-9
    )
    np.testing.assert_allclose(
        rest * steps[2] - slack * steps[0], want_rest - rest * slack, atol=1e-9
    )
    np.testing.assert_allclose(of(lanes, STEEPEST), longest(tile, *steps))


@pytest.mark.parametrize("name", ["advance", "predict", "correct", "direct"])
def test_the_uncompiled_twin_finds_the_same(state, name):
    tile, lanes, first, second = state
    results = []
    for twin in (False, True):
        kernel = getattr(batch_lanes, name)
        work = [a.copy() for a in (tile, first, second, lanes, first, second)]
        chosen = {"advance": range(6), "predict": (0, 1, 3), "correct": (0, 1, 3, 5)}
        arrays = [work[k] for k in chosen.get(name, range(4))]
        (kernel.py_func if twin else kernel)(*arrays)
        results.append(np.concatenate([a.ravel() for a in arrays]))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-10, atol=1e-12)
