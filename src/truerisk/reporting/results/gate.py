"""A gate: the answer, one row per claim, and how to open it."""

from itertools import chain

from truerisk.gates import GateResult
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter
from truerisk.reporting.results.estimate import estimate_uses
from truerisk.reporting.sections.coverage import marks_of
from truerisk.reporting.wording import spoken, written


def checks_table(result: GateResult) -> doc.Table:
    """Give one row per claim: the value, its interval, and whether it is shown."""
    rows, mark = [], marks_of(result)
    for one in result.checks:
        words = written(one.estimate)
        ends = one.estimate.interval
        method = "–" if ends is None else f"{spoken(ends.method)}{mark(one.estimate)}"
        answer = "shown" if one.is_shown else "NOT SHOWN"
        rows.append((one.claim, answer, words.value, words.interval, method))
    columns = doc.heads("Claim", "Answer", "#Value", "#Interval", "Method")
    return doc.Table(f"Gate: {result.name}", columns, tuple(rows))


def _verdict(result: GateResult) -> list[str]:
    return [result.verdict, *(str(one) for one in result.checks if not one.is_shown)]


def _facts(result: GateResult) -> doc.Facts:
    """Say which files were read."""
    yield "gate", result.name
    for file in result.source.get("files", ()):
        yield "file", str(getattr(file, "path", file))


GATE = Presenter(
    title="Does this model ship?",
    subtitle=lambda result: [result.name],
    verdict=_verdict,
    sections=lambda result: [doc.table_section(checks_table(result))],
    notes=lambda _: (),
    blocks=lambda result: [doc.Sentences(_verdict(result)), checks_table(result)],
    tables=lambda result: [checks_table(result)],
    facts=_facts,
    intervals=lambda result: chain.from_iterable(
        estimate_uses(one.estimate) for one in result.checks
    ),
    pictures=lambda result: [("claims", doc.forest_of([one.estimate for one in result.checks]))],
)
