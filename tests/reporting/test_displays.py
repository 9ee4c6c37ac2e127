"""Displays as scikit-learn has them: the same curves, with our intervals."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.errors import InputError

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(2)
Y = np.arange(200) % 2
X = RNG.normal(size=(200, 2)) + 0.8 * Y[:, np.newaxis]
MODEL = LogisticRegression().fit(X[:100], Y[:100])
SCORE = MODEL.predict_proba(X[100:])[:, 1]
CURVES = {
    tr.RocCurveDisplay: "roc_auc",
    tr.PrecisionRecallDisplay: "average_precision",
    tr.CalibrationDisplay: "brier_score",
}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", CURVES)
def test_the_estimate_is_that_of_evaluate(display):
    shown = display.from_estimator(MODEL, X[100:], Y[100:])
    expected = tr.evaluate(Y[100:], y_score=SCORE, probabilities=True)[CURVES[display]]
    assert shown.estimate.value == pytest.approx(expected.value)
    assert shown.estimate.interval == expected.interval
    assert shown.figure_ is shown.ax_.figure
    text = shown.ax_.get_legend().get_texts()[0].get_text()
    assert f"{expected.value:.3f} [{expected.interval.low:.3f}, " in text
    assert text.startswith("LogisticRegression: ")


def test_the_curve_is_that_of_scikit_learn_and_lies_in_its_band():
    axes = plt.figure().subplots()
    ours = tr.RocCurveDisplay.from_predictions(Y[100:], SCORE, ax=axes)
    theirs = metrics.RocCurveDisplay.from_predictions(Y[100:], SCORE, drop_intermediate=False)
    assert ours.ax_ is axes
    assert np.allclose(ours.line_.get_xdata(), theirs.line_.get_xdata())
    assert np.allclose(ours.line_.get_ydata(), theirs.line_.get_ydata())
    at = np.interp(ours.band.x, ours.curve.fpr, ours.curve.tpr)
    assert (ours.band.low <= at + 1e-9).all()
    assert len(axes.collections) == 1
    again = ours.plot()
    assert again is ours
    assert again.ax_ is not axes


def test_the_positive_label_may_be_the_first_one():
    words = np.where(Y == 1, "no", "yes")
    model = GaussianNB().fit(X[:100], words[:100])
    shown = tr.RocCurveDisplay.from_estimator(model, X[100:], words[100:], pos_label="no")
    expected = metrics.roc_auc_score(words[100:] == "no", model.predict_proba(X[100:])[:, 0])
    assert shown.estimate.value == pytest.approx(expected)


def test_a_matrix_has_exact_intervals_of_the_shares_of_the_truth():
    shown = tr.ConfusionMatrixDisplay.from_estimator(MODEL, X[100:], Y[100:], level=0.9)
    counts = metrics.confusion_matrix(Y[100:], MODEL.predict(X[100:]))
    assert (shown.confusion_matrix == counts).all()
    interval = tr.binomial_interval(int(counts[1, 1]), int(counts[1].sum()), level=0.9)
    assert (shown.low[1, 1], shown.high[1, 1]) == pytest.approx((interval.low, interval.high))
    texts = [one.get_text() for one in shown.ax_.texts]
    assert texts[3] == f"{counts[1, 1]}\n[{interval.low:.2f}, {interval.high:.2f}]"


def test_what_cannot_be_drawn_is_refused():
    three = GaussianNB().fit(X, np.arange(200) % 3)
    with pytest.raises(InputError, match="`estimator` must be of two classes"):
        tr.RocCurveDisplay.from_estimator(three, X, Y)
    ridge = RidgeClassifier().fit(X, Y)
    tr.RocCurveDisplay.from_estimator(ridge, X, Y)
    with pytest.raises(InputError, match="`estimator` must have predict_proba; Ridge"):
        tr.CalibrationDisplay.from_estimator(ridge, X, Y)
    with pytest.raises(InputError, match="`model` must be fitted"):
        tr.RocCurveDisplay.from_estimator(GaussianNB(), X, Y)
