"""Which of several models is better, by values of the same questions: right or wrong, or scores."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Ends, Indices
from truerisk.checks import check_same_length
from truerisk.comparison.conclusion import (
    Spread,
    TestOutcome,
    conclude,
    without_spread,
)
from truerisk.comparison.predictions.choice import (
    REPLICATES,
    chosen,
    drawn_units,
    stream_of_choice,
    values_of_winners,
)
from truerisk.comparison.predictions.comparisons import (
    Chosen,
    Comparisons,
    verdict_of,
    with_slices_compared,
)
from truerisk.comparison.predictions.joined import checked_names
from truerisk.comparison.predictions.right_answers import (
    AGREE,
    PairTable,
    Region,
    by_groups,
    by_table,
    cochran_q,
    margins_of,
    within_region,
)
from truerisk.evaluation.request import Request
from truerisk.evaluation.slicing import columns_of, sliced
from truerisk.evaluation.values import evaluation_of_values
from truerisk.inputs.arrays import as_column, code_groups
from truerisk.intervals.group_jackknife import kurtosis_degrees
from truerisk.intervals.multiplicity import holm
from truerisk.results import Comparison, Evaluation
from truerisk.tallies.question_values import QuestionValues, columns_of_questions

PAIRED_T = "paired_t"
MAX_DRAWS = 10**8  # questions × replicates


def compare_values(
    first: Any,
    second: Any,
    *others: Any,
    value_range: Ends | None = None,
    questions: Any = None,
    groups: Any = None,
    pass_at: int | None = None,
    names: Sequence[str] | None = None,
    region: Region = None,
    level: float = 0.95,
    random_state: int | None = 0,
    by: Any = None,
) -> Comparisons:
    """Compare models by what their answers to the same questions were worth: every pair.

    ====================================  =====================================================
    values                                test and interval of the difference
    ====================================  =====================================================
    0 or 1, one per question              McNemar's mid-p test, Tango's interval
    scores, or several samples of each    paired t of the differences of the questions
    question
    in groups                             jackknife over groups
    ====================================  =====================================================

    With three models or more, `tiers` of the result begins with the models that cannot be told
    from the best one.

    Parameters
    ----------
    first, second, *others
        The values of each model, as for `evaluate_values`, row by row of the same questions.
    value_range, questions, groups, pass_at, level
        As for `evaluate_values`.
    names
        The names of the models.
    region
        The smallest difference that matters.
    random_state
        Of the correction of the best model.
    by
        Columns to slice by, as for `evaluate_values`: where is a model better, where worse?  As for
        `compare`, the p-values of all slices are adjusted together.

    Examples
    --------
    >>> a, b = [1] * 60 + [0] * 40, [1] * 55 + [0] * 5 + [1] * 25 + [0] * 15
    >>> print(compare_values(a, b, names=["a", "b"])["accuracy"])
    accuracy: b − a = 0.200 [0.100, 0.303] at 95 %, p = 0.000192 (mcnemar_mid_p)
    b is better than a: its accuracy is higher by 0.200 [0.100, 0.303].
    """
    models = [as_column(one) for one in (first, second, *others)]
    labels = checked_names(names, len(models))
    columns = dict(zip(labels, models, strict=True))
    of_rows = None if questions is None else as_column(questions)
    together = None if groups is None else code_groups(groups)
    beside = {"questions": of_rows, "groups": together}
    check_same_length(**columns, **{name: one for name, one in beside.items() if one is not None})
    held = {
        name: QuestionValues.of(
            values,
            questions=of_rows,
            groups=together,
            value_range=value_range,
            pass_at=pass_at,
            name=name,
        )
        for name, values in columns.items()
    }
    request = Request.of({"level": level, "random_state": random_state, "pass_at": pass_at})
    sliced = None
    if by is not None:
        sliced = columns_of_questions(columns_of(by, len(models[0])), of_rows)
    return compare_held(held, request, region=region, by=sliced)


def compare_held(
    held: dict[str, QuestionValues],
    request: Request,
    *,
    region: Region = None,
    notes: tuple[str, ...] = (),
    source: dict[str, Any] | None = None,
    by: Mapping[str, NDArray[Any]] | None = None,
    choose: bool = True,
) -> Comparisons:
    """Compare models whose values are checked, and stand in one order.

    `by` has columns to slice by; `choose` says whether to assess the choice of the best.
    """
    names = tuple(held)
    evaluations = {name: evaluation_of_values(one, request) for name, one in held.items()}
    measure = held[names[0]].measure
    margin = margins_of(region, [measure]).get(measure)
    pairs, beside, tables = [], {}, []
    for pair in combinations(names, 2):
        outcome = _outcome(held, pair, request.level, margin)
        comparison = conclude(
            pair,
            evaluations[pair[0]][measure],
            evaluations[pair[1]][measure],
            outcome,
            level=request.level,
            region=margin,
            widest=held[pair[0]].width,
        )
        pairs.append(comparison)
        table = _table(held, pair)
        tables += [] if table is None else [table]
        alternatives = list(outcome.alternatives)
        if margin is not None:
            alternatives += within_region(table, outcome.ends_at, margin, higher_is_better=True)
        if alternatives:
            beside[measure, *pair] = tuple(alternatives)
    adjusted = holm([one.p_value for one in pairs])
    result = Comparisons(
        names=names,
        n=held[names[0]].n,
        level=request.level,
        measure=measure,
        evaluations=evaluations,
        pairs=tuple(pairs),
        adjusted=dict(zip([one.names for one in pairs], adjusted.tolist(), strict=True)),
        beside=beside,
        tables=tuple(tables),
        omnibus=cochran_q(_matrix(held)) if tables and len(names) > 2 else None,
        best=_chosen(held, evaluations, pairs, request) if choose else None,
        notes=(*notes, *dict.fromkeys(note for one in evaluations.values() for note in one.notes)),
        settings=_settings(held, request, region),
        source=source or {},
    )
    result = replace(result, verdict=tuple(verdict_of(result)))
    if not by:
        return result

    def of_rows(rows: Indices) -> Comparisons:
        parts = {name: one.taken(rows) for name, one in held.items()}
        return compare_held(parts, request, region=region, choose=False)

    first = held[names[0]]
    sliced_rows = sliced(by, counts=np.ones(first.n, bool), group=first.groups)
    return with_slices_compared(result, list(sliced_rows), tuple(by), of_rows)


def _matrix(held: dict[str, QuestionValues]) -> Array:
    return np.column_stack([one.values for one in held.values()])


def _table(held: dict[str, QuestionValues], pair: tuple[str, str]) -> PairTable | None:
    """Count who is right where; None of scores, of several samples and of groups."""
    one, other = (held[name] for name in pair)
    if not (one.is_binary and other.is_binary) or one.groups is not None:
        return None
    return PairTable.of(pair, one.values > 0, other.values > 0)


def _outcome(
    held: dict[str, QuestionValues], pair: tuple[str, str], level: float, region: float | None
) -> TestOutcome:
    table = _table(held, pair)
    if table is not None:
        plans = len(held) <= 2
        return by_table(table, of_errors=False, level=level, region=region, plans=plans)
    one = held[pair[0]]
    apart = held[pair[1]].values - one.values
    if one.groups is not None:
        return by_groups(apart, one.groups, width=one.width)
    value, spread = math.fsum(apart) / one.n, paired_t(apart, one.width)
    if not spread.is_zero:
        return spread.outcome(value, PAIRED_T, () if apart.any() else (AGREE,))
    outcome = without_spread(
        value, one.n, width=one.width, method=PAIRED_T, interval_method=PAIRED_T
    )
    return outcome if apart.any() else replace(outcome, notes=(AGREE,))


def paired_t(differences: Array, scale: float = 1.0) -> Spread:
    r"""Give the standard error of a mean difference of questions, and its degrees of freedom.

    .. math:: s^2 = \frac{1}{n (n - 1)} \sum_i (d_i - \bar d)^2

    The degrees are n − 1 and fall with the kurtosis of the differences (`kurtosis_degrees`): where
    few questions differ, the spread is known from these few.  Chosen among 7 forms on 10 tables of
    two models' scores other than those of `studies/audit/values.py`.
    """
    n = len(differences)
    if n < 2:
        return Spread(math.nan, 0.0, scale)
    centered = differences - math.fsum(differences) / n
    error = math.sqrt(math.fsum(centered**2) / n / (n - 1))
    return Spread(error, kurtosis_degrees(centered) if error > 0 else n - 1.0, scale)


def _chosen(
    held: dict[str, QuestionValues],
    evaluations: dict[str, Evaluation],
    pairs: list[Comparison],
    request: Request,
) -> Chosen | None:
    """Name the best model, and assess the choice on questions, or groups, that were not drawn."""
    if len(held) < 2:
        return None
    measure = pairs[0].measure
    own = {name: one[measure] for name, one in evaluations.items()}
    best = max(own, key=lambda name: own[name].value)
    table, first = _matrix(held), next(iter(held.values()))
    rng = stream_of_choice(measure, request.random_state)

    def replicates() -> Iterator[tuple[Array, Array]]:
        for _ in range(max(100, min(REPLICATES, MAX_DRAWS // first.n))):
            drawn = drawn_units(first.n, first.groups, rng)
            if not drawn.all():
                yield (drawn @ table)[:, None], table[drawn == 0].mean(axis=0)[:, None]

    of_winners = values_of_winners(replicates())
    return chosen(best, own[best], of_winners, level=request.level, n=first.n)


def _settings(held: dict[str, QuestionValues], request: Request, region: Region) -> dict[str, Any]:
    first = next(iter(held.values()))
    return {
        "level": request.level,
        "random_state": request.random_state,
        "value_range": None if first.is_correct else first.value_range,
        "pass_at": first.pass_at,
        "groups": None if first.groups is None else int(first.groups.max()) + 1,
        "region": region,
    }
