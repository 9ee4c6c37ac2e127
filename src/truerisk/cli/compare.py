"""`truerisk compare`: which of several models is really better, from their predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import FINDING
from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons

BETTER, NOT_WORSE = "better", "not-worse"


@click.command()
@opt.FILES
@opt.reading
@opt.values
@opt.column(
    "--prediction predictions",
    "Predictions of one model, where one file holds all; twice or more. --score likewise.",
    multiple=True,
)
@opt.option("--name names", "Name of a model; once per model.", multiple=True)
@opt.option(
    "--join",
    "By ids where all files have them, else row by row; inner drops ids not in every file.",
    ("auto", "id", "row", "inner"),
    "auto",
)
@opt.evaluation
@opt.option(
    "--region",
    "The smallest difference that matters, for all measures or for one; may be repeated.",
    multiple=True,
    metavar="NUMBER|NAME=NUMBER",
)
@opt.option(
    "--interval",
    "Interval of the difference of error rates; mover: of areas, with groups.",
    ("tango", "newcombe", "bonett_price", "wald", "mover"),
    "tango",
)
@opt.by
@opt.flag("--tiers", "Print which models cannot be told from the best, not each pair.")
@out.formats("json", "csv", "markdown", "latex")
@out.page
@opt.option(
    "--fail-unless",
    "Exit with 1 unless the last model is better than the first, by the main measure; or is "
    "not worse by the region or more.",
    (BETTER, NOT_WORSE),
)
@out.quiet
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
    from truerisk.comparison.predictions.compare_files import compare_files

    check = options.pop("fail_unless")
    region = _region(options.pop("region"))
    if check == NOT_WORSE and region is None:
        raise click.UsageError("--fail-unless not-worse needs --region: not worse by how much?")
    out.check_outputs(options, files)
    roles, strictness = opt.reading_from(options)
    with Progress("Comparing", quiet=options["quiet"]) as progress:
        comparisons = compare_files(
            files,
            **opt.only(options, "predictions", "join", "interval", "pass_at", "by"),
            **opt.evaluation_from(options),
            names=options["names"] or None,
            region=region,
            roles=roles,
            options=strictness,
            progress=progress,
        )
    out.deliver(comparisons, options, tiers=options["tiers"])
    _finish(comparisons, check)


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
        from truerisk.gates import is_better, is_not_worse
        from truerisk.reporting.escaping import lines_visible

        claim = is_better(result) if check == BETTER else is_not_worse(result)
        if not claim.is_shown:
            verdict = lines_visible(last.verdict)
            click.echo(f"Check failed: {check} is not shown. {verdict}", err=True)
            sys.exit(FINDING)
    if result.undefined:
        names = ", ".join(dict.fromkeys(result[key].measure for key in result.undefined))
        out.exit_partial(f"undefined on these examples: {names}")
