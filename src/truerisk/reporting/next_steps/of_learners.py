"""What to do next about a learner, a corpus, a learning curve: one rule a function."""

import math
from collections.abc import Iterator
from typing import Any

from truerisk.checks import shown
from truerisk.intervals.measured_coverage import coverage_of
from truerisk.reporting.next_steps.of_predictions import (
    classes_with_few_examples,
    no_better_than_a_constant,
    one_pair_of_classes,
    swapped_labels,
    too_open,
)
from truerisk.reporting.next_steps.steps import Rule, by_rules
from truerisk.reporting.sections.intervals_used import uses_of
from truerisk.reporting.wording import (
    count,
    counted,
    number,
    percent,
    plain_text,
    title_of,
    written,
)
from truerisk.results import Estimate

WIDE = 0.1  # an interval of the error rate that says little
NEARLY = 1.1  # times as wide as wanted: not worth collecting for
ENOUGH_DOCUMENTS = 10  # of a category, under which its interval says next to nothing
GAIN = 0.1  # of the loss: less is not worth collecting for
FURTHER = 4  # times as many examples


def learner_steps(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about a learner that was judged by refits."""
    yield from by_rules(evaluation, LEARNER_RULES, see_whether_more_would_help)


def one_repetition(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for more repetitions, without which nothing is known of how far refits agree."""
    settings = evaluation.settings
    if settings.get("method") != "cross_validation" or settings.get("repeats") != 1:
        return
    error = evaluation.get("error_rate")
    if error is None or error.interval is None or "cluster" in error.interval.method:
        return  # of groups it was not measured
    measured = coverage_of(
        "pooled_binomial", "error_rate", page="coverage-of-learners", design="10 folds"
    )
    if measured is not None:
        yield (
            "Repeat the cross-validation: intervals by one repetition were measured to cover "
            f"{100 * measured.mean:.1f} % where {percent(measured.level)} was promised: `truerisk "
            "estimate --repeats 5`."
        )


def one_holdout(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for cross-validation, which tests on every example, where few were held out."""
    error = evaluation.get("error_rate")
    if evaluation.settings.get("method") != "holdout" or error is None or error.interval is None:
        return
    if error.is_defined and error.interval.width > WIDE:
        yield (
            f"Judge it on every example, not only on the {count(evaluation.n)} held out, by which "
            f"the error rate is {_told(error)}: `truerisk estimate --method cross_validation`."
        )


def open_numbers(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for more examples: first for what the verdict calls open, else for the error rate."""
    if evaluation.settings.get("method") == "holdout":
        return  # most of what is collected would be trained on
    yield from list(too_open(evaluation)) or error_is_open(evaluation)


def error_is_open(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for more examples, where the error rate is hardly known."""
    error = evaluation.get("error_rate")
    if error is None or error.interval is None or not error.is_defined:
        return
    if error.interval.width > NEARLY * WIDE:
        wanted = WIDE / 2
        # Widths shrink with the root of the size: near enough for "about".
        needed = 10 * math.ceil(evaluation.n * (error.interval.width / WIDE) ** 2 / 10)
        yield (
            f"Collect about {count(needed - evaluation.n)} more examples to know the error rate to "
            f"±{wanted:.2f}, now {_told(error)}; whether they would lower it, too, says `truerisk "
            "curve`."
        )


def see_whether_more_would_help(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Send a learner without a fault on to its curve, its rivals and fresh examples."""
    error = evaluation.get("error_rate")
    now = f", now {_told(error)}" if error is not None else ""
    yield (
        f"See whether more than {count(evaluation.n)} examples would lower the error{now}: "
        "`truerisk curve`."
    )
    yield (
        "Put other learners beside it on the same divisions before settling for one: `truerisk "
        "estimate --model A --model B`."
    )


LEARNER_RULES: tuple[Rule, ...] = (
    swapped_labels,
    no_better_than_a_constant,
    one_holdout,
    open_numbers,
    one_repetition,
    one_pair_of_classes,
    classes_with_few_examples,
)


def best_of_steps(result: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about the best of several learners."""
    yield (
        f"Judge {result.winner} on fresh examples before relying on it: it was chosen by these "
        f"numbers; corrected for that, {title_of(result.measure)} is {_told(result.corrected)}: "
        "`truerisk score`."
    )
    if len(result.ranking) > 1:
        yield (
            f"Ask whether {result.winner} is really better than {result.ranking[1]} before paying "
            "for it: `truerisk estimate --model … --against …`."
        )


def selection_steps(found: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about settings that were chosen without a test set."""
    best = ", ".join(f"{name} = {plain_text(value)}" for name, value in found.best.items())
    yield (
        f"Train with {best}, and expect {title_of(found.corrected.measure)} "
        f"{_told(found.corrected)}: corrected for having been chosen, of "
        f"{counted(len(found.candidates), 'setting')}; fresh examples tell: `truerisk score`."
    )


def xi_alpha_steps(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about an estimate that leans to the pessimistic side."""
    error = evaluation.get("error_rate")
    if error is not None and error.is_defined and error.value > 0:
        risky = sum(map(len, evaluation.at_risk))
        yield (
            f"Leave out the {count(risky)} examples at risk in earnest, if {number(error.value)} "
            "is too pessimistic to decide by: `tr.leave_one_out`."
        )
    yield from _between_settings(evaluation)


def side_by_side_steps(found: Any) -> Iterator[str]:  # noqa: ANN401
    """Say which of the estimates to go by, and what else they are good for."""
    by_method = {one.method: one for one in found.estimates}
    exact = by_method.get("leave_one_out")
    if exact is not None and exact.is_defined:
        yield (
            f"Go by exact leave-one-out, {_told(exact)}: it leans to no side; the others are for "
            "data on which it takes too long: `tr.leave_one_out`."
        )
    for one in found.estimates[:1]:
        yield from _between_settings(one)


def leave_one_out_steps(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about exact leave-one-out."""
    yield from by_rules(
        evaluation,
        (no_better_than_a_constant, one_pair_of_classes, classes_with_few_examples),
        _between_settings,
    )


def _between_settings(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    yield (
        f"Choose C and kernel by the same {count(evaluation.n)} examples, with no test set spent: "
        "`tr.select`."
    )


def corpus_steps(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about the categories of a corpus."""
    yield from by_rules(evaluation, CORPUS_RULES, _between_documents)


def categories_with_few_documents(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for documents of the categories that have hardly any."""
    few = [one for one in evaluation.categories if 0 < one.documents < ENOUGH_DOCUMENTS]
    if few:
        least = min(few, key=lambda one: one.documents)
        yield (
            f"Collect documents of the {count(len(few))} categories that have fewer than "
            f"{ENOUGH_DOCUMENTS}, such as {shown(least.name)} ({count(least.documents)}): their F1 "
            "is hardly known: `truerisk estimate` again with them."
        )


def nothing_held_out(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    """Ask for documents to be held out, where the estimates stand alone."""
    if evaluation.holdout is None:
        yield (
            f"Hold out a part of the {count(evaluation.n)} documents once, to see how far the "
            "estimates lean to the pessimistic side: `truerisk estimate --holdout 0.3`."
        )


CORPUS_RULES: tuple[Rule, ...] = (categories_with_few_documents, nothing_held_out)


def _between_documents(evaluation: Any) -> Iterator[str]:  # noqa: ANN401
    categories = count(len(evaluation.categories))
    yield (
        f"Try another C or other words for the {categories} categories, and compare the estimates: "
        "`truerisk estimate --C 1 --min-documents 2`."
    )


def perturbed_steps(found: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about an interval by perturbation."""
    if found.losses == "training":
        covered = [use.measured.mean for use in uses_of(found) if use.measured is not None]
        reason = f": they were measured to cover {100 * covered[0]:.1f} %" if covered else ""
        yield (
            "Do not rely on intervals by losses in training, which vary too little"
            f"{reason}: `truerisk perturb --losses cross_validated`."
        )
    if found.forms["exact"].method == "clopper_pearson":  # with groups neither was measured
        yield (
            f"Take the agreement interval for the error itself, {number(found.value)} here: it was "
            "measured to be shorter, and to keep its promise too: `truerisk estimate`."
        )


def curve_steps(curve: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about learning curves: which learner, and whether to collect for it."""
    sure = [one for one in curve.crossings if one.is_sure]
    for one in sure[:1]:
        yield (
            f"Prefer {one.after} to {one.before} at {count(curve.sizes[-1])} examples: its lead "
            f"there, {number(one.lead)}, is sure: `truerisk estimate --model … --against …`."
        )
    last = {name: learner.points[-1].mean for name, learner in curve.items()}
    known = {name: value for name, value in last.items() if not math.isnan(value)}
    if known and curve.higher_is_better is not None:
        best = (max if curve.higher_is_better else min)(known, key=lambda name: known[name])
        yield from _collect_or_not(curve, best)


def _collect_or_not(curve: Any, name: str) -> Iterator[str]:  # noqa: ANN401
    """Say what the law of a curve promises for more examples, where it promises anything."""
    law = curve[name].extrapolation
    if law is None or not law.determined:
        yield (
            f"Draw the curve of {name} with more sizes or repeats: {count(curve.repeats)} repeats "
            "at these sizes do not tell what more examples would bring: `truerisk curve --repeats`."
        )
        return
    size = FURTHER * curve.n
    now, then = law.at(curve.n), law.at(size)
    ends = (then.interval.low, then.interval.high) if then.interval else (then.value,) * 2
    best, worst = sorted(1 - end if law.higher_is_better else end for end in ends)
    loss, later = (1 - one.value if law.higher_is_better else one.value for one in (now, then))
    told = (
        f"bring {title_of(curve.measure)} from {written(now).value} to about {_told(then)}, by its "
        "law"
    )
    more = f"{FURTHER} times as many examples ({count(size)})"
    if later < (1 - GAIN) * loss and worst < loss:
        yield f"Collect more examples for {name}: {more} would {told}: `truerisk curve`."
    elif later < (1 - GAIN) * loss:
        yield (
            f"Collect more examples for {name} if they are cheap: {more} would {told}, which does "
            "not exclude that nothing is gained: `truerisk curve --repeats`."
        )
    elif best > (1 - GAIN) * loss:
        yield (
            f"Do not collect for {name}: {more} would {told}. Try other features or another "
            "learner: `truerisk estimate --model`."
        )
    else:
        yield (
            f"Try other features or another learner before collecting for {name}: {more} would "
            f"{told}: `truerisk estimate --model`."
        )


def _told(estimate: Estimate) -> str:
    words = written(estimate)
    return f"{words.value} {words.interval}"
