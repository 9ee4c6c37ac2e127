"""`tr.summarise` of what scikit-learn gives: cross_validate, searches, cv_results_."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.errors import InputError
from truerisk.results import has_code

RNG = np.random.default_rng(8)
Y = np.arange(120) % 2
X = RNG.normal(size=(120, 4)) + 0.5 * Y[:, np.newaxis]
GRID = {"max_depth": [1, 2, 3, 5, 8]}
TREE = DecisionTreeClassifier(random_state=0)


def test_cross_validate_with_several_metrics_in_scikit_learns_names():
    scores = cross_validate(
        GaussianNB(), X, Y, cv=5, scoring=["f1", "neg_log_loss", "d2_log_loss_score"]
    )
    loss = tr.summarise(scores, measure="log_loss")
    assert loss.measure == "log_loss"
    assert loss.replicates == pytest.approx(tuple(-scores["test_neg_log_loss"]))
    assert tr.summarise(scores, measure="neg_log_loss") == loss
    other = tr.summarise(scores, measure="d2_log_loss_score")
    assert other.value == pytest.approx(scores["test_d2_log_loss_score"].mean())
    # t₄ at .975 is 2.776445.
    half = 2.776445 * scores["test_f1"].std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    interval = tr.summarise(scores, measure="f1").interval
    assert interval.high == pytest.approx(min(1.0, scores["test_f1"].mean() + half), abs=1e-6)


def test_the_correction_of_a_winner_by_hand():
    # Two candidates in two divisions: the first wins with .8, the best in each are .9 and .8.
    results = {
        "params": [{}, {}],
        "rank_test_score": np.array([1, 2]),
        "split0_test_score": np.array([0.9, 0.6]),
        "split1_test_score": np.array([0.7, 0.8]),
    }
    summary = tr.summarise(results, measure="accuracy")
    # ((.9 − .9) + (.8 − .7)) / 2 = .05 is taken off .8.
    assert summary.value == pytest.approx(0.75)
    assert summary.interval.method == "corrected_t of a winner"
    assert has_code(summary.notes, "winner_corrected")
    errors = results | {"split0_test_score": [-0.1, -0.4], "split1_test_score": [-0.3, -0.2]}
    brier = tr.summarise(errors, measure="neg_brier_score")
    assert brier.measure == "brier_score"
    assert brier.value == pytest.approx(0.25)


def test_the_interval_of_a_winner_holds_those_before_and_after_the_correction():
    # Winner .80 ± 2.776445 · √.0002 · √(1/5 + 1/4) = .80 ± .026340; its luck is (.01 + .01)/5.
    winner, rival = [0.80, 0.82, 0.78, 0.80, 0.80], [0.79, 0.83, 0.77, 0.81, 0.79]
    results = {"params": [{}, {}], "rank_test_score": np.array([1, 2])}
    results |= {f"split{at}_test_score": [winner[at], rival[at]] for at in range(5)}
    summary = tr.summarise(results, measure="accuracy")
    assert summary.value == pytest.approx(0.796)
    ends = (summary.interval.low, summary.interval.high)
    assert ends == pytest.approx((0.769660, 0.826340), abs=1e-6)
    losses = results | {f"split{at}_test_score": [-winner[at], -rival[at]] for at in range(5)}
    losses["rank_test_score"] = np.array([1, 2])
    brier = tr.summarise(losses, measure="neg_brier_score").interval
    # The best in each division: .79, .82, .77, .80, .79: (.01 + .01 + .01)/5 is added.
    assert (brier.low, brier.high) == pytest.approx((0.773660, 0.832340), abs=1e-6)


def test_a_winner_says_where_its_interval_is_not_kept():
    scores = [[0.9, 0.8], [0.7, 0.75], [0.95, 0.9]]
    results = {"params": [{}, {}], "rank_test_score": np.array([1, 2])}
    results |= {f"split{at}_test_score": one for at, one in enumerate(scores)}
    faultless = results | {"split2_test_score": [1.0, 0.9]}
    losses = results | {f"split{at}_test_score": [-one for one in two]
                        for at, two in enumerate(scores)}  # fmt: skip
    for given, measure, kept in (
        (results, "roc_auc", True),
        (faultless, "roc_auc", False),
        (faultless, "accuracy", True),
        (losses, "neg_brier_score", True),
        (losses, "neg_log_loss", False),
    ):
        notes = tr.summarise(given, measure=measure).notes
        assert has_code(notes, "not_kept_at_this_size") != kept, measure


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(TREE, GRID, cv=4),
        RandomizedSearchCV(TREE, GRID, n_iter=3, cv=4, random_state=1),
        HalvingGridSearchCV(TREE, GRID, cv=4, random_state=1),
        GridSearchCV(TREE, GRID, scoring=["f1", "accuracy"], refit="accuracy", cv=4),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_fitted_search_and_its_results_say_the_same(search):
    search.fit(X, Y)
    of_search = tr.summarise(search)
    assert of_search.measure == "accuracy"
    assert of_search.value <= search.best_score_
    assert of_search.interval.covers(of_search.value)
    if search.refit is True:
        assert (
            tr.summarise(search.cv_results_, measure="accuracy").replicates == of_search.replicates
        )


def test_the_optimism_is_about_what_new_examples_show():
    """Fifty useless candidates: the winner looks better than chance; corrected, it does not."""
    raw, corrected = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(0.5, 0.05, size=(50, 10))
        results = {
            "params": [{}] * 50,
            "rank_test_score": (-values.mean(axis=1)).argsort().argsort(),
        }
        results |= {f"split{at}_test_score": values[:, at] for at in range(10)}
        raw.append(values.mean(axis=1).max())
        corrected.append(tr.summarise(results, measure="accuracy").value)
    assert np.mean(raw) > 0.53
    assert np.mean(corrected) < 0.5  # the correction is careful: it takes off more than the luck


def test_the_design_is_that_of_the_search():
    repeated = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=1)
    search = GridSearchCV(TREE, GRID, cv=repeated).fit(X, Y)
    assert has_code(tr.summarise(search).notes, "design")
    assert "4 folds, 3 times" in " ".join(tr.summarise(search).notes)
    shuffled = GridSearchCV(TREE, GRID, cv=ShuffleSplit(5, test_size=0.25, random_state=1)).fit(
        X, Y
    )
    summary = tr.summarise(shuffled, test_train_ratio=1 / 3)
    assert "0.3333" in " ".join(summary.notes)


def test_what_is_not_there_is_refused():
    search = GridSearchCV(TREE, GRID, scoring=["f1", "accuracy"], refit=False, cv=3).fit(X, Y)
    with pytest.raises(InputError, match="`measure` must be one of accuracy, f1"):
        tr.summarise(search)
    with pytest.raises(InputError, match="`measure` must say what the values are"):
        tr.summarise([0.5, 0.6])
