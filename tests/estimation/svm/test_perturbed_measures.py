"""Perturbation of other measures, several classes and other learners, against plain loops."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.errors import InputError
from truerisk.estimation.svm.perturbation import Design

RNG = np.random.default_rng(7)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 4)) + 1.5 * np.eye(4)[Y]
TWO = Y[Y < 2]
X_TWO = X[Y < 2]
FEW = {"replicates": 100, "folds": 3, "random_state": 2}


def drawn(examples, labels):
    options = dict.fromkeys(("groups",)) | {"random_state": 2, "several": True}
    return Design.of(examples, labels, replicates=100, folds=3, **options)


def by_a_loop(model, examples, labels, score):
    """Give the measure as it is and under each weighting, from refits one by one."""
    design = drawn(examples, labels)
    values = []
    for G in np.vstack([np.ones(len(labels)), design.weights[:4]]):
        called = np.empty_like(labels)
        for part in np.unique(design.parts):
            train, test = design.parts != part, design.parts == part
            weights = G[train] / G[train].mean()
            fitted = clone(model).fit(examples[train], labels[train], sample_weight=weights)
            called[test] = fitted.predict(examples[test])
        values.append(score(labels, called, sample_weight=G))
    return np.array(values)


def macro_f1(truth, called, sample_weight):
    return metrics.f1_score(truth, called, average="macro", sample_weight=sample_weight)


def test_replicates_of_another_learner_are_those_of_a_loop():
    found = tr.perturbation(GaussianNB(), X, Y, measure="f1_macro", **FEW)
    values = by_a_loop(GaussianNB(), X, Y, macro_f1)
    assert found.value == pytest.approx(values[0], rel=1e-12)
    assert found.replicates[:4] == pytest.approx(values[1:] - values[0], abs=1e-12)


def test_several_classes_of_an_svm_are_one_against_the_rest():
    found = tr.perturbation(tr.LinearSVM(), X, Y, **FEW)
    values = by_a_loop(
        tr.LinearSVM(), X, Y, lambda t, c, sample_weight: 1 - metrics.accuracy_score(
            t, c, sample_weight=sample_weight
        ),
    )  # fmt: skip
    assert found.measure == "error_rate"
    assert found.value == pytest.approx(values[0], abs=1e-12)
    assert found.replicates[:4] == pytest.approx(values[1:] - values[0], abs=1e-9)


def test_areas_are_of_each_fold():
    found = tr.perturbation(tr.LinearSVM(), X_TWO, TWO, measure="roc_auc", **FEW)
    design = drawn(X_TWO, TWO)
    areas = []
    for part in np.unique(design.parts):
        train, test = design.parts != part, design.parts == part
        decision = tr.LinearSVM().fit(X_TWO[train], TWO[train]).decision_function(X_TWO[test])
        areas.append(metrics.roc_auc_score(TWO[test], decision))
    assert found.value == pytest.approx(np.mean(areas), abs=1e-9)
    assert set(found.forms) == {"exact", "percentile", "normal", "effective_size"}
    assert found.interval.low < found.value < found.interval.high


def test_batches_and_refits_one_by_one_agree():
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), GaussianNB())
    alone = tr.perturbation(GaussianNB(), X_TWO, TWO, measure="f1", **FEW)
    piped = tr.perturbation(pipeline, X_TWO, TWO, measure="f1", **FEW)
    assert piped.replicates == pytest.approx(alone.replicates, abs=1e-12)


def test_the_error_by_the_general_path_moves_as_w_does():
    plain = tr.perturbation(tr.LinearSVM(), X_TWO, TWO, **FEW)
    share = tr.perturbation(tr.LinearSVM(), X_TWO, TWO, measure="accuracy", **FEW)
    assert share.value == pytest.approx(1 - plain.value, rel=1e-12)
    G = drawn(X_TWO, TWO).weights
    # W* is not divided by the mean weight.
    expected = -np.array(plain.replicates) / G.mean(axis=1)
    assert share.replicates == pytest.approx(expected, abs=1e-12)


def test_progress_counts_every_refit_and_processes_change_nothing():
    told = []
    one = tr.perturbation(
        GaussianNB(), X, Y, **FEW, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (303, 303)
    assert tr.perturbation(GaussianNB(), X, Y, **FEW, n_jobs=2).replicates == one.replicates


def test_a_measure_that_no_weighting_changes_falls_back():
    far = X_TWO + 100 * TWO[:, None]
    found = tr.perturbation(GaussianNB(), far, TWO, **FEW)
    assert found.interval == found.forms["exact"]
    assert found.notes[0].code == "losses_do_not_change"


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("log_loss", "one of labels or of a ranking"),
        ("f1", "Did you mean 'f1_macro'"),
        ("roc_auc_micro", "macro average"),
    ],
)
def test_other_measures_are_refused(measure, words):
    with pytest.raises(InputError, match=words):
        tr.perturbation(LogisticRegression(), X, Y, measure=measure, **FEW)


def test_the_plug_in_variance_is_of_the_error_of_linear_svms():
    with pytest.raises(InputError, match="plug_in"):
        tr.perturbation(GaussianNB(), X, Y, interval="plug_in", **FEW)
    with pytest.raises(InputError, match="plug_in"):
        tr.perturbation(tr.KernelSVM(), X_TWO, TWO, interval="plug_in", **FEW)
    found = tr.perturbation(tr.LinearSVM(), X_TWO, TWO, interval="plug_in", **FEW)
    assert found.interval.method == "perturbation_plug_in"
