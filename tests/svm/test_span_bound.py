"""The span bound: by hand, and never under the count it bounds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.svm.dual_of import duals_of
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM
from truerisk.svm.span import _constrained_spans, span_bound, squared_spans

pytestmark = pytest.mark.filterwarnings("ignore::truerisk.errors.UnstableWarning")


def bound_of(svm, X, y):
    dual = duals_of(svm.fit(X, y), X, y)[0]
    return span_bound(dual.kernel, dual.solution, dual.squared_radius)


def test_two_points_that_hold_the_margin_worked_by_hand():
    # α = ½ each; without one, the other takes over: S = 2.  All examples lie in [−1.5, 1.5], so
    # R² = 3²/2 and D ≤ 2R = 3√2.  No α is at its bound: S · D · Σα = 2 · 3√2 · 1.
    X = [[-1.0], [1.0], *([[-1.5]] * 10), *([[1.5]] * 10)]
    y = [0, 1, *([0] * 10), *([1] * 10)]
    assert bound_of(LinearSVM(C=9.0), X, y) == pytest.approx(6 * math.sqrt(2), rel=1e-6)


def test_a_support_vector_at_its_bound_counts_whole():
    X = [[-1.0], [1.0], *([[-1.5]] * 10), *([[1.5]] * 10), [-1.4]]
    y = [0, 1, *([0] * 10), *([1] * 10), 1]
    svm = LinearSVM(C=0.05)
    dual = duals_of(svm.fit(X, y), X, y)[0]
    at_bound = int(np.sum((svm.alpha_ > 0) & ~dual.solution.free))
    free = svm.alpha_[dual.solution.free].sum()
    spans = _constrained_spans(dual.kernel, dual.solution, dual.squared_radius)
    ball = max(2 * math.sqrt(dual.squared_radius), 1 / math.sqrt(0.05))
    assert at_bound > 0
    assert span_bound(dual.kernel, dual.solution, dual.squared_radius) == pytest.approx(
        min(math.sqrt(spans.max()) * ball * free + at_bound, len(y))
    )


@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=15)
def test_it_never_says_less_than_leave_one_out(seed, C):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 1.5 * y[:, None]
    svm = KernelSVM(C=C, kernel="rbf", gamma=0.3)
    if svm.fit(X, y).stable_:
        assert bound_of(svm, X, y) >= len(leave_one_out(svm, X, y).errors)


def test_a_span_in_a_box_is_never_shorter_than_one_without():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    dual = duals_of(KernelSVM(C=2.0, gamma=0.2).fit(X, y), X, y)[0]
    boxed = _constrained_spans(dual.kernel, dual.solution, dual.squared_radius)
    open_ = squared_spans(dual.kernel, dual.solution, np.flatnonzero(dual.solution.free))
    assert (boxed >= open_ - 1e-5).all()
    assert (boxed <= 4 * dual.squared_radius).all()
