"""Learners by refits: one, as an evaluation and the refits it rests on; and the best of several."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from truerisk.estimation.refits.best_of import BestOf
from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.estimation.refits.plans import METHODS
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Rule, Use, by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.results.estimate import has_refits, refit_chart
from truerisk.reporting.sections.coverage import all_estimates, design_of, refit_uses, uses_of
from truerisk.reporting.sections.provenance import interval_names
from truerisk.reporting.wording import (
    cost_words,
    count,
    counted,
    interval_heading,
    percent,
    plain_text,
    spoken,
    with_interval,
    written,
)
from truerisk.results import number

MAX_SPREADS = 2  # pictures of how much refits differ
BASELINE = "Always the commonest class"
WIDE_ERROR = 0.1  # an interval of the error rate that says little
NEARLY = 1.1  # times as wide as wanted: not worth collecting for
MAX_OF_A_NAME = 40  # characters in a heading


class LearnerEvaluationPresenter(predictions.EvaluationPresenter):
    """The evaluation of a learner, and the refits it rests on."""

    question = "How good will this learner be?"
    # They name the intervals of predictions; those of refits are other ones.
    unused_settings = ("binomial", "cell_interval")

    def subtitle(self, result: Any) -> Iterator[str]:
        yield f"{method_title(result)}, {counted(result.refits, 'refit')}"
        yield from super().subtitle(result)

    def tiles(self, result: Any) -> Iterator[doc.Tile]:
        titles = {title_of(name): one for name, one in result.baseline.items() if one.is_defined}
        for tile in super().tiles(result):
            always = titles.get(tile.title)
            text = "" if always is None else f"{BASELINE.lower()}: {number(always.value)}"
            yield replace(tile, note=tile.note or text)

    def sections(self, result: Any) -> Iterator[doc.Section]:
        """Give the sections of the evaluation, and of the refits it rests on."""
        head, *rest = super().sections(result)
        yield from (head, *_spreads(result), *_others(result), *rest)

    def blocks(self, evaluation: Any) -> Iterator[doc.Block]:
        """Give what a terminal shows: the evaluation, and what training and classifying cost."""
        yield from super().blocks(evaluation)
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

    def facts(self, evaluation: Any) -> doc.Facts:
        """Say what was assumed, in pairs of words."""
        yield "learner", evaluation.model
        skip = ("model", "interval", *self.unused_settings)
        yield from predictions.evaluation_facts(evaluation, skip)
        yield "intervals", interval_names(evaluation.values())
        yield "refits", count(evaluation.refits)
        if evaluation.costs is not None:
            induce, classify = evaluation.costs.seconds
            yield "one training took", cost_words("seconds_to_induce", induce)
            yield "classifying 1,000 examples took", cost_words("seconds_to_classify", classify)

    def next_steps(self, evaluation: Any) -> Iterable[str]:
        return by_rules(LEARNER_RULES, see_whether_more_would_help)(evaluation)

    def intervals(self, evaluation: Any) -> Iterator[Use]:
        return refit_uses(all_estimates(evaluation), design_of(evaluation.settings))


def method_title(result: LearnerEvaluation) -> str:
    """Give the words for a method of resampling."""
    defined = METHODS.get(result.method)
    return visible(spoken(result.method)) if defined is None else defined.title


def _spreads(result: LearnerEvaluation) -> Iterator[doc.Section]:
    """Draw the value of every refit, for the measures that matter."""
    several = [one for one in map(result.get, predictions.HEADLINES) if has_refits(one)]
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
        half = WIDE_ERROR / 2
        # Widths shrink with the root of the size: near enough for "about".
        needed = 10 * math.ceil(evaluation.n * (error.interval.width / WIDE_ERROR) ** 2 / 10)
        yield (
            f"Collect about {count(needed - evaluation.n)} more examples to know the error rate to "
            f"±{half:.2f}, now {with_interval(error)}; whether they would lower it, too, "
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


class BestOfPresenter(Presenter):
    """The best of several learners, corrected for having been chosen."""

    question = "Which learner is best, and how good is it?"

    def subtitle(self, result: BestOf) -> Iterator[str]:
        winner = result.evaluations[result.winner]
        yield counted(len(result.evaluations), "learner")
        yield counted(winner.n, "example")
        yield method_title(winner)
        yield f"{percent(winner.level)} intervals"

    def verdict(self, result: BestOf) -> Iterator[str]:
        best, second = (result.evaluations[name][result.measure] for name in result.ranking[:2])
        title = title_of(result.measure)
        words, corrected = written(best), written(result.corrected)
        yield (
            f"{result.winner} is the best of {len(result.evaluations)} learners: {title} "
            f"{words.value} {words.interval}."
        )
        yield (
            f"It was chosen by these numbers, and is too good by {number(abs(result.optimism))}: "
            f"choosing the best of these is worth {title} {corrected.value} {corrected.interval}."
        )
        ends, others = best.interval, second.interval
        apart = ends is None or others is None or ends.low > others.high or others.low > ends.high
        if second.is_defined and not apart:
            yield (
                f"The intervals of {result.winner} and {result.ranking[1]} overlap: these numbers "
                "do not settle which is better. compare_models judges the two on the same examples."
            )
        yield from result.evaluations[result.winner].verdict

    def tiles(self, result: BestOf) -> Iterator[doc.Tile]:
        title = title_of(result.measure)
        yield doc.Tile.of(f"{title}, corrected for the choice", result.corrected)
        own = result.evaluations[result.winner][result.measure]
        yield doc.Tile.of(f"{title} of {result.winner}", own, "as it was chosen by")
        always = result.evaluations[result.winner].baseline.get(result.measure)
        if always is not None:
            yield doc.Tile.of(f"{title} of always the commonest class", always)

    def sections(self, result: BestOf) -> Iterator[doc.Section]:
        yield doc.estimate_forest(
            f"Learners by {title_of(result.measure)}",
            "Learner, best first",
            _entries(result),
            "All learners were trained and judged on the same divisions of the examples.",
        )
        yield _costs(result)
        name = visible(result.winner, most=MAX_OF_A_NAME)
        for one in LearnerEvaluationPresenter().sections(result.evaluations[result.winner]):
            yield replace(one, title=f"{name}: {one.title}")

    def notes(self, choice: BestOf) -> tuple[str, ...]:
        return predictions.remarks(choice.evaluations[choice.winner])

    def blocks(self, choice: BestOf) -> Iterator[doc.Block]:
        """Give what a terminal shows: the ranking, the correction, then the winner."""
        yield best_of_table(choice)
        yield doc.Sentences([str(choice).splitlines()[-1]])
        yield from LearnerEvaluationPresenter().blocks(choice.evaluations[choice.winner])

    def tables(self, choice: BestOf) -> list[doc.Table]:
        return [best_of_table(choice)]

    def facts(self, result: Any) -> doc.Facts:
        yield "learners", plain_text(list(result.evaluations))
        yield "chosen by", title_of(result.measure)
        yield from LearnerEvaluationPresenter().facts(result.evaluations[result.winner])

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say what to do about the best of several learners."""
        yield (
            f"Judge {result.winner} on fresh examples before relying on it: it was chosen by these "
            f"numbers; corrected for that, {title_of(result.measure)} is "
            f"{with_interval(result.corrected)}: `truerisk score`."
        )
        if len(result.ranking) > 1:
            yield (
                f"Ask whether {result.winner} is really better than {result.ranking[1]} before "
                "paying for it: `truerisk estimate --model … --against …`."
            )

    def intervals(self, result: Any) -> Iterator[Use]:
        for one in result.evaluations.values():
            yield from uses_of(one)
        yield from refit_uses(
            [result.corrected], design_of(result.evaluations[result.winner].settings)
        )

    def pictures(self, result: BestOf) -> doc.Pictures:
        """Draw every learner, best first, the corrected best, then the winner."""
        *rows, best = _entries(result)
        chosen = replace(best, title=f"best of {len(rows)}, corrected", ink="second", mark="D")
        yield "learners", doc.Forest(rows=[*rows, chosen], axis=title_of(result.measure))
        for name, picture in predictions.EvaluationPresenter().pictures(
            result.evaluations[result.winner]
        ):
            yield f"best-{name}", picture


def _entries(result: BestOf) -> list[doc.Entry]:
    """List the learners, best first, then what choosing the best of them is worth."""
    ranked = {name: result.evaluations[name] for name in result.ranking}
    return [
        *(
            doc.Entry(name, one[result.measure], "" if one.model == name else one.model)
            for name, one in ranked.items()
        ),
        doc.Entry(f"Best of {len(ranked)}", result.corrected, "corrected for having been chosen"),
    ]


def _costs(result: BestOf) -> doc.Section:
    columns = doc.heads("Learner", "#Refits", "#Training", "#Classifying 1,000")
    rows = []
    for name in result.ranking:
        one = result.evaluations[name]
        seconds = (math.nan, math.nan) if one.costs is None else one.costs.seconds
        rows.append((name, count(one.refits), *(cost_words("seconds", took) for took in seconds)))
    return doc.table_section(doc.Table("What each learner costs (means)", columns, tuple(rows)))


def best_of_table(choice: BestOf) -> doc.Table:
    """Give one row per learner, best first, then what choosing the best of them is worth."""
    winner = choice.evaluations[choice.winner]
    numbers = (title_of(choice.measure), interval_heading(winner.level), "Refits")
    columns = (doc.Column("Learner"), *doc.number_columns(numbers))
    ranked = {name: choice.evaluations[name] for name in choice.ranking}
    rows = [(name, *written(one[choice.measure]), str(one.refits)) for name, one in ranked.items()]
    refits = sum(one.refits for one in ranked.values())
    rows.append((f"best of {len(ranked)}, corrected", *written(choice.corrected), str(refits)))
    return doc.Table("Learners, best first", columns, tuple(rows))
