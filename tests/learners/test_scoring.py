"""`scoring=`, `sample_weight=` and metadata routing, beside scikit-learn's own."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    fbeta_score,
    get_scorer,
    get_scorer_names,
    hamming_loss,
    make_scorer,
    zero_one_loss,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.errors import InputError
from truerisk.learners.refits import train
from truerisk.learners.scoring import (
    MAX_LEFT_OUT,
    SAME_MEASURE,
    Metadata,
    RememberedModel,
    chosen_to_leave_out,
    metadata_of,
    pseudo_values,
    range_of_scorer,
    scoring_of,
)
from truerisk.measures.registry import title_of
from truerisk.results import has_code

SIXTY_RNG = np.random.default_rng(3)
SIXTY = SIXTY_RNG.normal(size=(60, 2)) + np.repeat([[0.0], [1.0]], 30, axis=0)
SIXTY_LABELS = np.repeat([0, 1], 30)

N = 90
RNG = np.random.default_rng(5)
Y = np.arange(N) % 2
X = RNG.normal(size=(N, 3)) + 0.9 * Y[:, np.newaxis]
THREE = np.arange(N) % 3
WEIGHT = RNG.uniform(0.1, 3.0, size=N)
CV = StratifiedKFold(5)


def top(model, X, y):
    return float(np.mean(model.predict(X) == y)) * 10


@pytest.mark.parametrize("name", sorted(SAME_MEASURE))
def test_names_of_the_table_are_scikit_learns(name):
    assert name in get_scorer_names()
    assert scoring_of(name).measures == (SAME_MEASURE[name],)


@pytest.mark.parametrize(
    ("name", "measure", "sign"),
    [
        ("accuracy", "accuracy", 1),
        ("f1_macro", "f1_macro", 1),
        ("balanced_accuracy", "balanced_accuracy", 1),
        ("roc_auc", "roc_auc", 1),
        ("matthews_corrcoef", "matthews_correlation", 1),
        ("neg_log_loss", "log_loss", -1),
        ("average_precision", "average_precision", 1),
    ],
)
def test_what_the_registry_knows_has_the_values_of_scikit_learn_in_each_fold(name, measure, sign):
    result = tr.estimate(LogisticRegression(), X, Y, cv=CV, scoring=name, random_state=1)
    expected = sign * cross_validate(LogisticRegression(), X, Y, cv=CV, scoring=name)["test_score"]
    assert list(result) == [measure]
    assert np.allclose(result[measure].replicates, expected)


def test_any_scorer_has_the_mean_over_refits_and_the_interval_of_its_pseudo_values():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=1)
    scoring = {"d2": "d2_log_loss_score", "f2": make_scorer(fbeta_score, beta=2), "ten": top}
    with pytest.raises(InputError, match="must not give a scorer the name of another measure"):
        tr.estimate(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    scoring["F two"] = scoring.pop("f2")
    result = tr.estimate(GaussianNB(), X, Y, cv=cv, scoring=scoring, random_state=1)
    by_name = tr.estimate(
        GaussianNB(), X, Y, cv=cv, scoring=scoring, interval="corrected_t", random_state=1
    )
    expected = cross_validate(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    for name in ("d2", "F two", "ten"):
        values = expected[f"test_{name}"]
        estimate = result[name]
        assert np.allclose(estimate.replicates, values)
        assert estimate.value == pytest.approx(values.mean())
        assert estimate.interval.method == "pseudo_values"
        assert estimate.target == "this model"
        # t₉ at .975 is 2.262157; one fold of five for four.
        half = 2.262157 * values.std(ddof=1) * np.sqrt(1 / 10 + 1 / 4)
        learner = by_name[name]
        assert learner.interval.high == pytest.approx(values.mean() + half, abs=1e-5)
        assert learner.interval.method == "corrected_t"
    assert "<html" in result.report().html
    assert result.to_metrics()["d2_low"] == pytest.approx(result["d2"].interval.low)


def test_a_scorer_that_is_a_measure_has_nearly_its_interval():
    accuracy = {"mine": lambda model, X, y: float((model.predict(X) == y).mean())}
    scoring = {**accuracy, "accuracy": "accuracy"}
    for options in ({}, {"cv": 5, "repeats": 1}, {"method": "subsampling"}):
        found = tr.estimate(GaussianNB(), X, Y, scoring=scoring, random_state=1, **options)
        ours, own = found["mine"].interval, found["accuracy"].interval
        assert ours.width == pytest.approx(own.width, rel=0.25)
        assert (ours.low + ours.high) / 2 == pytest.approx((own.low + own.high) / 2, abs=0.04)


def test_one_repetition_holds_the_corrected_t_of_a_scorer():
    one, other = (
        tr.estimate(GaussianNB(), X, Y, cv=CV, scoring=top, random_state=1, **rule)["top"].interval
        for rule in ({}, {"interval": "corrected_t"})
    )
    assert one.method == "one_repetition"
    assert one.low <= other.low < other.high <= one.high


def test_a_scorer_of_a_small_holdout_promises_nothing():
    few, many = (
        tr.estimate(
            GaussianNB(), X, Y, method="holdout", test_size=share, scoring=top, random_state=1
        )["top"]
        for share in (0.2, 0.5)
    )
    assert few.n < 30 <= many.n
    assert has_code(few.notes, "not_kept_at_this_size")
    assert not has_code(many.notes, "not_kept_at_this_size")
    assert few.interval.method == many.interval.method == "pseudo_values"


def test_a_scorer_without_a_value_for_fewer_examples_keeps_the_corrected_t():
    def needs_both(model, X, y):
        return float((model.predict(X) == y).mean()) if len(y) % 2 == 0 else np.nan

    found = tr.estimate(GaussianNB(), X, Y, cv=CV, scoring=needs_both, random_state=1)
    assert found["needs_both"].interval.method == "corrected_t"


def test_names_of_a_dict_are_names_of_the_result():
    scoring = {"area": "roc_auc", "loss": "neg_log_loss"}
    result = tr.estimate(GaussianNB(), X, Y, cv=CV, scoring=scoring, random_state=1)
    assert result["area"] is result["roc_auc"]
    assert result["loss"].measure == "log_loss"
    assert result["loss"].value > 0
    with pytest.raises(KeyError, match="log_loss"):
        tr.estimate(GaussianNB(), X, Y, cv=CV, scoring="neg_log_loss")["neg_log_loss"]


def test_several_classes():
    names = ["roc_auc_ovr", "f1_weighted", "d2_log_loss_score"]
    result = tr.estimate(GaussianNB(), X, THREE, cv=CV, scoring=names, random_state=1)
    assert set(result) == {"roc_auc_macro", "f1_weighted", "d2_log_loss_score"}
    expected = cross_validate(GaussianNB(), X, THREE, cv=CV, scoring="d2_log_loss_score")
    assert np.allclose(result["d2_log_loss_score"].replicates, expected["test_score"])
    assert result["roc_auc_ovr"].measure == "roc_auc_macro"


def test_two_learners_by_a_scorer():
    result = tr.compare_models(
        GaussianNB(), KNeighborsClassifier(), X, Y, cv=5, repeats=2, scoring=top, random_state=1
    )
    assert result.measure == "top"
    assert -10 < result.difference.value < 10
    several = tr.compare_models(
        GaussianNB(),
        KNeighborsClassifier(),
        X,
        Y,
        cv=CV,
        scoring=["d2_brier_score", "f1"],
        random_state=1,
    )
    assert list(several) == ["f1", "d2_brier_score"]


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("acuracy", "Did you mean"),
        ([], "`scoring` must be names, scorers"),
        (3, "`scoring` must be names, scorers"),
        ([3], "`scoring` must be names or scorers"),
        (["f1", "f1"], "twice"),
    ],
)
def test_scoring_that_means_nothing_is_refused(scoring, message):
    with pytest.raises(InputError, match=message):
        scoring_of(scoring)


def test_a_scorer_that_gives_no_number_fails_the_refit():
    with pytest.raises(tr.RefitError, match="`scoring` must give one number per refit"):
        tr.estimate(GaussianNB(), X, Y, cv=CV, scoring={"two": lambda *_: [1, 2]})
    with pytest.raises(InputError, match="`scoring` must be left out where `measures`"):
        tr.estimate(GaussianNB(), X, Y, scoring="f1", measures=("f1",))


def test_a_scorer_has_no_interval_where_none_is_valid():
    divisions = [(range(10), range(10, 30)), (range(40), range(50, 80)), (range(20), range(60, 90))]
    estimate = tr.estimate(GaussianNB(), X, Y, cv=divisions, scoring=top)["top"]
    assert (estimate.interval.low, estimate.interval.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weights_reach_fit(n_jobs):
    result = tr.estimate(
        GaussianNB(), X, Y, cv=CV, sample_weight=WEIGHT, scoring=top, random_state=1, n_jobs=n_jobs
    )
    weighted = cross_validate(
        GaussianNB(), X, Y, cv=CV, scoring=top, params={"sample_weight": WEIGHT}
    )
    plain = cross_validate(GaussianNB(), X, Y, cv=CV, scoring=top)
    assert np.allclose(result["top"].replicates, weighted["test_score"])
    assert not np.allclose(plain["test_score"], weighted["test_score"])


def test_weights_reach_the_last_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), GaussianNB())
    result = tr.estimate(model, X, Y, cv=CV, sample_weight=WEIGHT, random_state=1)
    params = {"gaussiannb__sample_weight": WEIGHT}
    expected = cross_validate(model, X, Y, cv=CV, params=params)["test_score"]
    assert np.allclose(result["accuracy"].replicates, expected)


def test_weights_reach_our_own_svm():
    heavy = np.where(Y == 1, 50.0, 0.02)
    plain = tr.estimate(tr.LinearSVM(), X, Y, cv=CV, random_state=1)
    weighted = tr.estimate(tr.LinearSVM(), X, Y, cv=CV, sample_weight=heavy, random_state=1)
    assert weighted["recall"].value > plain["recall"].value


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_metadata_routing_reaches_fit_and_the_scorer_that_requests_it(n_jobs):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=True),
        )
        scorer = make_scorer(fbeta_score, beta=2).set_score_request(sample_weight=True)
        scoring = {"weighted F2": scorer}
        result = tr.estimate(
            model, X, Y, cv=CV, params={"sample_weight": WEIGHT}, scoring=scoring, n_jobs=n_jobs
        )
        expected = cross_validate(
            model, X, Y, cv=CV, params={"sample_weight": WEIGHT}, scoring=scoring
        )
        assert np.allclose(result["weighted F2"].replicates, expected["test_weighted F2"])
        with pytest.raises(InputError, match="`params` must be requested"):
            tr.estimate(LogisticRegression(), X, Y, cv=CV, sample_weight=WEIGHT)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (WEIGHT[:5], "one number for each of 90 examples"),
        (-WEIGHT, "finite and not negative; got -"),
        (np.full(N, np.nan), "finite and not negative; got nan"),
    ],
)
def test_weights_that_are_none_are_refused(weight, message):
    with pytest.raises(InputError, match=message):
        tr.estimate(GaussianNB(), X, Y, sample_weight=weight)


def test_a_model_that_takes_no_weights_is_refused():
    with pytest.raises(InputError, match=r"KNeighborsClassifier.fit does not take it"):
        tr.estimate(KNeighborsClassifier(), X, Y, sample_weight=WEIGHT)
    with pytest.raises(InputError, match="must be given once"):
        metadata_of(GaussianNB(), {}, {"sample_weight": WEIGHT}, WEIGHT, N)


def test_pos_label_decides_about_the_positive_class():
    words = np.where(Y == 1, "spam", "ham")
    spam = tr.estimate(GaussianNB(), X, words, cv=CV, pos_label="spam", scoring="recall")
    ham = tr.estimate(GaussianNB(), X, words, cv=CV, pos_label="ham", scoring="recall")
    assert spam.pos_label == "spam"
    specificity = tr.estimate(GaussianNB(), X, Y, cv=CV, measures=("specificity",))
    assert ham["recall"].value == specificity["specificity"].value


PAIR = {"bayes": GaussianNB(), "neighbours": KNeighborsClassifier(1)}

CLOSE = {"bayes": GaussianNB(), "line": LogisticRegression(C=0.3)}


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "d2_log_loss_score", top])
def test_the_best_is_chosen_by_what_scikit_learn_scores(scoring):
    choice = tr.best_of(CLOSE, X, Y, cv=CV, scoring=scoring, random_state=1, replicates=2000)
    name = choice.measure
    for model, learner in CLOSE.items():
        alone = tr.estimate(learner, X, Y, cv=CV, scoring=scoring, random_state=1)
        assert choice.evaluations[model].to_rows() == alone.to_rows()
    assert choice.ranking[0] == choice.winner
    assert choice.corrected.interval.method.endswith("_after_choice")
    assert str(choice.corrected.notes[0]).endswith("not measured")
    # By hand: the folds drawn decide, those not drawn say what the choice is worth.
    values = np.array([choice.evaluations[one][name].replicates for one in CLOSE])
    sign = -1 if name == "log_loss" else 1
    winner = list(CLOSE).index(choice.winner)
    rng = np.random.default_rng(8)
    worth = []
    while len(worth) < 4000:
        drawn = rng.integers(5, size=5)
        rest = np.setdiff1d(np.arange(5), drawn)
        if len(rest):
            best = (sign * values[:, drawn].mean(axis=1)).argmax()
            worth.append(values[best, rest].mean() - values[winner, rest].mean())
    own = choice.evaluations[choice.winner][name]
    expected = own.value + np.mean(worth)
    spread = np.std(worth) / np.sqrt(1000) + 1e-12
    assert abs(choice.corrected.value - expected) < 4 * spread
    assert np.count_nonzero(worth) > 20  # the choice is not always the same
    assert choice.optimism == pytest.approx(sign * (own.value - choice.corrected.value))


def test_the_best_of_several_scorers_is_chosen_by_the_first_or_the_one_named():
    scoring = {"ten": top, "ll": "neg_log_loss", "f1": "f1"}
    settings = {"cv": CV, "scoring": scoring, "random_state": 1}
    first = tr.best_of(PAIR, X, Y, **settings)
    named = tr.best_of(PAIR, X, Y, measure="ll", **settings)
    assert (first.measure, named.measure) == ("ten", "log_loss")
    assert set(first.evaluations["bayes"]) == {"ten", "log_loss", "f1"}
    by_counts = tr.best_of(PAIR, X, Y, cv=CV, scoring="f1", random_state=1)
    assert by_counts.corrected == tr.best_of(PAIR, X, Y, measure="f1", **settings).corrected


def test_a_choice_by_scores_needs_several_refits():
    with pytest.raises(InputError, match="must have a value in each refit to choose by"):
        tr.best_of(PAIR, X, Y, measure="roc_auc", method="holdout", random_state=1)


def test_random_divisions_are_drawn_themselves():
    cv = ShuffleSplit(8, test_size=0.3, random_state=1)
    choice = tr.best_of(PAIR, X, Y, cv=cv, scoring="roc_auc", random_state=1)
    assert choice.corrected.interval.method == "components_or_t_after_choice"


@pytest.mark.parametrize("name", ["roc_auc_ovr", "roc_auc_ovr_weighted"])
def test_averages_of_rankings_have_the_values_of_scikit_learn(name):
    result = tr.estimate(GaussianNB(), X, THREE, cv=CV, scoring=name, random_state=1)
    expected = cross_validate(GaussianNB(), X, THREE, cv=CV, scoring=name)["test_score"]
    assert np.allclose(result[name].replicates, expected)
    curve = tr.learning_curve(
        GaussianNB(), X, THREE, cv=ShuffleSplit(4, random_state=1), scoring=name, sizes=[30, 81]
    )
    full = cross_validate(GaussianNB(), X, THREE, cv=ShuffleSplit(4, random_state=1), scoring=name)[
        "test_score"
    ]
    assert np.allclose(curve["GaussianNB"].points[-1].replicates, full)
    comparison = tr.compare_models(*PAIR.values(), X, THREE, cv=CV, scoring=name, random_state=1)
    assert comparison.difference.is_defined


@pytest.mark.parametrize(
    ("scoring", "sign"),
    [("f1_macro", 1), ("roc_auc", 1), ("neg_log_loss", -1), ("d2_log_loss_score", 1), (top, 1)],
)
def test_a_curve_has_the_values_of_scikit_learn_at_full_size(scoring, sign):
    cv = ShuffleSplit(6, test_size=0.3, random_state=1)
    curve = tr.learning_curve(
        GaussianNB(), X, Y, cv=cv, scoring=scoring, sizes=[20, 63], random_state=1
    )
    expected = sign * cross_validate(GaussianNB(), X, Y, cv=cv, scoring=scoring)["test_score"]
    last = curve["GaussianNB"].points[-1]
    assert np.allclose(last.replicates, expected)
    ratio = 27 / 63
    by_hand = (
        tr.summarise(expected, measure=curve.measure, test_train_ratio=ratio)
        if (curve.measure not in {"top", "d2_log_loss_score"})
        else None
    )
    error = np.std(expected, ddof=1) * np.sqrt(1 / 6 + ratio)
    half = 2.570581835636314 * error  # t of 5 degrees at .975
    assert last.interval.method == "corrected_t"
    if by_hand is None:
        assert last.interval.low == pytest.approx(expected.mean() - half)
        assert last.interval.high == pytest.approx(expected.mean() + half)
        assert curve["GaussianNB"].extrapolation is None
        assert curve.higher_is_better
    else:
        assert (last.interval.low, last.interval.high) == pytest.approx(
            (by_hand.interval.low, by_hand.interval.high)
        )
    assert title_of(curve.measure) in curve.report().html


def test_weights_reach_the_refits_of_a_curve_and_of_a_choice():
    cv = ShuffleSplit(3, test_size=0.3, random_state=1)
    scoring = "neg_log_loss"
    weighed = {"sample_weight": WEIGHT, "cv": cv, "scoring": scoring, "random_state": 1}
    model = LogisticRegression()
    expected = -cross_validate(
        model, X, Y, cv=cv, scoring=scoring, params={"sample_weight": WEIGHT}
    )["test_score"]
    curve = tr.learning_curve(model, X, Y, sizes=[20, 63], **weighed)
    assert np.allclose(curve["LogisticRegression"].points[-1].replicates, expected)
    assert any(one.code == "weights_in_training" for one in curve.notes)
    choice = tr.best_of({"one": model, "two": GaussianNB()}, X, Y, **weighed)
    assert np.allclose(choice.evaluations["one"]["log_loss"].replicates, expected)


@pytest.mark.parametrize("scoring", ["f1_macro", "neg_log_loss", "roc_auc_ovr", top])
def test_settings_are_chosen_as_a_search_of_scikit_learn_does(scoring):
    grid = {"n_neighbors": (25, 35, 51)}
    model = tr.tuned(KNeighborsClassifier(), grid, cv=CV, scoring=scoring).fit(X, THREE)
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=CV, scoring=scoring).fit(X, THREE)
    if scoring != "f1_macro":  # which is of all folds together here
        sign = -1 if scoring == "neg_log_loss" else 1
        assert np.allclose(sign * np.array(model.values_), search.cv_results_["mean_test_score"])
        assert model.best_settings_ == search.best_params_


def test_weights_and_routed_metadata_reach_the_model_that_is_tuned():
    grid = {"C": (0.01, 1.0)}
    ours = tr.tuned(LogisticRegression(), grid, cv=CV, scoring="neg_log_loss")
    search = GridSearchCV(LogisticRegression(), grid, cv=CV, scoring="neg_log_loss")
    ours.fit(X, Y, sample_weight=WEIGHT)
    weighed = {"params": {"sample_weight": WEIGHT}, "cv": CV, "scoring": "neg_log_loss"}
    for value, C in zip(ours.values_, grid["C"], strict=True):
        folds = cross_validate(LogisticRegression(C=C), X, Y, **weighed)["test_score"]
        assert value == pytest.approx(-folds.mean())
    best = LogisticRegression(**ours.best_settings_).fit(X, Y, sample_weight=WEIGHT)
    assert np.allclose(ours.best_model_.coef_, best.coef_)
    for model in (clone(ours), clone(search)):
        result = tr.estimate(
            model, X, Y, cv=CV, scoring="neg_log_loss", sample_weight=WEIGHT, random_state=1
        )
        assert result["log_loss"].value > 0
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(fbeta_score, beta=2).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        ours = tr.tuned(model, grid, cv=CV, scoring={"weighed_f2": scorer})
        search = GridSearchCV(model, grid, cv=CV, scoring=scorer)
        ours.fit(X, Y, sample_weight=WEIGHT)
        search.fit(X, Y, sample_weight=WEIGHT)
        assert np.allclose(ours.values_, search.cv_results_["mean_test_score"])
        outer = tr.estimate(
            clone(ours), X, Y, cv=CV, scoring="accuracy", sample_weight=WEIGHT, random_state=1
        )
        assert any(one.code == "weights_in_training" for one in outer.notes)


def test_a_run_is_not_continued_with_another_scorer(tmp_path):
    settings = {"cv": CV, "random_state": 1, "resume": tmp_path}
    tr.estimate(GaussianNB(), X, Y, scoring={"mine": "d2_log_loss_score"}, **settings)
    for scoring in ("accuracy", {"mine": top}):
        with pytest.raises(InputError):
            tr.estimate(GaussianNB(), X, Y, scoring=scoring, **settings)


@pytest.mark.parametrize("routing", [False, True])
def test_settings_are_chosen_by_groups_that_stay_together(routing):
    groups = np.arange(N) // 5
    model = tr.tuned(KNeighborsClassifier(), {"n_neighbors": (3, 9)}, cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=routing):
        model.fit(X, Y, groups=groups)
        search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": (3, 9)}, cv=GroupKFold(3))
        search.fit(X, Y, groups=groups)
        assert np.allclose(model.values_, search.cv_results_["mean_test_score"])
        result = tr.estimate(
            clone(model), X, Y, groups=groups, params={"groups": groups}, repeats=1, folds=3
        )
    assert result.refits == 3


class Counting(GaussianNB):
    """Naive Bayes that counts how often it predicts."""

    calls = 0

    def predict(self, X):
        type(self).calls += 1
        return super().predict(X)


def trained(model=None):
    rows = np.arange(0, 60, 2), np.arange(1, 60, 2)
    return train(model or GaussianNB(), SIXTY, SIXTY_LABELS, rows, [0, 0])


def leave_out(one, scorer, value):
    rows = np.arange(30)
    return one.pseudo_values_by(
        "s", scorer, SIXTY_LABELS, metadata=Metadata(), value=value, which=rows
    )


def values_by(scorer, model=None):
    one = trained(model)
    value = one.scored_by("s", scorer, SIXTY_LABELS, Metadata())
    return one, leave_out(one, scorer, value)


def test_of_a_mean_they_are_the_losses():
    one, found = values_by(lambda model, X, y: float((model.predict(X) == y).mean()))
    assert found == pytest.approx((one.labels == SIXTY_LABELS[one.test]).astype(float))


def test_f1_by_hand():
    class Fixed:
        def predict(self, SIXTY):
            return SIXTY[:, 0]

    y = np.array([1, 1, 0, 0])
    X = np.array([[1], [0], [1], [0]])

    def score(model, rows):
        part = X[rows]
        if isinstance(model, RememberedModel):
            model.shows(part, rows)
        called, truth = model.predict(part), y[rows]
        return float(2 * (called & truth).sum() / (called.sum() + truth.sum()))

    found = pseudo_values(score, RememberedModel(Fixed(), X), 0.5, np.arange(4))
    # 2·1/(2 + 2) of all; without a hit 0/2, a miss or a false alarm 2/3, a right negative 2/4.
    assert found == pytest.approx([4 * 0.5 - 3 * v for v in (0, 2 / 3, 2 / 3, 0.5)])


def test_the_model_predicts_once():
    scorer = lambda model, X, y: float((model.predict(X) == y).mean())  # noqa: E731
    one = trained(Counting())
    value = one.scored_by("s", scorer, SIXTY_LABELS, Metadata())
    Counting.calls = 0
    leave_out(one, scorer, value)
    assert Counting.calls == 1


def test_a_scorer_of_scikit_learn_is_called_once_for_examples_that_are_alike():
    calls = []

    def loss(y, called):
        calls.append(len(y))
        return fbeta_score(y, called, beta=2)

    _, found = values_by(make_scorer(loss))
    # all, all as remembered, and without one of each of four kinds
    assert calls == [30, 30, 29, 29, 29, 29]
    plain = lambda model, X, y: fbeta_score(y, model.predict(X), beta=2)  # noqa: E731
    assert found == pytest.approx(values_by(plain)[1])


def test_rows_that_are_not_those_scored_go_to_the_model():
    shifted = lambda model, X, y: float((model.predict(X + 1) == y).mean())  # noqa: E731
    one, found = values_by(shifted)
    right = one.model.predict(one.X_test + 1) == SIXTY_LABELS[one.test]
    assert found == pytest.approx(right.astype(float))


def test_a_scorer_that_wants_the_very_model_gets_it():
    def of_class(model, X, y):
        assert type(model) is GaussianNB
        return float((model.predict(X) == y).mean())

    one, found = values_by(of_class)
    assert found == pytest.approx((one.labels == SIXTY_LABELS[one.test]).astype(float))


def test_without_a_value_they_are_infinite():
    def needs_all(*given):
        if len(given[2]) < 30:
            raise ValueError
        return 1.0

    assert np.isinf(values_by(needs_all)[1]).all()
    assert np.isinf(values_by(lambda *_: np.nan)[1]).all()


@settings(max_examples=50)
@given(st.lists(st.integers(1, 2_000), min_size=1, max_size=6))
def test_the_examples_chosen_stand_for_all(sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows, weights = chosen_to_leave_out(codes)
    assert len(rows) == len(set(rows.tolist())) == min(len(codes), MAX_LEFT_OUT)
    assert np.bincount(codes[rows], weights, len(sizes)) == pytest.approx(sizes)


def test_beyond_the_limit_the_interval_hardly_changes(monkeypatch):
    rng = np.random.default_rng(5)
    y = (rng.random(900) < 0.2).astype(int)
    X = rng.normal(size=(900, 2)) + y[:, None]
    scoring = {"F2": make_scorer(fbeta_score, beta=2)}
    short = tr.estimate(GaussianNB(), X, y, folds=5, repeats=2, scoring=scoring, random_state=0)
    monkeypatch.setattr("truerisk.learners.scoring.MAX_LEFT_OUT", 900)
    whole = tr.estimate(GaussianNB(), X, y, folds=5, repeats=2, scoring=scoring, random_state=0)
    assert short["F2"].value == whole["F2"].value
    assert short["F2"].interval.width == pytest.approx(whole["F2"].interval.width, rel=0.2)
    assert short["F2"].interval != whole["F2"].interval


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        (make_scorer(fbeta_score, beta=2), (0, 1)),
        (make_scorer(hamming_loss, greater_is_better=False), (-1, 0)),
        (get_scorer("neg_log_loss"), (-np.inf, 0)),
        (get_scorer("matthews_corrcoef"), (-1, 1)),
        (make_scorer(zero_one_loss, normalize=False), (-np.inf, np.inf)),
        (make_scorer(lambda *_: 10.0), (-np.inf, np.inf)),
        (top, (-np.inf, np.inf)),
    ],
)
def test_the_range_of_a_scorer_is_that_of_its_function(scorer, expected):
    assert range_of_scorer(scorer) == expected


def test_the_interval_of_a_scorer_stays_in_its_range():
    far = X + 3 * Y[:, np.newaxis]
    scoring = {"own_f2": make_scorer(fbeta_score, beta=2), "loss": make_scorer(hamming_loss)}
    scoring["mine"] = lambda model, X, y: fbeta_score(y, model.predict(X), beta=2)
    few = {"folds": 5, "repeats": 2, "random_state": 1}
    result = tr.estimate(GaussianNB(), far, Y, scoring=scoring, **few)
    assert result["mine"].interval.high > 1  # nothing is known of it
    assert result["own_f2"].interval.high == 1
    assert result["loss"].interval.low == 0
