"""Refits from one prepared problem against refits of the ordinary kind."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from truerisk import KernelSVM, LinearSVM, leave_one_out
from truerisk.estimation.refits import svm_refits
from truerisk.estimation.refits.plans import (
    Draws,
    Folds,
    TrainingSet,
    each_left_out,
    forward_blocks,
    random_divisions,
    repeated_folds,
)
from truerisk.estimation.refits.splits import five_by_two
from truerisk.estimation.refits.svm_refits import svm_refit, svm_start
from truerisk.execution import run_each
from truerisk.learners.refits import refit
from truerisk.svm.problems import DenseProblem, GramProblem, SparseProblem
from truerisk.svm.solution import LinearSolution

UNSURE = 1e-4  # decision values so near to 0, or to each other, may be called either way
SEED = 3


def shared_of(model, X, y, plan):
    y = np.asarray(y)
    return {"model": model, "X": X, "y": y, "values": np.unique(y), "plan": plan, "seed": 1}


def with_start(model, X, y, plan):
    shared = shared_of(model, X, y, plan)
    extra = svm_start(model, X, shared["y"], plan)
    assert extra is not None
    return shared | extra


def form_of(shared):
    return shared["svm_start"].form(shared)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    assert np.allclose(found["score"], expected["score"], rtol=0, atol=2e-5)
    score = expected["score"]
    top = np.sort(np.column_stack([-score, score]) if score.ndim == 1 else score, axis=1)
    sure = top[:, -1] - top[:, -2] > 2 * UNSURE
    assert np.array_equal(found["predicted"][sure], expected["predicted"][sure])
    assert found["predicted"].dtype == np.int32
    assert not found["probabilities"]
    assert found["seconds"].shape == (2,)
    assert (found["seconds"] > 0).all()


@pytest.fixture
def no_ordinary_refit(monkeypatch):
    """Let every refit fail that is not solved from the prepared problem."""

    def refuse(*_):
        raise AssertionError("an ordinary refit")

    monkeypatch.setattr(svm_refits, "refit", refuse)


def cancer(rows=160):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:rows], y[:rows]


def noisy(n, d, *, offset=0.0, classes=2):
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, d))
    values = X[:, :3].sum(axis=1) + rng.normal(size=n)
    y = np.searchsorted(np.quantile(values, np.arange(1, classes) / classes), values)
    return X / np.sqrt(d) * 5 + offset, y


def texts(n=250, d=400, *, classes=2):
    rng = np.random.default_rng(SEED)
    X = csr_matrix(random_array((n, d), density=0.05, random_state=rng))
    values = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(values, np.arange(1, classes) / classes), values)
    return X, y


def plans_of(y):
    rng = np.random.default_rng(SEED)
    codes = np.unique(y, return_inverse=True)[1]
    return {
        "folds": repeated_folds(codes, 5, 2, rng),
        "halves": Folds(five_by_two(codes, random_state=rng)),
        "divisions": random_divisions(codes, 1 / 3, 3, rng),
        "draws": Draws(len(y), 4, SEED),
        "blocks": forward_blocks(len(y), 4),
    }


FORMS = {
    "few dense features": (LinearSVM(C=1.0), cancer(), DenseProblem),
    "few sparse features": (LinearSVM(C=1.0), (csr_matrix(cancer()[0]), cancer()[1]), DenseProblem),
    "sparse rows": (LinearSVM(C=5.0), texts(), SparseProblem),
    "sparse rows, three classes": (LinearSVM(C=5.0), texts(classes=3), SparseProblem),
    "a text in a dense table": (
        LinearSVM(C=5.0),
        (texts()[0].toarray(), texts()[1]),
        SparseProblem,
    ),
    "a wide table": (LinearSVM(C=0.1), noisy(150, 220, offset=3.0), GramProblem),
    "a wide table, three classes": (
        LinearSVM(),
        noisy(90, 220, offset=3.0, classes=3),
        GramProblem,
    ),
    "rbf": (KernelSVM(C=2.0, gamma=0.05), cancer(), GramProblem),
    "rbf, gamma auto": (KernelSVM(gamma="auto"), noisy(120, 4, offset=9.0, classes=4), GramProblem),
    "poly": (KernelSVM(kernel="poly", gamma=0.1, coef0=1.0), cancer(), GramProblem),
    "poly, few products": (
        KernelSVM(kernel="poly", degree=2, gamma=0.1, coef0=1.0),
        noisy(100, 3, offset=2.0),
        DenseProblem,
    ),
    "linear kernel": (KernelSVM(kernel="linear"), noisy(100, 5, offset=2.0), DenseProblem),
    "linear kernel, sparse": (
        KernelSVM(kernel="linear"),
        (csr_matrix(noisy(100, 5)[0]), noisy(100, 5)[1]),
        DenseProblem,
    ),
    "linear kernel, many features": (KernelSVM(kernel="linear"), noisy(60, 40), GramProblem),
    "balanced": (LinearSVM(C=5.0, class_weight="balanced"), texts(), SparseProblem),
    "weights of classes": (KernelSVM(gamma=0.1, class_weight={0: 3.0}), cancer(), GramProblem),
}


@pytest.mark.usefixtures("no_ordinary_refit")
@pytest.mark.parametrize("plan", ["folds", "halves", "divisions", "draws", "blocks"])
@pytest.mark.parametrize("form", FORMS)
def test_it_finds_what_an_ordinary_refit_finds(form, plan):
    model, (X, y), kind = FORMS[form]
    shared = with_start(model, X, y, plans_of(y)[plan])
    assert isinstance(form_of(shared).problem, kind)
    for at in (0, len(shared["plan"]) - 1):
        assert_same(svm_refit(shared, at), refit(shared, at))


@pytest.mark.usefixtures("no_ordinary_refit")
def test_by_hand():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array(["no", "no", "yes", "yes"])
    shared = with_start(LinearSVM(), X, y, each_left_out(4))
    # Without 1, the margin lies between 0 and 3: f = 2x/3 − 1; without 3, between 1 and 4.
    assert svm_refit(shared, 1)["score"] == pytest.approx([-1 / 3])
    assert svm_refit(shared, 2)["score"] == pytest.approx([2 * 3 / 3 - 5 / 3])
    # Without an outer one it stays between 1 and 3: f = x − 2.
    assert svm_refit(shared, 3)["score"] == pytest.approx([2.0])
    assert [int(svm_refit(shared, at)["predicted"][0]) for at in range(4)] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "form",
    ["rbf", "poly", "poly, few products", "linear kernel", "few dense features", "sparse rows"],
)
def test_an_svm_that_is_trained_already_is_as_good_a_start(form):
    model, (X, y), _ = FORMS[form]
    plan = repeated_folds(y, 5, 2, np.random.default_rng(SEED))
    trained = clone(model)
    problem = trained.train(X, y)
    shared = shared_of(model, X, y, plan)
    extra = svm_start(model, X, shared["y"], plan, (trained, problem))
    own = with_start(model, X, y, plan)
    for at in range(len(plan)):
        assert_same(svm_refit(shared | extra, at), svm_refit(own, at))


def test_refits_by_features_start_from_weights():
    """A solution on the Gram matrix has none, and would be no start."""
    model, (X, y), _ = FORMS["linear kernel"]
    plan = repeated_folds(y, 5, 2, np.random.default_rng(SEED))
    trained = clone(model)
    problem = trained.train(X, y)
    shared = shared_of(model, X, y, plan)
    start = svm_start(model, X, shared["y"], plan, (trained, problem))["svm_start"]
    assert [type(one) for one in start.starts] == [LinearSolution]
    assert start.starts[0].decision == pytest.approx(trained.solutions_[0].decision, abs=1e-6)


def test_refits_on_a_gram_matrix_are_solved_ahead(monkeypatch):
    X, y = noisy(120, 4)
    plan = repeated_folds(y, 5, 2, np.random.default_rng(SEED))
    ahead = with_start(KernelSVM(C=2.0, gamma=0.2), X, y, plan)
    assert sorted(ahead["svm_start"].ahead) == list(range(10))
    monkeypatch.setattr(svm_refits, "MAX_AHEAD", 0)
    alone = with_start(KernelSVM(C=2.0, gamma=0.2), X, y, plan)
    assert not alone["svm_start"].ahead
    for at in range(10):
        assert_same(svm_refit(ahead, at), svm_refit(alone, at))


@pytest.mark.usefixtures("no_ordinary_refit")
def test_libsvm_finds_the_same():
    X, y = noisy(120, 4, offset=1.0)
    plan = repeated_folds(y, 4, 1, np.random.default_rng(SEED))
    shared = with_start(KernelSVM(C=3.0, gamma=0.2), X, y, plan)
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        theirs = SVC(C=3.0, gamma=0.2, tol=1e-9).fit(X[train], y[train])
        score = svm_refit(shared, at)["score"]
        assert np.allclose(score, theirs.decision_function(X[test]), atol=1e-6)


@pytest.mark.usefixtures("no_ordinary_refit")
@pytest.mark.parametrize("model", [LinearSVM(C=0.5), KernelSVM(C=0.5, gamma=0.1)], ids=repr)
def test_each_left_out_is_exact_leave_one_out(model):
    X, y = noisy(60, 3)
    shared = with_start(model, X, y, each_left_out(60))
    wrong = [at for at in range(60) if svm_refit(shared, at)["predicted"][0] != y[at]]
    assert tuple(wrong) == leave_one_out(model, X, y).errors
    assert wrong


@settings(max_examples=15)
@given(
    n=st.integers(20, 40),
    cost=st.sampled_from([0.1, 1.0, 10.0]),
    seed=st.integers(0, 10_000),
    kernel=st.sampled_from(["linear", "rbf", "rows"]),
)
def test_no_data_and_no_division_make_a_difference(n, cost, seed, kernel):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 3, n)
    y[:9] = np.arange(9) % 3
    if kernel == "rows":
        X = csr_matrix(np.hstack([X, np.zeros((n, 220))]))
    model = KernelSVM(C=cost, gamma=0.3) if kernel == "rbf" else LinearSVM(C=cost)
    plan = Folds(rng.integers(0, 3, (1, n)))
    shared = shared_of(model, X, y, plan)
    extra = svm_start(model, X, y, plan)
    if extra is None:  # some bias is one of many
        return
    for at in range(len(plan)):
        found, expected = svm_refit(shared | extra, at), refit(shared, at)
        if "failed" in expected or "score" not in expected:
            assert found.keys() == expected.keys()
        else:
            assert_same(found, expected)


@pytest.mark.parametrize("form", ["sparse rows", "few dense features", "rbf", "a wide table"])
def test_neither_order_nor_workers_make_a_difference(form):
    model, (X, y), _ = FORMS[form]
    plan = repeated_folds(y, 3, 2, np.random.default_rng(SEED))
    shared = with_start(model, X, y, plan)
    alone = list(run_each(svm_refit, shared, range(6)))
    backwards = list(run_each(svm_refit, shared, range(5, -1, -1)))[::-1]
    together = list(run_each(svm_refit, shared, range(6), n_jobs=2))
    for others in (backwards, together):
        for one, other in zip(alone, others, strict=True):
            assert one["score"].tobytes() == other["score"].tobytes()
            assert one["predicted"].tobytes() == other["predicted"].tobytes()


def test_the_examples_are_not_sent_a_second_time():
    X, y = texts()
    shared = with_start(LinearSVM(C=5.0), X, y, each_left_out(len(y)))
    assert len(pickle.dumps(shared["svm_start"])) < 12 * 8 * len(y)
    assert len(pickle.dumps(X)) > 12 * 8 * len(y)
    sent = pickle.loads(pickle.dumps(shared["svm_start"]))  # noqa: S301  (what was just written)
    there = shared | {"svm_start": sent}
    assert sent.form(there) is sent.form(there)
    assert_same(svm_refit(there, 5), svm_refit(shared, 5))


def test_the_examples_of_the_caller_stay_as_they_are():
    X, y = cancer()
    before = X.copy()
    X.flags.writeable = False
    shared = with_start(KernelSVM(gamma=0.1), X, y, each_left_out(len(y)))
    svm_refit(shared, 0)
    assert np.array_equal(X, before)
    assert not hasattr(shared["model"], "classes_")


@pytest.mark.parametrize(
    "model",
    [
        DummyClassifier(),
        SVC(gamma=0.1),
        make_pipeline(StandardScaler(), LinearSVM()),
        KernelSVM(gamma="scale"),
        KernelSVM(kernel="poly", gamma=1.0, coef0=-1.0),
        KernelSVM(kernel="precomputed"),
        KernelSVM(kernel=np.inner),
        LinearSVM(tol=1e-3),
    ],
    ids=lambda model: " ".join(repr(model).split())[:40],
)
def test_other_models_go_the_ordinary_road(model):
    X, y = cancer(60)
    assert svm_start(clone(model), X, y, each_left_out(60)) is None


def test_few_refits_go_the_ordinary_road():
    X, y = cancer(60)
    assert svm_start(LinearSVM(), X, y, TrainingSet(60)) is None
    assert (
        svm_start(LinearSVM(), X, y, random_divisions(y, 0.3, 1, np.random.default_rng(1))) is None
    )


def test_bad_examples_and_settings_are_told_by_the_ordinary_road():
    X, y = cancer(60)
    X[3, 2] = np.nan
    assert svm_start(LinearSVM(), X, y, each_left_out(60)) is None
    X, y = cancer(60)
    assert svm_start(LinearSVM(tol="low"), X, y, each_left_out(60)) is None
    assert svm_start(KernelSVM(gamma=1.0, C=-1.0), X, y, each_left_out(60)) is None
    assert svm_start(LinearSVM(C=-1.0), X, y, each_left_out(60)) is None


@pytest.mark.parametrize("model", [LinearSVM(), KernelSVM(gamma=0.5)], ids=["linear", "kernel"])
def test_a_training_part_without_a_class_goes_the_ordinary_road(model):
    X, y = load_iris(return_X_y=True)
    plan = Folds((y == 2).astype(int)[None].repeat(2, axis=0))
    shared = with_start(model, X, y, plan)
    found, expected = svm_refit(shared, 1), refit(shared, 1)
    assert found.keys() == expected.keys()
    assert "score" not in found
    assert np.array_equal(found["predicted"], expected["predicted"])
    two = y < 2
    plan = Folds((y[two] == 1).astype(int)[None].repeat(2, axis=0))
    shared = with_start(model, X[two], y[two], plan)
    assert str(svm_refit(shared, 1)["failed"]) == str(refit(shared, 1)["failed"])


def test_a_bias_that_is_one_of_many_is_left_to_the_ordinary_road():
    # Without the last example both others are at their bounds.
    X, y = np.array([[-0.1], [0.1], [5.0]]), np.array([0, 1, 1])
    shared = with_start(LinearSVM(C=0.2), X, y, each_left_out(3))
    found = svm_refit(shared, 2)
    assert "UnstableWarning" in str(found["warned"])
    assert found["score"] == refit(shared, 2)["score"]
    assert (
        svm_start(KernelSVM(C=0.01, gamma=1.0), X[:2], y[:2], Folds(np.zeros((3, 2), int))) is None
    )


def test_a_solver_that_stops_early_is_left_to_the_ordinary_road():
    X, y = texts()
    shared = with_start(LinearSVM(C=5.0, max_iter=2), X, y, each_left_out(len(y)))
    found, expected = svm_refit(shared, 1), refit(shared, 1)
    assert "NotConvergedWarning" in str(found["warned"])
    assert found["score"] == expected["score"]


@pytest.mark.data
@pytest.mark.usefixtures("no_ordinary_refit")
@pytest.mark.parametrize("category", ["earn", "wheat"])
def test_reuters_is_called_as_by_ordinary_refits(category):
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("the Reuters corpus stands outside of the project, in TRUERISK_DATA")
    from truerisk.inputs.corpora import read_corpus
    from truerisk.text.vectorizer import Vectorizer

    corpus = read_corpus(Path(folder) / "text" / "reuters21578_modapte.jsonl.gz")
    X = Vectorizer().fit_transform(list((corpus.texts or ())[:3000]))
    y = corpus.members(category)[:3000].astype(int)
    plan = repeated_folds(y, 10, 1, np.random.default_rng(SEED))
    for cost in (0.1, 1.0, 10.0):
        shared = with_start(LinearSVM(C=cost), X, y, plan)
        for at in (0, 9):
            assert_same(svm_refit(shared, at), refit(shared, at))
