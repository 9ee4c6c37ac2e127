"""`truerisk demo`: everything on bundled data, in one run, in one page.

Mails and news are generated, and are the same on every computer: only `Random.random` is drawn
from, since of all generators it alone is promised to stay the same.
"""

import os
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import BROKEN_PIPE, discard_output
from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress

if TYPE_CHECKING:
    from truerisk.inputs.corpora import Corpus

CUT = 0.5
SEED = 4
REGION = 0.01  # two filters this close are as good as each other
REPLICATES = 500
HELD_OUT = 0.3

MAILS = 1500
SHARE_OF_SPAM = 0.14
SEPARATION = 2.2  # how far apart the two classes lie, in standard deviations
BETTER_SEPARATION = 2.8
LIKENESS = 0.8  # correlation of what the two filters see in a mail

DOCUMENTS = 700
WORDS = 30  # of a document
ON_TOPIC = 0.2  # of the words of a document are of its topics
SECOND_TOPIC = 0.15  # of the documents have one
COMMON_WORDS = tuple(
    first + second
    for first in ("ba", "de", "fi", "go", "ku", "la", "me", "no", "pu", "ra", "se", "ti", "vo")
    for second in ("", "l", "n", "ra", "ste", "ton", "ver", "x")
)
TOPICS = {
    "earnings": "profit loss dividend quarter net share results revenue payout",
    "takeovers": "bid stake merger acquire offer shareholders board buyout deal",
    "grain": "wheat corn harvest tonnes crop maize export barley acreage",
    "crude": "oil barrel opec refinery petroleum output drilling price well",
    "trade": "tariff deficit surplus imports exports quota dispute talks goods",
    "shipping": "vessel port strike cargo tanker freight gulf seamen canal",
    "gold": "ounce mine reef ore bullion troy mint deposit gram",
    "coffee": "beans roaster brazil colombia bags quota growers arabica",
}
FREQUENCIES = (0.34, 0.22, 0.13, 0.1, 0.08, 0.06, 0.04, 0.03)


@click.command()
@opt.option("--output", "Folder for report.html.", click.Path(path_type=Path), ".")
@opt.flag("--no-open", "Do not open the page in a browser.")
def demo(output: Path, *, no_open: bool) -> None:
    """Show everything on bundled data, in one run, and write one page: report.html.

    A spam filter is scored and compared with a better one.  The error of an SVM for tumours is
    estimated from its training alone, beside cross-validation and exact leave-one-out, with an
    interval by perturbation.  News are classified by topic.  A learning curve says whether more
    tumours would help.  Mails and news are generated, the same on every computer; the tumours are
    the breast cancer data of scikit-learn.

    \b
    truerisk demo
    truerisk demo --output /tmp --no-open
    """
    from truerisk.reporting.files import check_destination
    from truerisk.reporting.page import report_on

    output.mkdir(parents=True, exist_ok=True)
    page = output / "report.html"
    check_destination(page)
    results, closed = {}, False
    for at, (title, (compute, print_result)) in enumerate(PARTS.items(), start=1):
        with Progress("Computing") as progress:
            results[title] = compute(progress)
        try:
            click.secho(f"{at}. {title}\n", bold=True)
            print_result(results[title])
            click.echo()
        except BrokenPipeError:  # the page is written all the same
            discard_output()
            closed = True
    report = report_on(
        results,
        title="What truerisk says",
        subtitle="Generated mails and news, and 569 tumours; the same on every computer.",
    )
    written = report.save(page).resolve()
    if closed:
        sys.exit(BROKEN_PIPE)
    click.echo(f"The page: {written}")
    if not no_open and has_display():
        click.launch(written.as_uri())


def _score(_: Progress) -> Any:
    from truerisk.evaluation import evaluate

    truth, score = spam_filter()
    return evaluate(
        truth,
        _labels(score),
        y_score=score,
        pos_label="spam",
        costs={"fp": 5, "fn": 1},
        probabilities=True,
        random_state=SEED,
    )


def _compare(_: Progress) -> Any:
    from truerisk.comparison.predictions.compare import compare

    truth, score = spam_filter()
    better = better_filter()
    return compare(
        truth,
        _labels(score),
        _labels(better),
        scores=(score, better),
        names=("today's filter", "newer filter"),
        pos_label="spam",
        region=REGION,
        random_state=SEED,
    )


def _estimate_without_test_set(_: Progress) -> Any:
    from time import perf_counter

    from truerisk.estimation.refits.estimate import estimate
    from truerisk.estimation.svm.without_resampling import without_resampling

    svm, X, y = _tumours()
    without_resampling(svm, X[::8], y[::8])  # loads what it needs: the seconds are of the estimate
    result = without_resampling(svm, X, y)
    began = perf_counter()
    folds = estimate(svm, X, y, random_state=SEED)["error_rate"]
    seconds = perf_counter() - began
    return replace(
        result,
        estimates=(*result.estimates, replace(folds, method="cross_validation")),
        seconds=(*result.seconds, seconds),
    )


def _perturb(progress: Progress) -> Any:
    from truerisk.estimation.svm.perturbation import perturbation

    svm, X, y = _tumours()
    return perturbation(svm, X, y, replicates=REPLICATES, random_state=SEED, progress=progress)


def _estimate_categories(progress: Progress) -> Any:
    from truerisk.estimation.corpus.corpus import estimate_corpus

    return estimate_corpus(news(), holdout=HELD_OUT, random_state=SEED, progress=progress)


def _grow(progress: Progress) -> Any:
    from truerisk.estimation.curves.learning_curve import learning_curve

    svm, X, y = _tumours()
    return learning_curve(
        {"linear SVM": svm}, X, y, repeats=10, random_state=SEED, progress=progress
    )


def _print_verdict(comparisons: Any) -> None:
    for sentence in comparisons.verdict:
        click.echo(sentence)


def _print_averages(evaluation: Any) -> None:
    from truerisk.reporting.render.terminal import print_table
    from truerisk.reporting.results.corpus_evaluation import average_table

    print_table(average_table(evaluation), out.console())


PARTS: dict[str, tuple[Callable[[Progress], Any], Callable[[Any], None]]] = {
    "How good is the spam filter?": (_score, partial(out.show, form=None)),
    "Is a newer filter really better?": (_compare, _print_verdict),
    "How good is an SVM, with no test set?": (_estimate_without_test_set, click.echo),
    "How sure is its error?": (_perturb, click.echo),
    "How well are news classified by topic?": (_estimate_categories, _print_averages),
    "Would more tumours help?": (_grow, click.echo),
}


def _labels(score: list[float]) -> list[str]:
    return ["spam" if value >= CUT else "ham" for value in score]


def _tumours() -> tuple[Any, Any, Any]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    from truerisk.svm.linear import LinearSVM

    X, y = load_breast_cancer(return_X_y=True)
    return LinearSVM(C=0.1), scale(X), y


def has_display() -> bool:
    """Return whether somebody could see a page that is opened."""
    if "CI" in os.environ:
        return False
    named = {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
    return sys.platform in {"darwin", "win32"} or bool(named)


# The data: generated mails and news


def spam_filter() -> tuple[list[str], list[float]]:
    """Generate the true labels and the scores of a filter that is good, and not perfect."""
    mails = _mails()
    scores = [_probability(place, SEPARATION, label) for label, place in mails]
    return [label for label, _ in mails], scores


def better_filter() -> list[float]:
    """Generate the scores that a better filter gives the same mails."""
    source = random.Random(SEED + 1)  # noqa: S311  (an example, no secret)
    unlike = (1 - LIKENESS**2) ** 0.5
    return [
        _probability(LIKENESS * place + unlike * _normal(source), BETTER_SEPARATION, label)
        for label, place in _mails()
    ]


def news() -> "Corpus":
    """Generate short news of eight topics, some of them of two, the frequent topics first."""
    from truerisk.inputs.corpora import Corpus

    source = random.Random(SEED)  # noqa: S311  (an example, no secret)
    texts, labels = [], []
    for _ in range(DOCUMENTS):
        topics = {_drawn(source, tuple(TOPICS), FREQUENCIES)}
        if source.random() < SECOND_TOPIC:
            topics.add(_drawn(source, tuple(TOPICS), FREQUENCIES))
        own = [word for topic in sorted(topics) for word in TOPICS[topic].split()]
        words = [
            _any(source, own) if source.random() < ON_TOPIC else _any(source, COMMON_WORDS)
            for _ in range(WORDS)
        ]
        texts.append(" ".join(words))
        labels.append(tuple(sorted(topics)))
    return Corpus(
        ids=tuple(map(str, range(DOCUMENTS))), texts=tuple(texts), labels=tuple(labels), source=None
    )


def _mails() -> list[tuple[str, float]]:
    """Give the label of each mail, and its place on the axis of evidence."""
    source = random.Random(SEED)  # noqa: S311  (an example, no secret)
    return [
        ("spam" if source.random() < SHARE_OF_SPAM else "ham", _normal(source))
        for _ in range(MAILS)
    ]


def _probability(place: float, separation: float, label: str) -> float:
    """Give the probability of spam at a place on the axis of evidence, by Bayes' rule."""
    normal = NormalDist()
    evidence = place + (separation if label == "spam" else 0.0)
    likelihood = normal.pdf(evidence - separation) * SHARE_OF_SPAM
    other = normal.pdf(evidence) * (1 - SHARE_OF_SPAM)
    return round(likelihood / (likelihood + other), 6)


def _normal(source: random.Random) -> float:
    return NormalDist().inv_cdf(min(max(source.random(), 1e-9), 1 - 1e-9))


def _any(source: random.Random, words: Sequence[str]) -> str:
    return words[int(source.random() * len(words))]


def _drawn(source: random.Random, names: Sequence[str], shares: Sequence[float]) -> str:
    left = source.random()
    for name, share in zip(names, shares, strict=True):
        left -= share
        if left < 0:
            return name
    return names[-1]
