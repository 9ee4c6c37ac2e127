"""`tr.perturbation`: both forms of losses, the ways out, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from truerisk import KernelSVM, LinearSVM, binomial_interval, perturbation
from truerisk.errors import InputError
from truerisk.estimation.refits.splits import k_fold
from truerisk.estimation.svm.perturbed_losses import perturbed_losses

RNG = np.random.default_rng(1)
N = 60
Y = np.repeat(["no", "yes"], N // 2)
X = RNG.normal(size=(N, 3)) + 0.9 * (Y == "yes")[:, None]
FEW = {"replicates": 150, "random_state": 4}


def test_the_value_is_the_cross_validated_error_of_the_folds_drawn_first() -> None:
    found = perturbation(LinearSVM(), X, Y, **FEW)
    parts = k_fold((Y == "yes").astype(int), 5, random_state=np.random.default_rng(4))
    wrong = 0
    for part in range(5):
        machine = SVC(kernel="linear", tol=1e-8).fit(X[parts != part], Y[parts != part])
        wrong += (machine.predict(X[parts == part]) != Y[parts == part]).sum()
    assert found.value == wrong / N
    trained = SVC(kernel="linear", tol=1e-8).fit(X, Y)
    assert found.training_error == (trained.predict(X) != Y).mean()


def test_the_folds_and_the_weights_are_those_of_the_seed() -> None:
    found = perturbation(LinearSVM(), X, Y, **FEW)
    rng = np.random.default_rng(4)
    parts = k_fold((Y == "yes").astype(int), 5, random_state=rng)
    weights = rng.exponential(size=(150, N))
    again = perturbed_losses(LinearSVM(), X, Y, weights, parts=parts)
    assert found.replicates == pytest.approx(again.spread)
    assert found.n == N
    assert found.losses == "cross_validated"


def test_both_forms_of_losses_share_the_centre_and_differ_in_the_spread() -> None:
    cross = perturbation(LinearSVM(), X, Y, **FEW)
    training = perturbation(LinearSVM(), X, Y, losses="training", **FEW)
    assert training.value == cross.value
    assert training.standard_deviation < cross.standard_deviation


def test_every_form_of_interval_is_of_the_same_replicates() -> None:
    found = perturbation(LinearSVM(), X, Y, interval="percentile", **FEW)
    low, high = np.quantile(found.replicates, [0.025, 0.975])
    assert found.interval.low == pytest.approx(max(0.0, found.value - high))
    assert found.interval.high == pytest.approx(found.value - low)
    assert found.interval == found.forms["percentile"]
    assert found.interval.method == "perturbation_percentile"
    half = 1.959963984540054 * found.standard_deviation
    assert found.forms["normal"].high == pytest.approx(found.value + half)
    exact = binomial_interval(round(found.value * N), N)
    assert found.forms["exact"].low == pytest.approx(exact.low)


def test_all_ways_to_name_a_machine_give_one_answer() -> None:
    ours = perturbation(LinearSVM(C=2.0), X, Y, **FEW)
    for model in (SVC(kernel="linear", C=2.0), KernelSVM(kernel="linear", C=2.0)):
        assert perturbation(model, X, Y, **FEW).replicates == pytest.approx(ours.replicates)
    gram = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    theirs = perturbation(SVC(kernel="precomputed", C=2.0), gram, Y, **FEW)
    assert theirs.replicates == pytest.approx(ours.replicates)
    own = perturbation(SVC(kernel=lambda a, b: a @ b.T, C=2.0), X, Y, **FEW)
    assert own.replicates == pytest.approx(ours.replicates)


def test_frames_and_sparse_matrices_are_read() -> None:
    ours = perturbation(LinearSVM(), X, Y, **FEW)
    assert perturbation(LinearSVM(), sparse.csr_matrix(X), Y, **FEW).replicates == ours.replicates
    frame = pd.DataFrame(X, columns=list("abc"))
    assert perturbation(LinearSVM(), frame, Y, **FEW).replicates == ours.replicates
    scaled = make_pipeline(StandardScaler(), LinearSVM())
    assert perturbation(scaled, frame, pd.Series(Y), **FEW).value == pytest.approx(
        perturbation(scaled, X, Y, **FEW).value
    )


def test_the_model_is_left_as_it_was() -> None:
    model = SVC(kernel="linear", C=3.0)
    before = clone(model).get_params()
    perturbation(model, X, Y, **FEW)
    assert model.get_params() == before
    assert not hasattr(model, "support_")


def test_threads_change_nothing() -> None:
    assert perturbation(LinearSVM(), X, Y, n_jobs=2, **FEW) == perturbation(
        LinearSVM(), X, Y, **FEW
    )


def test_groups_share_their_weight_and_widen_the_interval() -> None:
    twice = np.repeat(np.arange(N), 2)
    alone = perturbation(LinearSVM(C=0.5), X, Y, **FEW)
    doubled = perturbation(LinearSVM(C=0.25), X[twice], Y[twice], groups=twice, **FEW)
    ungrouped = perturbation(LinearSVM(C=0.25), X[twice], Y[twice], **FEW)
    assert doubled.standard_deviation == pytest.approx(alone.standard_deviation, rel=0.3)
    assert ungrouped.standard_deviation < 0.85 * doubled.standard_deviation


def test_no_errors_fall_back_to_the_exact_bound_and_say_so() -> None:
    apart = X + 20 * (Y == "yes")[:, None]
    found = perturbation(LinearSVM(), apart, Y, **FEW)
    assert found.value == 0
    assert found.interval.high == pytest.approx(binomial_interval(0, N).high)
    assert found.interval.method == "clopper_pearson"
    assert "no errors" in found.notes[0]


def test_training_losses_of_separable_examples_fall_back_too() -> None:
    wide = np.random.default_rng(2).normal(size=(N, 45))
    found = perturbation(LinearSVM(C=100.0), wide, Y, losses="training", **FEW)
    assert found.training_error == 0
    assert found.value > 0
    assert found.interval.method == "clopper_pearson"


def test_more_features_than_examples_fall_back_too() -> None:
    wide = np.random.default_rng(2).normal(size=(N, 50))
    found = perturbation(LinearSVM(), wide, Y, **FEW)
    assert found.interval.method == "clopper_pearson"
    assert "48 examples in training and 50 features" in found.notes[0]
    kept = perturbation(KernelSVM(), wide, Y, **FEW)
    assert kept.interval.method == "perturbation_effective_size"


def test_an_interval_that_is_cut_says_so() -> None:
    far = X + 1.2 * (Y == "yes")[:, None]
    found = perturbation(LinearSVM(), far, Y, interval="normal", **FEW)
    assert found.interval.low == 0
    assert "below 0" in found.notes[0]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LinearSVM(), "linear SVMs"),
        (SVC(kernel="linear"), "linear SVMs"),
        (make_pipeline(StandardScaler(), KernelSVM()), "rbf kernels"),
        (SVC(kernel="poly", degree=3), "cubic kernels"),
        (LogisticRegression(), "logistic regression"),
    ],
    ids=["linear", "linear SVC", "rbf", "cubic", "logistic"],
)
def test_what_the_published_form_covers_is_told(model, kind) -> None:
    told = perturbation(model, X, Y, replicates=100, random_state=4).notes[-1]
    assert f"Measured for {kind} at n = " in told
    assert "the published form" in told


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RandomForestClassifier(), r"For another model use tr\.estimate"),
        (LinearSVC(), "Use LinearSVM, which leaves the bias free"),
        (SVC(kernel="sigmoid"), "positive semidefinite"),
        (LogisticRegression(C=np.inf), "with an L2 penalty"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), r"tr\.estimate"),
    ],
    ids=["forest", "liblinear", "sigmoid", "no penalty", "pipeline"],
)
def test_a_model_that_cannot_be_batched_is_refused(model, words) -> None:
    with pytest.raises(InputError, match=words):
        perturbation(model, X, Y, **FEW)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replicates": 20}, r"`replicates` must lie in \[100, 1000000\]; got 20"),
        ({"losses": "test"}, "`losses` must be one of training, cross_validated"),
        ({"interval": "bca"}, "`interval` must be one of percentile, normal, effective_size"),
        ({"level": 95}, "`level` must lie strictly between 0 and 1; got 95"),
        ({"folds": 70}, "folds"),
        ({"groups": [1, 2]}, "`groups`"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_settings_out_of_range_are_refused(options, words) -> None:
    with pytest.raises(InputError, match=words):
        perturbation(LinearSVM(), X, Y, **{**FEW, **options})


def test_more_than_two_classes_are_refused() -> None:
    with pytest.raises(InputError, match=r"two classes; got 3"):
        perturbation(LinearSVM(), X, np.arange(N) % 3, **FEW)


def test_missing_values_are_refused() -> None:
    broken = X.copy()
    broken[7, 2] = np.nan
    with pytest.raises(InputError, match=r"row 7.*column 2"):
        perturbation(LinearSVM(), broken, Y, **FEW)
