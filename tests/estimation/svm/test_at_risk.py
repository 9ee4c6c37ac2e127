import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.estimation.svm.at_risk import at_risk, flags_of, worst_slack
from truerisk.svm.dual_of import duals_of
from truerisk.svm.fitted_dual import FittedDual
from truerisk.svm.kernels import Kernel
from truerisk.svm.solution import Solution
from truerisk.svm.training_kernel import TrainingKernel


@pytest.mark.parametrize(
    ("alpha", "slack", "squared_radius", "rho", "expected"),
    [
        (0.5, 0.0, 1.0, 2.0, True),  # exactly 1 counts
        (0.5, 0.0, 1.0 - 1e-12, 2.0, True),  # and so does 1 but for rounding
        (0.5, 0.0, 1.0, 1.9, False),
        (0.0, 1.0, 1.0, 2.0, True),
        (0.25, 0.5, 2.0, 1.0, True),
        (0.25, 0.4, 2.0, 1.0, False),
    ],
)
def test_an_example_is_at_risk_by_the_formula(alpha, slack, squared_radius, rho, expected):
    assert at_risk(np.array([alpha]), np.array([slack]), squared_radius, rho)[0] == expected


def pair(alpha, decision, upper=0.1):
    return Solution(
        y=np.array([1.0, -1.0]),
        upper=np.full(2, upper),
        alpha=np.full(2, alpha),
        bias=0.0,
        decision=np.array(decision),
        gap=0.0,
        passes=1,
    )


def test_a_bias_that_is_pinned_down_is_taken_as_it_is():
    free = pair(0.05, [0.3, -1.2])
    assert worst_slack(free).tolist() == free.slack.tolist() == [0.7, 0.0]


def test_a_loose_bias_is_taken_at_its_worst_end():
    # Both at their bounds: f may move by δ with 0.2 + δ ≤ 1 and −0.5 + δ ≥ −1.
    assert worst_slack(pair(0.1, [0.2, -0.5])) == pytest.approx([1.3, 1.3])


def test_a_machine_that_always_says_the_same_is_taken_as_it_is():
    assert worst_slack(pair(0.0, [-1.0, -1.0])).tolist() == [2.0, 0.0]


def test_the_span_only_decides_what_is_in_doubt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    (dual,) = duals_of(SVC(gamma=0.5).fit(X, y), X, y)
    refined, plain = flags_of(dual, 1.0, "span"), flags_of(dual, 2.0)
    wrong = dual.solution.slack >= 1.0
    assert (refined <= plain).all()
    assert (refined >= wrong).all()
    assert wrong.sum() < refined.sum() < plain.sum()


def test_the_span_may_reach_twice_the_squared_radius():
    # Two free support vectors at 1 and −1: R² = 2, and S² = 4 to the only other one.
    solution = pair(0.2, [0.7, -0.7], upper=9.0)
    dual = FittedDual(
        label=1,
        rest=0,
        solution=solution,
        squared_radius=2.0,
        radius_rule="",
        proven_rho=2.0,
        kernel=TrainingKernel(Kernel("linear"), np.array([[1.0], [-1.0]])),
    )
    assert flags_of(dual, 1.0).tolist() == [False, False]  # 0.2 · 2 + 0.3
    assert flags_of(dual, 1.0, "span").tolist() == [True, True]  # 0.2 · 4 + 0.3
