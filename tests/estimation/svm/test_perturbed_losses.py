"""Losses under random weights: replicate by replicate as a loop over scikit-learn finds them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from truerisk import KernelSVM, LinearSVM
from truerisk.estimation.refits.splits import k_fold
from truerisk.estimation.svm.perturbed_losses import PerturbedLosses, draw_weights, perturbed_losses

RNG = np.random.default_rng(3)
N = 48
Y = np.repeat([0, 1], N // 2)
X = RNG.normal(size=(N, 3)) + 0.9 * Y[:, None]
G = draw_weights(N, 12, np.random.default_rng(5))
PARTS = k_fold(Y, 4, random_state=1)

SURE = 1e-6  # of a decision: within it either sign is as good


def by_a_loop(model, parts):
    """Give L* of every replicate and whether its sign is sure, as (9) of the document says."""
    wrong, sure = np.empty((len(G), N), bool), np.empty((len(G), N), bool)
    for replicate, weights in enumerate(G):
        for part in [None] if parts is None else np.unique(parts):
            train = np.arange(N) if part is None else np.flatnonzero(parts != part)
            judged = np.arange(N) if part is None else np.flatnonzero(parts == part)
            even = weights[train] / weights[train].mean()
            last = model.steps[-1][0] if hasattr(model, "steps") else None
            named = {"sample_weight" if last is None else f"{last}__sample_weight": even}
            decision = model.fit(X[train], Y[train], **named).decision_function(X[judged])
            wrong[replicate, judged] = (decision > 0) != (Y[judged] == 1)
            sure[replicate, judged] = np.abs(decision) > SURE
    return wrong, sure


MODELS = {
    "linear": (SVC(kernel="linear", C=0.7, tol=1e-9), LinearSVM(C=0.7)),
    "cubic": (
        SVC(kernel="poly", degree=3, gamma=0.3, coef0=1.0, tol=1e-9),
        KernelSVM(kernel="poly", degree=3, gamma=0.3, coef0=1.0),
    ),
    "rbf": (SVC(gamma="scale", tol=1e-9), KernelSVM(gamma="scale")),
    "logistic": (LogisticRegression(tol=1e-12, max_iter=1000),) * 2,
    "balanced": (
        SVC(kernel="linear", class_weight={0: 2.0, 1: 0.5}, tol=1e-9),
        LinearSVM(class_weight={0: 2.0, 1: 0.5}),
    ),
    "scaled": (
        make_pipeline(StandardScaler(), SVC(kernel="linear", tol=1e-9)),
        make_pipeline(StandardScaler(), LinearSVM()),
    ),
}


@pytest.mark.parametrize("parts", [None, PARTS], ids=["training", "folds"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_replicate_is_that_of_a_loop(name, parts) -> None:
    theirs, ours = MODELS[name]
    wrong, sure = by_a_loop(theirs, parts)
    assert sure.mean() > 0.99
    for model in {id(theirs): theirs, id(ours): ours}.values():
        found = perturbed_losses(model, X, Y, G, parts=parts)
        error = found.wrong.mean()
        expected = ((wrong - error) * G).mean(axis=1)
        allowed = (G * ~sure).mean(axis=1) + 1e-12
        assert (np.abs(found.spread - expected) <= allowed).all()


def test_w_is_worked_by_hand() -> None:
    # Two of either class, far apart, and one that lies among the others.
    points, labels = np.array([[0.0], [0.5], [10.0], [10.5], [0.2]]), np.array([0, 0, 1, 1, 1])
    weights = np.array([[1.0, 1.0, 1.0, 1.0, 1.5], [2.0, 1.0, 1.0, 1.0, 0.5]])
    found = perturbed_losses(LinearSVM(), points, labels, weights)
    assert found.wrong.tolist() == [False, False, False, False, True]
    # D = 1/5, and so it is under both: (−4/5 + (4/5) 1.5)/5 and (−5/5 + (4/5)/2)/5.
    assert found.spread == pytest.approx([0.08, -0.12])


def test_weights_of_one_for_all_move_nothing() -> None:
    found = perturbed_losses(LinearSVM(), X, Y, np.ones((3, N)), parts=PARTS)
    assert np.abs(found.spread).max() < 1e-15


def test_the_scale_of_the_weights_does_not_matter_to_the_machine() -> None:
    one = perturbed_losses(LinearSVM(), X, Y, G, parts=PARTS)
    ten = perturbed_losses(LinearSVM(), X, Y, 10 * G, parts=PARTS)
    assert ten.spread == pytest.approx(10 * one.spread)


def test_threads_change_nothing() -> None:
    one = perturbed_losses(KernelSVM(), X, Y, G, parts=PARTS)
    two = perturbed_losses(KernelSVM(), X, Y, G, parts=PARTS, workers=2)
    assert np.array_equal(one.spread, two.spread)


def test_weights_are_exponential_and_shared_by_a_group() -> None:
    drawn = draw_weights(4, 40_000, np.random.default_rng(0), np.array([0, 0, 1, 2]))
    assert drawn[:, 0].tolist() == drawn[:, 1].tolist()
    assert drawn.mean() == pytest.approx(1.0, abs=0.02)
    assert drawn.var(axis=0) == pytest.approx(1.0, abs=0.05)
    assert abs(np.corrcoef(drawn[:, 1], drawn[:, 2])[0, 1]) < 0.02


def test_progress_is_told_to_the_last_refit() -> None:
    told = []
    perturbed_losses(
        LinearSVM(), X, Y, G, parts=PARTS, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (4 * 13, 4 * 13)


@pytest.mark.parametrize(
    ("wrong", "spread", "expected"),
    [
        ([0, 1, 0], [0.1, -0.1], False),
        ([0, 0, 0], [0.1, -0.1], True),
        ([1, 1, 1], [0.1, -0.1], True),
        ([0, 1, 0], [0.1, 0.1], True),
    ],
)
def test_nothing_can_be_read_off_no_errors_or_no_spread(wrong, spread, expected) -> None:
    found = PerturbedLosses(np.array(wrong, bool), np.array(spread))
    assert found.is_degenerate is expected
