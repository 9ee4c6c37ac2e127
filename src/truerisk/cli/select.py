"""`truerisk select`: C, kernel and words of an SVM, chosen without folds."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning

if TYPE_CHECKING:
    from truerisk.estimation.svm.selection import Selection

DOCUMENT_COSTS = [0.1, 0.25, 0.5, 1.0, 2.0]
WORDS = {"none": None, "true": True, "false": False}


@click.command()
@opt.DATA
@opt.option("--model", "linear_svm (if absent), rbf_svm, module:attribute.", metavar="NAME")
@opt.option(
    "--over",
    "Values to try: C, gamma, kernel, …; of documents C, stem, stop_words, ngrams, weighting, "
    "min_documents, words, lowercase. May be repeated; five values of C if absent.",
    multiple=True,
    metavar="NAME=V,V,…",
)
@opt.option(
    "--by",
    "The estimate that decides; leave_one_out is exact, and takes longer.",
    ("xi_alpha", "leave_one_out"),
    "xi_alpha",
)
@opt.option("--measure", "What is to be best; error_rate, or hamming_loss for several.")
@opt.option("--rho", "ρ of ξα: 1 for text, 2 is proven.", float, 1.0)
@opt.option("--replicates", "Of the bootstrap.", opt.COUNT, 500)
@opt.option("--seed --random-state", "Its seed.", click.IntRange(0), 0)
@opt.threads
@opt.level
@opt.table
@opt.labels
@opt.column("--split", "Documents: column that says train or test.")
@opt.categories
@opt.separator
@out.formats("json", "csv", "markdown", "latex")
@out.page
@out.quiet
def select(data: Path, **options: Any) -> None:
    """Choose the settings of an SVM on DATA by what its training says of new examples.

    A table (CSV, Parquet, JSON lines, svmlight) with --target or --model.  Every setting is trained
    once, on all rows; the winner's estimate is corrected for having been chosen.

    \b
    truerisk select data.csv --target y
    truerisk select data.csv --target y --model rbf_svm --over C=1,10,100 --over gamma=0.01,0.1
    truerisk select data.csv --target y --by leave_one_out --measure f1 --html choice.html

    Documents with labels (as for `truerisk estimate`): words, stems and weights are settings, too.

    \b
    truerisk select corpus.jsonl --over stem=none,porter --over stop_words=none,english
    truerisk select corpus.jsonl --categories earn --over ngrams=1,2 --over weighting=tfidf,tf
    """
    out.check_outputs(options, [data])
    over = _over(options["over"])
    is_table = options["target"] is not None or options["model"] is not None
    with warnings.catch_warnings():
        for kind in (UnstableWarning, NotConvergedWarning):
            warnings.simplefilter("ignore", kind)
        result = (_of_table if is_table else _of_documents)(data, over, options)
    out.deliver(result, options)


def _over(texts: tuple[str, ...]) -> dict[str, list[Any]]:
    """Read NAME=V,V,…."""
    over: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise click.UsageError(f"--over must be NAME=V,V,…, as C=1,10; got {text!r}.")
        over[name.strip()] = [_value(part.strip()) for part in values.split(",")]
    return over


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _chosen(model: Any, X: Any, y: Any, over: Any, options: dict[str, Any]) -> "Selection":
    from truerisk.estimation.svm.selection import select as choose

    with Progress("Training", quiet=options["quiet"]):
        return choose(
            model,
            X,
            y,
            over=over,
            n_jobs=options["jobs"],
            random_state=options["seed"],
            **opt.only(options, "by", "measure", "rho", "level", "replicates"),
        )


def _of_table(data: Path, over: dict[str, list[Any]], options: dict[str, Any]) -> "Selection":
    table = opt.table_from(data, options)
    name = options["model"] or "linear_svm"
    model = opt.models_from((name,), table, len(table))[name]
    result = _chosen(model, table.X, table.y, over or None, options)
    return replace(result, notes=(*table.notes, *result.notes))


def _of_documents(data: Path, over: dict[str, list[Any]], options: dict[str, Any]) -> "Selection":
    import numpy as np
    from sklearn.pipeline import Pipeline

    from truerisk.svm.linear import LinearSVM
    from truerisk.text.vectorizer import SETTINGS, Vectorizer

    corpus = opt.corpus_from(data, options, options["split"])
    if corpus.texts is None:
        raise InputError("`DATA` must hold texts; got vectors. Name the --target of a table.")
    rows = corpus.part("train") if "train" in (corpus.split or ()) else np.arange(len(corpus))
    listed = opt.categories_from(options)
    names = listed or corpus.categories
    if len(names) == 2 and not listed and all(len(one) == 1 for one in corpus.labels):
        names = names[1:]  # one is what the other is not
    members = np.column_stack([corpus.members(name)[rows] for name in names]).astype(int)
    over = {"C": DOCUMENT_COSTS, **over}
    named = {(f"vectorizer__{name}" if name in SETTINGS else name): over[name] for name in over}
    model = Pipeline([("vectorizer", Vectorizer()), ("svm", LinearSVM())])
    texts = [corpus.texts[row] for row in rows]
    y = members[:, 0] if len(names) == 1 else members
    return _chosen(model, texts, y, named, options)
