"""`truerisk demo`: all of it on bundled data, in one run, ending in one page."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from truerisk.cli.output import show
from truerisk.cli.progress import Progress

CUT = 0.5
SEED = 4
REGION = 0.01  # two filters this close are as good as each other
REPLICATES = 500
HELD_OUT = 0.3


@click.command(short_help="All of it on bundled data, ending in one page.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="Folder for report.html.",
)
@click.option("--no-open", is_flag=True, help="Leave the page closed where there is a display.")
def demo(output: Path, *, no_open: bool) -> None:
    """Show all of it on bundled data, in one run, and write one page: report.html.

    A spam filter is scored, and compared with a better one; a support vector machine for tumours
    says its own error, beside cross-validation and exact leave-one-out, and how sure it is, by
    perturbation; news are told apart by topic; and a learning curve says whether more tumours would
    help.  Mails and news are generated, the same on every machine; the tumours are the breast
    cancer data that scikit-learn brings along.

    \b
    truerisk demo
    truerisk demo --output /tmp --no-open

    The first run compiles the solvers, and takes most of a minute; later ones take seconds.
    """
    from truerisk.reporting.files import check_destination  # noqa: PLC0415  (start-up time)
    from truerisk.reporting.page import report_on  # noqa: PLC0415

    output.mkdir(parents=True, exist_ok=True)
    page = output / "report.html"
    check_destination(page)
    results = {}
    for at, (title, part) in enumerate(PARTS.items(), start=1):
        click.secho(f"{at}. {title}\n", bold=True)
        results[title] = part()
        click.echo()
    report = report_on(
        results,
        title="What truerisk says",
        subtitle="Generated mails and news, and 569 tumours; the same on every machine.",
    )
    written = report.save(page).resolve()
    click.echo(f"The page: {written}")
    if not no_open and has_display():
        click.launch(written.as_uri())


def _scored() -> Any:  # noqa: ANN401
    from truerisk.cli.demo_data import spam_filter  # noqa: PLC0415  (costs start-up time)
    from truerisk.evaluation import evaluate  # noqa: PLC0415

    truth, score = spam_filter()
    evaluation = evaluate(
        truth,
        _called(score),
        y_score=score,
        pos_label="spam",
        costs={"fp": 5, "fn": 1},
        probabilities=True,
        random_state=SEED,
    )
    show(evaluation, None)
    return evaluation


def _compared() -> Any:  # noqa: ANN401
    from truerisk.cli.demo_data import better_filter, spam_filter  # noqa: PLC0415
    from truerisk.comparison.predictions.compare import compare  # noqa: PLC0415  (costs start-up time)

    truth, score = spam_filter()
    better = better_filter()
    return _told(
        compare(
            truth,
            _called(score),
            _called(better),
            scores=(score, better),
            names=("today's filter", "newer filter"),
            pos_label="spam",
            region=REGION,
            random_state=SEED,
        )
    )


def _without_test_set() -> Any:  # noqa: ANN401
    from time import perf_counter  # noqa: PLC0415

    from truerisk.estimation.refits.estimate import estimate  # noqa: PLC0415  (costs start-up time)
    from truerisk.estimation.svm.without_resampling import without_resampling  # noqa: PLC0415

    machine, X, y = _tumours()
    with Progress("Training"):
        without_resampling(machine, X[::8], y[::8])  # compiles, so that no time told is that
        found = without_resampling(machine, X, y)
        began = perf_counter()
        folds = estimate(machine, X, y, random_state=SEED)["error_rate"]
        took = perf_counter() - began
    found = replace(
        found,
        estimates=(*found.estimates, replace(folds, method="cross_validation")),
        seconds=(*found.seconds, took),
    )
    click.echo(str(found))
    return found


def _perturbed() -> Any:  # noqa: ANN401
    from truerisk.estimation.svm.perturbation import perturbation  # noqa: PLC0415  (start-up time)

    machine, X, y = _tumours()
    with Progress("Training") as progress:
        found = perturbation(
            machine, X, y, replicates=REPLICATES, random_state=SEED, progress=progress
        )
    click.echo(str(found))
    return found


def _categories() -> Any:  # noqa: ANN401
    from truerisk.cli.demo_data import news  # noqa: PLC0415  (costs start-up time)
    from truerisk.cli.output import console  # noqa: PLC0415
    from truerisk.estimation.corpus.corpus import estimate_corpus  # noqa: PLC0415
    from truerisk.reporting.render.terminal import print_table  # noqa: PLC0415
    from truerisk.reporting.results.corpus_evaluation import average_table  # noqa: PLC0415

    with Progress("Training") as progress:
        found = estimate_corpus(news(), holdout=HELD_OUT, random_state=SEED, progress=progress)
    print_table(average_table(found), console())
    return found


def _grown() -> Any:  # noqa: ANN401
    from truerisk.estimation.curves.learning_curve import learning_curve  # noqa: PLC0415  (start-up time)

    machine, X, y = _tumours()
    with Progress("Training") as progress:
        curve = learning_curve(
            {"linear SVM": machine}, X, y, repeats=10, random_state=SEED, progress=progress
        )
    click.echo(str(curve))
    return curve


PARTS: dict[str, Callable[[], Any]] = {
    "How good is the spam filter?": _scored,
    "Is a newer filter really better?": _compared,
    "How good is a support vector machine, with no test set?": _without_test_set,
    "How sure is its error?": _perturbed,
    "How well are news told apart by topic?": _categories,
    "Would more tumours help?": _grown,
}


def _called(score: list[float]) -> list[str]:
    return ["spam" if value >= CUT else "ham" for value in score]


def _told(found: Any) -> Any:  # noqa: ANN401
    for sentence in found.verdict:
        click.echo(sentence)
    return found


def _tumours() -> tuple[Any, Any, Any]:
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415  (costs start-up time)
    from sklearn.preprocessing import scale  # noqa: PLC0415

    from truerisk.svm.linear import LinearSVM  # noqa: PLC0415

    X, y = load_breast_cancer(return_X_y=True)
    return LinearSVM(C=0.1), scale(X), y


def has_display() -> bool:
    """Tell whether somebody could see a page that is opened."""
    if "CI" in os.environ:
        return False
    named = {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
    return sys.platform in {"darwin", "win32"} or bool(named)
