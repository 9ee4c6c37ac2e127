"""`truerisk curve`: how good learners get with more examples, and what that costs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    FILE,
    level_option,
    option_with_default,
    positive_option,
    seed_option,
)
from truerisk.cli.output import (
    check_outputs,
    check_scoring,
    deliver,
    exit_partial,
    format_options,
    page_options,
    quiet_option,
    show,
)
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
    help="A learner, or module:attribute; may be repeated. linear_svm if absent.",
)
@click.option("--sizes", metavar="N,N,…", help="Training sizes; eight on a log scale if absent.")
@option_with_default(
    "--measure", default="error_rate", help="What to measure; also scikit-learn's names."
)
@positive_option
@option_with_default("--repeats", type=click.IntRange(2), default=10, help="Divisions.")
@option_with_default("--test-size", type=float, default=0.25, help="Share to hold out.")
@option_with_default(
    "--estimate",
    type=click.Choice(["cross_validation", "xi_alpha", NO_ESTIMATE]),
    default="cross_validation",
    help="Estimate from the training part alone, shown beside.",
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
@quiet_option
def curve(data: Path, **options: Any) -> None:
    """Measure learners on growing parts of DATA: values, costs, and the gain of more examples.

    DATA holds examples with their labels: CSV, Parquet, JSON lines or svmlight.  In each repeat a
    quarter of them is held out, and every learner is trained on nested parts of the others.

    \b
    truerisk curve data.csv --target y
    truerisk curve data.csv --model svm --model tree --wanted-error 0.05 --seed 1
    truerisk curve data.csv --model svm --estimate xi_alpha --sizes 50,100,200,400
    truerisk curve data.csv --model random_forest --jobs -1 --html curve.html

    Seconds depend on the computer; everything else on the data and the seed alone.
    """
    check_outputs(options, [data])
    check_scoring(options["measure"])
    result = _curve(data, options)
    wanted = options["wanted"]
    extra = None if wanted is None else _needed(result, wanted)
    deliver(
        result,
        options,
        lambda: show(result, options["form"], extra=extra, wanted=wanted),
        wanted=wanted,
    )
    _finish(result)


def _curve(data: Path, options: dict[str, Any]) -> "LearningCurve":
    from truerisk.estimation.curves.learning_curve import learning_curve
    from truerisk.results import as_plain

    sizes = _numbers(options["sizes"])
    seed = seed_from(options)
    table = table_from(data, options)
    largest = max(sizes) if sizes else round((1 - options["test_size"]) * len(table))
    models = models_from(options["models"] or ("linear_svm",), table, largest)
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        result = learning_curve(
            models,
            table.X,
            table.y,
            sizes=sizes,
            scoring=options["measure"],
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
    return replace(result, source=source, notes=(*table.notes, *result.notes))


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.replace("_", "").split(",") if part.strip()]
    except ValueError:
        raise InputError(
            f"`--sizes` must be whole numbers such as 50,100,200; got {text!r}."
        ) from None


def _needed(result: "LearningCurve", wanted: float) -> dict[str, Any]:
    from truerisk.reporting.results.learning_curve import needed_sizes

    return {"needed": needed_sizes(result, wanted)}


def _finish(result: "LearningCurve") -> None:
    undefined = [
        f"{name} on {point.size:,} examples"
        for name, learner in result.items()
        for point in learner.points
        if math.isnan(point.mean)
    ]
    if undefined:
        exit_partial(f"undefined for {', '.join(undefined)}")
