"""`truerisk split`: divide examples into folds, and write the folds to a file."""

import secrets
from pathlib import Path

import click

from truerisk.cli.options import InputPath, option_with_default, seed_option
from truerisk.cli.progress import Progress
from truerisk.reporting.files import check_destination, write_whole
from truerisk.reporting.render.formats import csv_lines


@click.command(short_help="Divide examples into folds, and write the folds to a file.")
@click.argument("data", type=InputPath(exists=True, dir_okay=False, path_type=Path))
@click.option("--target", metavar="COLUMN", help="Column of the labels; the last one if absent.")
@option_with_default(
    "--method",
    type=click.Choice(["five_by_two", "k_fold"]),
    default="five_by_two",
    help="How to divide.",
)
@option_with_default("--folds", type=int, default=10, help="Folds of k_fold.")
@click.option("--stratified/--no-stratified", default=True, help="Keep the shares of the classes.")
@click.option("--allow-small-classes", is_flag=True, help="Let folds lack a class.")
@option_with_default("--delimiter", default=",", help="Separator of the cells.")
@seed_option
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV file to write; printed if absent.",
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
