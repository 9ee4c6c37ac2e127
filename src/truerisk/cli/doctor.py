"""`truerisk doctor`: what is in a file, what is odd, and which command answers which question."""

from pathlib import Path
from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out


@click.command()
@opt.FILES
@out.formats("json", "csv", "markdown")
@out.html
def doctor(files: tuple[Path, ...], **options: Any) -> None:
    """Look at FILEs: columns, what is odd, which questions they can answer with which command.

    Predictions, tables of examples, documents; CSV, Parquet, JSON lines, svmlight, folders.
    `truerisk FILE` does the same.

    \b
    truerisk doctor predictions.csv
    truerisk doctor old.csv new.csv
    """
    from truerisk.evaluation.doctor import doctor as look_at

    out.check_outputs(options, files)
    out.deliver(look_at(files), options)
