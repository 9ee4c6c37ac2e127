"""Does each interval keep its promise? What was measured of every interval that a result uses."""

from collections.abc import Iterable
from typing import Any

from truerisk.intervals.measured_coverage import LEARNER, CoverageFigure
from truerisk.reporting.sections.intervals_used import DIFFERENCE, OF_HELD_OUT, Use, uses_of
from truerisk.reporting.tables import MAX_NAMED, Column, Table, spoken
from truerisk.reporting.wording import NO_INTERVAL, count, percent, title_of
from truerisk.results import Estimate

ELSEWHERE = "at "  # begins where something was measured, if at another level than promised
SAMPLES = {
    "coverage": "populations of two to four classes",
    "coverage-of-learners": "problems whose truth is known",
    "coverage-of-perturbation": "problems whose truth is known",
    "size-of-tests": "two equally good models: how often it contains 0",
}


def promise_table(result: Any, rivals: Iterable[Estimate] = ()) -> Table | None:  # noqa: ANN401
    """Give a row for each kind of interval in a result; None where there is none.

    `rivals` are estimates by other rules that are shown beside it.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> table = promise_table(evaluate_counts([[50, 50], [40, 850]], measures=["recall"]))
    >>> table.rows[0][:5]
    ('clopper pearson', 'Recall', '95 %', '97.3 %', '95.0 %')
    """
    groups: dict[tuple[Any, ...], list[Use]] = {}
    for use in uses_of(result, rivals):
        found = use.measured
        where = use.unmeasured if found is None else _where(found, use.interval.level)
        key = (use.interval.method, use.interval.level, found is None, where)
        groups.setdefault(key, []).append(use)
    if not groups:
        return None
    columns = (
        Column("Interval"),
        Column("Of"),
        Column("Promised", numeric=True),
        Column("Covered on average", numeric=True),
        Column("At least", numeric=True),
        Column("Measured on"),
    )
    rows = [
        (spoken(key[0]), _of(uses), percent(key[1]), *_shares(uses), key[3])
        for key, uses in groups.items()
    ]
    return Table("Does each interval keep its promise?", columns, tuple(rows))


def _of(uses: list[Use]) -> str:
    names = [_title(use.of) for use in uses]
    if len(names) <= MAX_NAMED:
        return "; ".join(names)
    return f"{'; '.join(names[: MAX_NAMED - 1])}; … ({len(names)} in all)"


def _title(of: str) -> str:
    for prefix in (DIFFERENCE, OF_HELD_OUT):
        if of.startswith(prefix):
            return f"{prefix}{title_of(of.removeprefix(prefix))}"
    return title_of(of)


def _shares(uses: list[Use]) -> tuple[str, str]:
    """Write the mean, and the least with whose it is."""
    known = {use.of: use.measured for use in uses if use.measured is not None}
    if not known:
        return NO_INTERVAL, NO_INTERVAL
    mean = sum(found.mean for found in known.values()) / len(known)
    worst = min(known, key=lambda of: known[of].least)
    differ = len({found.least for found in known.values()}) > 1
    least = f"{100 * known[worst].least:.1f} %"
    return f"{100 * mean:.1f} %", f"{least} ({_title(worst)})" if differ else least


def _where(found: CoverageFigure, level: float) -> str:
    sizes = count(found.smallest)
    if found.largest > found.smallest:
        sizes = f"{sizes} to {count(found.largest)}"
    if found.is_exact:
        words = f"every outcome, none left out; n = {sizes}"
    else:
        words = f"{SAMPLES[found.page]}; n = {sizes}, {count(found.samples)} samples each"
    refits = f"; {found.design}" if found.design else ""
    about = "; the learner's value" if found.target == LEARNER else ""
    at = f"{ELSEWHERE}{percent(found.level)}, not {percent(level)}: "
    told = "" if found.level == level else at
    return f"{told}{words}{refits}{about} (docs/{found.page}.md)"
