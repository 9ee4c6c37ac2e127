"""Audit: how often each interval covered on samples of the user's own data."""

from collections.abc import Iterator, Sequence

from truerisk.estimation.audit import Audit, AuditedInterval
from truerisk.intervals.measured_coverage import THIS_MODEL
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import uses_by
from truerisk.reporting.sections.provenance import setting_facts, source_facts
from truerisk.reporting.wording import count, counted, percent, spoken
from truerisk.results import number

MAX_TILES = 4
MAX_SHOWN = 40  # rows on a terminal; formats and the page have all of them
MAX_DRAWN = 60


class AuditPresenter(Presenter):
    """How often each interval covered on samples of the data."""

    question = "Do the intervals keep their promise on these data?"

    def subtitle(self, result: Audit) -> Iterator[str]:
        yield f"{counted(result.drawn, 'sample')} of {counted(result.size, 'row')}"
        yield spoken(result.subject)
        yield f"{percent(result.level)} intervals"

    def tiles(self, result: Audit) -> Iterator[doc.Tile]:
        return (doc.Tile.of(one.name, one.estimate) for one in result.all_intervals[:MAX_TILES])

    def sections(self, result: Audit) -> Iterator[doc.Section]:
        among = result.all_intervals[:MAX_DRAWN]
        yield doc.estimate_forest(
            "How often each interval covered",
            "Interval of",
            [doc.Entry(one.name, one.estimate, spoken(one.method)) for one in among],
            f"The dot is the share of the samples; {_promise(result)}.",
        )
        yield doc.table_section(audit_table(result, result.all_intervals))

    def blocks(self, result: Audit) -> Iterator[doc.Block]:
        """Give what a terminal shows: the verdict, the table, the notes, and what was assumed."""
        yield doc.Sentences(result.verdict)
        yield audit_table(result, result.all_intervals[:MAX_SHOWN])
        left = len(result.all_intervals) - MAX_SHOWN
        if left > 0:
            yield doc.Sentences(
                [f"{counted(left, 'interval')} more: --json, --csv and --html show them."]
            )
        yield doc.Sentences(result.notes, "Notes")
        yield doc.FactList([*self.facts(result), *source_facts(result.source)])

    def tables(self, result: Audit) -> list[doc.Table]:
        return [audit_table(result, result.all_intervals)]

    def facts(self, result: Audit) -> doc.Facts:
        """Say what was drawn, in pairs of words."""
        yield "audited", spoken(result.subject)
        yield "rows of a sample", count(result.size)
        yield "rows in all", count(result.n)
        yield "samples", count(result.drawn)
        yield "confidence level", percent(result.level)
        yield from setting_facts(result.settings)

    def next_steps(self, result: Audit) -> Iterator[str]:
        """Say what to do about intervals that are too short here."""
        for one in result.too_short[:1]:
            yield (
                f"Read the {percent(one.level)} interval of {one.name} as one of "
                f"{100 * one.coverage:.0f} %, or take larger samples: `truerisk audit --size "
                f"{2 * result.size}` says what they would cover."
            )
        if not result.too_short:
            name = next(iter(result), "")
            yield (
                f"Rely on the interval of {title_of(name)} and the others at this size; a larger "
                "test set makes them shorter: `truerisk plan`."
            )

    def intervals(self, result: Audit) -> Iterator[Use]:
        """List the intervals of the coverages themselves, which are exact."""
        return uses_by((one.estimate for one in result.all_intervals), target=THIS_MODEL)

    def pictures(self, result: Audit) -> doc.Pictures:
        """Draw the coverages on their intervals."""
        rows = [doc.Entry(one.name, one.estimate) for one in result.all_intervals[:MAX_DRAWN]]
        yield (
            "coverage",
            doc.Forest(rows=rows, axis="share of the samples covered", note=_promise(result)),
        )


def _promise(result: Audit) -> str:
    return f"an interval that keeps its promise covers {100 * result.promised:.1f} %"


def audit_table(result: Audit, intervals: Sequence[AuditedInterval]) -> doc.Table:
    """Give one row per interval: how often it covered, how long it is, which one it is."""
    short = {id(one) for one in result.too_short}
    columns: doc.Cells = {
        "Interval of": lambda one: f"{one.name}{' (too short)' if id(one) in short else ''}",
        "#Value": lambda one: number(one.value),
        "#Covered": lambda one: f"{100 * one.coverage:.1f} %",
        "#±": lambda one: f"{100 * one.error:.1f}",
        "#Width": lambda one: number(one.width),
        "Method": lambda one: one.method,
        "#Samples": lambda one: count(one.samples),
    }
    title = f"How often each interval covered; {100 * result.promised:.1f} % is promised"
    return doc.table(title, columns, intervals)
