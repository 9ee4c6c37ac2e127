import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from truerisk import KernelSVM, LinearSVM, binomial_interval, perturbation
from truerisk.errors import InputError
from truerisk.estimation.refits.splits import k_fold
from truerisk.estimation.svm.perturbation import (
    PerturbedLosses,
    columns_of,
    draw_weights,
    kind_of,
    perturbed_losses,
    was_cut,
    why_exact,
)
from truerisk.intervals.agreement import agreement_interval

LOSS_RNG = np.random.default_rng(3)
LOSS_N = 48
LOSS_Y = np.repeat([0, 1], LOSS_N // 2)
LOSS_X = LOSS_RNG.normal(size=(LOSS_N, 3)) + 0.9 * LOSS_Y[:, None]
G = draw_weights(LOSS_N, 12, np.random.default_rng(5))
PARTS = k_fold(LOSS_Y, 4, random_state=1)

SURE = 1e-6  # of a decision: within it either sign is as good


def by_a_loop(model, parts):
    """Give L* of every replicate and whether its sign is sure, as (9) of the document says."""
    wrong, sure = np.empty((len(G), LOSS_N), bool), np.empty((len(G), LOSS_N), bool)
    for replicate, weights in enumerate(G):
        for part in [None] if parts is None else np.unique(parts):
            train = np.arange(LOSS_N) if part is None else np.flatnonzero(parts != part)
            judged = np.arange(LOSS_N) if part is None else np.flatnonzero(parts == part)
            even = weights[train] / weights[train].mean()
            last = model.steps[-1][0] if hasattr(model, "steps") else None
            named = {"sample_weight" if last is None else f"{last}__sample_weight": even}
            decision = model.fit(LOSS_X[train], LOSS_Y[train], **named).decision_function(
                LOSS_X[judged]
            )
            wrong[replicate, judged] = (decision > 0) != (LOSS_Y[judged] == 1)
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
        found = perturbed_losses(model, LOSS_X, LOSS_Y, G, parts=parts)
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
    found = perturbed_losses(LinearSVM(), LOSS_X, LOSS_Y, np.ones((3, LOSS_N)), parts=PARTS)
    assert np.abs(found.spread).max() < 1e-15


def test_the_scale_of_the_weights_does_not_matter_to_the_machine() -> None:
    one = perturbed_losses(LinearSVM(), LOSS_X, LOSS_Y, G, parts=PARTS)
    ten = perturbed_losses(LinearSVM(), LOSS_X, LOSS_Y, 10 * G, parts=PARTS)
    assert ten.spread == pytest.approx(10 * one.spread)


def test_threads_change_no_loss() -> None:
    one = perturbed_losses(KernelSVM(), LOSS_X, LOSS_Y, G, parts=PARTS)
    two = perturbed_losses(KernelSVM(), LOSS_X, LOSS_Y, G, parts=PARTS, workers=2)
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
        LinearSVM(),
        LOSS_X,
        LOSS_Y,
        G,
        parts=PARTS,
        progress=lambda done, total: told.append((done, total)),
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


NOTES_RNG = np.random.default_rng(1)
NOTES_N = 60
NOTES_Y = np.repeat(["no", "yes"], NOTES_N // 2)
NOTES_X = NOTES_RNG.normal(size=(NOTES_N, 3)) + 0.9 * (NOTES_Y == "yes")[:, None]
NOTES_FEW = {"replicates": 150, "random_state": 4}
SOME = PerturbedLosses(np.array([True, False, False, False]), np.array([0.1, -0.1, 0.2]))


@pytest.mark.parametrize(
    ("value", "examples", "features", "words"),
    [
        (0.25, 4, 3, None),
        (0.25, 4, None, None),
        (0.0, 4, 3, "no errors"),
        (1.0, 4, 3, "nothing but errors"),
        (0.25, 4, 4, "4 examples in training and 4 features"),
    ],
    ids=["nothing wrong", "kernel", "no error in the folds", "all errors in the folds", "wide"],
)
def test_the_reason_for_the_exact_interval(value, examples, features, words) -> None:
    told = why_exact(SOME, value, examples, features)
    assert told is None if words is None else words in told


def test_losses_without_spread_are_a_reason() -> None:
    still = PerturbedLosses(SOME.wrong, np.full(3, 0.1))
    assert "No weighting changes" in why_exact(still, 0.25, 4, None)


def test_an_end_is_cut_at_0_or_at_1() -> None:
    assert "below 0" in was_cut("normal", 0.05, SOME, 0.95)
    assert "above 1" in was_cut("percentile", 0.95, SOME, 0.95)
    assert was_cut("effective_size", 0.05, SOME, 0.95) is None


def test_kinds_and_columns_are_read_off() -> None:
    assert kind_of(SVC(kernel="precomputed")) == "precomputed"
    assert columns_of(np.zeros((4, 3))) == 3
    assert columns_of(["a text", "another"]) == 1


def test_weights_of_classes_go_by_the_labels_that_were_given() -> None:
    by_name = perturbation(LinearSVM(class_weight={"no": 4.0}), NOTES_X, NOTES_Y, **NOTES_FEW)
    ones_and_twos = np.where(NOTES_Y == "no", 1, 2)
    by_number = perturbation(LinearSVM(class_weight={1: 4.0}), NOTES_X, ones_and_twos, **NOTES_FEW)
    assert by_number.replicates == by_name.replicates
    assert by_name.replicates != perturbation(LinearSVM(), NOTES_X, NOTES_Y, **NOTES_FEW).replicates


def test_few_groups_that_are_alike_are_worth_no_more_than_in_the_exact_interval() -> None:
    groups = np.tile(np.arange(6), NOTES_N // 6)
    alike = NOTES_X + 1.2 * np.random.default_rng(3).normal(size=(6, 3))[groups]
    found = perturbation(LinearSVM(), alike, NOTES_Y, groups=groups, **NOTES_FEW)
    exact = found.forms["exact"]
    assert exact.method == "cluster_binomial"
    assert found.interval.low <= exact.low + 1e-12
    assert exact.high <= found.interval.high + 1e-12


def test_groups_of_one_are_single_examples() -> None:
    found = perturbation(LinearSVM(), NOTES_X, NOTES_Y, groups=np.arange(NOTES_N), **NOTES_FEW)
    wrong = np.arange(NOTES_N) < round(found.value * NOTES_N)
    assert found.forms["exact"].high == pytest.approx(agreement_interval([wrong]).high)


def test_a_class_that_is_one_group_is_refused() -> None:
    groups = np.where(NOTES_Y == "yes", 0, 1 + np.arange(NOTES_N) % 6)
    with pytest.raises(InputError, match=r"without fold \d of 5 there is only 'no'"):
        perturbation(LinearSVM(), NOTES_X, NOTES_Y, groups=groups, **NOTES_FEW)


@pytest.mark.parametrize("n_jobs", [0, 1.5, -2])
def test_a_number_of_threads_that_is_none_is_refused(n_jobs) -> None:
    with pytest.raises(InputError, match="n_jobs"):
        perturbation(LinearSVM(), NOTES_X, NOTES_Y, n_jobs=n_jobs, **NOTES_FEW)


def test_nothing_is_told_of_the_features_behind_a_matrix() -> None:
    found = perturbation(SVC(kernel="precomputed"), NOTES_X @ NOTES_X.T, NOTES_Y, **NOTES_FEW)
    assert not any("Measured" in note for note in found.notes)


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


def test_a_model_without_weights_is_refused() -> None:
    for model in (KNeighborsClassifier(), make_pipeline(StandardScaler(), KNeighborsClassifier())):
        with pytest.raises(InputError, match=r"take sample_weight .* tr\.estimate"):
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


def test_missing_values_are_refused() -> None:
    broken = X.copy()
    broken[7, 2] = np.nan
    with pytest.raises(InputError, match=r"row 7.*column 2"):
        perturbation(LinearSVM(), broken, Y, **FEW)


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(loss="hinge", tol=1e-6, max_iter=100_000),
        NuSVC(nu=0.5, gamma=0.3),
        OneVsRestClassifier(SVC(gamma=0.3)),
        make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(gamma=0.3))),
        "linear_svm",
    ],
    ids=["LinearSVC", "NuSVC", "one against the rest", "in a pipeline", "a name"],
)
def test_what_xi_alpha_reads_is_perturbed(model) -> None:
    found = perturbation(model, X, Y, replicates=100, random_state=4)
    assert 0.05 < found.value < 0.6
    assert found.interval.method == "perturbation_effective_size"


def test_the_losses_of_liblinear_are_those_of_its_refits() -> None:
    svm = LinearSVC(loss="hinge", C=0.5, class_weight={0: 2.0}, tol=1e-8, max_iter=1_000_000)
    G = draw_weights(LOSS_N, 4, np.random.default_rng(5))
    found = perturbed_losses(svm, LOSS_X, LOSS_Y, G)
    for weights, spread in zip(G, found.spread, strict=True):
        fitted = clone(svm).fit(LOSS_X, LOSS_Y, sample_weight=weights / weights.mean())
        wrong = fitted.predict(LOSS_X) != LOSS_Y
        assert spread == pytest.approx(np.mean((wrong - found.error) * weights))


def test_nu_is_the_cost_that_it_makes_of_the_training_part() -> None:
    model = NuSVC(nu=0.4, gamma=0.3)
    fitted = clone(model).fit(LOSS_X, LOSS_Y)
    twin = SVC(C=np.abs(fitted.dual_coef_).max(), gamma=0.3)
    G = draw_weights(LOSS_N, 4, np.random.default_rng(5))
    found, expected = (perturbed_losses(one, LOSS_X, LOSS_Y, G) for one in (model, twin))
    assert found.error == expected.error == np.mean(fitted.predict(LOSS_X) != LOSS_Y)
    assert found.spread.tolist() == expected.spread.tolist()
