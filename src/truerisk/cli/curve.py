"""`truerisk curve`: how good learners get with more examples, and what that costs."""

import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import PARTIAL
from truerisk.cli.options import FILE, level_option, positive_option, seed_option
from truerisk.cli.output import console, format_options, show
from truerisk.cli.pages import check_pages, page_options, write_pages
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import (
    kept_in,
    models_from,
    place_of,
    running_options,
    seed_from,
    table_from,
    table_options,
)
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.estimation.curves.results import LearningCurve

NO_ESTIMATE = "none"


@click.command(short_help="Would more examples help? Learners at growing training sizes.")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="A learner, or module:attribute; again for another. linear_svm if absent.",
)
@click.option("--sizes", metavar="N,N,…", help="Training sizes; eight on a log scale if absent.")
@click.option("--measure", default="error_rate", show_default=True, help="What to measure.")
@positive_option
@click.option("--repeats", type=click.IntRange(2), default=10, show_default=True, help="Divisions.")
@click.option("--test-size", type=float, default=0.25, show_default=True, help="Share to hold out.")
@click.option(
    "--estimate",
    type=click.Choice(["cross_validation", "xi_alpha", NO_ESTIMATE]),
    default="cross_validation",
    show_default=True,
    help="What the training part alone says, beside.",
)
@click.option(
    "--wanted-error",
    "wanted",
    type=float,
    metavar="VALUE",
    help="Say how many examples this value of the measure takes.",
)
@level_option
@seed_option
@table_options
@running_options
@format_options("json", "csv")
@page_options
@click.option("-q", "--quiet", is_flag=True, help="Print no result; the exit code tells.")
def curve(data: Path, **options: Any) -> None:  # noqa: ANN401
    """Measure learners on growing parts of DATA: values, costs, and what more would bring.

    DATA holds examples with their labels: CSV, Parquet, JSON lines or svmlight.  In each repeat a
    quarter of them is held out, and every learner is trained on nested parts of the others.

    \b
    truerisk curve data.csv --target y
    truerisk curve data.csv --model svm --model tree --wanted-error 0.05 --seed 1
    truerisk curve data.csv --model svm --estimate xi_alpha --sizes 50,100,200,400
    truerisk curve data.csv --model random_forest --jobs -1 --html curve.html

    Seconds depend on the machine; everything else on the data and the seed alone.

    Exit code: 0, 2 wrong option, 3 wrong input, 4 when a learner failed or a value is undefined,
    5 when the machine stood in the way.
    """
    check_pages(options, [data])
    found = _curve(data, options)
    if not options["quiet"]:
        _show(found, options["form"], options["wanted"])
    write_pages(found, options, wanted=options["wanted"])
    _finish(found)


def _curve(data: Path, options: dict[str, Any]) -> "LearningCurve":
    from truerisk.estimation.curves.learning_curve import learning_curve  # noqa: PLC0415  (start-up time)
    from truerisk.results import as_plain  # noqa: PLC0415

    sizes = _numbers(options["sizes"])
    seed = seed_from(options)
    table = table_from(data, options)
    largest = max(sizes) if sizes else round((1 - options["test_size"]) * len(table))
    models = models_from(options["models"] or ("linear_svm",), table, largest)
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        found = learning_curve(
            models,
            table.X,
            table.y,
            sizes=sizes,
            measure=options["measure"],
            repeats=options["repeats"],
            test_size=options["test_size"],
            level=options["level"],
            estimate=None if options["estimate"] == NO_ESTIMATE else options["estimate"],
            pos_label=options["pos_label"],
            groups=table.groups,
            random_state=seed,
            n_jobs=options["jobs"],
            resume=options["resume"],
            progress=progress,
        )
    source = {} if table.source is None else as_plain(table.source)
    return replace(found, source=source, notes=(*table.notes, *found.notes))


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.replace("_", "").split(",") if part.strip()]
    except ValueError:
        raise InputError(
            f"`--sizes` must be whole numbers such as 50,100,200; got {text!r}."
        ) from None


def _show(found: "LearningCurve", form: str | None, wanted: float | None) -> None:
    from truerisk.reporting.render.terminal import print_result  # noqa: PLC0415  (needs rich)
    from truerisk.reporting.results.learning_curve import needed_sizes  # noqa: PLC0415

    if form is None:
        print_result(found, console(), wanted=wanted)
    else:
        show(found, form, **({} if wanted is None else {"needed": needed_sizes(found, wanted)}))


def _finish(found: "LearningCurve") -> None:
    undefined = [
        f"{name} on {point.size:,} examples"
        for name, learner in found.items()
        for point in learner.points
        if math.isnan(point.mean)
    ]
    if undefined:
        click.echo(f"Partial result: undefined for {', '.join(undefined)}.", err=True)
        sys.exit(PARTIAL)
