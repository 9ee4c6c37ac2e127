"""LearnerEvaluation: the presentation of an evaluation, and of the refits that it rests on."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.estimation.refits.methods import METHODS
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Rule, by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.results.estimate import FEWEST, refit_chart
from truerisk.reporting.sections.coverage import all_estimates, design_of, refit_uses
from truerisk.reporting.sections.provenance import interval_names
from truerisk.reporting.wording import cost_words, count, counted, spoken, with_interval
from truerisk.results import Resampled, number

MAX_SPREADS = 2  # pictures of how much refits differ
BASELINE = "Always the commonest class"
WIDE_ERROR = 0.1  # an interval of the error rate that says little
NEARLY = 1.1  # times as wide as wanted: not worth collecting for


def learner_chapter(result: LearnerEvaluation) -> doc.Chapter:
    """Give all that a page says of a learner: its evaluation, and the refits it rests on."""
    chapter = predictions.evaluation_chapter(result)
    head, *rest = chapter.sections
    return replace(
        chapter,
        title="How good will this learner be?",
        subtitle=f"{method_title(result)}, {counted(result.refits, 'refit')} · {chapter.subtitle}",
        tiles=tuple(_with_baseline(result, chapter)),
        sections=(head, *_spreads(result), *_others(result), *rest),
    )


def method_title(result: LearnerEvaluation) -> str:
    """Give the words for a method of resampling."""
    defined = METHODS.get(result.method)
    return visible(spoken(result.method)) if defined is None else defined.title


def _with_baseline(result: LearnerEvaluation, chapter: doc.Chapter) -> Iterator[doc.Tile]:
    titles = {title_of(name): one for name, one in result.baseline.items() if one.is_defined}
    for tile in chapter.tiles:
        always = titles.get(tile.title)
        text = "" if always is None else f"{BASELINE.lower()}: {number(always.value)}"
        yield replace(tile, note=tile.note or text)


def _spreads(result: LearnerEvaluation) -> Iterator[doc.Section]:
    """Draw the value of every refit, for the measures that matter."""
    several = [
        one
        for name in predictions.HEADLINES
        if isinstance(one := result.get(name), Resampled)
        and np.isfinite(one.replicates).sum() >= FEWEST
    ]
    if several:
        yield doc.charts_section(
            "How much the refits differ",
            [refit_chart(one) for one in several[:MAX_SPREADS]],
            "The value of each refit on the examples that it did not train on. A single refit "
            "judges few examples, and so spreads more than the interval, which is about all of "
            "them together.",
        )


def _others(result: LearnerEvaluation) -> Iterator[doc.Section]:
    """Draw further estimates of the error rate, and that of always the same answer."""
    always = result.baseline.get("error_rate")
    entries = (
        [doc.Entry(method_title(result), result["error_rate"])] if "error_rate" in result else []
    )
    entries += [doc.Entry(spoken(name), one) for name, one in result.variants.items()]
    if always is not None:
        entries.append(doc.Entry(BASELINE, always, "judged on the same examples"))
    if len(entries) > 1:
        yield doc.estimate_forest(
            "The error rate, and what it is to be held against", "By", entries
        )


def learner_facts(evaluation: Any) -> doc.Facts:
    """Say what was assumed, in pairs of words."""
    yield "learner", evaluation.model
    # The settings name the intervals of predictions; those of refits are other ones.
    yield from predictions.evaluation_facts(
        evaluation, skip=("model", "interval", "binomial", "cell_interval")
    )
    yield "intervals", interval_names(evaluation.values())
    yield "refits", count(evaluation.refits)
    if evaluation.costs is not None:
        induce, classify = evaluation.costs.seconds
        yield "one training took", cost_words("seconds_to_induce", induce)
        yield "classifying 1,000 examples took", cost_words("seconds_to_classify", classify)


def one_repetition(evaluation: Any) -> Iterator[str]:
    """Ask for more repetitions, without which the interval is longer than it need be."""
    settings = evaluation.settings
    if settings.get("method") != "cross_validation" or settings.get("repeats") != 1:
        return
    error = evaluation.get("error_rate")
    if error is None or error.interval is None or "group" in error.interval.method:
        return  # of groups it was not measured
    yield (
        "Repeat the cross-validation: how much refits disagree about an example is then known, and "
        "intervals are shorter as a rule: `truerisk estimate --repeats 5`."
    )


def one_holdout(evaluation: Any) -> Iterator[str]:
    """Ask for cross-validation, which tests on every example, where few were held out."""
    error = evaluation.get("error_rate")
    if evaluation.settings.get("method") != "holdout" or error is None or error.interval is None:
        return
    if error.is_defined and error.interval.width > WIDE_ERROR:
        yield (
            f"Judge it on every example, not only on the {count(evaluation.n)} held out, by which "
            f"the error rate is {with_interval(error)}: "
            "`truerisk estimate --method cross_validation`."
        )


def open_numbers(evaluation: Any) -> Iterator[str]:
    """Ask for more examples: first for what the verdict calls open, else for the error rate."""
    if evaluation.settings.get("method") == "holdout":
        return  # most of what is collected would be trained on
    yield from list(predictions.too_open(evaluation)) or error_is_open(evaluation)


def error_is_open(evaluation: Any) -> Iterator[str]:
    """Ask for more examples, where the error rate is hardly known."""
    error = evaluation.get("error_rate")
    if error is None or error.interval is None or not error.is_defined:
        return
    if error.interval.width > NEARLY * WIDE_ERROR:
        wanted = WIDE_ERROR / 2
        # Widths shrink with the root of the size: near enough for "about".
        needed = 10 * math.ceil(evaluation.n * (error.interval.width / WIDE_ERROR) ** 2 / 10)
        yield (
            f"Collect about {count(needed - evaluation.n)} more examples to know the error rate to "
            f"±{wanted:.2f}, now {with_interval(error)}; whether they would lower it, too, "
            "says `truerisk curve`."
        )


def see_whether_more_would_help(evaluation: Any) -> Iterator[str]:
    """Send a learner without a fault on to its curve, its rivals and fresh examples."""
    error = evaluation.get("error_rate")
    now = f", now {with_interval(error)}" if error is not None else ""
    yield (
        f"See whether more than {count(evaluation.n)} examples would lower the error{now}: "
        "`truerisk curve`."
    )
    yield (
        "Put other learners beside it on the same divisions before settling for one: `truerisk "
        "estimate --model A --model B`."
    )


LEARNER_RULES: tuple[Rule, ...] = (
    predictions.swapped_labels,
    predictions.no_better_than_a_constant,
    one_holdout,
    open_numbers,
    one_repetition,
    predictions.one_pair_of_classes,
    predictions.classes_with_few_examples,
)


def learner_blocks(evaluation: LearnerEvaluation) -> Iterator[doc.Block]:
    """Give what a terminal shows: the evaluation, and what training and classifying cost."""
    yield from predictions.evaluation_blocks(evaluation)
    if evaluation.costs is None:
        return
    induce, classify = evaluation.costs.seconds
    always = evaluation.baseline.get("error_rate")
    costs = (
        f"One training took {induce:.3g} s on average, classifying a thousand examples "
        f"{classify:.3g} s."
    )
    constant = [] if always is None else [f"Always answering the commonest class: {always}"]
    yield doc.Sentences([*constant, costs])


PRESENTER = replace(
    predictions.PRESENTER,
    chapter=learner_chapter,
    blocks=learner_blocks,
    facts=learner_facts,
    next_steps=by_rules(LEARNER_RULES, see_whether_more_would_help),
    intervals=lambda result: refit_uses(all_estimates(result), design_of(result.settings)),
)
