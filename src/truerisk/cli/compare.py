"""`truerisk compare`: which of several models is really better, from their predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import FINDING
from truerisk.cli.options import (
    FILE,
    by_option,
    evaluation_from,
    evaluation_options,
    option_with_default,
    reading_from,
    reading_options,
    value_options,
)
from truerisk.cli.output import (
    check_outputs,
    deliver,
    exit_partial,
    format_options,
    page_options,
    quiet_option,
    show,
)
from truerisk.cli.progress import Progress
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons

INTERVALS = ("tango", "newcombe", "bonett_price", "wald", "mover")
BETTER, NOT_WORSE = "better", "not-worse"


@click.command(short_help="Which of several models is better, by their predictions?")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@reading_options
@value_options
@click.option(
    "--prediction",
    "predictions",
    multiple=True,
    metavar="COLUMN",
    help="Predictions of one model, where one file holds all; twice or more. --score likewise.",
)
@click.option("--name", "names", multiple=True, help="Name of a model; once per model.")
@option_with_default(
    "--join",
    type=click.Choice(["auto", "id", "row", "inner"]),
    default="auto",
    help="By ids where all files have them, else row by row; inner drops ids not in every file.",
)
@evaluation_options
@click.option(
    "--region",
    multiple=True,
    metavar="NUMBER|NAME=NUMBER",
    help="The smallest difference that matters, for all measures or for one; may be repeated.",
)
@option_with_default(
    "--interval",
    type=click.Choice(INTERVALS),
    default="tango",
    help="Interval of the difference of error rates; mover: of areas, with groups.",
)
@by_option
@click.option(
    "--tiers", is_flag=True, help="Print which models cannot be told from the best, not each pair."
)
@format_options("json", "csv", "markdown", "latex")
@page_options
@click.option(
    "--fail-unless",
    type=click.Choice([BETTER, NOT_WORSE]),
    help="Exit with 1 unless the last model is better than the first, by the main measure; or is "
    "not worse by the region or more.",
)
@quiet_option
def compare(files: tuple[Path, ...], **options: Any) -> None:
    """Compare models by their predictions of the same examples, and say which is better.

    Each FILE holds one model's predictions (CSV, Parquet or JSON lines, as for score); the second
    and later ones are compared with those before them.  Files are joined by id, or row by row, and
    refused where their true labels disagree.

    \b
    truerisk compare old.csv new.csv
    truerisk compare old.csv new.csv --region 0.01 --html report.html
    truerisk compare old.csv new.csv --measure f1 --positive spam --fail-unless better
    truerisk compare a.csv b.csv c.csv --id example --join inner
    truerisk compare runs/*.jsonl --correct exact_match --tiers
    truerisk compare all.csv --prediction old --prediction new
    truerisk compare old.csv new.csv --by region
    """
    check = options.pop("fail_unless")
    region = _region(options.pop("region"))
    if check == NOT_WORSE and region is None:
        raise click.UsageError("--fail-unless not-worse needs --region: not worse by how much?")
    check_outputs(options, files)
    comparisons = _compare(files, region, options)
    tiers = options["tiers"]
    deliver(comparisons, options, lambda: show(comparisons, options["form"], tiers=tiers))
    _finish(comparisons, check)


def _compare(
    files: tuple[Path, ...], region: float | dict[str, float] | None, options: dict[str, Any]
) -> "Comparisons":
    from truerisk.comparison.predictions.compare_files import compare_files

    roles, strictness = reading_from(options)
    settings = evaluation_from(options)
    with Progress("Comparing", quiet=options["quiet"]) as progress:
        return compare_files(
            files,
            predictions=options["predictions"],
            names=options["names"] or None,
            join=options["join"],
            region=region,
            interval=options["interval"],
            roles=roles,
            options=strictness,
            pass_at=options["pass_at"],
            **settings,
            by=options["by"],
            progress=progress,
        )


def _region(texts: tuple[str, ...]) -> float | dict[str, float] | None:
    """Read one number for all measures, or pairs of a measure and a number."""
    if not texts:
        return None
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return float(texts[0])
        pairs = [text.split("=") for text in texts]
        regions = {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise InputError(
            f"`--region` must be one number, or pairs such as f1=0.02; got {texts[-1]!r}."
        ) from None
    if len(regions) < len(texts):
        raise InputError(f"`--region` must name a measure once; got {', '.join(texts)}.")
    return regions


def _finish(result: "Comparisons", check: str | None) -> None:
    """Exit with the code of the check, or of an undefined difference."""
    if check is not None:
        last = result[result.measure, result.names[0], result.names[-1]]
        if check == NOT_WORSE and last.region is None:
            raise InputError(
                f"`--region` must hold one of the main measure for --fail-unless not-worse; got "
                f"none of {result.measure}. Name the main measure with --measure."
            )
        from truerisk.gates.claims import is_better, is_not_worse
        from truerisk.reporting.escaping import lines_visible

        claim = is_better(result) if check == BETTER else is_not_worse(result)
        if not claim.is_shown:
            verdict = lines_visible(last.verdict)
            click.echo(f"Check failed: {check} is not shown. {verdict}", err=True)
            sys.exit(FINDING)
    if result.undefined:
        names = ", ".join(dict.fromkeys(result[key].measure for key in result.undefined))
        exit_partial(f"undefined on these examples: {names}")
