import numpy as np
import pytest

from truerisk.comparison.predictions.choice import value_of_scores
from truerisk.comparison.predictions.compare import compare
from truerisk.evaluation import evaluate
from truerisk.tallies.scored_rows import ScoredRows


def coins(models=8, n=60):
    rng = np.random.default_rng(3)
    truth = rng.random(n) < 0.5
    return truth, [rng.random(n) < 0.5 for _ in range(models)]


def test_the_best_of_many_coins_is_worth_no_more_than_a_coin():
    truth, called = coins()
    best = compare(truth, *called, measures=["error_rate"]).best
    assert best.own.value < 0.45
    assert best.corrected.value == pytest.approx(0.5, abs=0.06)
    assert best.optimism == pytest.approx(best.corrected.value - best.own.value)
    assert best.corrected.target == "this model"


def test_a_model_that_is_plainly_best_needs_no_correction():
    truth, called = coins(2, 200)
    best = compare(truth, *called, truth, measures=["accuracy"]).best
    assert best.name == "third"
    assert (best.own.value, best.corrected.value, best.optimism) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    "measure", ["roc_auc", "average_precision", "brier_score", "f1", "balanced_accuracy"]
)
def test_the_choice_can_be_by_any_kind_of_measure(measure):
    rng = np.random.default_rng(4)
    truth = rng.random(80) < 0.4
    scores = [np.clip(0.3 * truth + rng.random(80) * 0.7, 0, 1) for _ in range(2)]
    result = compare(
        truth, *[one > 0.5 for one in scores], scores=scores, measures=[measure], probabilities=True
    )
    own = [result.evaluations[name][measure].value for name in result.names]
    better = (min if measure == "brier_score" else max)(own)
    assert result.best.own.value == better
    assert result.best.corrected.interval.covers(result.best.corrected.value)


def test_groups_are_drawn_whole():
    truth, called = coins(3, 40)
    alone = compare(truth, *called, measures=["accuracy"]).best
    grouped = compare(truth, *called, measures=["accuracy"], groups=np.arange(40) // 8).best
    assert grouped.corrected.interval.width != alone.corrected.interval.width


@pytest.mark.parametrize("measure", ["error_rate", "brier_score"])
def test_heavy_examples_weigh_as_much_where_the_choice_is_repeated(measure):
    truth, called = coins(models=3)
    weight = np.where(np.arange(60) < 30, 100.0, 1.0)
    right = [np.where(weight > 1, truth, one) for one in called]
    options = {"scores": [0.8 * one + 0.1 for one in right], "probabilities": True}
    best = compare(truth, *right, measures=[measure], sample_weight=weight, **options).best
    assert best.corrected.value == pytest.approx(best.own.value, abs=0.01)


def test_an_average_over_examples_is_not_chosen_by():
    truth, first, second = [{"a"}, {"b"}], [{"a"}, {"a"}], [{"a"}, {"b"}]
    result = compare(truth, first, second, multilabel=True, measures=["f1_samples"])
    assert result.best is None


@pytest.mark.parametrize(
    "measure",
    ["roc_auc_macro", "roc_auc_weighted", "average_precision_micro", "log_loss", "brier_score"],
)
def test_an_example_that_counts_twice_is_worth_two(measure):
    rng = np.random.default_rng(6)
    label = rng.choice(3, size=40, p=[0.2, 0.3, 0.5])
    score = rng.dirichlet(np.ones(3), size=40) + 0.2 * np.eye(3)[label]
    score /= score.sum(axis=1, keepdims=True)
    times = rng.integers(0, 3, size=40)
    value = value_of_scores(measure, ScoredRows(score, np.eye(3, dtype=bool)[label]))
    rows = np.repeat(np.arange(40), times)
    expected = evaluate(label[rows], y_score=score[rows], probabilities=True, measures=(measure,))
    assert value(times[None].astype(float)) == pytest.approx([expected[measure].value])


def test_examples_that_never_count_leave_nothing():
    value = value_of_scores("log_loss", ScoredRows(np.full((2, 1), 0.5), np.ones((2, 1), bool)))
    assert np.isnan(value(np.zeros((1, 2)))).all()


def models_of(n, apart, seed=7):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    common = 1.2 * truth + rng.standard_normal(n)
    return truth, [common + 0.8 * rng.standard_normal(n) + one * truth for one in apart]


@pytest.mark.parametrize("measure", ["roc_auc", "average_precision", "best_f1", "brier_score"])
def test_many_rows_are_chosen_by_what_each_adds(monkeypatch, measure):
    truth, scores = models_of(3000, (0.0, 0.03, 0.0))
    scores = [1 / (1 + np.exp(1.0 - one)) for one in scores]
    options = {"scores": scores, "measures": [measure], "probabilities": True}
    called = [one > 0.5 for one in scores]
    by_influence = compare(truth, *called, **options).best
    for module in ("joined", "choice"):
        monkeypatch.setattr(
            f"truerisk.comparison.predictions.{module}.MAX_RESAMPLED", 10**6, raising=True
        )
    by_rows = compare(truth, *called, **options).best
    width = by_rows.corrected.interval.width
    ends = [
        (one.corrected.interval.low, one.corrected.interval.high) for one in (by_influence, by_rows)
    ]
    assert by_influence.name == by_rows.name
    assert by_influence.corrected.value == pytest.approx(by_rows.corrected.value, abs=0.2 * width)
    assert ends[0] == pytest.approx(ends[1], abs=0.25 * width)


@pytest.mark.parametrize("measure", ["error_rate", "f1_macro"])
@pytest.mark.parametrize("design", ["alone", "weights", "groups", "both"])
def test_many_rows_of_many_cells_are_chosen_by_what_each_adds(monkeypatch, measure, design):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 12, 3000)
    called = [np.where(rng.random(3000) < 0.8, truth, rng.integers(0, 12, 3000)) for _ in range(3)]
    options = {"measures": [measure]}
    if design in {"weights", "both"}:
        options["sample_weight"] = rng.choice([0.5, 1.0, 3.0], 3000)
    if design in {"groups", "both"}:
        options["groups"] = rng.integers(0, 400, 3000)
    drawn = compare(truth, *called, **options).best
    for limit in ("MAX_CELLS", "MAX_DRAWN"):
        monkeypatch.setattr(f"truerisk.comparison.predictions.choice.{limit}", 0)
    by_influence = compare(truth, *called, **options).best
    width = drawn.corrected.interval.width
    ends = [
        (one.corrected.interval.low, one.corrected.interval.high) for one in (by_influence, drawn)
    ]
    assert by_influence.corrected != drawn.corrected  # by another way
    assert by_influence.name == drawn.name
    assert by_influence.corrected.value == pytest.approx(drawn.corrected.value, abs=0.2 * width)
    assert ends[0] == pytest.approx(ends[1], abs=0.25 * width)


def test_the_spread_of_rows_drawn_and_not_drawn_is_that_of_poisson_numbers():
    # Var w = 1, Var e[w = 0] = e − 1, Cov = −1: what the choice by influences is drawn with.
    w = np.random.default_rng(2).poisson(1.0, 10**6)
    covariance = np.cov(w, np.e * (w == 0))
    assert covariance.ravel() == pytest.approx([1, -1, -1, np.e - 1], abs=0.02)


@pytest.mark.parametrize("n", [300, 5000])
def test_neither_the_order_of_rows_nor_of_models_matters_to_the_choice(n):
    truth, scores = models_of(n, (0.0, 0.03))
    called = [one > 0.7 for one in scores]
    turned = np.random.default_rng(1).permutation(n)
    for measure in ("error_rate", "roc_auc"):
        options = {"measures": [measure]}
        best = compare(truth, *called, scores=scores, **options).best
        moved = compare(
            truth[turned],
            *(one[turned] for one in called),
            scores=[one[turned] for one in scores],
            **options,
        ).best
        assert moved.corrected.value == pytest.approx(best.corrected.value, rel=1e-9)
        swapped = compare(truth, *called[::-1], scores=scores[::-1], **options).best
        assert swapped.corrected.value == pytest.approx(best.corrected.value, rel=1e-9)
