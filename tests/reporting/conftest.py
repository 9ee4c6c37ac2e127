"""Results to report on: evaluations made by hand, whose words can be foretold, and curves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.results import Estimate, Evaluation, Interval
from truerisk.tallies.cells import Cells, LabelSets

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


def estimate_of(measure, value, low, high, *, n=200, notes=(), method="clopper_pearson"):
    return Estimate(
        value=value,
        interval=Interval(low, high, 0.95, method),
        measure=measure,
        method="holdout",
        n=n,
        notes=notes,
    )


def cells_of(labels, counts):
    one, size = np.eye(len(labels), dtype=bool), len(labels)
    return Cells(
        labels=tuple(labels),
        truth=LabelSets.of_flags(np.repeat(one, size, axis=0)),
        predicted=LabelSets.of_flags(np.tile(one, (size, 1))),
        totals=np.asarray(counts).ravel(),
        rows=np.asarray(counts).ravel(),
    )


def evaluation_of(labels=("ham", "spam"), *, counts=((850, 40), (50, 50)), **fields):
    estimates = {
        "error_rate": estimate_of("error_rate", 0.09, 0.073, 0.110, n=990),
        "precision": estimate_of("precision", 50 / 90, 0.447, 0.661, n=90),
        "recall": estimate_of("recall", 0.5, 0.398, 0.602, n=100),
        "f1": estimate_of("f1", 0.526, 0.44, 0.61, n=140),
        "matthews_correlation": estimate_of(
            "matthews_correlation", 0.477, 0.38, 0.56, n=990, method="delta"
        ),
        "positive_likelihood_ratio": estimate_of(
            "positive_likelihood_ratio", math.inf, 5.0, math.inf, method="dirichlet"
        ),
        "specificity": estimate_of(
            "specificity", math.nan, 0, 1, n=0, notes=("undefined: no example is negative",)
        ),
    }
    given = {
        "estimates": estimates,
        "n": int(np.sum(counts)),
        "level": 0.95,
        "labels": tuple(labels),
        "pos_label": labels[-1],
        "tallies": cells_of(labels, counts),
        "verdict": ("Nine of a hundred examples are misjudged.", "Accuracy misleads here."),
        "notes": ("The positive class is rare.",),
        "settings": {"random_state": 7, "replicates": 2000},
        "source": {
            "files": ({"path": "predictions.csv", "rows": 990, "dropped": 0, "sha256": "ab" * 32},),
            "roles": {"truth": "y_true", "score": ("a", "b"), "pred": "answer"},
            "guessed": ("truth", "score"),
        },
    }
    if len(labels) > 2:
        given["by_class"] = {
            label: {
                "precision": estimate_of("precision", 0.5, 0.4, 0.6),
                "recall": estimate_of("recall", 0.25, 0.2, 0.3),
                "f1": estimate_of("f1", math.nan, 0, 1, notes=("undefined: nothing there",)),
            }
            for label in labels
        }
    return Evaluation(**{**given, **fields})


@pytest.fixture
def make_evaluation():
    return evaluation_of


@pytest.fixture
def make_estimate():
    return estimate_of


@pytest.fixture
def evaluation():
    return evaluation_of()


@pytest.fixture
def evaluation_with_curves():
    steps = np.linspace(0, 1, 2001)
    roc = SimpleNamespace(fpr=steps, tpr=np.sqrt(steps), auc=2 / 3)
    precision_recall = SimpleNamespace(
        recall=steps, precision=1 - steps / 2, average_precision=0.75
    )
    return evaluation_of(curves={"roc": roc, "precision_recall": precision_recall})


class Failing(DummyClassifier):
    def fit(self, X, y):
        if len(X) > 30:
            message = "too <many>"
            raise RuntimeError(message)
        return super().fit(X, y)


@pytest.fixture(scope="session")
def curve():
    """Give the curves of a learner that learns and of one that does not; one name is hostile."""
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    X = rng.normal(size=(160, 6)) + 1.0 * y[:, None]
    models = {"baseline": DummyClassifier(), HOSTILE: GaussianNB()}
    return learning_curve(models, X, y, sizes=[8, 20, 40, 80], repeats=8, random_state=1)


@pytest.fixture(scope="session")
def failed():
    """Give a curve whose largest size could not be trained on."""
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2
    return learning_curve(Failing(), X, y, sizes=[10, 20, 40], repeats=2, random_state=1)
