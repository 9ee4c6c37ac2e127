import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from truerisk.errors import InputError, NotConvergedWarning
from truerisk.svm.dual_of import duals_of

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
HINGE = {"loss": "hinge", "tol": 1e-6, "max_iter": 200_000, "C": 0.1}


def assert_recovers(dual, weights, intercept, scaling):
    """Σ αyx gives the weights, with the constant feature too; α fits the margins."""
    solution = dual.solution
    signed = solution.y * solution.alpha
    examples = dual.kernel.X
    assert np.asarray(examples.T @ signed).ravel() == pytest.approx(weights, abs=1e-5)
    assert scaling**2 * signed.sum() == pytest.approx(intercept, abs=1e-5)
    margins = solution.y * solution.decision
    assert (solution.alpha >= 0).all()
    assert (solution.alpha <= solution.upper).all()
    assert (margins[solution.alpha < solution.upper] > 1 - 1e-4).all()
    assert (margins[solution.alpha > 0] < 1 + 1e-4).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scaling", [1.0, 3.0])
def test_alpha_is_recovered_from_the_weights(form, scaling):
    machine = LinearSVC(**HINGE, intercept_scaling=scaling).fit(form(X), Y)
    (dual,) = duals_of(machine, form(X), Y)
    assert_recovers(dual, machine.coef_[0], machine.intercept_[0], scaling)
    assert dual.squared_radius == pytest.approx((X**2).sum(axis=1).max() + scaling**2)
    assert (dual.proven_rho, dual.free_bias, dual.label, dual.rest) == (1.0, False, 1, 0)
    assert dual.notes == ()


def test_a_machine_with_no_intercept_is_read():
    machine = LinearSVC(**HINGE, fit_intercept=False).fit(X, Y)
    (dual,) = duals_of(machine, X, Y)
    assert_recovers(dual, machine.coef_[0], 0.0, 0.0)


def test_weights_bound_alpha():
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(Y))
    machine = LinearSVC(**HINGE, class_weight={0: 2.0}).fit(X, Y, sample_weight=weights)
    (dual,) = duals_of(machine, X, Y, sample_weight=weights)
    assert_recovers(dual, machine.coef_[0], machine.intercept_[0], 1.0)
    assert dual.solution.upper == pytest.approx(0.1 * weights * np.where(Y == 0, 2.0, 1.0))


def test_three_classes_are_three_problems():
    flowers, kinds = load_iris(return_X_y=True)
    flowers = scale(flowers)
    machine = LinearSVC(**HINGE, class_weight={1: 2.0}).fit(flowers, kinds)
    duals = duals_of(machine, flowers, kinds)
    assert [(dual.label, dual.rest) for dual in duals] == [(0, None), (1, None), (2, None)]
    for k, dual in enumerate(duals):
        assert_recovers(dual, machine.coef_[k], machine.intercept_[k], 1.0)


def test_other_examples_are_refused():
    machine = LinearSVC(**HINGE).fit(X, Y)
    with pytest.raises(InputError, match="no α gives its weights"):
        duals_of(machine, X[::-1], Y)
    with pytest.raises(InputError, match="it has 29 features, not 30"):
        duals_of(machine, X[:, 1:], Y)
    with pytest.raises(InputError, match="one label for each of 569 rows"):
        duals_of(machine, X, Y[1:])
    with pytest.raises(InputError, match="2 is none of its classes"):
        duals_of(machine, X, Y + 1)


def test_another_loss_is_refused():
    with pytest.raises(InputError, match="got loss='squared_hinge', multi_class='ovr'"):
        duals_of(LinearSVC().fit(X, Y), X, Y)


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_a_machine_that_stopped_early_is_read_with_a_warning():
    machine = LinearSVC(loss="hinge", C=10.0, max_iter=5, random_state=0).fit(X, Y)
    with pytest.warns(NotConvergedWarning, match="LinearSVC stopped at `max_iter`"):
        (dual,) = duals_of(machine, X, Y)
    assert "% of them. Lower `tol`." in dual.notes[0]
