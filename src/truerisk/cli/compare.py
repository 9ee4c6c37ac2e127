"""`truerisk compare`: which of several models is really better, from their predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import FINDING, PARTIAL
from truerisk.cli.options import (
    FILE,
    costs_option,
    level_option,
    positive_option,
    read_costs,
    reading_from,
    reading_options,
    seed_option,
)
from truerisk.cli.output import format_options, show
from truerisk.cli.pages import check_pages, page_options, write_pages
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.measures import AVERAGES, MEASURES

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons
    from truerisk.results import Comparison

INTERVALS = ("tango", "newcombe", "bonett_price", "wald")
BETTER, NOT_WORSE = "better", "not-worse"


@click.command(short_help="Which of several models is really better, by their predictions?")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@reading_options
@click.option(
    "--prediction",
    "predictions",
    multiple=True,
    metavar="COLUMN",
    help="Predictions of one model, in one file of all; twice or more. --score as often, in order.",
)
@click.option("--name", "names", multiple=True, help="What a model is called; once for each.")
@click.option(
    "--join",
    type=click.Choice(["auto", "id", "row", "inner"]),
    default="auto",
    show_default=True,
    help="By ids where all files have them, else row by row; inner drops ids not in every file.",
)
@positive_option
@level_option
@click.option(
    "--region",
    multiple=True,
    metavar="NUMBER|NAME=NUMBER",
    help="The smallest difference that matters, for all measures or for one; may be repeated.",
)
@click.option(
    "--measure",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAME",
    help=f"Only this measure, the first being the main one; may be repeated, or listed with "
    f"commas.  One of {', '.join(MEASURES)}; f and a number is F with that β; averages end in "
    f"{', '.join(f'_{name}' for name in AVERAGES)}.",
)
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    default="tango",
    show_default=True,
    help="Interval of the difference of error rates.",
)
@click.option("--beta", type=float, multiple=True, help="Also compare by F and E with this β.")
@costs_option
@click.option("--threshold", type=float, help="Call positive what scores at least this.")
@click.option("--probabilities", is_flag=True, help="Scores are probabilities: log loss, Brier.")
@click.option("--replicates", type=int, default=1000, show_default=True, help="Of the bootstrap.")
@seed_option
@click.option("--max-classes", type=int, default=10_000, show_default=True, help="Refuse more.")
@format_options("json", "csv", "markdown", "latex")
@page_options
@click.option(
    "--fail-unless",
    type=click.Choice([BETTER, NOT_WORSE]),
    help="End with 1 unless the last model is better than the first, by the main measure; or is "
    "not worse by the region or more.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no result; the exit code tells.")
def compare(files: tuple[Path, ...], **options: Any) -> None:  # noqa: ANN401
    """Compare models by their predictions of the same examples, and say which is really better.

    Each FILE holds one model's predictions (CSV, Parquet or JSON lines, as for score); the second
    and later ones are compared with those before them.  Files are joined by id, or row by row, and
    refused where their true labels disagree.

    \b
    truerisk compare old.csv new.csv
    truerisk compare old.csv new.csv --region 0.01 --html report.html
    truerisk compare old.csv new.csv --measure f1 --positive spam --fail-unless better
    truerisk compare a.csv b.csv c.csv --id example --join inner
    truerisk compare all.csv --prediction old --prediction new

    Exit code: 0, 1 when the check failed, 2 wrong option, 3 wrong input, 4 when a measure is
    undefined, 5 when the machine stood in the way.
    """
    wanted = options.pop("fail_unless")
    region = _region(options.pop("region"))
    if wanted == NOT_WORSE and region is None:
        raise click.UsageError("--fail-unless not-worse needs --region: not worse by how much?")
    check_pages(options, files)
    result = _compared(files, region, options)
    if not options["quiet"]:
        show(result, options["form"])
    write_pages(result, options)
    _finish(result, wanted)


def _compared(
    files: tuple[Path, ...],
    region: float | dict[str, float] | None,
    options: dict[str, Any],
) -> "Comparisons":
    from truerisk.comparison.predictions.compare_files import compare_files  # noqa: PLC0415  (start-up time)
    from truerisk.evaluation.request import Request  # noqa: PLC0415

    roles, strictness = reading_from(options)
    measures = tuple(one.strip() for text in options["measures"] for one in text.split(","))
    request = Request(
        level=options["level"],
        pos_label=options["pos_label"],
        betas=options["beta"],
        costs=read_costs(options["costs"]),
        replicates=options["replicates"],
        random_state=options["seed"],
        probabilities=options["probabilities"],
        threshold=options["threshold"],
        measures=measures or None,
        max_classes=options["max_classes"],
    )
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
            request=request,
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


def _finish(result: "Comparisons", wanted: str | None) -> None:
    """End with the code that the check, or an undefined difference, asks for."""
    if wanted is not None:
        last = result[result.measure, result.names[0], result.names[-1]]
        if wanted == NOT_WORSE and last.region is None:
            raise InputError(
                f"`--region` must hold one of the main measure for --fail-unless not-worse; got "
                f"none of {result.measure}. Name the main measure with --measure."
            )
        if not _is_met(result, last, wanted):
            from truerisk.reporting.escaping import lines_visible  # noqa: PLC0415  (rare)

            told = lines_visible(last.verdict)
            click.echo(f"Check failed: {wanted} is not shown. {told}", err=True)
            sys.exit(FINDING)
    if result.undefined:
        names = ", ".join(dict.fromkeys(result[key].measure for key in result.undefined))
        click.echo(f"Partial result: undefined on these examples: {names}.", err=True)
        sys.exit(PARTIAL)


def _is_met(result: "Comparisons", last: "Comparison", wanted: str) -> bool:
    at = 1 - result.level
    if wanted == BETTER:
        return last.finding == "better" and result.adjusted[last.names] <= at
    tests = result.beside.get((last.measure, *last.names), ())
    return any(one.method == "non_inferiority" and one.p_value <= at for one in tests)
