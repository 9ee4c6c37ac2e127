"""`truerisk demo`: score generated predictions, write report.html, judge three learners."""

import random
from pathlib import Path
from statistics import NormalDist

import click

from truerisk.cli.output import show
from truerisk.cli.progress import Progress

EXAMPLES = 1500
SHARE_OF_SPAM = 0.14
SEPARATION = 2.2  # how far apart the two classes lie, in standard deviations
CUT = 0.5
SEED = 4
LEARNERS = ("linear_svm", "naive_bayes", "tree")


@click.command(short_help="Score generated predictions, write report.html, judge learners.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="Folder for report.html.",
)
def demo(output: Path) -> None:
    """Score the generated predictions of a spam filter, write report.html, judge three learners.

    The predictions are the same on every machine; the learners are judged on the breast cancer data
    that scikit-learn brings along.
    """
    from truerisk.evaluation import evaluate  # noqa: PLC0415  (costs start-up time)
    from truerisk.reporting.files import check_destination  # noqa: PLC0415
    from truerisk.reporting.html import save_report  # noqa: PLC0415

    output.mkdir(parents=True, exist_ok=True)
    page = output / "report.html"
    check_destination(page)
    truth, score = spam_filter()
    called = ["spam" if value >= CUT else "ham" for value in score]
    evaluation = evaluate(
        truth,
        called,
        y_score=score,
        positive="spam",
        probabilities=True,
        random_state=SEED,
    )
    show(evaluation, None)
    written = save_report(evaluation, page).resolve()
    _judge_learners()
    click.echo(f"The page of the spam filter: {written}")


def _judge_learners() -> None:
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415  (costs start-up time)

    from truerisk.estimation.best_of import best_of  # noqa: PLC0415
    from truerisk.learners.named_models import find_model  # noqa: PLC0415

    X, y = load_breast_cancer(return_X_y=True)
    models = {name: find_model(name, ("number",) * X.shape[1]) for name in LEARNERS}
    with Progress("Training") as progress:
        found = best_of(models, X, y, repeats=2, random_state=SEED, progress=progress)
    click.echo(f"Learners, not predictions: {len(LEARNERS)} of them on {len(y)} tumours, judged by")
    click.echo("10-fold cross-validation, twice; error rate, best first.")
    click.echo()
    for line in str(found).splitlines():
        click.echo(f"  {line}")
    click.echo()


def spam_filter() -> tuple[list[str], list[float]]:
    """Generate the true labels and the scores of a filter that is good, and not perfect.

    Only `Random.random` is drawn from: of all generators it alone is promised to stay the same.
    """
    source, normal = random.Random(SEED), NormalDist()  # noqa: S311  (an example, no secret)
    truth, score = [], []
    for _ in range(EXAMPLES):
        is_spam = source.random() < SHARE_OF_SPAM
        place = normal.inv_cdf(min(max(source.random(), 1e-9), 1 - 1e-9))
        evidence = place + (SEPARATION if is_spam else 0.0)
        likelihood = normal.pdf(evidence - SEPARATION) * SHARE_OF_SPAM
        other = normal.pdf(evidence) * (1 - SHARE_OF_SPAM)
        truth.append("spam" if is_spam else "ham")
        score.append(round(likelihood / (likelihood + other), 6))
    return truth, score
