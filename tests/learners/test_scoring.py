"""`scoring=`, `sample_weight=` and metadata routing, beside scikit-learn's own."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, get_scorer_names, make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr
from truerisk.errors import InputError
from truerisk.learners.scoring import SAME_MEASURE, metadata_of, scoring_of

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


def test_any_scorer_has_the_mean_over_refits_and_the_corrected_t():
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=1)
    scoring = {"d2": "d2_log_loss_score", "f2": make_scorer(fbeta_score, beta=2), "ten": top}
    with pytest.raises(InputError, match="must not give a scorer the name of another measure"):
        tr.estimate(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    scoring["F two"] = scoring.pop("f2")
    result = tr.estimate(GaussianNB(), X, Y, cv=cv, scoring=scoring, random_state=1)
    expected = cross_validate(GaussianNB(), X, Y, cv=cv, scoring=scoring)
    for name in ("d2", "F two", "ten"):
        values = expected[f"test_{name}"]
        estimate = result[name]
        assert np.allclose(estimate.replicates, values)
        assert estimate.value == pytest.approx(values.mean())
        # t₉ at .975 is 2.262157; one fold of five for four.
        half = 2.262157 * values.std(ddof=1) * np.sqrt(1 / 10 + 1 / 4)
        assert estimate.interval.high == pytest.approx(values.mean() + half, abs=1e-5)
        assert estimate.interval.method == "corrected_t"
    assert "<html" in result.report().html
    assert result.to_metrics()["d2_low"] == pytest.approx(result["d2"].interval.low)


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
