"""What `cv=` means: the divisions decide about the method and the interval."""

import numpy as np
import pytest
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.errors import InputError
from truerisk.estimation.refits.cv import plan_of
from truerisk.estimation.refits.examples import Examples
from truerisk.results import Interval, has_code

SEARCH_RNG = np.random.default_rng(8)
SEARCHED_LABELS = np.arange(120) % 2
SEARCHED = SEARCH_RNG.normal(size=(120, 4)) + 0.5 * SEARCHED_LABELS[:, np.newaxis]
GRID = {"max_depth": [1, 2, 3, 5, 8]}
TREE = DecisionTreeClassifier(random_state=0)

N = 60
RNG = np.random.default_rng(3)
Y = np.arange(N) % 2
X = RNG.normal(size=(N, 3)) + 1.2 * Y[:, np.newaxis]
GROUPS = np.arange(N) // 3
EXAMPLES = Examples.of(X, Y)
GROUPED = Examples.of(X, Y, GROUPS)


@pytest.mark.parametrize(
    ("cv", "method", "interval"),
    [
        (StratifiedKFold(5), "cross_validation", "one_repetition"),
        (KFold(5, shuffle=True), "cross_validation", "one_repetition"),
        (RepeatedKFold(n_splits=5, n_repeats=3), "cross_validation", "variance_components"),
        (RepeatedStratifiedKFold(n_splits=4, n_repeats=2), "cross_validation",
         "variance_components"),
        (LeaveOneOut(), "leave_one_out", "pooled_binomial"),
        (ShuffleSplit(6, test_size=0.3), "subsampling", "components_or_t"),
        (StratifiedShuffleSplit(6, train_size=0.5, test_size=0.2), "subsampling",
         "components_or_t"),
        (ShuffleSplit(1), "holdout", "clopper_pearson"),
        (TimeSeriesSplit(4), "time_ordered", "pooled_binomial"),
        (TimeSeriesSplit(3, gap=2, max_train_size=12), "time_ordered", "pooled_binomial"),
        (PredefinedSplit(np.arange(N) % 5), "cross_validation", "one_repetition"),
        (PredefinedSplit(np.arange(N) % 5 - 1), "given_folds", "pooled_binomial"),
        ([(range(30, 60), range(20)), (range(40), range(50, 60)), (range(30), range(30, 55))],
         "given_divisions", "whole_range"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)  # fmt: skip
def test_each_splitter_gets_the_interval_that_is_valid_for_it(cv, method, interval):
    result = tr.estimate(
        GaussianNB(), X, Y, cv=cv, measures=("accuracy", "roc_auc"), random_state=1
    )
    assert result.method == method
    assert result["accuracy"].interval.method == interval
    if method == "given_divisions":
        assert has_code(result["accuracy"].notes, "no_valid_interval")
        assert result["accuracy"].interval == Interval(0.0, 1.0, 0.95, "whole_range")
        assert has_code(result.verdict, "no_valid_interval")
        assert not has_code(result.verdict, "better_than_constant")


@pytest.mark.parametrize(
    ("cv", "method"),
    [
        (GroupKFold(5), "cross_validation"),
        (StratifiedGroupKFold(4), "cross_validation"),
        (LeaveOneGroupOut(), "cross_validation"),
        (GroupShuffleSplit(5, test_size=0.25), "subsampling"),
    ],
)
def test_splitters_of_groups_get_the_groups(cv, method):
    result = tr.estimate(
        GaussianNB(), X, Y, cv=cv, groups=GROUPS, measures=("accuracy",), random_state=1
    )
    assert result.method == method
    if method == "cross_validation":
        assert result["accuracy"].interval.method == "pooled_group_jackknife"


def test_the_predictions_are_those_of_scikit_learn():
    cv = StratifiedKFold(5, shuffle=True, random_state=4)
    result = tr.estimate(GaussianNB(), X, Y, cv=cv, random_state=1)
    assert (result.called[0] == cross_val_predict(GaussianNB(), X, Y, cv=cv)).all()
    scores = cross_val_score(GaussianNB(), X, Y, cv=cv)
    assert np.allclose(result["accuracy"].replicates, scores)


def test_a_list_counts_as_the_splitter_that_made_it():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=7)
    by_list = tr.estimate(GaussianNB(), X, Y, cv=list(cv.split(X, Y)), random_state=1)
    by_generator = tr.estimate(GaussianNB(), X, Y, cv=cv.split(X, Y), random_state=1)
    by_splitter = tr.estimate(GaussianNB(), X, Y, cv=cv, random_state=1)
    assert by_list.estimates == by_splitter.estimates == by_generator.estimates


def test_a_number_is_the_number_of_folds():
    by_cv = tr.estimate(GaussianNB(), X, Y, cv=4, repeats=2, random_state=1)
    by_folds = tr.estimate(GaussianNB(), X, Y, folds=4, repeats=2, random_state=1)
    assert by_cv.estimates == by_folds.estimates


def test_a_splitter_without_a_seed_draws_from_ours_and_is_not_changed():
    cv = ShuffleSplit(3)
    first, again = (tr.estimate(GaussianNB(), X, Y, cv=cv, random_state=5) for _ in range(2))
    other = tr.estimate(GaussianNB(), X, Y, cv=cv, random_state=6)
    assert first.estimates == again.estimates
    assert first.estimates != other.estimates
    assert cv.random_state is None


def test_the_corrected_t_of_shuffles_by_hand():
    cv = ShuffleSplit(4, test_size=0.25, random_state=2)
    estimate = tr.estimate(GaussianNB(), X, Y, cv=cv, interval="corrected_t", random_state=1)
    estimate = estimate["accuracy"]
    values = cross_val_score(GaussianNB(), X, Y, cv=cv)
    # t₃ at .975 is 3.18245; 15 test examples for 45 training examples.
    half = 3.182446 * values.std(ddof=1) * np.sqrt(1 / 4 + 15 / 45)
    low = min(values.mean() - half, estimate.value)
    assert estimate.interval.low == pytest.approx(max(low, 0.0), abs=1e-6)
    assert estimate.target == "the learner at this sample size"


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ("kfold", "`cv` must be a number of folds"),
        (2.5, "`cv` must be a number of folds"),
        ([1, 2], "`cv` must be a number of folds"),
        ([], "at least one division"),
        ([([0, 1], [1, 2])], "must not test what it trains on; division 1 has 1 examples"),
        ([([0, 1], [2, 60])], "positions from 0 to 59; division 1 has 60"),
        ([([0, 1], [2, -1])], "positions from 0 to 59; division 1 has -1"),
        ([([0, 0], [2])], "names some twice"),
        ([([0, 1], [])], "must give positions"),
        ([([0.5, 1], [2])], "must give positions"),
        (StratifiedKFold(50), "`cv` must be able to divide these examples"),
        (GroupKFold(3), "`cv` must be able to divide these examples"),
        (1, "`folds` must lie in"),
    ],
    ids=str,
)
def test_what_does_not_divide_is_refused(cv, message):
    with pytest.raises(InputError, match=message):
        tr.estimate(GaussianNB(), X, Y, cv=cv, random_state=1)


@pytest.mark.parametrize("other", [{"folds": 3}, {"repeats": 2}, {"test_size": 0.2}])
def test_settings_of_divisions_are_refused_beside_a_splitter(other):
    with pytest.raises(InputError, match="must be left out where `cv` divides"):
        tr.estimate(GaussianNB(), X, Y, cv=KFold(3), random_state=1, **other)
    with pytest.raises(InputError, match="`method` must be left out"):
        tr.estimate(GaussianNB(), X, Y, cv=KFold(3), method="holdout")


def test_a_splitter_that_tears_groups_apart_is_refused():
    with pytest.raises(InputError, match="must keep groups together; division 1 has"):
        plan_of(KFold(5, shuffle=True, random_state=1), GROUPED, 1, GROUPS)


def test_marks_are_positions():
    marks = np.arange(N) < 20
    method, _, plan = plan_of([(~marks, marks)], EXAMPLES, 1, None)
    assert method.name == "holdout"
    assert plan.train_and_test(0)[1].tolist() == list(range(20))


def test_compare_models_takes_splitters():
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=1)
    values = [cross_val_score(one, X, Y, cv=cv) for one in (tree, GaussianNB())]
    folds = tr.compare_models(tree, GaussianNB(), X, Y, cv=cv, measures="accuracy", random_state=1)
    assert folds.difference.value == pytest.approx(np.mean(values[1] - values[0]))
    assert folds.method == "cautious_t"
    shuffles = ShuffleSplit(5, test_size=0.2, random_state=1)
    values = [cross_val_score(one, X, Y, cv=shuffles) for one in (tree, GaussianNB())]
    random = tr.compare_models(tree, GaussianNB(), X, Y, cv=shuffles, measures="accuracy")
    apart = values[1] - values[0]
    # t₄ at .975 is 2.776445; 12 test examples for 48.
    half = 2.776445 * apart.std(ddof=1) * np.sqrt(1 / 5 + 12 / 48)
    assert random.difference.interval.high == pytest.approx(apart.mean() + half, abs=1e-6)
    assert random.method == "corrected_t"
    forward = tr.compare_models(tree, GaussianNB(), X, Y, cv=TimeSeriesSplit(3))
    assert has_code(forward.notes, "no_valid_test")
    assert forward.difference.interval.width == 2
    with pytest.raises(InputError, match="`cv` must be left out for five_by_two_t"):
        tr.compare_models(tree, GaussianNB(), X, Y, cv=shuffles, method="five_by_two_t")
    with pytest.raises(InputError, match="`cv` must make folds for agreement"):
        tr.compare_models(tree, GaussianNB(), X, Y, cv=shuffles, method="agreement")


def test_best_of_takes_splitters_and_lists_that_are_read_once():
    models = {"tree": DecisionTreeClassifier(max_depth=1), "bayes": GaussianNB()}
    cv = StratifiedKFold(4)
    by_splitter = tr.best_of(models, X, Y, cv=cv, random_state=1)
    by_generator = tr.best_of(models, X, Y, cv=cv.split(X, Y), random_state=1)
    assert by_splitter.winner == by_generator.winner
    assert by_splitter.corrected == by_generator.corrected


def test_learning_curve_takes_folds_and_shuffles():
    curve = tr.learning_curve(
        GaussianNB(), X, Y, cv=KFold(5, shuffle=True), sizes=(12, 48), estimate=None, random_state=1
    )
    assert curve.held_out == 12
    assert curve.repeats == 5
    shuffled = tr.learning_curve(
        GaussianNB(), X, Y, cv=ShuffleSplit(3, test_size=15), sizes=(12, 45), random_state=1
    )
    assert (shuffled.held_out, shuffled.repeats) == (15, 3)
    with pytest.raises(InputError, match="`cv` must make folds, or two random divisions"):
        tr.learning_curve(GaussianNB(), X, Y, cv=TimeSeriesSplit(3))
    with pytest.raises(InputError, match="`repeats` must be left out"):
        tr.learning_curve(GaussianNB(), X, Y, cv=KFold(5), repeats=3)


def test_a_tuned_model_chooses_on_the_divisions_of_a_splitter():
    grid = {"max_depth": (1, 2)}
    cv = ShuffleSplit(4, test_size=0.3, random_state=1)
    model = tr.tuned(DecisionTreeClassifier(random_state=0), grid, cv=cv, random_state=1).fit(X, Y)
    values = [
        cross_val_score(DecisionTreeClassifier(max_depth=depth, random_state=0), X, Y, cv=cv).mean()
        for depth in (1, 2)
    ]
    assert model.values_ == pytest.approx(values)


def test_cross_validate_with_several_metrics_in_scikit_learns_names():
    scores = cross_validate(
        GaussianNB(),
        SEARCHED,
        SEARCHED_LABELS,
        cv=5,
        scoring=["f1", "neg_log_loss", "d2_log_loss_score"],
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
    search.fit(SEARCHED, SEARCHED_LABELS)
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
    search = GridSearchCV(TREE, GRID, cv=repeated).fit(SEARCHED, SEARCHED_LABELS)
    assert has_code(tr.summarise(search).notes, "design")
    assert "4 folds, 3 times" in " ".join(tr.summarise(search).notes)
    shuffled = GridSearchCV(TREE, GRID, cv=ShuffleSplit(5, test_size=0.25, random_state=1)).fit(
        SEARCHED, SEARCHED_LABELS
    )
    summary = tr.summarise(shuffled, test_train_ratio=1 / 3)
    assert "0.3333" in " ".join(summary.notes)


def test_what_is_not_there_is_refused():
    search = GridSearchCV(TREE, GRID, scoring=["f1", "accuracy"], refit=False, cv=3).fit(
        SEARCHED, SEARCHED_LABELS
    )
    with pytest.raises(InputError, match="`measure` must be one of accuracy, f1"):
        tr.summarise(search)
    with pytest.raises(InputError, match="`measure` must say what the values are"):
        tr.summarise([0.5, 0.6])
