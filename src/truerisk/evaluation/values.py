"""Answers that are right or wrong, or have a score, and no label: the mean with its interval."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Ends
from truerisk.checks import check_choice, check_same_length, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.evaluation.request import Request
from truerisk.evaluation.score_estimates import check_two_groups, group_notes
from truerisk.evaluation.slicing import columns_of
from truerisk.inputs.arrays import as_column, code_groups
from truerisk.inputs.predictions import Predictions
from truerisk.inputs.roles import ResolvedRoles
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.group_jackknife import group_jackknife
from truerisk.intervals.means import BOUNDED_MEANS, bounded_mean_interval
from truerisk.measures.registry import spoken_title
from truerisk.results import Estimate, Evaluation, Finding, Interval, number
from truerisk.tallies.group_values import ratio_values, sums_of_groups
from truerisk.tallies.question_values import QuestionValues, columns_of_questions

OF_LABELS = ("pos_label", "betas", "costs", "cell_interval", "average_over", "probabilities",
             "threshold", "reject")  # fmt: skip


def evaluate_values(
    values: Any,
    *,
    value_range: Ends | None = None,
    questions: Any = None,
    groups: Any = None,
    pass_at: int | None = None,
    level: float = 0.95,
    binomial: str = "clopper_pearson",
    interval: str = "betting",
    random_state: int | None = 0,
    by: Any = None,
    by_pairs: bool = False,
) -> Evaluation:
    """Estimate the mean of answers that are right or wrong, or have a score in a known range.

    ====================================  =====================================================
    values                                interval
    ====================================  =====================================================
    0 or 1, one per question              exact binomial (Clopper and Pearson)
    scores, or several samples of each    betting: covers at least as often as promised, for
    question                              every distribution on the range and every n
    in groups                             jackknife over groups
    ====================================  =====================================================

    The questions, or groups, must be independent; the interval is about ever more questions drawn
    as these were.

    Parameters
    ----------
    values
        One for each row: 0 or 1 (or booleans), and scores only with a `value_range`.
    value_range
        The smallest and the largest score that is possible, not the ones seen.
    questions
        The question of each row, where there are several samples of one: questions are the units,
        and the value of a question is the mean of its samples.
    groups
        Which rows belong together (one document, one subject): groups are then the units.
    pass_at
        Estimate pass@k of this k: the chance that one of k samples of a question is right.
    level
        Confidence level.
    binomial
        Interval of answers that are right or wrong, as for `evaluate`.
    interval
        Of scores: "betting" or "empirical_bernstein".
    random_state
        Of the order in which bets are made.
    by, by_pairs
        Columns to slice by (the subject, the source), as for `evaluate`: the mean of each slice,
        and which slices are worse than the rest.  A question is in one slice of each column.

    Examples
    --------
    >>> print(evaluate_values([1] * 15 + [0] * 5)["accuracy"])
    accuracy = 0.750 [0.509, 0.913] at 95 % (clopper_pearson, n = 20, this model)
    >>> print(evaluate_values([7, 9, 8, 10, 6] * 8, value_range=(0, 10))["mean_value"])
    mean_value = 8.000 [6.989, 8.593] at 95 % (betting, n = 40, this model)
    """
    given = {"values": values, "questions": questions, "groups": groups}
    columns = {name: as_column(one) for name, one in given.items() if one is not None}
    check_same_length(**columns)
    if columns["values"].dtype.kind not in "fiub":
        raise InputError(f"`values` must be numbers; got {columns['values'].dtype}.")
    held = QuestionValues.of(
        columns["values"],
        questions=columns.get("questions"),
        groups=None if groups is None else code_groups(groups),
        value_range=value_range,
        pass_at=pass_at,
    )
    request = Request.of({"level": level, "binomial": binomial})
    sliced = None
    if by is not None:
        rows = columns_of(by, len(columns["values"]))
        sliced = columns_of_questions(rows, columns.get("questions"))
    return evaluation_of_values(
        held, request, interval=interval, random_state=random_state, by=sliced, pairs=by_pairs
    )


def evaluation_of_values(
    held: QuestionValues,
    request: Request,
    *,
    interval: str = "betting",
    random_state: int | None = 0,
    notes: tuple[str, ...] = (),
    source: Mapping[str, Any] | None = None,
    by: Mapping[str, NDArray[Any]] | None = None,
    pairs: bool = False,
) -> Evaluation:
    """Estimate the mean of values that are checked already; `by` has one entry per question."""
    check_choice(interval, BOUNDED_MEANS, "interval")
    check_settings(held, request)
    level, name = request.level, held.measure
    seed = check_whole_number(0 if random_state is None else random_state, "random_state")
    bounds = _interval(held, request, interval, seed)
    estimate = Estimate(
        value=held.mean if held.groups is None else _by_group(held).value,
        interval=bounds,
        measure=name,
        method="holdout",
        n=held.n,
    )
    settings = {
        "level": level,
        "interval": bounds.method,
        "random_state": seed if bounds.method == "betting" else None,
        "value_range": None if held.is_correct else held.value_range,
        "pass_at": held.pass_at,
        "target": "this model",
    }
    evaluation = Evaluation(
        estimates={name: estimate},
        n=held.n,
        level=level,
        labels=(),
        pos_label=None,
        verdict=(_verdict(estimate, bounds),),
        notes=(*notes, *_notes(held)),
        settings={key: value for key, value in settings.items() if value is not None},
        source=source or {},
    )
    if not by:
        return evaluation
    from truerisk.evaluation.slices import with_value_slices

    def of_part(part: QuestionValues) -> Evaluation:
        return evaluation_of_values(part, request, interval=interval, random_state=random_state)

    return with_value_slices(evaluation, held, by, evaluate=of_part, pairs=pairs)


def values_of_predictions(
    rows: Predictions, roles: ResolvedRoles, pass_at: int | None = None
) -> tuple[QuestionValues, Any, dict[str, NDArray[Any]]]:
    """Take the values out of rows of files; give ids and slicing columns of the questions, too."""
    name, value_range = roles.value or roles.correct or "", None
    if roles.correct is not None:
        column = _right_or_wrong(rows, name)
    else:
        column, value_range = np.asarray(rows.score), roles.value_range
    ids = None if rows.ids is None else np.asarray(rows.ids)
    held = QuestionValues.of(
        column,
        questions=ids,
        groups=rows.group,
        value_range=value_range,
        pass_at=pass_at,
        name=name,
    )
    distinct = None if ids is None else np.array(list(dict.fromkeys(ids.tolist())), dtype=object)
    return held, distinct, columns_of_questions(rows.by, ids)


def _right_or_wrong(rows: Predictions, name: str) -> Any:
    numbers: dict[tuple[str, ...], float] = {("0",): 0.0, ("1",): 1.0}
    odd = [one for one in rows.members if one not in numbers]
    if odd or rows.predicted is None:
        got = shown("|".join(odd[0])) if odd else "nothing"
        raise InputError(
            f"`correct` must be a column of 0 and 1, or of true and false; {shown(name)} has {got}."
            " A score has a range: --value COLUMN --range LOW HIGH."
        )
    return np.array([numbers[one] for one in rows.members])[rows.predicted]


def _by_group(held: QuestionValues) -> Any:
    groups = np.asarray(held.groups)
    return ratio_values(sums_of_groups(groups, held.values), sums_of_groups(groups, None))


def check_settings(held: QuestionValues, request: Request) -> None:
    """Refuse settings of labels and scores, and measures that values do not have."""
    request.refuse(OF_LABELS, ": the rows hold values, and no labels")
    for name in request.measures or ():
        if name != held.measure:
            raise InputError(f"`measures` must be {held.measure} of these rows; got {shown(name)}.")


def _interval(held: QuestionValues, request: Request, method: str, seed: int) -> Interval:
    level = request.level
    if held.groups is not None:
        values = _by_group(held)
        check_two_groups(values.groups)
        return group_jackknife(values, level=level, measure_range=held.value_range)
    if held.is_binary:
        right = int(held.values.sum())
        return binomial_interval(right, held.n, level=level, method=request.binomial)
    return bounded_mean_interval(
        held.values,
        value_range=held.value_range,
        level=level,
        method=method,
        random_state=seed,
    )


def _verdict(estimate: Estimate, interval: Interval) -> Finding:
    low, high = number(interval.low), number(interval.high)
    text = (
        f"The {spoken_title(estimate.measure)} on ever more such questions lies between {low} and "
        f"{high} ({100 * interval.level:g} % confidence)."
    )
    return Finding(text, code="mean_of_values")


def _notes(held: QuestionValues) -> Iterator[Finding]:
    if held.samples > held.n:
        what = "their mean" if held.pass_at is None else f"pass@{held.pass_at}"
        text = f"{held.samples:,} samples of {held.n:,} questions: a question counts {what}, once."
        yield Finding(text, code="several_samples")
    if held.groups is not None:
        sizes = sums_of_groups(held.groups, None)
        text = f"The units are {len(sizes)} groups, not {held.n} questions."
        yield Finding(text, code="grouped")
        yield from group_notes(sizes)
