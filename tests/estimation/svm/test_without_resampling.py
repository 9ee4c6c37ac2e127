"""The estimates without resampling, in the order that theory gives them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.without_resampling import without_resampling
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
        "trained",
    ]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="one class at a time"):
        without_resampling(LinearSVM(), X, SPECIES)
    with pytest.raises(InputError, match=r"tr\.LinearSVM"):
        without_resampling(SVC(), X, Y)
