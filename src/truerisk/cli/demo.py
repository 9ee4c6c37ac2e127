"""`truerisk demo`: score generated predictions and write report.html."""

import random
from pathlib import Path
from statistics import NormalDist

import click

from truerisk.cli.output import show

EXAMPLES = 1500
SHARE_OF_SPAM = 0.14
SEPARATION = 2.2  # how far apart the two classes lie, in standard deviations
CUT = 0.5
SEED = 4


@click.command(short_help="Score generated predictions and write report.html.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="Folder for report.html.",
)
def demo(output: Path) -> None:
    """Score the generated predictions of a spam filter, and write report.html.

    The predictions are the same on every machine.
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
    click.echo(f"The same as a page: {save_report(evaluation, page).resolve()}")


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
