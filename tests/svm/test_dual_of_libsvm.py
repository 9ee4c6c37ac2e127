import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC, NuSVC

from truerisk.errors import InputError, NotConvergedWarning
from truerisk.svm.dual_of import duals_of

X, Y = load_breast_cancer(return_X_y=True)
X, Y = scale(X)[:200], Y[:200]
TIGHT = {"tol": 1e-8}


def assert_optimal(dual, tolerance=1e-5):
    """Feasible, and every margin on the right side of 1."""
    solution = dual.solution
    margins = solution.y * solution.decision
    assert abs(solution.y @ solution.alpha) < tolerance
    assert (solution.alpha >= 0).all()
    assert (solution.alpha <= solution.upper).all()
    assert (margins[solution.alpha < solution.upper] > 1 - tolerance).all()
    assert (margins[solution.alpha > 0] < 1 + tolerance).all()
    assert solution.gap < tolerance


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "linear", "C": 0.1},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "poly", "gamma": "auto", "coef0": 1.0},
    ],
)
def test_the_solution_is_that_of_the_machine(form, settings):
    machine = SVC(**settings, **TIGHT).fit(form(X), Y)
    (dual,) = duals_of(machine, form(X), Y)
    assert_optimal(dual)
    everyone = np.arange(len(Y))
    by_kernel = dual.kernel.block(everyone, everyone) @ (dual.solution.y * dual.solution.alpha)
    assert by_kernel + dual.solution.bias == pytest.approx(dual.solution.decision, abs=1e-6)
    assert (dual.label, dual.rest, dual.proven_rho, dual.free_bias) == (1, 0, 2.0, True)


def test_precomputed_sigmoid_and_callable_kernels_are_read():
    gram = X @ X.T
    alpha = duals_of(SVC(kernel="linear", **TIGHT).fit(X, Y), X, Y)[0].solution.alpha
    for machine, examples in (
        (SVC(kernel="precomputed", **TIGHT), gram),
        (SVC(kernel=lambda a, b: a @ b.T, **TIGHT), X),
    ):
        (dual,) = duals_of(machine.fit(examples, Y), examples, Y)
        assert dual.solution.alpha == pytest.approx(alpha, abs=1e-4)
        assert dual.squared_radius == pytest.approx(
            0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2).max()
        )
    (dual,) = duals_of(SVC(kernel="sigmoid", gamma=0.001, **TIGHT).fit(X, Y), X, Y)
    assert dual.proven_rho is None
    assert "not positive semidefinite" in dual.notes[0]


def test_class_weights_are_known():
    machine = SVC(class_weight={0: 1.0, 1: 3.0}, gamma=0.01, **TIGHT).fit(X, Y)
    (dual,) = duals_of(machine, X, Y)
    assert_optimal(dual)
    assert dual.solution.upper[Y == 1].tolist() == [3.0] * int(Y.sum())
    assert dual.proven_rho is None


def test_sample_weights_are_told_or_read_off_alpha():
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(Y))
    machine = SVC(gamma=0.01, **TIGHT).fit(X, Y, sample_weight=weights)
    (told,) = duals_of(machine, X, Y, sample_weight=weights)
    assert_optimal(told)
    assert told.solution.upper == pytest.approx(weights)
    (read,) = duals_of(machine, X, Y)
    assert_optimal(read)
    assert np.array_equal(read.solution.free, told.solution.free)
    with pytest.raises(InputError, match="`sample_weight` must be what the SVM was trained"):
        duals_of(machine, X, Y, sample_weight=weights[::-1])
    with pytest.raises(InputError, match="`sample_weight` must be one number"):
        duals_of(machine, X, Y, sample_weight=weights[:-1])


def test_an_example_of_weight_zero_is_left_out_if_told():
    weights = np.ones(len(Y))
    weights[:20] = 0.0
    labels = Y.copy()
    labels[:20] = 1 - labels[:20]
    machine = SVC(gamma=0.01, **TIGHT).fit(X, labels, sample_weight=weights)
    (dual,) = duals_of(machine, X, labels, sample_weight=weights)
    assert not dual.solution.alpha[:20].any()
    assert dual.proven_rho == 2.0
    with pytest.raises(InputError, match="trained with weights of 0"):
        duals_of(machine, X, labels)


@pytest.mark.parametrize("least", [1.0, 0.5])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0}])
def test_a_nu_machine_is_the_machine_of_some_c(least, class_weight):
    weights = np.random.default_rng(1).uniform(least, 1.0, len(Y))
    machine = NuSVC(nu=0.2, gamma=0.01, class_weight=class_weight, **TIGHT)
    machine.fit(X, Y, sample_weight=weights)
    (dual,) = duals_of(machine, X, Y, sample_weight=weights)
    assert_optimal(dual)
    cost = (dual.solution.upper / weights)[0]
    same = SVC(C=cost, gamma=0.01, **TIGHT).fit(X, Y, sample_weight=weights)
    (expected,) = duals_of(same, X, Y, sample_weight=weights)
    assert dual.solution.alpha == pytest.approx(expected.solution.alpha, abs=1e-4 * cost)
    assert dual.notes[0].startswith("ν = 0.2 made the SVM with C = ")


@pytest.mark.parametrize("nu", [0.1, 0.2, 0.3])
def test_a_nu_machine_of_noise_is_read_and_says_how_far_its_margins_are_off(nu):
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
    (loose,) = duals_of(NuSVC(nu=nu).fit(noise, labels), noise, labels)
    assert [note.code for note in loose.notes] == ["cost_of_nu", "loose_tolerance_of_nu"]
    cost = loose.solution.upper[0]
    assert 0.01 < loose.solution.gap < 2e-3 * cost
    advice = float(loose.notes[1].rpartition("tol=")[2].rstrip("."))
    (close,) = duals_of(NuSVC(nu=nu, tol=advice).fit(noise, labels), noise, labels)
    assert [note.code for note in close.notes] == ["cost_of_nu"]
    assert close.solution.upper[0] == pytest.approx(cost, rel=0.1)
    others = np.where(close.solution.alpha[:, None] > 0, noise, -noise)
    with pytest.raises(InputError, match=r"\d+ of 80 rows do not fit its solution"):
        duals_of(NuSVC(nu=nu, tol=advice).fit(noise, labels), others, labels)


def test_other_examples_are_refused():
    machine = SVC(kernel="linear").fit(X, Y)
    with pytest.raises(InputError, match="there are 199 rows, not 200"):
        duals_of(machine, X[:-1], Y[:-1])
    with pytest.raises(InputError, match="it has 29 features, not 30"):
        duals_of(machine, X[:, 1:], Y)
    with pytest.raises(InputError, match="in the same order: its support vectors differ"):
        duals_of(machine, X[::-1], Y[::-1])
    with pytest.raises(InputError, match="support vectors have another label"):
        duals_of(machine, X, 1 - Y)
    others = X.copy()
    beyond = np.setdiff1d(np.arange(200), machine.support_)
    others[beyond] = -others[beyond]
    with pytest.raises(InputError, match=r"\d+ of 200 rows do not fit its solution"):
        duals_of(machine, others, Y)


def test_other_values_of_a_precomputed_kernel_are_refused():
    machine = SVC(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(InputError, match="rows do not fit its solution"):
        duals_of(machine, 2 * X @ X.T, Y)


def test_more_than_two_classes_are_pairs_and_refused():
    three = np.repeat([0, 1, 2], [100, 50, 50])
    with pytest.raises(InputError, match=r"one SVM for each pair\. Use OneVsRestClassifier"):
        duals_of(SVC().fit(X, three), X, three)


@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_a_machine_that_stopped_early_is_read_with_a_warning():
    machine = SVC(kernel="linear", max_iter=5).fit(X, Y)
    with pytest.warns(NotConvergedWarning, match="SVC stopped at `max_iter`"):
        duals_of(machine, X, Y)
