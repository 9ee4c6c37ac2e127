"""The rivals side by side: each by its formula, and what each says where it cannot be used."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from truerisk import InputError, KernelSVM, LinearSVM, estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.rival_intervals import (
    RIVALS,
    divided_errors,
    halves_and_whole,
    rival_intervals,
    splitting,
    splitting_deviation,
    stability,
    vc,
    vc_dimension,
)
from truerisk.estimation.svm.rival_refits import Case
from truerisk.intervals.bounds import stability_bound, vc_bound

SEED = int(np.random.default_rng(3).integers(2**32))  # what `random_state=3` comes to


def _data(n=60, d=2, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + y[:, None], y


@pytest.fixture(scope="module")
def rivals():
    return rival_intervals(LinearSVM(), *_data(), replicates=100, random_state=3)


def _case(seed=3, **options):
    return Case(LinearSVM(), Examples.of(*_data(**options)), 5, 100, 0.95, seed)


def test_every_rival_answers_with_an_interval_of_the_asked_level(rivals):
    assert list(rivals) == list(RIVALS)
    for name, found in rivals.items():
        assert (found.method, found.measure, found.n) == (name, "error_rate", 60)
        assert found.is_defined
        assert found.interval.level == 0.95
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_each_says_what_it_speaks_of(rivals):
    ours = {name for name, found in rivals.items() if found.target == "this model"}
    assert ours == {"agreement", "vc_bound", "stability_bound", "adaptive"}


def test_each_has_its_own_stream_and_the_seed_settles_it(rivals):
    case = _case(SEED)
    for name in ("rho_based", "splitting", "adaptive"):  # in another order
        assert RIVALS[name](case).interval == rivals[name].interval
    assert splitting(_case(SEED + 1)).interval != rivals["splitting"].interval


def test_agreement_is_that_of_the_library_and_nested_has_its_own_rule(rivals):
    plain = estimate(LinearSVM(), *_data(), folds=5, random_state=SEED)["error_rate"]
    assert rivals["agreement"].interval == plain.interval
    assert rivals["nested_cross_validation"].interval.method == "nested_cross_validation"
    assert rivals["corrected_t"].interval.method == "corrected_t"


def test_splitting_is_the_error_of_folds_and_half_the_squared_difference_of_halves(rivals):
    case = _case(SEED)
    value, pairs = halves_and_whole(case, 10, case.rng(1))
    assert pairs.shape == (10, 2)
    sd = math.sqrt(sum((a - b) ** 2 for a, b in pairs) / 20)
    assert splitting_deviation(pairs) == pytest.approx(sd, rel=1e-12)
    found = rivals["splitting"]
    assert found.value == value
    assert found.interval.high == pytest.approx(value + norm.isf(0.025) * sd, rel=1e-9)


def test_rho_based_takes_a_fifth_of_the_examples_for_rho(rivals):
    case = _case(SEED)
    values, test = divided_errors(case, 100, case.rng(2))
    assert (len(values), test) == (100, 12)
    half = norm.isf(0.025) * math.sqrt((1 / 100 + 0.2 / 0.8) * values.var(ddof=1))
    found = rivals["rho_based"]
    assert found.value == pytest.approx(values.mean(), rel=1e-12)
    assert found.interval.high == pytest.approx(values.mean() + half, rel=1e-9)


def test_the_vc_bound_is_around_the_training_error():
    X, y = _data(n=400)
    found = vc(Case(LinearSVM(), Examples.of(X, y), 5, 100, 0.95, 3))
    error = float(np.mean(LinearSVM().fit(X, y).predict(X) != y))
    bound = vc_bound(error, 400, 3)
    assert bound.high < 1
    assert (found.value, found.interval) == (error, bound)


def test_the_stability_bound_is_that_of_c_kappa_squared_and_the_hinge_loss_cut_off_at_one():
    # At ±1 with 100 of 4,000 labels turned round, w = 1: the turned ones have the hinge loss 2.
    y = np.arange(4000) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None]
    X[:100] *= -1
    case = Case(LinearSVM(C=0.0005), Examples.of(X, y), 5, 100, 0.95, 3)
    found = stability(case)
    expected = stability_bound(0.025, 4000, 0.0005)
    assert expected.high < 0.25
    assert found.interval.high == pytest.approx(expected.high, abs=1e-4)
    assert found.value == 0.025


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LinearSVM(), 4),
        (KernelSVM(kernel="linear"), 4),
        (KernelSVM(kernel="poly", degree=2, coef0=1.0), 10),  # 1, 3 and 6 monomials
        (KernelSVM(kernel="poly", degree=2, coef0=0.0), 7),  # 6 monomials and the bias
        (KernelSVM(kernel="rbf"), math.inf),
        (make_pipeline(StandardScaler(), LinearSVM()), 4),
    ],
    ids=["linear", "linear kernel", "poly", "poly of one degree", "rbf", "pipeline"],
)
def test_the_vc_dimension_counts_coefficients(model, expected):
    assert vc_dimension(model, np.random.default_rng(0).normal(size=(9, 3))) == expected


def _only(monkeypatch, *names):
    rules = {name: RIVALS[name] for name in names}
    monkeypatch.setattr("truerisk.estimation.svm.rival_intervals.RIVALS", rules)


def test_what_a_rival_cannot_do_is_said_and_stops_no_other(monkeypatch):
    _only(monkeypatch, "adaptive", "vc_bound", "splitting")
    found = rival_intervals(KernelSVM(gamma=0.5), *_data(n=40), replicates=100, random_state=1)
    assert not found["adaptive"].is_defined
    assert found["adaptive"].interval is None
    assert "must have a linear rule; got 'rbf'" in found["adaptive"].notes[0]
    assert (found["vc_bound"].interval.low, found["vc_bound"].interval.high) == (0.0, 1.0)
    assert "infinite" in found["vc_bound"].notes[0]
    assert found["splitting"].is_defined


def test_a_logistic_rule_and_class_weights_have_no_stability_bound():
    for model, message in (
        (LogisticRegression(), "hinge loss"),
        (LinearSVM(class_weight="balanced"), "must have one C"),
        (KernelSVM(kernel="precomputed"), "must know"),
    ):
        with pytest.raises(InputError, match=message):
            stability(Case(model, Examples.of(*_data(n=40)), 5, 100, 0.95, 3))


def test_few_examples_leave_what_needs_more_undefined(monkeypatch):
    _only(monkeypatch, "splitting", "vc_bound")
    X, y = _data(n=8)
    found = rival_intervals(LinearSVM(), X, y, folds=5, replicates=100, random_state=1)
    assert not found["splitting"].is_defined
    assert "`folds` must not exceed half the 8 examples" in found["splitting"].notes[0]
    assert found["vc_bound"].is_defined


def test_without_any_error_there_is_a_value_and_a_reason(monkeypatch):
    _only(monkeypatch, "splitting", "rho_based")
    X = np.array([[-3.0], [-2.5], [-2.0], [-1.9]] * 5 + [[3.0], [2.5], [2.0], [1.9]] * 5)
    y = np.repeat([0, 1], 20)
    found = rival_intervals(LinearSVM(), X, y, replicates=100, random_state=1)
    for name in ("splitting", "rho_based"):
        assert (found[name].value, found[name].interval) == (0.0, None)
        assert found[name].notes[-1].startswith("no interval: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "Write 0.95 for 95 %"),
        ({"replicates": 50}, "`replicates` must lie in"),
        ({"folds": 1}, "`folds` must lie in"),
    ],
    ids=["level", "replicates", "folds"],
)
def test_settings_that_cannot_be_meant_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        rival_intervals(LinearSVM(), *_data(), **options)


def test_more_than_two_classes_are_refused():
    X = _data()[0]
    with pytest.raises(InputError, match="`y` must hold two classes; got 3"):
        rival_intervals(LinearSVM(), X, np.arange(60) % 3)
