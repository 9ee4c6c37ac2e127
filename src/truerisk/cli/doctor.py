"""`truerisk doctor`: what is in a file, what is odd, and which command answers which question."""

from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import FILE
from truerisk.cli.output import deliver, format_options, html_option


@click.command(short_help="What is in a file, and which commands answer which question?")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@format_options("json", "csv", "markdown")
@html_option
def doctor(files: tuple[Path, ...], **options: Any) -> None:
    """Look at FILEs: columns, what is odd, which questions they can answer with which command.

    Predictions, tables of examples, documents; CSV, Parquet, JSON lines, svmlight, folders.
    `truerisk FILE` does the same.

    \b
    truerisk doctor predictions.csv
    truerisk doctor old.csv new.csv
    """
    from truerisk.evaluation.doctor import doctor as look_at

    options["figures"] = None
    if options["html"] is not None:
        from truerisk.reporting.files import check_destination

        check_destination(options["html"], list(files))
    deliver(look_at(files), options)
