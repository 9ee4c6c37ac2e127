import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from truerisk import InputError, KernelSVM, LinearSVM, estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.rivals import (
    RIVALS,
    Case,
    Resamples,
    adaptive_interval,
    divided_errors,
    halves_and_whole,
    largest_sums,
    rival_intervals,
    splitting,
    stability,
    vc,
    vc_dimension,
)
from truerisk.intervals.bounds import stability_bound, vc_bound


def _refit_case(n=30, d=2, folds=3, seed=1, model=None):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, d)) + y[:, None]
    return Case(model or LinearSVM(), Examples.of(X, y), folds, 100, 0.95, seed)


def test_each_example_counts_as_often_as_it_is_said_to():
    case = _refit_case()
    counts = np.random.default_rng(2).integers(0, 3, size=(4, case.n)).astype(float)
    found = case.decisions(counts)
    for row, decision in zip(counts, found, strict=True):
        libsvm = SVC(C=1.0, kernel="linear", tol=1e-10)
        libsvm.fit(case.examples.X, case.examples.codes, sample_weight=row)
        np.testing.assert_allclose(decision, libsvm.decision_function(case.examples.X), atol=1e-5)


def test_where_one_class_is_left_every_example_is_of_it():
    case = _refit_case()
    ones = (case.examples.codes == 1).astype(float)
    assert (case.decisions(np.array([ones, 1 - ones])) == [[1.0], [-1.0]]).all()


def test_the_training_error_is_that_of_the_machine_of_all():
    case = _refit_case(n=60, d=1)
    machine = LinearSVM().fit(case.examples.X, case.examples.codes)
    wrong = machine.predict(case.examples.X) != case.examples.codes
    assert case.training_error == wrong.mean() > 0


def test_the_cross_validated_error_is_the_share_of_examples_called_wrong_by_others():
    case = _refit_case(
        n=31, d=8, folds=4
    )  # folds of 8, 8, 8 and 7: shares of examples, not of folds
    rng = np.random.default_rng(7)
    found = case.cross_validated([np.arange(31)], rng)[0]
    assert round(found * 31, 9) == round(found * 31)
    from truerisk.estimation.refits.splits import k_fold

    parts = k_fold(case.examples.codes, 4, random_state=np.random.default_rng(7))
    wrong = np.zeros(31, dtype=bool)
    for fold in range(4):
        train, test = parts != fold, parts == fold
        machine = LinearSVM().fit(case.examples.X[train], case.examples.codes[train])
        wrong[test] = machine.predict(case.examples.X[test]) != case.examples.codes[test]
    assert found == pytest.approx(wrong.mean(), abs=1e-12)


@pytest.mark.parametrize("n", [30, 31])
def test_halves_share_nothing_and_have_their_share_of_each_class(n):
    case = _refit_case(n=n)
    halves = case.halves(6, np.random.default_rng(3))
    for first, second in zip(halves[0::2], halves[1::2], strict=True):
        assert len(first) == len(second) == n // 2
        assert not set(first) & set(second)
        ones = [int(case.examples.codes[half].sum()) for half in (first, second)]
        assert abs(ones[0] - ones[1]) <= 1
    assert len({tuple(half) for half in halves}) == 12


def test_too_few_examples_for_folds_of_halves_are_refused():
    with pytest.raises(InputError, match="`folds` must not exceed half the 9 examples; got 5"):
        _refit_case(n=9, folds=5).halves(1, np.random.default_rng(0))


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
    fitted = SVC(kernel="linear", class_weight={"b": 5.0}, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(case.decision, fitted.decision_function(X), atol=1e-4)
    assert case.training_error == np.mean(fitted.predict(X) != y)


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
    settings = {"folds": 5, "random_state": SEED, "interval": "agreement"}
    plain = estimate(LinearSVM(), *_data(), **settings)["error_rate"]
    assert rivals["agreement"].interval == plain.interval
    assert rivals["nested_cross_validation"].interval.method == "nested_cross_validation"
    assert rivals["corrected_t"].interval.method == "corrected_t"


def test_splitting_is_the_error_of_folds_and_half_the_squared_difference_of_halves(rivals):
    case = _case(SEED)
    value, pairs = halves_and_whole(case, 10, case.rng(1))
    assert pairs.shape == (10, 2)
    sd = math.sqrt(sum((a - b) ** 2 for a, b in pairs) / 20)
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
    monkeypatch.setattr("truerisk.estimation.svm.rivals.RIVALS", rules)


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


RNG = np.random.default_rng(2)
Y = np.repeat([0, 1], 30)
X = RNG.normal(size=(60, 2)) + Y[:, None]


def test_an_error_rate_needs_no_positive_label():
    words = np.where(Y == 0, "oui", "non")
    options = {"replicates": 100, "folds": 3, "random_state": 1}
    by_words = rival_intervals(LinearSVM(), X, words, **options)
    for name, rival in by_words.items():
        assert rival.is_defined, (name, rival.notes)


@pytest.mark.parametrize(
    "model",
    [LinearSVC(loss="hinge", max_iter=100_000), NuSVC(), "linear_svm"],
    ids=["LinearSVC", "NuSVC", "a name"],
)
def test_what_is_perturbed_has_rivals(model):
    rivals = rival_intervals(model, X, Y, replicates=100, folds=3, random_state=1)
    open_ = {name for name, rival in rivals.items() if not rival.is_defined}
    assert open_ <= {"stability_bound", "adaptive"}


def _calls_of_a_line(x):
    """List every way in which a threshold, either side up, calls these numbers."""
    cuts = [min(x) - 1, *((a + b) / 2 for a, b in pairwise(sorted(x)))]
    return [np.where((x > cut) == up, 1.0, -1.0) for cut, up in product(cuts, (True, False))]


def _calls_of_a_plane(X):
    """List every way in which a line calls points of the plane, by turning it about pairs."""
    found = [np.ones(len(X)), -np.ones(len(X))]
    for i, j in combinations(range(len(X)), 2):
        normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
        side = np.sign((X - X[i]) @ normal)
        for first, second, turn in product((-1.0, 1.0), repeat=3):
            called = side.copy()
            called[[i, j]] = first, second
            found.append(turn * called)
    return found


def _largest(y, gains, calls):
    return max(float(gains[called != y].sum()) for called in calls)


@settings(max_examples=30)
@given(st.integers(3, 12), st.integers(0, 10_000))
def test_with_one_feature_no_rule_gains_more(n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.choice([-1.0, 1.0], size=n)
    gains = rng.integers(-2, 4, size=(5, n)).astype(float)
    found = largest_sums(x[:, None], y, gains, np.tile(y < 0, (5, 1)))
    expected = [_largest(y, row, _calls_of_a_line(x)) for row in gains]
    # Where at most as many gain as there are coefficients, the bound is that of any calls.
    few = np.count_nonzero(gains, axis=1) <= 2
    expected = np.where(few, np.maximum(gains, 0).sum(axis=1), expected)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_with_two_features_it_comes_near_the_best_of_all_lines_and_never_above():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 2)), rng.choice([-1.0, 1.0], size=14)
    gains = (rng.multinomial(14, np.full(14, 1 / 14), size=60) - 1).astype(float)
    found = largest_sums(X, y, gains, np.tile(y < 0, (60, 1)))
    exact = np.array([_largest(y, row, _calls_of_a_plane(X)) for row in gains])
    assert (found <= exact).all()
    assert np.mean(found) > 0.93 * np.mean(exact)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_a_rule_already_known_is_never_beaten_by_what_is_found(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), rng.choice([-1.0, 1.0], size=12)
    gains = rng.integers(-1, 3, size=(4, 12)).astype(float)
    wrong = (X @ rng.normal(size=3) > 0) != (y > 0)
    found = largest_sums(X, y, gains, np.broadcast_to(wrong, gains.shape))
    assert (found >= gains[:, wrong].sum(axis=1) - 1e-12).all()
    assert (found <= np.maximum(gains, 0).sum(axis=1) + 1e-12).all()


def test_scores_that_are_equal_are_never_parted():
    X, y = np.ones((4, 1)), np.array([1.0, 1.0, -1.0, -1.0])
    gains = np.array([[3.0, -1.0, 2.0, -3.0]])
    # One call for all: wrong are the two of one class, which gain 2, or those of the other, −1.
    assert largest_sums(X, y, gains, y[None] < 0).tolist() == [2.0]


def _example():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    decision = np.array([-2.0, 0.5, 1.0, 2.0])  # the second is called wrong: error 1/4
    counts = np.array([[1.0, 2.0, 0.0, 1.0], [2.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 1.0]])
    decisions = np.array([[-2.0, 1.0, 1.0, 2.0], [-3.0, 0.5, 1.0, 3.0], [-2.0, 0.6, -1.0, 1.0]])
    return np.arange(4.0)[:, None], y, decision, Resamples(counts, decisions)


def test_with_no_example_near_it_is_the_bootstrap_of_the_optimism():
    # Wrong in the resamples: {2}, {2}, {2, 3}; counts − 1 there: 1, −1, 0 + 1.
    found = adaptive_interval(*_example(), level=0.5, cutoff=0.0)
    low, high = np.quantile([1.0, -1.0, 1.0], [0.25, 0.75])
    assert found.low == pytest.approx(max(0.0, 0.25 - high / 4))
    assert found.high == pytest.approx(0.25 - low / 4)
    assert (found.level, found.method) == (0.5, "adaptive")


def test_with_every_example_near_it_reaches_as_far_as_any_rule():
    x, y, decision, resamples = _example()
    found = adaptive_interval(x, y, decision, resamples, level=0.5, cutoff=1e9)
    moved, calls = resamples.counts - 1, _calls_of_a_line(x[:, 0])
    few = np.count_nonzero(moved, axis=1) <= 2
    most = np.where(few, np.maximum(moved, 0).sum(axis=1), [_largest(y, m, calls) for m in moved])
    least = np.where(
        few, np.minimum(moved, 0).sum(axis=1), [-_largest(y, -m, calls) for m in moved]
    )
    assert found.low == pytest.approx(max(0.0, 0.25 - np.quantile(most, 0.75) / 4))
    assert found.high == pytest.approx(0.25 - np.quantile(least, 0.25) / 4)


def test_far_from_the_boundary_it_is_the_rule_itself_and_near_it_any_rule():
    rng = np.random.default_rng(8)
    n, resamples = 12, 40
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, 1.0, -1.0)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    rules = x * rng.uniform(0.5, 2, size=(resamples, 1)) + 0.5 * rng.normal(size=(resamples, 1))
    calls = _calls_of_a_line(x)
    most, least = [], []
    for drawn, rule in zip(counts, rules, strict=True):
        near = rule**2 <= 2.0 * rules.var(axis=0, ddof=1)
        gains = np.where(near, drawn - 1, 0.0)
        wrong = (rule > 0) != (y > 0)
        far = (drawn - 1)[wrong & ~near].sum()
        if np.count_nonzero(gains) <= 2:
            ends = np.minimum(gains, 0).sum(), np.maximum(gains, 0).sum()
        else:
            ends = -_largest(y, -gains, calls), _largest(y, gains, calls)
        least.append(far + ends[0])
        most.append(far + ends[1])
        assert 0 < near.sum() < n
    found = adaptive_interval(x[:, None], y, x, Resamples(counts, rules), level=0.8, cutoff=2.0)
    error = np.mean((x > 0) != (y > 0))
    assert found.low == pytest.approx(max(0.0, error - np.quantile(most, 0.9) / n))
    assert found.high == pytest.approx(error - np.quantile(least, 0.1) / n)


def test_near_is_measured_in_deviations_of_the_decision_value():
    x, y, decision, resamples = _example()
    ratio = resamples.decisions**2 / resamples.decisions.var(axis=0, ddof=1)
    none = adaptive_interval(x, y, decision, resamples, cutoff=0.999 * ratio.min())
    plain = adaptive_interval(x, y, decision, resamples, cutoff=0.0)
    assert (none.low, none.high) == (plain.low, plain.high)


def test_a_higher_cutoff_never_makes_it_shorter():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 1))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=100).astype(float)
    rules = X[:, 0] + 0.3 * rng.normal(size=(100, 1))
    resamples = Resamples(counts, rules)
    found = [adaptive_interval(X, y, X[:, 0], resamples, cutoff=at) for at in (0.0, 1.0, 4.0, 1e9)]
    for shorter, longer in pairwise(found):
        assert longer.low <= shorter.low + 1e-12
        assert longer.high >= shorter.high - 1e-12
