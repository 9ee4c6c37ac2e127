"""Claims about a model, checked against the ends of intervals: the one place where that is done.

`--fail-under`, `--fail-unless`, the gate and `truerisk.testing` all end here.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from truerisk.checks import check_number
from truerisk.errors import InputError
from truerisk.measures.registry import base_measure
from truerisk.results import Comparison, Estimate, Evaluation, number

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons

MAX_TIMES = 10**6  # nobody gets so many more examples
DIGITS = 6
NO_SLICE_WORSE = "no slice worse than the rest"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A claim, and whether the examples show it.

    `estimate` is what the claim is about: a measure of one model, or a difference of two.
    """

    claim: str
    is_shown: bool
    reason: str
    estimate: Estimate

    def __str__(self) -> str:
        return f"{self.claim} is {'' if self.is_shown else 'not '}shown: {self.reason}"


def at_least(estimate: Estimate, bound: float) -> Check:
    """Check that the lower end of the interval is at least the bound.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> print(at_least(evaluate_counts([[80, 20], [40, 860]])["recall"], 0.75))
    recall ≥ 0.75 is not shown: the lower end of its 95 % interval is 0.708157. About 3.4 times as \
many examples would show it if the value stays so.
    """
    return _against(estimate, bound, lower=True)


def at_most(estimate: Estimate, bound: float) -> Check:
    """Check that the upper end of the interval is at most the bound."""
    return _against(estimate, bound, lower=False)


def in_slice(check: Check, name: str) -> Check:
    """Say of a claim that it is about one slice."""
    return replace(check, claim=f"{check.claim} in {name}")


def no_slice_worse(evaluation: Evaluation) -> Check:
    """Check that no slice is surely worse than the rest: the claim fails if one is.

    It is no proof that all slices are equal; bounds for every slice are.
    """
    tests = [
        (name, test)
        for name, one in evaluation.slices.items()
        for test in one.tests.values()
        if not math.isnan(test.adjusted)
    ]
    if not tests:
        reason = "no slice could be tested."
        first = next(iter(evaluation.values()))
        return Check(claim=NO_SLICE_WORSE, is_shown=False, reason=reason, estimate=first)
    worse = [entry for entry in tests if entry[1].finding == "worse"]
    name, test = min(worse or tests, key=lambda entry: entry[1].adjusted)
    reason = f"the nearest to it is {test.rest.measure} in {name}"
    if worse:
        reason = f"{test.rest.measure} is worse in {name}"
    return Check(
        claim=NO_SLICE_WORSE,
        is_shown=not worse,
        reason=f"{reason}: {number(test.difference.value, DIGITS)} against the rest, adjusted p = "
        f"{number(test.adjusted, DIGITS)}.",
        estimate=evaluation.slices[name][test.rest.measure],
    )


def check_bound(measure: str, bound: float, name: str) -> None:
    """Refuse a bound that its measure cannot have; `name` is what the user wrote it under."""
    low, high = base_measure(measure).measure_range
    if not low <= bound <= high:
        percent = (low, high) == (0, 1) and 1 < bound <= 100
        remedy = f" Write {bound / 100:g} for {bound:g} %." if percent else ""
        raise InputError(
            f"`{name}` must be a value that {measure} can have, from {low:g} to {high:g}; got "
            f"{bound:g}.{remedy}"
        )


def _against(estimate: Estimate, bound: float, *, lower: bool) -> Check:
    sign, side = ("≥", "lower") if lower else ("≤", "upper")
    claim = f"{estimate.measure} {sign} {bound:g}"
    interval = estimate.interval
    if not estimate.is_defined or interval is None:
        reason = "it has no interval." if estimate.is_defined else _undefined(estimate)
        return Check(claim=claim, is_shown=False, reason=reason, estimate=estimate)
    end = interval.low if lower else interval.high
    is_shown = end >= bound if lower else end <= bound
    reason = f"the {side} end of its {100 * interval.level:.10g} % interval is "
    reason += f"{number(end, DIGITS)}."
    if not is_shown:
        reason += _remedy(estimate, end, bound)
    return Check(claim=claim, is_shown=is_shown, reason=reason, estimate=estimate)


def _undefined(estimate: Estimate) -> str:
    return f"it is undefined on these examples. {'; '.join(estimate.notes)}".strip()


def _remedy(estimate: Estimate, end: float, bound: float) -> str:
    """Say how many examples would do; the distance to the end falls as 1/√n."""
    room = (estimate.value - bound) / (estimate.value - end) if estimate.value != end else 0.0
    if room <= 0:
        return f" The value itself, {number(estimate.value)}, does not meet it."
    times = 1 / room**2
    if times > MAX_TIMES:
        return ""
    return f" About {_times(times)} times as many examples would show it if the value stays so."


def _times(factor: float) -> str:
    return f"{factor:.1f}" if factor < 10 else f"{math.ceil(factor):,}"


def is_better(result: "Comparisons | Comparison") -> Check:
    """Check that the last model is better than the first, by the main measure.

    Of several models the adjusted p-value counts.
    """
    last = _last(result)
    is_shown = last.finding == "better"
    if not isinstance(result, Comparison):
        is_shown &= result.adjusted[last.names] <= 1 - result.level
    claim = f"{last.names[1]} better than {last.names[0]}"
    return Check(claim=claim, is_shown=is_shown, reason=last.verdict, estimate=last.difference)


def is_not_worse(result: "Comparisons | Comparison", region: float | None = None) -> Check:
    """Check that the last model is not worse than the first by `region` or more.

    By the one-sided test of non-inferiority where the comparison was made with this region, else by
    the end of its two-sided interval, which is more cautious.
    """
    last = _last(result)
    limit = last.region if region is None else check_number(region, "region", low=0.0)
    if limit is None:
        raise InputError("`region` must be given: not worse by how much? got None.")
    claim = f"{last.names[1]} not worse than {last.names[0]} by {limit:g} in {last.measure}"
    interval, value = last.difference.interval, last.difference.value
    if math.isnan(value) or interval is None:
        reason = "the difference is undefined on these examples."
        return Check(claim=claim, is_shown=False, reason=reason, estimate=last.difference)
    higher = base_measure(last.measure).higher_is_better is not False
    worst = interval.low if higher else interval.high
    is_shown = worst > -limit if higher else worst < limit
    reason = f"the difference is {number(value, DIGITS)}, at worst {number(worst, DIGITS)} at "
    reason += f"{100 * interval.level:.10g} %."
    if not isinstance(result, Comparison) and last.region == limit:
        for test in result.beside.get((last.measure, *last.names), ()):
            if test.method == "non_inferiority":
                is_shown = bool(test.p_value <= 1 - result.level)
                reason += f" The one-sided test has p = {number(test.p_value, DIGITS)}."
    if not is_shown:
        reason += _remedy(last.difference, worst, -limit if higher else limit)
    return Check(claim=claim, is_shown=is_shown, reason=reason, estimate=last.difference)


def _last(result: "Comparisons | Comparison") -> Comparison:
    if isinstance(result, Comparison):
        return result
    return result[result.measure, result.names[0], result.names[-1]]
