"""The refits that rivals are read off: against machines trained one by one."""

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk import InputError, LinearSVM
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.rival_refits import Case


def _case(n=30, d=2, folds=3, seed=1, model=None):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, d)) + y[:, None]
    return Case(model or LinearSVM(), Examples.of(X, y), folds, 100, 0.95, seed)


def test_each_example_counts_as_often_as_it_is_said_to():
    case = _case()
    counts = np.random.default_rng(2).integers(0, 3, size=(4, case.n)).astype(float)
    found = case.decisions(counts)
    for row, decision in zip(counts, found, strict=True):
        libsvm = SVC(C=1.0, kernel="linear", tol=1e-10)
        libsvm.fit(case.examples.X, case.examples.codes, sample_weight=row)
        np.testing.assert_allclose(decision, libsvm.decision_function(case.examples.X), atol=1e-5)


def test_where_one_class_is_left_every_example_is_of_it():
    case = _case()
    ones = (case.examples.codes == 1).astype(float)
    assert (case.decisions(np.array([ones, 1 - ones])) == [[1.0], [-1.0]]).all()


def test_the_training_error_is_that_of_the_machine_of_all():
    case = _case(n=60, d=1)
    machine = LinearSVM().fit(case.examples.X, case.examples.codes)
    wrong = machine.predict(case.examples.X) != case.examples.codes
    assert case.training_error == wrong.mean() > 0


def test_the_cross_validated_error_is_the_share_of_examples_called_wrong_by_others():
    case = _case(n=31, d=8, folds=4)  # folds of 8, 8, 8 and 7: shares of examples, not of folds
    rng = np.random.default_rng(7)
    found = case.cross_validated([np.arange(31)], rng)[0]
    assert round(found * 31, 9) == round(found * 31)
    from truerisk.estimation.refits.splits import k_fold  # noqa: PLC0415  (to draw the same folds again)

    parts = k_fold(case.examples.codes, 4, random_state=np.random.default_rng(7))
    wrong = np.zeros(31, dtype=bool)
    for fold in range(4):
        train, test = parts != fold, parts == fold
        machine = LinearSVM().fit(case.examples.X[train], case.examples.codes[train])
        wrong[test] = machine.predict(case.examples.X[test]) != case.examples.codes[test]
    assert found == pytest.approx(wrong.mean(), abs=1e-12)


@pytest.mark.parametrize("n", [30, 31])
def test_halves_share_nothing_and_have_their_share_of_each_class(n):
    case = _case(n=n)
    halves = case.halves(6, np.random.default_rng(3))
    for first, second in zip(halves[0::2], halves[1::2], strict=True):
        assert len(first) == len(second) == n // 2
        assert not set(first) & set(second)
        ones = [int(case.examples.codes[half].sum()) for half in (first, second)]
        assert abs(ones[0] - ones[1]) <= 1
    assert len({tuple(half) for half in halves}) == 12


def test_too_few_examples_for_folds_of_halves_are_refused():
    with pytest.raises(InputError, match="`folds` must not exceed half the 9 examples; got 5"):
        _case(n=9, folds=5).halves(1, np.random.default_rng(0))


def test_class_weights_go_by_the_labels_as_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat(["b", "a"], 20)
    case = Case(
        LinearSVM(class_weight={"b": 5.0}),
        Examples.of(X, y, needs_positive=False),
        folds=4,
        replicates=10,
        level=0.95,
        seed=1,
    )
    fitted = SVC(kernel="linear", class_weight={"b": 5.0}, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(case.decision, fitted.decision_function(X), atol=1e-4)
    assert case.training_error == np.mean(fitted.predict(X) != y)
