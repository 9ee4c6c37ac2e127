"""Does each interval keep its promise: what was measured of those that a result uses."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from truerisk.intervals import measured_coverage as ledger
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting.presenter import Use, presenter_of
from truerisk.reporting.wording import MAX_NAMED, NO_INTERVAL, count, counted, percent, spoken
from truerisk.results import Estimate, Interval, Row, has_code

ELSEWHERE = "at "  # begins where something was measured, if at another level than promised
MARK = "°"  # after an interval whose coverage was not measured
# They promise nothing: one stands for no value, the other is all there is.
NO_PROMISE = {"undefined", "whole_range"}
REPEATED, HELD_OUT, OWN = "5 × 10 folds", "a third held out", "refits of its own"
EXACT = "clopper_pearson"
NEITHER = "not measured for this way of estimating"
OF_HELD_OUT = "held out: "
BAND = "simultaneous_rectangles"  # of a whole curve
BANDS = {"roc": "ROC curve", "precision_recall": "precision and recall"}


def promises_of(result: Any, rivals: Iterable[Estimate] = ()) -> list[tuple[str, ...]]:
    """Say of each kind of interval in a result whether it keeps its promise.

    Words for its name, what it is of, what it promises, what it covered on average and at least,
    and where that was measured.  `rivals` are estimates by other rules that are shown beside it.
    """
    groups: dict[tuple[Any, ...], list[Use]] = {}
    for use in uses_of(result, rivals):
        one = use.measured
        alike: tuple[Any, ...] = (use.unmeasured,)
        if one is not None:
            of_difference = one.measure.startswith(ledger.DIFFERENCE)
            alike = (one.page, one.design, one.target, one.level, one.role, of_difference)
        groups.setdefault((use.interval.method, use.interval.level, *alike), []).append(use)
    return [
        (spoken(key[0]), _of(uses), percent(key[1]), *_shares(uses), _where(uses, key[1]))
        for key, uses in groups.items()
    ]


def _of(uses: list[Use]) -> str:
    names = [_title(use.of) for use in uses]
    if len(names) <= MAX_NAMED:
        return "; ".join(names)
    return f"{'; '.join(names[: MAX_NAMED - 1])}; … ({len(names)} in all)"


def _title(of: str) -> str:
    for prefix in (ledger.DIFFERENCE, OF_HELD_OUT):
        if of.startswith(prefix):
            return f"{prefix}{title_of(of.removeprefix(prefix))}"
    return title_of(of)


def _shares(uses: list[Use]) -> tuple[str, str]:
    """Write the mean, and the least with whose it is."""
    defined = {use.of: use.measured for use in uses if use.measured is not None}
    if not defined:
        return NO_INTERVAL, NO_INTERVAL
    mean = sum(result.mean for result in defined.values()) / len(defined)
    worst = min(defined, key=lambda of: defined[of].least)
    differ = len({result.least for result in defined.values()}) > 1
    least = f"{100 * defined[worst].least:.1f} %"
    return f"{100 * mean:.1f} %", f"{least} ({_title(worst)})" if differ else least


def _where(uses: list[Use], level: float) -> str:
    """Say on what was measured, of intervals that differ in their measures only."""
    every = [use.measured for use in uses if use.measured is not None]
    if not every:
        return uses[0].unmeasured
    result, smallest = every[0], min(one.smallest for one in every)
    largest = max(one.largest for one in every)
    sizes = f"{count(smallest)} to {count(largest)}" if largest > smallest else count(smallest)
    if result.is_exact:
        words = f"every outcome, none left out; n = {sizes}"
    else:
        samples = count(min(one.samples for one in every))
        cells = counted(max(one.cells for one in every), "cell")
        words = f"{cells}, n = {sizes}, {samples} samples each"
        if result.measure.startswith(ledger.DIFFERENCE):
            words = f"two equally good models, how often it contains 0: {words}"
    chosen = "; it was chosen on these problems" if result.role == ledger.CHOSEN_ON else ""
    refits = f"; {result.design}" if result.design else ""
    about = {
        ledger.LEARNER: "; the learner's value",
        ledger.NO_PROMISE: "; at sizes at which it promises nothing",
    }.get(result.target, "")
    at = f"{ELSEWHERE}{percent(result.level)}, not {percent(level)}: "
    text = "" if result.level == level else at
    return f"{text}{words}{refits}{about}{chosen} (docs/{result.page}.md)"


def uses_of(result: Any, rivals: Iterable[Estimate] = ()) -> Iterator[Use]:
    """List the intervals of a result, each kind of interval and measure once.

    `rivals` are what other rules say of the same SVM, beside a result by perturbation.
    """
    seen: set[tuple[str, float, str]] = set()
    # Rules beside a perturbation were measured under their own names, not their intervals'.
    beside = (
        look_up(interval, one.measure, method=one.method, design="5 × 5 folds")
        for interval, one in with_intervals(rivals)
    )
    for use in (*presenter_of(result).intervals(result), *beside):
        key = (use.interval.method, use.interval.level, use.of)
        if use.interval.method not in NO_PROMISE and key not in seen:
            seen.add(key)
            yield use


def with_measured(result: Any, rows: Iterable[Row]) -> list[Row]:
    """Fill the column "measured" of tidy rows: what the interval of the row covered."""
    uses = _by_use(result)
    every = list(rows)
    for row in every:
        if row["interval"] and not row["measured"] and row["interval"] not in NO_PROMISE:
            use = uses.get((row["interval"], row["level"], _of_row(row)))
            row["measured"] = ledger.NOT_MEASURED if use is None else measured_words(use)
    return every


def _of_row(row: Row) -> str:
    """Say what the interval of a row is of, as uses have it."""
    if row.get("against"):
        return f"{ledger.DIFFERENCE}{row['measure']}"
    held_out = row.get("estimate") in {"holdout", "one_label"}
    return f"{OF_HELD_OUT}{row['measure']}" if held_out else row["measure"]


def _by_use(result: Any) -> dict[tuple[str, float, str], Use]:
    return {(use.interval.method, use.interval.level, use.of): use for use in uses_of(result)}


def measured_words(use: Use) -> str:
    """Say in short what was measured of an interval, or why nothing was."""
    measured, level = use.measured, use.interval.level
    return use.unmeasured if measured is None else measured.words(level)


def measured_facts(result: Any) -> list[dict[str, Any]]:
    """Give what was measured of each interval of a result as plain values, for JSON."""
    return [
        {
            "interval": use.interval.method,
            "of": use.of,
            "level": use.interval.level,
            "measured": measured_words(use),
            **{
                name: None if use.measured is None else getattr(use.measured, name)
                for name in ("mean", "least", "cells", "samples", "role", "page")
            },
        }
        for use in uses_of(result)
    ]


def marks_of(result: Any, of: str = "") -> Callable[[Estimate], str]:
    """Give the mark of an estimate of a result: ° where its coverage was not measured.

    `of` comes before the measure: `DIFFERENCE` for the estimate of a difference.
    """
    uses = _by_use(result)

    def mark(estimate: Estimate) -> str:
        ends = estimate.interval
        if ends is None or ends.method in NO_PROMISE:
            return ""
        use = uses.get((ends.method, ends.level, f"{of}{estimate.measure}"))
        return MARK if use is None or use.measured is None else ""

    return mark


def unmeasured_note(result: Any) -> str:
    """Name the intervals of a result whose coverage was not measured; empty where there is none.

    Examples
    --------
    >>> from truerisk import evaluate
    >>> unmeasured_note(evaluate([0, 1, 1], [0, 1, 0], sample_weight=[1, 2, 1], measures=["f1"]))
    '° coverage not measured with weights: effective binomial'
    """
    reasons: dict[str, dict[str, None]] = {}
    for use in uses_of(result):
        if use.measured is None:
            reasons.setdefault(use.unmeasured, {})[spoken(use.interval.method)] = None
    parts = (f"{reason}: {', '.join(names)}" for reason, names in reasons.items())
    return f"{MARK} coverage {'; '.join(parts)}" if reasons else ""


def look_up(
    interval: Interval,
    of: str,
    unmeasured: str = ledger.NOT_MEASURED,
    *,
    when: bool = True,
    **under: Any,
) -> Use:
    """Look up what was measured of an interval, if anything was: `when`.

    `under` says where the ledger has it: a design, a target, or another method or measure.
    """
    place = {"method": interval.method, "measure": of, "level": interval.level, **under}
    return Use(interval, of, ledger.coverage_of(**place) if when else None, unmeasured)


def uses_by(
    estimates: Iterable[Estimate],
    design: str = "",
    target: str | None = None,
    unmeasured: str = ledger.NOT_MEASURED,
) -> Iterator[Use]:
    """Look up what was measured of the intervals of estimates, by one design.

    `target` is what they are about in the ledger, each estimate's own if None.
    """
    for interval, one in with_intervals(estimates):
        about = one.target if target is None else target
        yield look_up(interval, one.measure, unmeasured, design=design, target=about)


def prediction_uses(evaluation: Any) -> Iterator[Use]:
    """Look up what was measured of intervals of predictions."""
    prior = has_code(evaluation.notes, "prior")
    weighted = is_weighted(evaluation) and not prior
    design = ledger.PRIOR if prior else ledger.WEIGHTS if weighted else ""
    for interval, one in with_intervals(all_estimates(evaluation)):
        reason = _why_not(interval.method, weighted=weighted)
        yield look_up(interval, one.measure, reason, design=design, target=_target(one))
    for name, words in BANDS.items():
        curve = evaluation.curves.get(name)
        if getattr(curve, "n_positive", None) and getattr(curve, "n_negative", None):
            yield look_up(Interval(0.0, 1.0, evaluation.level, BAND), words)


def refit_uses(estimates: Iterable[Estimate], design: str) -> Iterator[Use]:
    """Look up what was measured of intervals by refits of a design; scorers are all alike."""
    for interval, one in with_intervals(estimates):
        yield look_up(
            interval,
            one.measure,
            _why_not(interval.method, design=design),
            when=bool(design),
            measure=ledger.SCORER if measure_of(one.measure)[0] is None else one.measure,
            design=design,
            target=_target(one),
        )


def _target(estimate: Estimate) -> str:
    silent = has_code(estimate.notes, "not_kept_at_this_size")
    return ledger.NO_PROMISE if silent else estimate.target


def design_of(settings: Mapping[str, Any]) -> str:
    """Name the way of refitting as the ledgers do; nothing for one that none of them has."""
    method = settings.get("method")
    if method == "cross_validation":
        return ledger.folds_design(settings["folds"], settings.get("repeats", 1))
    if method == "subsampling":
        return ledger.divisions_design(settings["repeats"], settings["test_size"])
    named = {"holdout": HELD_OUT, "nested_cross_validation": OWN, "conservative_z": OWN}
    return named.get(str(method), "")


def svm_uses(evaluation: Any) -> Iterator[Use]:
    """Look up what was measured of intervals without refits, of ξα by its ρ or refined."""
    settings = evaluation.settings
    rho = settings.get("refine") or f"ρ = {settings.get('rho', math.nan):g}"
    for interval, one in with_intervals(all_estimates(evaluation)):
        of_xi_alpha = interval.method.startswith("xi_alpha")
        when = of_xi_alpha or one.method == "leave_one_out"
        design = rho if of_xi_alpha else ledger.LEFT_OUT
        yield look_up(interval, one.measure, NEITHER, when=when, design=design, target=one.target)


def difference_uses(one: Any, *, weighted: bool = False) -> Iterator[Use]:
    """Look up what was measured of the interval of a difference."""
    for interval, estimate in with_intervals([one.difference]):
        of, reason = (
            f"{ledger.DIFFERENCE}{estimate.measure}",
            _why_not(interval.method, weighted=weighted),
        )
        yield look_up(interval, of, reason, when=not weighted, target=estimate.target)


def is_weighted(evaluation: Any) -> bool:
    """Whether examples count unequally, as far as the evaluation tells."""
    sweep = evaluation.curves.get("thresholds")
    if sweep is not None and sweep.tp.dtype.kind == "f":  # counts are whole numbers
        return True
    named = "weight" in evaluation.source.get("roles", {})
    return named or bool(getattr(evaluation.tallies, "weighted", False))


def all_estimates(evaluation: Any) -> Iterator[Estimate]:
    """Give the estimates of all measures, then those of single classes."""
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()
    for part in evaluation.slices.values():
        yield from all_estimates(part.evaluation)


def with_intervals(estimates: Iterable[Estimate]) -> Iterator[tuple[Interval, Estimate]]:
    """Give the estimates that have an interval, with it."""
    for estimate in estimates:
        if estimate.interval is not None:
            yield estimate.interval, estimate


def _why_not(method: str, *, weighted: bool = False, design: str | None = None) -> str:
    if weighted:
        return "not measured with weights"
    if "cluster" in method or "group" in method:
        return "not measured with groups"
    return "not measured for these refits" if design == "" else ledger.NOT_MEASURED
