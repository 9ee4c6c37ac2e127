from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.intervals.measured_coverage import LEARNER, coverage_of
from truerisk.reporting.render.formats import formatted
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.sections.coverage import EXACT, MARK, is_weighted, promises_of, uses_of
from truerisk.results import Comparison, Estimate, Interval

TRUTH = np.array([0, 1, 1, 0] * 30)
SCORE = np.random.default_rng(0).random(120) * 0.6 + 0.4 * TRUTH


def scored(**options):
    predicted = (SCORE > 0.5).astype(int)
    return tr.evaluate(
        TRUTH, predicted, y_score=SCORE, random_state=1, replicates=100, **options
    )  # fmt: skip


def rows(result):
    return {row[0]: row[1:] for row in promises_of(result)}


def share(value):
    return f"{100 * value:.1f} %"


def test_a_proportion_is_told_what_was_summed():
    result = coverage_of("clopper_pearson", "recall")
    words = rows(scored(measures=["recall"]))
    assert words["clopper pearson"] == (
        "Recall",
        "95 %",
        share(result.mean),
        share(result.least),
        "every outcome, none left out; n = 5 to 1,000 (docs/coverage.md)",
    )


def test_the_least_of_several_measures_is_named():
    measures = ["gmean", "matthews_correlation"]
    result = {name: coverage_of("smoothed_delta", name) for name in measures}
    mean = sum(one.mean for one in result.values()) / 2
    words = rows(scored(measures=measures))["smoothed delta"]
    assert words[2:4] == (
        share(mean),
        f"{share(result['matthews_correlation'].least)} (Matthews correlation)",
    )
    assert result["matthews_correlation"].least < result["gmean"].least


def test_what_was_not_measured_says_so():
    words = rows(scored(measures=["cost"], costs={"fp": 1, "fn": 5}))["smoothed delta"]
    assert words[1:] == ("95 %", "–", "–", "not measured")


def test_weights_have_figures_of_their_own_or_none():
    weighted = scored(sample_weight=np.linspace(1, 2, 120))
    words = {row[-1] for row in rows(weighted).values()}
    assert all("with weights" in one or "; weights" in one for one in words)
    assert "not measured with weights" in words


def test_another_level_than_the_measured_one_is_told():
    words = rows(scored(measures=["gmean"], level=0.8))["smoothed delta"]
    assert words[1] == "80 %"
    assert words[-1].startswith("at 95 %, not 80 %: ")


def test_other_refits_were_not_measured(make_learner):
    [row] = promises_of(make_learner("bootstrap"))
    assert row[-3:] == ("–", "–", "not measured for these refits")


def test_a_difference_is_told_how_often_0_was_covered():
    words = rows(tr.compare(TRUTH, TRUTH, 1 - TRUTH, measures=["error_rate"]))
    result = coverage_of("tango", "difference of error_rate")
    assert words["tango"][0] == "difference of Error rate"
    assert words["tango"][2] == share(result.mean)
    assert words["tango"][-1].startswith("two equally good models, how often it contains 0: ")
    assert words["clopper pearson"][0] == "Error rate"


def test_learners_that_are_compared_are_told_about_both():
    def estimate(value, method):
        ends = Interval(value - 0.1, value + 0.1, 0.95, method)
        return Estimate(
            value=value, interval=ends, measure="error_rate", method="", n=50, target=LEARNER
        )  # fmt: skip

    one = Comparison(
        names=("a", "b"),
        first=estimate(0.2, "corrected_t"),
        second=estimate(0.3, "corrected_t"),
        difference=estimate(0.1, "cautious_t"),
        p_value=0.1,
        method="cautious_t",
        finding="no evidence",
        verdict="",
    )
    words = rows(one)
    assert words["cautious t"][0] == "difference of Error rate"
    assert "5 × 10 folds" in words["corrected t"][-1]
    several = tr.ModelComparisons(comparisons={"error_rate": one})
    assert rows(several) == words
    other = rows(replace(one, method="five_by_two_t"))
    assert other["corrected t"][-1] == "not measured for these refits"


def test_perturbation_is_told_what_its_own_audit_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    X[y == 1] += 1
    requests = {"random_state": 1, "replicates": 100}
    words = rows(tr.perturbation(tr.LinearSVM(), X, y, **requests))["perturbation effective size"]
    # The ledger: eleven cells that no form was chosen on.
    assert words[2:4] == ("98.2 %", "95.3 %")
    assert words[-1].endswith("(docs/coverage-of-perturbation.md)")
    grouped = tr.perturbation(tr.LinearSVM(), X, y, groups=np.arange(40) // 2, **requests)
    assert {row[-1] for row in rows(grouped).values()} == {"not measured with groups"}


def test_the_bounds_of_xi_alpha_were_measured_at_their_rho():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    svm = tr.LinearSVM().fit(X, y)
    for rule, words in (
        ({"rho": 1}, "; ρ = 1;"),
        ({"rho": 2}, "; ρ = 2;"),
        ({"refine": "span"}, "; span;"),
    ):
        expected = rows(tr.xi_alpha(svm, X, y, **rule))
        assert all(words in row[-1] for row in expected.values())
    expected = rows(tr.xi_alpha(svm, X, y, rho=1.5))
    assert {row[-1] for row in expected.values()} == {"not measured for this way of estimating"}


def test_what_is_chosen_or_put_side_by_side_was_not_measured():
    ends = Interval(0.0, 0.3, 0.95, "span_bound")
    one = Estimate(value=0.1, interval=ends, measure="error_rate", method="span_bound", n=20)
    beside = tr.SideBySide(estimates=(one,), seconds=(0.1,), training_seconds=0.1)
    chosen = tr.Selection(candidates=(), best={"C": 1.0}, estimate=one, corrected=one)
    for result in (beside, chosen):
        assert rows(result)["span bound"][-1] == "not measured for this way of estimating"


def test_data_sets_have_the_signed_rank_interval():
    scores = np.random.default_rng(0).random((12, 2))
    [row] = promises_of(tr.compare_over_datasets(scores, names=["a", "b"]))
    assert row[:3] == ("signed rank", "typical difference", "95 %")
    assert "n = 10 to 100" in row[-1]


def test_what_promises_nothing_is_left_out(make_learner):
    whole = make_learner(name="whole_range", repeats=5)
    assert not promises_of(whole)


def test_every_row_says_what_was_measured_of_its_interval():
    result = coverage_of("clopper_pearson", "recall")
    [row] = scored(measures=["recall"]).to_rows()
    assert row["measured"] == result.words(0.95) == "0.973 (least 0.950)"
    weighted = scored(measures=["recall"], sample_weight=np.linspace(1, 2, 120))
    assert {row["measured"] for row in weighted.to_rows()} == {"not measured with weights"}
    tables = tr.compare(TRUTH, TRUTH, 1 - TRUTH, measures=["error_rate"]).to_rows()
    of_difference = coverage_of("tango", "difference of error_rate").words(0.95)
    assert [row["measured"] for row in tables] == [result.words(0.95)] * 2 + [of_difference]


def test_an_undefined_row_promises_nothing():
    [row] = tr.evaluate([1, 1], [1, 1], pos_label=1, measures=["specificity"]).to_rows()
    assert (row["interval"], row["measured"]) == ("undefined", "")


def test_json_lists_what_was_measured_of_each_interval():
    one, *bands = scored(measures=["recall"]).to_dict()["coverage"]
    assert [band["of"] for band in bands] == ["ROC curve", "precision and recall"]
    assert {band["interval"] for band in bands} == {"simultaneous_rectangles"}
    assert (one["interval"], one["of"], one["least"]) == ("clopper_pearson", "recall", 0.9501)
    weighted = scored(measures=["recall"], sample_weight=np.linspace(1, 2, 120)).to_dict()
    assert (weighted["coverage"][0]["mean"], weighted["coverage"][0]["samples"]) == (None, None)


def test_the_terminal_marks_what_was_not_measured(capsys):
    console = Console(width=100)
    print_result(scored(measures=["recall"]), console)
    assert MARK not in capsys.readouterr().out
    print_result(scored(measures=["recall"], sample_weight=np.linspace(1, 2, 120)), console)
    shown = capsys.readouterr().out
    assert f"effective_binomial{MARK} " in shown
    assert f"{MARK} coverage not measured with weights: effective binomial" in shown


def test_tables_of_other_formats_have_the_note_too():
    result = scored(measures=["recall"], sample_weight=np.linspace(1, 2, 120))
    for form in ("markdown", "latex"):
        assert "coverage not measured with weights" in formatted(result, form)


def test_weights_of_scores_alone_are_seen():
    assert is_weighted(tr.evaluate(TRUTH, y_score=SCORE, sample_weight=np.linspace(1, 2, 120)))
    assert not is_weighted(tr.evaluate(TRUTH, y_score=SCORE))


@pytest.mark.parametrize(
    ("refits", "design", "target"),
    [
        ({"repeats": 5}, "5 × 10 folds", "this model"),
        ({"repeats": 1, "name": "one_repetition"}, "10 folds", "this model"),
        ({"repeats": 5, "name": "corrected_t"}, "5 × 10 folds", LEARNER),
        ({"method": "holdout", "name": "clopper_pearson"}, "a third held out", "this model"),
        (
            dict.fromkeys(("method", "name"), "nested_cross_validation"),
            "refits of its own",
            LEARNER,
        ),
    ],
)
def test_a_learner_is_told_what_was_measured_of_such_refits(make_learner, refits, design, target):
    evaluation = make_learner(target=target, **refits)
    [use] = uses_of(evaluation)
    result = coverage_of(use.interval.method, "error_rate", design=design, target=target)
    assert use.measured == result
    assert result is not None
    [row] = promises_of(evaluation)
    assert design in row[-1]
    assert ("the learner's value" in row[-1]) == (target == LEARNER)


def test_refits_of_another_number_of_folds_were_not_measured(make_learner):
    [use] = uses_of(make_learner(repeats=5, folds=7))
    assert use.measured is None


def test_cross_validation_beside_a_machine_s_own_estimates_was_measured(make_learner):
    folds = make_learner()["error_rate"]
    own = replace(folds, method="leave_one_out", interval=Interval(0.1, 0.3, 0.95, EXACT))
    both = SideBySide(estimates=(own, folds), seconds=(0.1, 0.1), training_seconds=0.1)
    alone, measured = uses_of(both)
    assert alone.measured is None
    assert measured.measured == next(iter(uses_of(make_learner(repeats=5)))).measured
    assert measured.measured is not None


def test_what_was_held_out_is_told_apart_from_what_was_estimated():
    texts = ["wheat crop"] * 12 + ["oil well"] * 12 + ["ship port"] * 12
    labels = [(name,) for name in "abc" for _ in range(12)]
    corpus = tr.Corpus(ids=tuple(map(str, range(36))), texts=tuple(texts), labels=tuple(labels))
    result = tr.estimate_corpus(corpus, holdout=0.3, random_state=1)
    shares = {use.of: use.measured for use in uses_of(result) if use.interval.method == EXACT}
    assert "recall" not in shares
    assert shares["held out: recall"] == coverage_of(EXACT, "recall")


def test_random_divisions_and_scorers_are_quoted_by_their_design():
    X = SCORE[:, np.newaxis]
    divisions = ShuffleSplit(10, test_size=0.2, random_state=0)
    measures = {"accuracy": "accuracy", "mine": _half_brier}
    result = tr.estimate("naive_bayes", X, TRUTH, cv=divisions, scoring=measures, random_state=1)
    uses = {use.of: use.measured for use in uses_of(result)}
    design = "10 random divisions, a fifth tested"
    for of, measure, method in (
        ("accuracy", "error_rate", "variance_components"),
        ("mine", "scorer", "pseudo_values"),
    ):
        expected = coverage_of(method, measure, design=design)
        assert uses[of] == expected
        assert expected is not None
    third = tr.estimate(
        "naive_bayes", X, TRUTH, method="subsampling", measures=["f1"], random_state=1
    )
    [use] = uses_of(third)
    assert use.measured.design == "15 random divisions, a third tested"
    other = tr.estimate(
        "naive_bayes", X, TRUTH, method="subsampling", repeats=4, measures=["f1"], random_state=1
    )
    [use] = uses_of(other)
    assert use.measured is None


def _half_brier(model, X, y):
    return float(np.mean((model.predict_proba(X)[:, 1] - y) ** 2)) / 2


def test_values_and_the_winner_of_a_search_are_quoted_by_their_design():
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=5)
    summary = tr.summarise(search.fit(SCORE[:, np.newaxis], TRUTH))
    assert summary.design == "5 folds"
    [use] = uses_of(summary)
    assert use.measured == coverage_of(
        "corrected_t of a winner", "accuracy", design="5 folds", target=LEARNER
    )
    assert use.measured is not None
    values = [0.1, 0.12, 0.2, 0.15, 0.11, 0.13, 0.12, 0.1, 0.2, 0.14]
    ten = tr.summarise(values, measure="error_rate")
    assert next(iter(uses_of(ten))).measured.design == "10 folds"
    half = tr.summarise(values, measure="error_rate", test_train_ratio=1.0)
    assert half.design == "10 random divisions, half tested"
    assert next(iter(uses_of(half))).measured is None
