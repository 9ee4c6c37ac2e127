"""The estimates without resampling, in the order that theory gives them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.without_resampling import without_resampling
from truerisk.results import has_code
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM

X, SPECIES = load_iris(return_X_y=True)
Y = (SPECIES == 1).astype(int)


@pytest.mark.parametrize("svm", [LinearSVM(C=1.0), KernelSVM(C=10.0, gamma=0.1)])
def test_what_is_proven_to_be_more_is_more(svm):
    found = {one.method: one for one in without_resampling(svm, X, Y).estimates}
    exact = found["leave_one_out"].value
    assert exact == leave_one_out(svm, X, Y)["error_rate"].value
    assert found["training_error"].value <= exact
    assert found["xi_alpha_1"].value <= found["xi_alpha_2"].value
    assert exact <= found["xi_alpha_2"].value
    assert exact <= found["span_bound"].value
    assert abs(found["span_rule"].value - exact) <= 0.021


def test_the_training_error_is_that_of_predict():
    svm = KernelSVM(C=1.0, gamma=0.5)
    found = without_resampling(svm, X, Y).estimates[0]
    assert found.value == pytest.approx(np.mean(svm.fit(X, Y).predict(X) != Y))
    assert found.interval is None


def test_it_prints_a_line_for_each():
    text = str(without_resampling(LinearSVM(), X, Y))
    assert [line.split()[0] for line in text.splitlines()] == [
        "training_error",
        "xi_alpha_1",
        "xi_alpha_2",
        "span_bound",
        "span_rule",
        "leave_one_out",
        "sample_compression",
        "vc_bound",
        "holdout_bound",
        "trained",
    ]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="Compare one at a time"):
        without_resampling(LinearSVM(), X, SPECIES)
    with pytest.raises(InputError, match="must be a fitted SVM"):
        without_resampling(GaussianNB(), X, Y)


def test_scikit_learns_svm_is_read_too():
    ours = without_resampling(KernelSVM(C=1.0, gamma=0.5), X, Y)
    for model in (SVC(C=1.0, gamma=0.5), make_pipeline(SVC(C=1.0, gamma=0.5))):
        assert without_resampling(model, X, Y).estimates == ours.estimates
    linear = LinearSVC(loss="hinge", tol=1e-6, max_iter=200_000)
    found = {one.method: one.value for one in without_resampling(linear, X, Y).estimates}
    assert found["leave_one_out"] <= found["xi_alpha_1"]
    scaled = without_resampling(make_pipeline(StandardScaler(), SVC(gamma=0.5)), X, Y)
    assert all(has_code(one.notes, "preparation_fitted_once") for one in scaled.estimates)
