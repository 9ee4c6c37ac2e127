"""The best of several learners: the ranking, the luck, and the choice repeated by hand."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from truerisk import best_of, estimate
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.best_of import cell_shares

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
    low, high = np.quantile(judged, [0.025, 0.975])
    interval = found.corrected.interval
    assert (interval.low, interval.high) == pytest.approx((low, high))


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
        ({"measure": "roc_auc"}, "must be made of counts of calls"),
        ({"measure": "f1_macro"}, "`measure` must be one of accuracy"),
        ({"replicates": 10}, "`replicates` must lie in"),
        ({"method": "bootstrap"}, "bootstrap only adds it up"),
    ],
    ids=["one model", "scores", "averages of two classes", "replicates", "bootstrap"],
)
def test_what_leaves_nothing_to_choose_is_refused(given, said):
    settings = {"models": MODELS, "X": X, "y": Y, **FEW, **given}
    with pytest.raises(InputError, match=said):
        best_of(**settings)
