"""What was assumed in a result, in pairs of words: examples, settings, level, seed."""

from collections.abc import Callable, Iterable
from typing import Any

from truerisk.reporting.sections.intervals_used import NO_PROMISE
from truerisk.reporting.tables import (
    Facts,
    evaluation_facts,
    setting_facts,
    spoken,
    targets_of,
)
from truerisk.reporting.wording import (
    cost_words,
    count,
    counted,
    number,
    percent,
    plain_text,
    title_of,
)
from truerisk.results import as_plain


def facts_of(result: Any) -> Facts:  # noqa: ANN401
    """Give what was assumed, and with which seed, as pairs of words.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> facts = dict(facts_of(evaluate_counts([[5, 5], [4, 85]], random_state=7)))
    >>> facts["examples"], facts["seed"], facts["confidence level"]
    ('99', '7', '95 %')
    """
    for kind in type(result).__mro__:
        if kind.__name__ in FACTS:
            yield from FACTS[kind.__name__](result)
            return


def _of_learner(evaluation: Any) -> Facts:  # noqa: ANN401
    yield "learner", evaluation.model
    # The settings name the intervals of predictions; those of refits are other ones.
    yield from evaluation_facts(evaluation, told=("model", "interval", "binomial", "cell_interval"))
    yield "intervals", _intervals(evaluation.values())
    yield "refits", count(evaluation.refits)
    if evaluation.costs is not None:
        induce, classify = evaluation.costs.seconds
        yield "one training took", cost_words("seconds_to_induce", induce)
        yield "classifying 1,000 examples took", cost_words("seconds_to_classify", classify)


def _of_left_out(evaluation: Any) -> Facts:  # noqa: ANN401
    yield from evaluation_facts(evaluation)
    yield (
        "called wrong by the model trained without them",
        counted(len(evaluation.errors), "example"),
    )
    yield (
        "margin exactly 0, so that the call is arbitrary",
        counted(len(evaluation.ties), "example"),
    )
    yield "refits; the other calls follow from the training on all", count(evaluation.refits)


def _of_corpus(evaluation: Any) -> Facts:  # noqa: ANN401
    yield "training documents", count(evaluation.n)
    if evaluation.holdout is not None:
        yield "documents held out", count(evaluation.holdout.n)
    yield "categories", count(len(evaluation.categories))
    yield "confidence level", percent(evaluation.level)
    yield "the numbers are about", targets_of(evaluation.values())
    yield from setting_facts(evaluation.settings, told={"level", "pos_label", "target"})


def _of_comparisons(result: Any) -> Facts:  # noqa: ANN401
    yield "models", plain_text(result.names)
    yield "examples", count(result.n)
    yield "main measure", title_of(result.measure)
    yield "confidence level", percent(result.level)
    yield "the numbers are about", targets_of(one.difference for one in result.pairs)
    given = {name: value for name, value in result.settings.items() if value is not None}
    yield from setting_facts(given, told={"level"})


def _of_comparison(one: Any) -> Facts:  # noqa: ANN401
    yield "models", plain_text(one.names)
    yield "measure", title_of(one.measure)
    yield "examples", count(one.difference.n)
    yield "test", spoken(one.method)
    if one.difference.interval is not None:
        yield "confidence level", percent(one.difference.interval.level)
    yield "region of equivalence", "none" if one.region is None else f"± {one.region:g}"
    yield "the numbers are about", one.difference.target


def _of_model_comparisons(result: Any) -> Facts:  # noqa: ANN401
    for first in list(result.values())[:1]:
        for name, words in _of_comparison(first):
            if name == "measure":
                yield "measures", plain_text([title_of(measure) for measure in result])
            else:
                yield name, words


def _of_perturbed(found: Any) -> Facts:  # noqa: ANN401
    yield "examples", count(found.n)
    yield "weightings", count(len(found.replicates))
    yield "losses that are perturbed", spoken(found.losses)
    yield "error in training", number(found.training_error)
    if found.interval is not None:
        yield "confidence level", percent(found.interval.level)
    yield "the numbers are about", found.target


def _of_curve(curve: Any) -> Facts:  # noqa: ANN401
    yield "learners", plain_text(list(curve))
    yield "measure", title_of(curve.measure)
    yield "examples", count(curve.n)
    yield "held out in each repeat", count(curve.held_out)
    yield "repeats", count(curve.repeats)
    yield "training sizes", ", ".join(map(count, curve.sizes))
    yield "estimate from the training part", plain_text(curve.estimate)
    yield "confidence level", percent(curve.level)
    yield "the numbers are about", "the learner at each sample size"
    yield "seed", str(curve.random_state)


def _over_data_sets(found: Any) -> Facts:  # noqa: ANN401
    yield "data sets", count(found.n)
    yield "classifiers", plain_text(found.names)
    yield "control", plain_text(found.control)
    yield "better is", "a higher score" if found.higher_is_better else "a lower score"
    yield "region of equivalence", "none" if found.region is None else f"± {found.region:g}"
    yield "confidence level", percent(found.level)
    yield "seed", str(found.random_state)


def _of_best(result: Any) -> Facts:  # noqa: ANN401
    yield "learners", plain_text(list(result.evaluations))
    yield "chosen by", title_of(result.measure)
    yield from _of_learner(result.evaluations[result.winner])


def _of_selection(found: Any) -> Facts:  # noqa: ANN401
    yield "settings tried", count(len(found.candidates))
    yield "chosen", plain_text(as_plain(found.best))
    yield from _of_estimate(found.corrected)


def _side_by_side(found: Any) -> Facts:  # noqa: ANN401
    yield "ways of estimating", ", ".join(spoken(one.method) for one in found.estimates)
    for one in found.estimates[:1]:
        yield "measure", title_of(one.measure)
        yield "examples", count(one.n)
    yield "trained once in", cost_words("cpu_seconds", found.training_seconds)
    yield "the numbers are about", targets_of(found.estimates)


def _of_estimate(estimate: Any) -> Facts:  # noqa: ANN401
    yield "measure", title_of(estimate.measure)
    yield f"{unit_of(estimate)}s", count(estimate.n)
    yield "method", spoken(estimate.method)
    if estimate.interval is not None:
        yield "confidence level", percent(estimate.interval.level)
    yield "the numbers are about", estimate.target


def unit_of(estimate: Any) -> str:  # noqa: ANN401
    """Say what the size of an estimate counts: examples, or values whose examples nobody told."""
    return "value" if estimate.method == "resampling" else "example"


# By the name of the type, so that nothing is loaded for it.
FACTS: dict[str, Callable[[Any], Facts]] = {
    "Evaluation": evaluation_facts,
    "LearnerEvaluation": _of_learner,
    "LeaveOneOut": _of_left_out,
    "CorpusEvaluation": _of_corpus,
    "Comparisons": _of_comparisons,
    "Comparison": _of_comparison,
    "ModelComparisons": _of_model_comparisons,
    "Perturbed": _of_perturbed,
    "LearningCurve": _of_curve,
    "OverDatasets": _over_data_sets,
    "BestOf": _of_best,
    "Selection": _of_selection,
    "SideBySide": _side_by_side,
    "Estimate": _of_estimate,
}


def _intervals(estimates: Iterable[Any]) -> str:
    """Name the intervals that were used, each once."""
    used = (one.interval.method for one in estimates if one.interval is not None)
    return ", ".join(dict.fromkeys(spoken(one) for one in used if one not in NO_PROMISE)) or "none"
