"""What files look like: their columns, what is odd, and the commands that answer questions."""

from collections.abc import Iterator

from truerisk.evaluation.doctor import Diagnosis
from truerisk.reporting.document import (
    Block,
    Chapter,
    Facts,
    Sentences,
    Table,
    heads,
    sentences,
    table_section,
)
from truerisk.reporting.presenter import Presenter
from truerisk.reporting.wording import count, counted


def column_table(diagnosis: Diagnosis) -> Table:
    """Give one row per column."""
    several = len(diagnosis.files) > 1
    first = ("File",) if several else ()
    rows = [
        (
            *((one.file,) if several else ()),
            one.name,
            one.kind,
            one.role,
            count(one.distinct),
            count(one.missing),
            ", ".join(one.examples),
        )
        for one in diagnosis.columns
    ]
    columns = heads(*first, "Column", "Looks like", "Role", "#Distinct", "#Missing", "Examples")
    return Table("Columns", columns, tuple(rows))


def _answers(diagnosis: Diagnosis) -> Table:
    rows = tuple((one.question, one.command) for one in diagnosis.answers if one.command)
    return Table("What these files can answer", heads("Question", "Command"), rows)


def _missing(diagnosis: Diagnosis) -> Table:
    rows = tuple((one.question, one.missing) for one in diagnosis.answers if not one.command)
    return Table("What they cannot, and what is missing", heads("Question", "Missing"), rows)


def diagnosis_tables(diagnosis: Diagnosis) -> Iterator[Table]:
    """Give the tables that have rows."""
    tables = (column_table(diagnosis), _answers(diagnosis), _missing(diagnosis))
    return (table for table in tables if table.rows)


def diagnosis_chapter(diagnosis: Diagnosis) -> Chapter:
    """Give all that a page says of the files."""
    return Chapter(
        title="What is in these files?",
        subtitle=counted(len(diagnosis.files), "file"),
        verdict=sentences((*diagnosis.verdict, *diagnosis.odd)),
        sections=tuple(map(table_section, diagnosis_tables(diagnosis))),
    )


def diagnosis_blocks(diagnosis: Diagnosis) -> Iterator[Block]:
    """Give what a terminal shows."""
    yield Sentences(diagnosis.verdict)
    if diagnosis.columns:
        yield column_table(diagnosis)
    yield Sentences(diagnosis.odd or ("Nothing odd.",), "What is odd")
    can = [f"{one.question} {one.command}" for one in diagnosis.answers if one.command]
    cannot = [f"{one.question} Missing: {one.missing}." for one in diagnosis.answers if one.missing]
    yield Sentences(can, "What these files can answer")
    yield Sentences(cannot, "What they cannot answer")


def diagnosis_facts(diagnosis: Diagnosis) -> Facts:
    """Say which files were looked at."""
    for one in diagnosis.files:
        yield "file", f"{one.path}: {one.format}, {count(one.rows)} rows"


PRESENTER = Presenter(
    chapter=diagnosis_chapter,
    blocks=diagnosis_blocks,
    tables=diagnosis_tables,
    facts=diagnosis_facts,
)
