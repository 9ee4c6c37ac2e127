import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from truerisk import best_of, binomial_interval, estimate
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.best_of import cell_shares, draws_below, estimate_of_choices
from truerisk.estimation.svm.one_vs_rest_counts import measure_values
from truerisk.estimation.svm.selection import corrected_estimate

ONE_CLASS = np.ones((1, 100))


def judge(wrong, seed=0, **options):
    return corrected_estimate(
        "error_rate",
        ONE_CLASS,
        wrong,
        higher_is_better=False,
        level=0.95,
        replicates=options.pop("replicates", 200),
        rng=np.random.default_rng(seed),
    )


def test_luck_is_taken_off_and_skill_is_not():
    raw, corrected = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        wrong = rng.random((25, 1, 100)) < 0.3  # all are equally good: 0.3
        raw.append(measure_values("error_rate", ONE_CLASS, wrong).min())
        corrected.append(judge(wrong, seed).value)
    assert np.mean(raw) < 0.23
    assert np.mean(corrected) == pytest.approx(0.3, abs=0.015)


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 2**31 + 1, 3 * 10**9])
@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox])
def test_draws_below_n_are_those_of_the_generator(n, kind):
    ours, theirs = (np.random.Generator(kind(5)) for _ in range(2))
    for count in (7, 100, 1, 101, 0):  # odd counts leave half a word
        expected = theirs.integers(n, size=count, dtype=np.uint32)
        np.testing.assert_array_equal(draws_below(ours, n, count), expected)
    assert ours.random() == theirs.random()


@pytest.mark.parametrize("weights", [1, 300])
def test_replicates_evaluated_in_parts_are_the_same(monkeypatch, weights):
    wrong = np.random.default_rng(4).random((5, 1, 100)) < 0.4
    whole = judge(wrong)
    monkeypatch.setattr("truerisk.estimation.refits.best_of.MAX_WEIGHTS", weights)
    assert judge(wrong) == whole


def test_a_clear_winner_keeps_its_estimate():
    wrong = np.random.default_rng(3).random((6, 1, 100)) < 0.5
    wrong[2] = False
    wrong[2, 0, :4] = True
    assert judge(wrong).value == pytest.approx(0.04, abs=0.01)


def test_one_candidate_needs_no_correction():
    wrong = np.random.default_rng(4).random((1, 1, 100)) < 0.2
    plain = measure_values("error_rate", ONE_CLASS, wrong)[0]
    assert judge(wrong, replicates=2000).value == pytest.approx(plain, abs=0.01)


def test_the_interval_contains_the_value_and_is_reproducible():
    wrong = np.random.default_rng(5).random((10, 1, 100)) < 0.3
    first, second = judge(wrong, 7), judge(wrong, 7)
    assert first == second
    assert first.interval.covers(first.value)
    assert first.target == "the learner at this sample size"


def test_what_is_undefined_everywhere_says_so():
    found = corrected_estimate(
        "precision",
        np.ones((1, 10)),
        np.ones((2, 1, 10), dtype=bool),
        higher_is_better=True,
        level=0.95,
        replicates=10,
        rng=np.random.default_rng(0),
    )
    assert math.isnan(found.value)
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert "undefined" in found.notes[0]


RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + RNG.normal(size=80) > 0).astype(int)
MODELS = {"tree": DecisionTreeClassifier(max_depth=2), "bayes": GaussianNB()}
FEW = {"folds": 4, "repeats": 2, "random_state": 1}


class Coin(ClassifierMixin, BaseEstimator):
    """Knows nothing: its call of an example depends on the example and the number alone."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        heads = [np.random.default_rng([self.number, int(abs(row[0]) * 1e9)]).random() for row in X]
        return self.classes_[(np.array(heads) < 0.5).astype(int)]


class Fails(Coin):
    """Cannot be trained."""

    def fit(self, _, y):  # noqa: ARG002
        raise RuntimeError("no luck today")


def test_every_learner_is_judged_as_it_is_alone():
    found = best_of(MODELS, X, Y, **FEW)
    for name, model in MODELS.items():
        alone = estimate(model, X, Y, **FEW)
        assert found.evaluations[name].to_dict() == alone.to_dict()


def test_the_best_is_the_one_with_the_least_error():
    found = best_of(MODELS, X, Y, **FEW)
    errors = {name: one["error_rate"].value for name, one in found.evaluations.items()}
    assert found.winner == min(errors, key=errors.get)
    assert list(found.ranking) == sorted(errors, key=errors.get)
    by_recall = best_of(MODELS, X, Y, measure="recall", **FEW)
    recalls = {name: one["recall"].value for name, one in by_recall.evaluations.items()}
    assert by_recall.winner == max(recalls, key=recalls.get)


def test_the_luck_of_the_best_of_many_coins_is_taken_away():
    coins = {f"coin {number}": Coin(number) for number in range(15)}
    found = best_of(coins, X, Y, **FEW)
    own = found.evaluations[found.winner]["error_rate"].value
    assert own < 0.45
    assert found.corrected.value == pytest.approx(0.5, abs=0.06)
    assert found.optimism == pytest.approx(found.corrected.value - own)
    assert found.corrected.interval.covers(0.5)


def test_the_choice_repeated_by_hand():
    found = best_of(MODELS, X, Y, replicates=100, **FEW)
    wrong = np.stack([one.called != Y for one in found.evaluations.values()]).mean(axis=1)
    rng, judged = np.random.default_rng([1, 1]), []
    for _ in range(100):
        times = np.bincount(rng.integers(80, size=80), minlength=80)
        chosen = int(np.argmin(wrong @ times))
        judged.append(wrong[chosen][times == 0].mean())
    assert found.corrected.value == pytest.approx(np.mean(judged))
    own = found.evaluations[found.winner]["error_rate"]
    moved = np.mean(judged) - own.value
    ends = (own.interval.low + min(moved, 0), own.interval.high + max(moved, 0))
    interval = found.corrected.interval
    assert (interval.low, interval.high) == pytest.approx(ends)
    assert interval.method == "variance_components_after_choice"


def test_the_shares_of_cells_are_those_of_the_repetitions_that_judged():
    called = np.array([[0, 1, -1], [1, 1, 0]])
    shares = cell_shares(np.array([0, 1, 1]), called, 2)
    assert shares.tolist() == [[0.5, 0.5, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_an_undefined_learner_comes_last():
    models = {"never": "majority", **MODELS}
    y = np.r_[np.zeros(50, dtype=int), np.ones(30, dtype=int)]
    found = best_of(models, X, y, measure="precision", **FEW)
    assert found.ranking[-1] == "never"
    assert np.isnan(found.evaluations["never"]["precision"].value)


def test_a_learner_that_fails_is_named():
    with pytest.raises(RefitError, match="broken: `model` must be trained"):
        best_of({"bayes": GaussianNB(), "broken": Fails()}, X, Y, **FEW)


def test_each_learner_has_a_folder_of_its_own(tmp_path):
    first = best_of(MODELS, X, Y, resume=tmp_path, **FEW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["learner-1", "learner-2"]
    assert best_of(MODELS, X, Y, resume=tmp_path, **FEW).to_dict() == first.to_dict()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": {"one": GaussianNB()}}, "`models` must be two or more"),
        ({"models": ["tree"]}, "`models` must be two or more"),
        ({"measure": "f1", "measures": ["accuracy"]}, "`measure` must be one of accuracy; got"),
        ({"measure": "f1", "scoring": ["accuracy"]}, "`measure` must be one of accuracy; got"),
        ({"measure": "f1_macro"}, "`measure` must be one of accuracy"),
        ({"replicates": 10}, "`replicates` must lie in"),
        ({"method": "bootstrap"}, "bootstrap adds them up"),
        ({"method": "stratified_bootstrap"}, "stratified_bootstrap adds them up"),
    ],
    ids=[
        "one model",
        "a list of one",
        "measures",
        "scoring",
        "averages of two classes",
        "replicates",
        "bootstrap",
        "by class",
    ],
)
def test_what_leaves_nothing_to_choose_is_refused(given, said):
    settings = {"models": MODELS, "X": X, "y": Y, **FEW, **given}
    with pytest.raises(InputError, match=said):
        best_of(**settings)


def test_choices_that_are_all_alike_are_bounded_by_the_number_of_examples():
    found = estimate_of_choices(np.zeros(50), "error_rate", level=0.9, n=2, method="best_of")
    assert (found.value, found.interval.low) == (0, 0)
    assert found.interval.high == pytest.approx(1 - 0.05**0.5)  # both right with p² = .05
    high = binomial_interval(0, 80).high  # the exact bound of no error in 80
    found = estimate_of_choices(np.zeros(50), "error_rate", level=0.95, n=80, method="best_of")
    assert found.interval.high == pytest.approx(high)


def test_the_estimate_of_choices_by_hand():
    values = np.array([0.2, 0.3, 0.4])
    found = estimate_of_choices(values, "error_rate", level=0.5, n=9, method="best_of")
    ends = (found.value, found.interval.low, found.interval.high)
    assert ends == pytest.approx((0.3, 0.25, 0.35))
