"""`truerisk curve`: how good learners get with more examples, and what that costs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.estimation.curves.results import LearningCurve

NO_ESTIMATE = "none"


@click.command()
@opt.DATA
@opt.option(
    "--model models",
    "A learner, or module:attribute; may be repeated. linear_svm if absent.",
    multiple=True,
    metavar="NAME",
)
@opt.option("--sizes", "Training sizes; eight on a log scale if absent.", metavar="N,N,…")
@opt.option("--measure", "What to measure; also scikit-learn's names.", default="error_rate")
@opt.positive
@opt.option("--repeats", "Divisions.", click.IntRange(2), 10)
@opt.option("--test-size", "Share to hold out.", float, 0.25)
@opt.option(
    "--estimate",
    "Estimate from the training part alone, shown beside.",
    ("cross_validation", "xi_alpha", NO_ESTIMATE),
    "cross_validation",
)
@opt.option(
    "--wanted-error wanted",
    "Say how many examples this value of the measure takes.",
    float,
    metavar="VALUE",
)
@opt.level
@opt.seed
@opt.table
@opt.running
@out.formats("json", "csv")
@out.page
@out.quiet
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
    from truerisk.reporting.results.learning_curve import needed_sizes

    out.check_outputs(options, [data])
    out.check_scoring(options["measure"])
    result = _curve(data, options)
    wanted = options["wanted"]
    extra = None if wanted is None else {"needed": needed_sizes(result, wanted)}
    out.deliver(result, options, extra=extra, wanted=wanted)
    _finish(result)


def _curve(data: Path, options: dict[str, Any]) -> "LearningCurve":
    from truerisk.estimation.curves.learning_curve import learning_curve
    from truerisk.results import as_plain

    sizes = _numbers(options["sizes"])
    seed = opt.seed_from(options)
    table = opt.table_from(data, options)
    largest = max(sizes) if sizes else round((1 - options["test_size"]) * len(table))
    models = opt.models_from(options["models"] or ("linear_svm",), table, largest)
    with opt.training(table, options, seed) as settings:
        result = learning_curve(
            models,
            table.X,
            table.y,
            sizes=sizes,
            scoring=options["measure"],
            estimate=None if options["estimate"] == NO_ESTIMATE else options["estimate"],
            **opt.only(options, "repeats", "test_size"),
            **settings,
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


def _finish(result: "LearningCurve") -> None:
    undefined = [
        f"{name} on {point.size:,} examples"
        for name, learner in result.items()
        for point in learner.points
        if math.isnan(point.mean)
    ]
    if undefined:
        out.exit_partial(f"undefined for {', '.join(undefined)}")
