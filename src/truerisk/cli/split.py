"""`truerisk split`: divide examples into folds, and write the folds to a file."""

import secrets
from pathlib import Path

import click

from truerisk.cli import options as opt
from truerisk.cli.progress import Progress
from truerisk.reporting.files import check_destination, write_whole
from truerisk.reporting.render.formats import csv_lines


@click.command()
@click.argument("data", type=opt.InputPath(exists=True, dir_okay=False, path_type=Path))
@opt.column("--target", "Column of the labels; the last one if absent.")
@opt.option("--method", "How to divide.", ("five_by_two", "k_fold"), "five_by_two")
@opt.option("--folds", "Folds of k_fold.", int, 10)
@click.option("--stratified/--no-stratified", default=True, help="Keep the shares of the classes.")
@opt.flag("--allow-small-classes", "Let folds lack a class.")
@opt.option("--delimiter", "Separator of the cells.", default=",")
@opt.seed
@opt.option(
    "--output", "CSV file to write; printed if absent.", click.Path(path_type=Path), metavar="FILE"
)
def split(
    data: Path,
    *,
    target: str | None,
    method: str,
    folds: int,
    stratified: bool,
    allow_small_classes: bool,
    delimiter: str,
    seed: int | None,
    output: Path | None,
) -> None:
    """Divide the rows of the CSV file DATA; row, label, repetition and part are counted from 1.

    \b
    truerisk split data.csv --target label --seed 1 --output parts.csv
    truerisk split data.csv --target label --method k_fold --folds 10
    """
    from truerisk.estimation.refits.splits import split_file

    if output is not None:
        check_destination(output, [data])
    drawn = secrets.randbelow(2**32) if seed is None else seed
    with Progress("Dividing"):
        columns = split_file(
            data,
            target,
            method,
            delimiter=delimiter,
            folds=folds,
            stratified=stratified,
            allow_small_classes=allow_small_classes,
            random_state=drawn,
        )
    text = csv_lines(tuple(columns), list(zip(*columns.values(), strict=True)))
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")
        click.echo(f"The parts are in {output}", err=True)
    click.echo(f"seed {drawn}", err=True)
