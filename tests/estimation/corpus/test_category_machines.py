import threading

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from truerisk.errors import InputError
from truerisk.estimation.corpus.category_machines import Training, train_machines
from truerisk.estimation.svm.leave_one_out import LeftOut

RHOS = (1.0, 2.0)


@pytest.fixture(scope="module")
def documents():
    """Documents of unit length over 250 words, three overlapping topics among them."""
    rng = np.random.default_rng(1)
    topics = rng.random((3, 250)) ** 8
    truth = rng.random((3, 90)) < np.array([[0.5], [0.3], [0.1]])
    words = rng.poisson(0.05 + truth.T.astype(float) @ topics * 0.6)
    words = words / np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-12)
    return csr_matrix(words), truth


@pytest.mark.parametrize("category", [0, 1, 2])
def test_at_risk_are_those_that_libsvm_puts_at_risk(documents, category):
    X, truth = documents
    machines = train_machines(X, truth, Training(C=0.5, rhos=RHOS))
    svc = SVC(C=0.5, kernel="linear", tol=1e-9).fit(X, truth[category])
    alpha = np.zeros(X.shape[0])
    alpha[svc.support_] = np.abs(svc.dual_coef_.toarray()[0])
    y = np.where(truth[category], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - y * svc.decision_function(X))
    assert machines.squared_radius == 1.0
    for rho, flagged in zip(RHOS, machines.flagged[:, category], strict=True):
        doubt = rho * alpha + slack
        clear = np.abs(doubt - 1.0) > 1e-5
        assert np.array_equal(flagged[clear], (doubt >= 1.0)[clear])


def test_the_decision_on_other_documents_is_that_of_libsvm(documents):
    X, truth = documents
    machines = train_machines(X[:60], truth[:, :60], Training(C=1.0, rhos=RHOS), test=X[60:])
    for category, decision in enumerate(machines.decision):
        svc = SVC(C=1.0, kernel="linear", tol=1e-9).fit(X[:60], truth[category, :60])
        assert decision == pytest.approx(svc.decision_function(X[60:]), abs=1e-5)


def test_leaving_out_finds_the_errors_of_a_loop_and_rho_2_flags_all_of_them(documents):
    X, truth = documents
    n = 40
    machines = train_machines(
        X[:n], truth[:1, :n], Training(C=1.0, rhos=RHOS, leave_one_out=True, workers=2)
    )
    wrong = []
    for i in range(n):
        rest = np.arange(n) != i
        svc = SVC(C=1.0, kernel="linear", tol=1e-9).fit(X[:n][rest], truth[0, :n][rest])
        wrong.append(bool(svc.decision_function(X[i])[0] > 0) != truth[0, i])
    assert machines.left_out[0].tolist() == wrong
    assert (machines.flagged[1] | ~machines.left_out).all()
    assert 0 < machines.refits[0] <= n
    assert machines.ties.sum() == 0


def test_threads_change_nothing_and_progress_counts_the_categories(documents):
    X, truth = documents
    told = []
    one = train_machines(X, truth, Training(C=0.5, rhos=RHOS))
    two = train_machines(
        X, truth, Training(C=0.5, rhos=RHOS, workers=2), progress=lambda *step: told.append(step)
    )
    assert np.array_equal(one.flagged, two.flagged)
    assert told == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]


def test_a_category_of_no_or_all_documents_has_no_machine(documents):
    X, truth = documents
    with_extremes = np.vstack([np.ones_like(truth[:1]), truth[:1], np.zeros_like(truth[:1])])
    machines = train_machines(X, with_extremes, Training(C=0.5, rhos=RHOS), test=X)
    assert machines.flagged.any(axis=(0, 2)).tolist() == [False, True, False]
    assert machines.decision.any(axis=1).tolist() == [False, True, False]


def test_what_fails_in_a_thread_is_told_and_stops_the_rest(documents):
    X, truth = documents

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_machines(X, truth, Training(C=0.5, rhos=RHOS, workers=2), progress=stop)
    assert threading.active_count() < 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "`C` must be positive; got 0"),
        ({"C": float("inf")}, "`C` must lie in"),
        ({"rhos": (0.0,)}, "`rho` must be positive; got 0"),
        ({"rhos": (-1.0,)}, "`rho` must lie in"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Training(**{"C": 1.0, "rhos": RHOS, **settings}).checked()


def test_a_tie_is_called_negative_and_counted(documents, monkeypatch):
    X, truth = documents
    monkeypatch.setattr(LeftOut, "margins", lambda *_: np.zeros(X.shape[0]))
    machines = train_machines(X, truth, Training(C=0.5, rhos=RHOS, leave_one_out=True))
    assert np.array_equal(machines.left_out, truth)
    assert machines.ties.tolist() == [X.shape[0]] * 3
