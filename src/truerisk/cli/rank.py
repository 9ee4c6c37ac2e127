"""`truerisk rank`: which classifier is better over many data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    FILE,
    decimal_option,
    delimiter_option,
    encoding_option,
    level_option,
    option_with_default,
    unescaped,
)
from truerisk.cli.output import (
    check_matplotlib,
    check_outputs,
    deliver,
    format_options,
    page_options,
    show,
)
from truerisk.cli.progress import Progress
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.comparison.datasets.over_datasets import OverDatasets
    from truerisk.comparison.datasets.score_table import ScoreTable


@click.command(short_help="Which classifier is better over many data sets?")
@click.argument("scores", type=FILE, metavar="SCORES")
@click.option("--control", metavar="NAME", help="Compare the others with this classifier only.")
@click.option("--lower-is-better", is_flag=True, help="Scores are errors or costs.")
@click.option("--region", type=float, metavar="R", help="Differences within ± R do not matter.")
@click.option(
    "--test-share",
    type=float,
    metavar="SHARE",
    help="Rows of one data set are folds, each tested on this share of it: 0.1 for ten folds.",
)
@option_with_default(
    "--zeros",
    type=click.Choice(["pratt", "wilcox", "zsplit"]),
    default="pratt",
    help="What Wilcoxon's test does with ties.",
)
@click.option("--dataset", metavar="COLUMN", help="Column that names the data sets.")
@level_option
@option_with_default(
    "--seed",
    "--random-state",
    "seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="Seed of the Bayesian tests.",
)
@delimiter_option
@encoding_option
@decimal_option
@format_options("json", "csv", "markdown")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg", help="Draw the ranks.")
@page_options
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
    picture, form = options["plot"], options["form"]
    check_outputs(options, [scores])
    _check_picture(scores, picture)
    with Progress("Comparing"):
        table = _read(scores, options)
        ranking = _rank(table, options)
        if picture is not None:
            _write_picture(ranking, picture)

    def print_result() -> None:
        show(ranking, form)
        if picture is not None and form is None:
            click.echo(f"The picture is in {picture}")

    deliver(ranking, options, print_result, source=table.source)


def _check_picture(scores: Path, picture: Path | None) -> None:
    if picture is None:
        return
    if picture.suffix.lower() != ".svg":
        raise InputError(f"`--plot` must name a file that ends in .svg; got {str(picture)!r}.")
    check_matplotlib("--plot")
    from truerisk.reporting.files import check_destination

    check_destination(picture, [scores])


def _write_picture(ranking: "OverDatasets", path: Path) -> None:
    from truerisk.reporting.files import write_whole
    from truerisk.reporting.render.figures import figure_bytes, pictures_of

    write_whole(path, figure_bytes(pictures_of(ranking)["ranks"], "svg").decode("utf-8"))


def _read(scores: Path, options: dict[str, Any]) -> "ScoreTable":
    from truerisk.comparison.datasets.score_table import read_scores
    from truerisk.inputs.options import ReadingOptions

    return read_scores(
        scores,
        dataset=options["dataset"],
        folds=options["test_share"] is not None,
        options=ReadingOptions(
            delimiter=unescaped(options["delimiter"]),
            encoding=options["encoding"],
            decimal=options["decimal"],
        ),
    )


def _rank(table: "ScoreTable", options: dict[str, Any]) -> "OverDatasets":
    from truerisk.comparison.datasets.over_datasets import compare_over_datasets

    return compare_over_datasets(
        table.scores,
        names=table.names,
        datasets=table.datasets,
        control=options["control"],
        higher_is_better=not options["lower_is_better"],
        region=options["region"],
        test_share=options["test_share"],
        zeros=options["zeros"],
        level=options["level"],
        random_state=options["seed"],
    )
