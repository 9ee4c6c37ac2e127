"""`truerisk rank`: which classifier is better over many data sets."""

from pathlib import Path
from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.errors import InputError


@click.command()
@click.argument("scores", type=opt.FILE, metavar="SCORES")
@opt.option("--control", "Compare the others with this classifier only.", metavar="NAME")
@opt.flag("--lower-is-better", "Scores are errors or costs.")
@opt.option("--region", "Differences within ± R do not matter.", float, metavar="R")
@opt.option(
    "--test-share",
    "Rows of one data set are folds, each tested on this share of it: 0.1 for ten folds.",
    float,
    metavar="SHARE",
)
@opt.option(
    "--zeros", "What Wilcoxon's test does with ties.", ("pratt", "wilcox", "zsplit"), "pratt"
)
@opt.column("--dataset", "Column that names the data sets.")
@opt.level
@opt.option(
    "--seed --random-state seed", "Seed of the Bayesian tests.", click.IntRange(0, 2**32 - 1), 0
)
@opt.cells
@out.formats("json", "csv", "markdown")
@opt.option("--plot", "Draw the ranks.", click.Path(path_type=Path), metavar="FILE.svg")
@out.page
def rank(scores: Path, **options: Any) -> None:
    """Compare classifiers over many data sets by their SCORES, a CSV file.

    It has one row per data set and one column per classifier.

    Wilcoxon's signed-rank test with Holm's adjustment, the sign test, the Bayesian signed-rank
    test; for three classifiers or more Friedman, Iman-Davenport, Nemenyi and the
    critical-difference picture; with a control Bonferroni-Dunn, Holm and Hochberg.

    \b
    truerisk rank scores.csv
    truerisk rank errors.csv --lower-is-better --control baseline --plot ranks.svg
    truerisk rank folds.csv --test-share 0.1 --region 0.01
    """
    from truerisk.comparison.datasets.over_datasets import compare_over_datasets
    from truerisk.comparison.datasets.score_table import read_scores
    from truerisk.reporting.files import write_whole
    from truerisk.reporting.render import figures

    picture, form = options["plot"], options["form"]
    out.check_outputs(options, [scores])
    _check_picture(scores, picture)
    with Progress("Comparing"):
        table = read_scores(
            scores,
            dataset=options["dataset"],
            folds=options["test_share"] is not None,
            options=opt.strictness_from(options),
        )
        ranking = compare_over_datasets(
            table.scores,
            names=table.names,
            datasets=table.datasets,
            higher_is_better=not options["lower_is_better"],
            **opt.only(options, "control", "region", "test_share", "zeros", "level"),
            random_state=options["seed"],
        )
        if picture is not None:
            drawn = figures.figure_bytes(figures.pictures_of(ranking)["ranks"], "svg")
            write_whole(picture, drawn.decode("utf-8"))

    def print_result() -> None:
        out.show(ranking, form)
        if picture is not None and form is None:
            click.echo(f"The picture is in {picture}")

    out.deliver(ranking, options, print_result, source=table.source)


def _check_picture(scores: Path, picture: Path | None) -> None:
    if picture is None:
        return
    if picture.suffix.lower() != ".svg":
        raise InputError(f"`--plot` must name a file that ends in .svg; got {str(picture)!r}.")
    from truerisk.reporting.files import check_destination
    from truerisk.reporting.render.figures import check_matplotlib

    check_matplotlib()
    check_destination(picture, [scores])
