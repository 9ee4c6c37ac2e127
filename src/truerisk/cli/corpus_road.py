"""`truerisk estimate` of documents: an SVM for each category, judged without a single refit."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import PARTIAL
from truerisk.cli.options import unescaped
from truerisk.cli.output import console, show
from truerisk.cli.pages import write_pages
from truerisk.cli.progress import Progress
from truerisk.errors import NotConvergedWarning, UnstableWarning

if TYPE_CHECKING:
    from truerisk.estimation.corpus.corpus import CorpusEvaluation

WIDTH = 120  # of a table where no terminal says how wide it is


def estimate_documents(corpus: Path, options: dict[str, Any]) -> None:
    """Estimate, print, write the page, and end with the code that fits."""
    found = _evaluation(corpus, options)
    if not options["quiet"]:
        _show(found, options["form"], options["top"])
    write_pages(found, options)
    _finish(found, _names(options["categories"]) or ())


def _evaluation(corpus: Path, options: dict[str, Any]) -> "CorpusEvaluation":
    from truerisk.estimation.corpus.corpus import estimate_corpus  # noqa: PLC0415  (costs start-up time)
    from truerisk.inputs import ReadingOptions  # noqa: PLC0415
    from truerisk.inputs.corpora.corpora import read_corpus  # noqa: PLC0415

    # Who asks for a random division does not want the one in the file.
    split = "" if options["split"] is None and options["holdout"] is not None else options["split"]
    documents = read_corpus(
        corpus,
        text=options["text"][-1] if options["text"] else None,
        labels=options["labels"],
        id=options["id_column"],
        split=split,
        options=ReadingOptions(
            delimiter=unescaped(options["delimiter"]),
            multilabel_separator=options["multilabel_sep"],
            encoding=options["encoding"],
            missing=options["missing"],
            strip=options["strip"],
        ),
    )
    bar = Progress("Training", quiet=options["quiet"])
    with warnings.catch_warnings(record=True) as met, bar as progress:
        warnings.simplefilter("ignore", UnstableWarning)  # the verdict tells it
        warnings.simplefilter("always", NotConvergedWarning)
        found = estimate_corpus(
            documents,
            C=options["cost"],
            rho=options["rho"],
            level=options["level"],
            method=options["method"] or "xi_alpha",
            min_documents=options["min_documents"],
            categories=_names(options["categories"]),
            holdout=options["holdout"],
            random_state=options["seed"],
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
    if form is not None:
        show(found, form)
        return
    from truerisk.reporting.render.terminal import print_result  # noqa: PLC0415  (needs rich)

    print_result(found, console(piped_width=WIDTH), top=top)


def _finish(found: "CorpusEvaluation", asked: tuple[str, ...]) -> None:
    missing = [one.name for one in found.categories if one.name in asked and one.reason is not None]
    if missing or found.undefined:
        names = ", ".join([*missing, *found.undefined])
        click.echo(f"Partial result: undefined on these documents: {names}.", err=True)
        sys.exit(PARTIAL)
