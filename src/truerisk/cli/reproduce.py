"""`truerisk reproduce`: a table of a paper recomputed, its figures beside ours."""

import click

from truerisk.cli.output import format_options, show_rows


@click.command(short_help="A table of a paper recomputed, its figures beside ours.")
@click.argument("table", required=False)
@format_options("json", "csv")
def reproduce(table: str | None, form: str | None) -> None:
    """Recompute TABLE; without it, list the tables there are.

    \b
    truerisk reproduce
    truerisk reproduce shah-shanian-table2
    """
    from truerisk.checks import check_choice  # noqa: PLC0415  (costs start-up time)
    from truerisk.reproduction import TABLES  # noqa: PLC0415

    if table is None:
        click.echo("\n".join(TABLES))
        return
    found = TABLES[check_choice(table, TABLES, "table")]()
    if form is None:
        click.echo(found)
    else:
        facts = {"source": found.source, "conclusion": found.conclusion}
        show_rows(found.title, found.columns, found.rows, form, facts)
