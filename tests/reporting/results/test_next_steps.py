from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.estimation.corpus.categories import Category
from truerisk.estimation.curves.laws import Extrapolation, PowerLaws
from truerisk.reporting.presenter import next_steps
from truerisk.results import Interval


def problem(n, apart=0.8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + apart * y[:, np.newaxis], y


@pytest.fixture(scope="module")
def evaluated():
    return tr.estimate("naive_bayes", *problem(80), random_state=1, folds=5, repeats=2)


def collecting(evaluation):
    return [step for step in next_steps(evaluation) if step.startswith("Collect about")]


def test_what_the_verdict_calls_open_is_collected_for(evaluated):
    [step] = collecting(evaluated)
    assert "more examples called positive: precision is known only to" in step
    assert any(sentence.startswith("Open: precision") for sentence in evaluated.verdict)


def test_an_open_error_rate_asks_for_examples(evaluated):
    error = evaluated["error_rate"]
    alone = replace(evaluated, estimates={"error_rate": error})
    needed = 10 * np.ceil(80 * (error.interval.width / 0.1) ** 2 / 10)
    [step] = collecting(alone)
    assert step.startswith(f"Collect about {needed - 80:.0f} more examples to know the error rate")
    nearly = replace(error.interval, low=error.value - 0.052, high=error.value + 0.052)
    assert not collecting(replace(alone, estimates={"error_rate": replace(error, interval=nearly)}))


def test_few_held_out_lead_to_cross_validation(evaluated):
    held_out = replace(evaluated, settings={"method": "holdout"})
    assert not collecting(held_out)
    assert any(
        step.startswith("Judge it on every example, not only on the 80 held out")
        for step in next_steps(held_out)
    )


def test_one_repetition_is_not_enough(evaluated):
    requests = (
        "Repeat the cross-validation: how much refits disagree about an example is then known"
    )
    assert not any(step.startswith("Repeat") for step in next_steps(evaluated))
    once = replace(evaluated, settings={**evaluated.settings, "repeats": 1})
    assert any(step.startswith(requests) for step in next_steps(once))
    error = once["error_rate"]
    of_groups = replace(error.interval, method="pooled_group_jackknife")
    grouped = replace(once, estimates={"error_rate": replace(error, interval=of_groups)})
    assert not any(step.startswith("Repeat") for step in next_steps(grouped))


def test_a_learner_without_a_fault_goes_on_to_its_curve_and_its_rivals():
    result = tr.estimate("naive_bayes", *problem(400, 5.0), random_state=1, folds=5, repeats=2)
    first, second = next_steps(result)
    assert first.startswith("See whether more than 400 examples would lower the error, now 0.0")
    assert "`truerisk curve`" in first
    assert second.startswith("Put other learners beside it")


def test_the_best_of_several_is_judged_on_fresh_examples():
    models = {"bayes": "naive_bayes", "constant": "majority"}
    result = tr.best_of(models, *problem(60), random_state=1, folds=3, repeats=1)
    first, second = next_steps(result)
    assert first.startswith("Judge bayes on fresh examples before relying on it")
    assert f"{result.corrected.value:.3f} [" in first
    assert second.startswith("Ask whether bayes is really better than constant")


def test_estimates_by_machines_lead_to_leave_one_out_and_to_selection():
    X, y = problem(40)
    result = tr.xi_alpha(tr.LinearSVM().fit(X, y), X, y)
    risky = sum(map(len, result.at_risk))
    first, second = next_steps(result)
    assert first.startswith(f"Leave out the {risky} examples at risk in earnest, if 0.")
    assert "`tr.select`" in second


def test_settings_that_won_are_trained_with_and_not_taken_at_their_word():
    result = tr.select(
        tr.LinearSVM(), *problem(40), over={"C": [0.5, 2.0]}, replicates=50, random_state=1
    )
    [step] = next_steps(result)
    assert step.startswith(f"Train with C = {result.best['C']:g}, and expect Error rate ")
    assert f"{result.corrected.value:.3f}, at most " in step
    assert "of 2 settings" in step


def test_perturbed_losses_in_training_are_not_to_be_relied_on():
    requests = {"random_state": 1, "replicates": 100, "interval": "percentile"}
    X, y = problem(60)
    first, second = next_steps(tr.perturbation(tr.LinearSVM(), X, y, losses="training", **requests))
    assert "vary too little: they were measured to cover 62.3 %" in first
    assert second.startswith("Take the agreement interval for the error itself, 0.")
    assert next_steps(tr.perturbation(tr.LinearSVM(), X, y, **requests)) == (second,)
    groups = np.arange(60) // 2
    assert not next_steps(tr.perturbation(tr.LinearSVM(), X, y, groups=groups, **requests))


def corpus(*documents, holdout=None):
    categories = tuple(
        Category(
            name=f"c{place}", documents=n, test_documents=None, stable=True, gap=0.0, reason=None
        )
        for place, n in enumerate(documents)
    )
    return tr.CorpusEvaluation(
        estimates={}, n=100, level=0.95, labels=(), pos_label=None, categories=categories,
        holdout=holdout,
    )  # fmt: skip


def test_categories_with_hardly_any_documents_are_collected_for():
    first, second = next_steps(corpus(50, 9, 3, 10))
    assert first.startswith(
        "Collect documents of the 2 categories that have fewer than 10, such as 'c2' (3)"
    )
    assert second.startswith("Hold out a part of the 100 documents")
    beside = tr.evaluate_counts([[5, 5], [5, 5]])
    [step] = next_steps(corpus(50, 10, holdout=beside))
    assert step.startswith("Try another C or other words for the 2 categories")


@pytest.fixture(scope="module")
def curve():
    X, y = problem(120)
    models = {"bayes": GaussianNB()}
    return tr.learning_curve(
        models, X, y, sizes=[10, 20, 30, 40, 60], repeats=3, random_state=1, estimate=None
    )


def with_law(curve, a, b):
    """Give the learner the law a + b/n, known to a hair."""

    def at(value):
        return Interval(value, value, 0.95, "percentile")

    law = Extrapolation(
        measure="error_rate", higher_is_better=False, a=a, b=b, c=1.0, a_interval=at(a),
        c_interval=at(1.0), sizes=curve.sizes, n=curve.n, last=at(a + b / (4 * curve.n)),
        slope=0.0, determined=True, laws=PowerLaws(np.full(9, a), np.full(9, b), np.ones(9)),
    )  # fmt: skip
    learner = replace(curve["bayes"], extrapolation=law, refusal=None)
    return replace(curve, curves={"bayes": learner})


def test_a_law_that_falls_asks_for_examples_and_a_flat_one_does_not(curve):
    # .1 + 12/120 = .2 by all 120 examples; .1 + 12/480 = .125 by four times as many.
    [step] = next_steps(with_law(curve, 0.1, 12.0))
    start = "Collect more examples for bayes if they are cheap: 4 times as many examples (480)"
    assert step.startswith(start)
    assert "does not exclude that nothing is gained" in step
    assert "bring Error rate from 0.200 to about 0.125 [" in step
    [step] = next_steps(with_law(curve, 0.19, 0.6))
    assert step.startswith("Do not collect for bayes: ")


def test_an_undetermined_law_asks_for_a_longer_curve(curve):
    listed = with_law(curve, 0.1, 12.0)["bayes"]
    open_law = replace(listed, extrapolation=replace(listed.extrapolation, determined=False))
    [step] = next_steps(replace(curve, curves={"bayes": open_law}))
    assert step.startswith("Draw the curve of bayes with more sizes or repeats: 3 repeats")


def test_of_estimates_side_by_side_the_exact_one_is_gone_by():
    X, y = problem(40)
    result = tr.without_resampling(tr.LinearSVM(), X, y)
    first, second = next_steps(result)
    assert first.startswith("Go by exact leave-one-out, 0.")
    assert second.startswith("Choose C and kernel by the same 40 examples")
