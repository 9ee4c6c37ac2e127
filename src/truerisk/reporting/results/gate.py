"""A gate: the answer, one row per claim, and how to open it."""

from collections.abc import Iterator
from itertools import chain

from truerisk.gates import GateResult
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.estimate import EstimatePresenter
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


class GatePresenter(Presenter):
    """The answer, one row per claim."""

    question = "Does this model ship?"

    def subtitle(self, result: GateResult) -> list[str]:
        return [result.name]

    def verdict(self, result: GateResult) -> list[str]:
        return [result.verdict, *(str(one) for one in result.checks if not one.is_shown)]

    def sections(self, result: GateResult) -> list[doc.Section]:
        return [doc.table_section(checks_table(result))]

    def blocks(self, result: GateResult) -> list[doc.Block]:
        return [doc.Sentences(self.verdict(result)), checks_table(result)]

    def tables(self, result: GateResult) -> list[doc.Table]:
        return [checks_table(result)]

    def facts(self, result: GateResult) -> doc.Facts:
        """Say which files were read."""
        yield "gate", result.name
        for file in result.source.get("files", ()):
            yield "file", str(getattr(file, "path", file))

    def intervals(self, result: GateResult) -> Iterator[Use]:
        own = EstimatePresenter()
        return chain.from_iterable(own.intervals(one.estimate) for one in result.checks)

    def pictures(self, result: GateResult) -> doc.Pictures:
        yield "claims", doc.forest_of([one.estimate for one in result.checks])
