"""What files look like: their columns, what is odd, and the commands that answer questions."""

from collections.abc import Iterator
from pathlib import Path

from truerisk.evaluation.doctor import Diagnosis
from truerisk.labels import as_number
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter
from truerisk.reporting.wording import count, counted

MAX_DIGITS = 10


def column_table(diagnosis: Diagnosis) -> doc.Table:
    """Give one row per column."""
    last = {one.path: Path(one.path).name for one in diagnosis.files}
    short = last if len(set(last.values())) == len(last) else {}
    columns: doc.Cells = {}
    if len(diagnosis.files) > 1:
        columns["File"] = lambda one: short.get(one.file, one.file)
    columns |= {
        "Column": lambda one: one.name,
        "Looks like": lambda one: one.kind,
        "Role": lambda one: one.role,
        "#Distinct": lambda one: count(one.distinct),
        "#Missing": lambda one: count(one.missing),
        "Examples": lambda one: ", ".join(map(_short, one.examples)),
    }
    return doc.table("Columns", columns, diagnosis.columns)


def _short(example: str) -> str:
    """Write a number of many digits with six of them, as a sight of it needs no more."""
    if len(example) <= MAX_DIGITS:
        return example
    number = as_number(example)
    return example if number is None else f"{number:.6g}"


class DiagnosisPresenter(Presenter):
    """Columns, what is odd, and which commands answer which question."""

    question = "What is in these files?"

    def subtitle(self, diagnosis: Diagnosis) -> list[str]:
        return [counted(len(diagnosis.files), "file")]

    def verdict(self, diagnosis: Diagnosis) -> tuple[str, ...]:
        return (*diagnosis.verdict, *diagnosis.odd)

    def sections(self, diagnosis: Diagnosis) -> Iterator[doc.Section]:
        return map(doc.table_section, self.tables(diagnosis))

    def blocks(self, diagnosis: Diagnosis) -> Iterator[doc.Block]:
        """Give what a terminal shows."""
        yield doc.Sentences(diagnosis.verdict)
        if diagnosis.columns:
            yield column_table(diagnosis)
        yield doc.Sentences(diagnosis.odd or ("Nothing odd.",), "What is odd")
        can = [f"{one.question} {one.command}" for one in diagnosis.answers if one.command]
        cannot = [
            f"{one.question} Missing: {one.missing}." for one in diagnosis.answers if one.missing
        ]
        yield doc.Sentences(can, "What these files can answer")
        yield doc.Sentences(cannot, "What they cannot answer")

    def tables(self, diagnosis: Diagnosis) -> Iterator[doc.Table]:
        """Give the tables that have rows."""
        can = tuple((one.question, one.command) for one in diagnosis.answers if one.command)
        cannot = tuple((one.question, one.missing) for one in diagnosis.answers if not one.command)
        tables = (
            column_table(diagnosis),
            doc.Table("What these files can answer", doc.heads("Question", "Command"), can),
            doc.Table(
                "What they cannot, and what is missing", doc.heads("Question", "Missing"), cannot
            ),
        )
        return (table for table in tables if table.rows)

    def facts(self, diagnosis: Diagnosis) -> doc.Facts:
        """Say which files were looked at."""
        for one in diagnosis.files:
            yield "file", f"{one.path}: {one.format}, {count(one.rows)} rows"
