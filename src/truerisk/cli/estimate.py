"""`truerisk estimate`: what a classifier learned from these documents will be worth."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import PARTIAL
from truerisk.cli.options import FILE, level_option
from truerisk.cli.output import console, format_options
from truerisk.cli.progress import Progress
from truerisk.errors import NotConvergedWarning, UnstableWarning

if TYPE_CHECKING:
    from truerisk.estimation.corpus import CorpusEvaluation


@click.command(short_help="How well an SVM will tell categories of documents; no resampling.")
@click.argument("corpus", type=FILE, metavar="FILE")
@click.option("--text", metavar="COLUMN", help="Column of the texts; found if absent.")
@click.option("--labels", metavar="COLUMN", help="Column of the labels; found if absent.")
@click.option("--id", "id_column", metavar="COLUMN", help="Column of unique ids.")
@click.option(
    "--split",
    metavar="COLUMN",
    help="Column that says train or test; found if absent, '' leaves it aside.",
)
@click.option(
    "--holdout", type=float, metavar="SHARE", help="Hold out this share of the documents at random."
)
@click.option(
    "--seed",
    "--random-state",
    "random_state",
    type=click.IntRange(0, 2**32 - 1),
    help="Seed of the random division; drawn if absent.",
)
@click.option("--categories", metavar="A,B", help="Only these categories; all if absent.")
@click.option(
    "--method",
    type=click.Choice(["xi_alpha", "leave_one_out"]),
    default="xi_alpha",
    show_default=True,
    help="From one training alone, or by exact leave-one-out.",
)
@click.option("--C", "cost", type=float, default=0.5, show_default=True, help="Price of an error.")
@click.option(
    "--rho", type=float, default=1.0, show_default=True, help="ρ: 1 for text, 2 is proven."
)
@level_option
@click.option(
    "--min-documents",
    type=click.IntRange(1),
    help="Use words of at least so many training documents; 3 if absent.",
)
@click.option("--multilabel-sep", metavar="TEXT", help="What separates several labels of a cell.")
@click.option("--delimiter", metavar="CHARACTER", help="What separates cells; found if absent.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text files.")
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="What to do with documents that have no text or no labels.",
)
@click.option("--strip", is_flag=True, help="Remove white space around labels.")
@click.option("--jobs", type=int, default=-1, help="Categories trained at a time; all cores.")
@click.option("--top", type=click.IntRange(1), help="Show only so many categories, the largest.")
@format_options("json", "csv")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a page, too.")
@click.option("-q", "--quiet", is_flag=True, help="Print no result; the exit code tells.")
def estimate(corpus: Path, **options: Any) -> None:  # noqa: ANN401
    """Estimate how well each category of a corpus will be told from the rest.

    FILE holds documents and their labels: JSON lines or CSV (also .gz), svmlight, or a folder with
    a folder for each category or with the Reuters-21578 files.  A support vector machine is trained
    for each category; error, recall, precision and F1 on new documents follow from that training
    alone, without a single fold.  Where the file says train and test, what the test documents say
    stands beside.

    \b
    truerisk estimate corpus.jsonl
    truerisk estimate corpus.jsonl --text body --labels topics --split part
    truerisk estimate corpus.csv --multilabel-sep "|" --categories earn,acq
    truerisk estimate corpus.jsonl --holdout 0.5 --seed 1 --html report.html
    truerisk estimate corpus.jsonl --method leave_one_out --csv

    Exit code: 0, 2 wrong option, 3 wrong input, 4 when an average or a category asked for by name
    has no value, 5 when the machine stood in the way.
    """
    page, form, quiet, top = (options.pop(name) for name in ("html", "form", "quiet", "top"))
    if page is not None:
        from truerisk.reporting.files import check_destination  # noqa: PLC0415  (only for pages)

        check_destination(page, [corpus])
    found = _evaluation(corpus, quiet=quiet, options=options)
    if not quiet:
        _show(found, form, top)
    if page is not None:
        from truerisk.reporting.categories_page import save_categories  # noqa: PLC0415

        save_categories(found, page)
        if not quiet and form is None:
            click.echo(f"The page is in {page}")
    _finish(found, _names(options["categories"]) or ())


def _evaluation(corpus: Path, *, quiet: bool, options: dict[str, Any]) -> "CorpusEvaluation":
    from truerisk.estimation.corpus import estimate_corpus  # noqa: PLC0415  (costs start-up time)
    from truerisk.reading import ReadingOptions  # noqa: PLC0415
    from truerisk.reading.corpora import read_corpus  # noqa: PLC0415

    # Who asks for a random division does not want the one in the file.
    split = "" if options["split"] is None and options["holdout"] is not None else options["split"]
    documents = read_corpus(
        corpus,
        text=options["text"],
        labels=options["labels"],
        id=options["id_column"],
        split=split,
        options=ReadingOptions(
            delimiter="\t" if options["delimiter"] in {r"\t", "tab"} else options["delimiter"],
            multilabel_separator=options["multilabel_sep"],
            encoding=options["encoding"],
            missing=options["missing"],
            strip=options["strip"],
        ),
    )
    with warnings.catch_warnings(record=True) as met, Progress("Training", quiet=quiet) as progress:
        warnings.simplefilter("ignore", UnstableWarning)  # the verdict tells it
        warnings.simplefilter("always", NotConvergedWarning)
        found = estimate_corpus(
            documents,
            C=options["cost"],
            rho=options["rho"],
            level=options["level"],
            method=options["method"],
            min_documents=options["min_documents"],
            categories=_names(options["categories"]),
            holdout=options["holdout"],
            random_state=options["random_state"],
            n_jobs=options["jobs"],
            progress=progress,
        )
    for message in dict.fromkeys(str(one.message) for one in met):
        click.echo(f"Warning: {message}", err=True)
    return found


def _names(categories: str | None) -> tuple[str, ...] | None:
    if categories is None:
        return None
    return tuple(name.strip() for name in categories.split(",") if name.strip())


def _show(found: "CorpusEvaluation", form: str | None, top: int | None) -> None:
    from truerisk.reporting.categories import (  # noqa: PLC0415  (costs start-up time)
        CORPUS_FORMATS,
        WIDTH,
        print_categories,
    )

    if form is not None:
        click.echo(CORPUS_FORMATS[form](found))
        return
    terminal = console()
    if not sys.stdout.isatty():
        terminal.width = WIDTH
    print_categories(found, terminal, top=top)


def _finish(found: "CorpusEvaluation", asked: tuple[str, ...]) -> None:
    missing = [one.name for one in found.categories if one.name in asked and one.reason is not None]
    if missing or found.undefined:
        names = ", ".join([*missing, *found.undefined])
        click.echo(f"Partial result: undefined on these documents: {names}.", err=True)
        sys.exit(PARTIAL)
