"""`truerisk estimate`: how well a learner will do on examples it has not seen.

Three questions, by their input: learners on a table (refits), two learners on a table (a test of
their difference), SVMs on documents with sets of labels (no refits).
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    FILE,
    level_option,
    option_with_default,
    positive_option,
    seed_option,
    unescaped,
)
from truerisk.cli.output import (
    check_bounds,
    check_names,
    check_options,
    check_outputs,
    check_scoring,
    deliver,
    exit_partial,
    finish,
    format_options,
    page_options,
    quiet_option,
    refuse_options,
    show,
    show_difference,
    table_source,
)
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import (
    kept_in,
    models_from,
    place_of,
    running_options,
    seed_from,
    table_from,
    table_options,
)
from truerisk.errors import NotConvergedWarning, UnstableWarning
from truerisk.learners.named_models import MODELS

if TYPE_CHECKING:
    from truerisk.estimation.refits.estimate import LearnerEvaluation
    from truerisk.inputs.tables import Table
    from truerisk.results import Comparison

WITHOUT_REFITS = ("xi_alpha", "leave_one_out")
RESAMPLING = (
    "cross_validation", "holdout", "subsampling", "five_by_two", "leave_one_out", "time_ordered",
    "bootstrap", "stratified_bootstrap", "jackknife", "nested_cross_validation", "conservative_z",
    "training_error",
)  # fmt: skip
TESTS = (
    "cautious_t", "corrected_t", "five_by_two_t", "five_by_two_f", "bayesian",
    "nested_cross_validation", "variance_components", "agreement", "resampled_t", "k_fold_t",
    "perturbation",
)  # fmt: skip
METHODS = tuple(dict.fromkeys((*RESAMPLING, *WITHOUT_REFITS)))
ONLY_DOCUMENTS = (
    "labels", "id_column", "split", "holdout", "categories", "cost", "rho", "min_documents",
    "multilabel_sep", "strip", "top",
)  # fmt: skip
ONLY_TABLES = (
    "interval", "folds", "repeats", "test_size", "not_stratified", "allow_small_classes",
    "allow_failed", "tune", "measure", "pos_label", "group", "drop", "categorical",
    "missing_values", "decimal", "cluster", "resume", "fail_under", "fail_over", "against", "test",
    "region",
)  # fmt: skip
ONLY_REFITS = (
    "against", "test", "region", "interval", "folds", "repeats", "test_size", "not_stratified",
    "allow_small_classes", "allow_failed", "tune", "measure", "group", "cluster", "resume",
)  # fmt: skip
ONLY_ONE = ("method", "interval", "test_size", "allow_failed", "fail_under", "fail_over")
ONLY_TWO = ("test", "region")
CATEGORY_WIDTH = 120  # columns of the table of categories where output is piped


@click.command(short_help="How well a learner will do on examples it has not seen.")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help=f"A learner: {', '.join(MODELS)}, or module:attribute. linear_svm if absent; repeat it to "
    "choose the best of several.",
)
@click.option("--against", metavar="NAME", help="Another learner: is it better than --model?")
@option_with_default(
    "--test",
    type=click.Choice(TESTS),
    default=TESTS[0],
    help="With --against: the test of the difference; resampled_t and k_fold_t are invalid, "
    "for comparison.",
)
@click.option(
    "--region",
    type=float,
    metavar="X",
    help="With --against: the largest difference that does not matter.",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="Method of estimation; cross_validation for a table, xi_alpha for documents if absent.",
)
@option_with_default(
    "--interval",
    type=click.Choice(
        ["variance_components", "agreement", "corrected_t", "central_limit", "plain_t"]
    ),
    default="variance_components",
    help="Rule of the intervals; plain_t is invalid, for comparison.",
)
@click.option("--folds", type=click.IntRange(2), help="Folds of one repetition; 10 if absent.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Repetitions; 5 of cross-validation, 10 with --against.",
)
@click.option("--test-size", type=float, help="Share to hold out; a third if absent.")
@click.option("--not-stratified", is_flag=True, help="Ignore the classes when dividing.")
@click.option("--allow-small-classes", is_flag=True, help="Let folds lack a class.")
@click.option("--allow-failed", is_flag=True, help="Leave out refits in which the model fails.")
@click.option("--tune", is_flag=True, help="Choose settings anew within every training part.")
@option_with_default(
    "--measure",
    default="error_rate",
    help="Measure by which the best is chosen, or two are compared; also scikit-learn's names.",
)
@positive_option
@table_options
@click.option("--labels", metavar="COLUMN", help="Documents: column of the labels.")
@click.option("--id", "id_column", metavar="COLUMN", help="Documents: column of unique ids.")
@click.option(
    "--split", metavar="COLUMN", help="Documents: column that says train or test; '' to ignore it."
)
@click.option(
    "--holdout", type=float, metavar="SHARE", help="Documents: hold out this share at random."
)
@click.option("--categories", metavar="A,B", help="Documents: only these; all if absent.")
@option_with_default("--C", "cost", type=float, default=0.5, help="Documents: C.")
@option_with_default("--rho", type=float, default=1.0, help="ρ: 1 for text, 2 is proven.")
@click.option(
    "--min-documents",
    type=click.IntRange(1),
    help="Documents: use words that occur in at least this many; 3 if absent.",
)
@click.option("--multilabel-sep", metavar="TEXT", help="Separator of the labels in a cell.")
@click.option("--strip", is_flag=True, help="Documents: remove white space around labels.")
@click.option("--top", type=click.IntRange(1), help="Documents: show only this many categories.")
@level_option
@seed_option
@running_options
@check_options
@format_options("json", "csv", "markdown", "latex")
@page_options
@quiet_option
def estimate(data: Path, **options: Any) -> None:
    """Estimate how well learners trained on DATA will do on examples they have not seen.

    A table (CSV, Parquet, JSON lines, svmlight) with --target or --model: the learner is refitted
    on parts of the examples and tested on the others.  Numbers are scaled, names encoded and gaps
    filled within every training part.  By --method xi_alpha an SVM is trained once, and its error
    is bounded from above: "at most x with 95 % confidence".

    \b
    truerisk estimate data.csv --target y
    truerisk estimate data.csv --target y --model svm --model tree --jobs 2 --seed 1
    truerisk estimate data.csv --target y --model rbf_svm --tune --resume run --seed 1
    truerisk estimate data.csv --target y --method bootstrap --html report.html
    truerisk estimate data.csv --target y --model svm --method xi_alpha
    truerisk estimate data.csv --target y --model tree --against svm --region 0.01
    truerisk estimate reviews.jsonl --target stars --text body --model svm

    Documents with sets of labels (JSON lines, CSV, svmlight, one folder per category, Reuters
    files): one SVM per category, estimated from its training alone.

    \b
    truerisk estimate corpus.jsonl --text body --labels topics
    truerisk estimate corpus.jsonl --holdout 0.5 --seed 1 --html report.html
    """
    check_outputs(options, [data])
    if not _is_table(data, options):
        tables = "tables, and this is read as documents: name the --target or a --model"
        refuse_options(ONLY_TABLES, tables)
        if options["form"] in {"markdown", "latex"}:
            raise click.UsageError(f"--{options['form']}: for {tables}.")
        _estimate_documents(data, options)
        return
    by_training = options["method"] == "xi_alpha"
    only_documents = tuple(name for name in ONLY_DOCUMENTS if name != "rho" or not by_training)
    refuse_options(only_documents, "documents, and this is read as a table")
    if by_training:
        refuse_options(ONLY_REFITS, "refits, and xi_alpha needs none")
        _estimate_by_training(data, options)
    elif options["against"] is None:
        refuse_options(ONLY_TWO, "two learners: name the other one by --against")
        _estimate_learners(data, options)
    else:
        refuse_options(ONLY_ONE, "one learner by itself; two are compared by --test")
        _compare_learners(data, options)


def _is_table(data: Path, options: dict[str, Any]) -> bool:
    """Tell a table of examples from a corpus: by the options, else by the ending of the file."""
    only_tables = set(RESAMPLING) - set(WITHOUT_REFITS)
    named = options["target"] or options["models"] or options["against"]
    return (
        bool(named)
        or options["method"] in only_tables
        or data.suffix.lower() in {".parquet", ".pq"}
    )


def _design(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Collect how the examples are divided; what is absent is left to the method."""
    return {
        **{name: options[name] for name in names if options[name] is not None},
        **({"stratified": False} if options["not_stratified"] else {}),
        **({"allow_small_classes": True} if options["allow_small_classes"] else {}),
    }


# Learners on a table


def _estimate_learners(data: Path, options: dict[str, Any]) -> None:
    from truerisk.estimation.refits.best_of import best_of
    from truerisk.estimation.refits.estimate import estimate as by_refits

    check_scoring(options["measure"])
    check_bounds(options)
    seed = seed_from(options)
    table = table_from(data, options)
    names = options["models"] or ("linear_svm",)
    models = models_from(names, table, len(table), tune=options["tune"])
    several = len(models) > 1
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        settings = {
            **_design(options, ("folds", "repeats", "test_size")),
            "method": options["method"] or "cross_validation",
            "interval": options["interval"],
            "level": options["level"],
            "pos_label": options["pos_label"],
            "allow_failed": options["allow_failed"],
            "groups": table.groups,
            "n_jobs": options["jobs"],
            "resume": options["resume"],
            "random_state": seed,
            "progress": progress,
        }
        if several:
            choice = best_of(models, table.X, table.y, **_measures(options), **settings)
            evaluations = {
                name: _with_source(one, table, name, tuned=options["tune"])
                for name, one in choice.evaluations.items()
            }
            choice = replace(choice, evaluations=evaluations)
            evaluation = evaluations[choice.winner]
        else:
            evaluation = by_refits(models[names[0]], table.X, table.y, **settings)
            evaluation = _with_source(evaluation, table, names[0], tuned=options["tune"])
    check_names(evaluation, options)
    result = choice if several else evaluation
    deliver(result, options, source=evaluation.source)
    finish(evaluation, options)


def _measures(options: dict[str, Any]) -> dict[str, Any]:
    """Say what the best is chosen by; what refits do not give anyway is requested alone."""
    from truerisk.learners.scoring import is_of_counts, scoring_of
    from truerisk.measures.registry import base_and_average

    requested = scoring_of(options["measure"])
    (name,) = requested.order
    alone = requested.scorers or (base_and_average(name)[1] and not is_of_counts(name))
    return {"scoring": options["measure"]} if alone else {"measure": name}


def _with_source(
    evaluation: "LearnerEvaluation", table: "Table", name: str, *, tuned: bool
) -> "LearnerEvaluation":
    kinds = [column.kind for column in table.columns]
    columns = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    return replace(
        evaluation,
        model=name,
        source=table_source(table, **({"columns": columns} if columns else {})),
        settings={**evaluation.settings, "model": name, "tuned": tuned},
        notes=(*table.notes, *evaluation.notes),
    )


# An SVM on a table, by its training alone


def _estimate_by_training(data: Path, options: dict[str, Any]) -> None:
    from truerisk.estimation.svm.xi_alpha import xi_alpha

    if len(options["models"]) > 1:
        raise click.UsageError("--model: once with --method xi_alpha.")
    check_bounds(options)
    table = table_from(data, options)
    names = options["models"] or ("linear_svm",)
    model = models_from(names, table, len(table))[names[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)  # the notes say it
        evaluation = xi_alpha(
            model.fit(table.X, table.y),
            table.X,
            table.y,
            rho=options["rho"],
            level=options["level"],
            pos_label=options["pos_label"],
        )
    evaluation = replace(
        evaluation,
        source={**table_source(table), **evaluation.source},
        settings={**evaluation.settings, "model": names[0]},
        notes=(*table.notes, *evaluation.notes),
    )
    check_names(evaluation, options)
    deliver(evaluation, options, source=evaluation.source)
    finish(evaluation, options)


# Two learners on a table


def _compare_learners(data: Path, options: dict[str, Any]) -> None:
    from truerisk.comparison.learners.compare_models import compare_models

    if len(options["models"]) > 1:
        raise click.UsageError("--model: once with --against, which names the other learner.")
    check_scoring(options["measure"])
    seed = seed_from(options)
    table = table_from(data, options)
    names = (*(options["models"] or ("linear_svm",)), options["against"])
    first, second = (
        models_from((name,), table, len(table), tune=options["tune"])[name] for name in names
    )
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        comparison: Comparison = compare_models(
            first,
            second,
            table.X,
            table.y,
            method=options["test"],
            scoring=options["measure"],
            groups=table.groups,
            region=options["region"],
            level=options["level"],
            names=names if names[0] != names[1] else [f"{names[0]} ({at})" for at in (1, 2)],
            pos_label=options["pos_label"],
            random_state=seed,
            n_jobs=options["jobs"],
            resume=options["resume"],
            progress=progress,
            **_design(options, ("folds", "repeats")),
        )
    comparison = replace(comparison, notes=(*table.notes, *comparison.notes))
    deliver(
        comparison,
        options,
        lambda: show_difference(comparison, table, options["form"]),
        source=table_source(table, seed=seed),
    )
    if not comparison.difference.is_defined:
        exit_partial(comparison.verdict.removesuffix("."))


# SVMs on documents


def _estimate_documents(corpus: Path, options: dict[str, Any]) -> None:
    from truerisk.estimation.corpus.corpus import estimate_corpus
    from truerisk.inputs import ReadingOptions
    from truerisk.inputs.corpora.corpora import read_corpus

    # A random division replaces the one in the file.
    split = "" if options["split"] is None and options["holdout"] is not None else options["split"]
    with Progress("Reading", quiet=options["quiet"]):
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
    listed = (name.strip() for name in (options["categories"] or "").split(","))
    categories = tuple(name for name in listed if name)
    bar = Progress("Training", quiet=options["quiet"])
    with warnings.catch_warnings(record=True) as met, bar as progress:
        warnings.simplefilter("ignore", UnstableWarning)  # the verdict says it
        warnings.simplefilter("always", NotConvergedWarning)
        evaluation = estimate_corpus(
            documents,
            C=options["cost"],
            rho=options["rho"],
            level=options["level"],
            method=options["method"] or "xi_alpha",
            min_documents=options["min_documents"],
            categories=categories if options["categories"] is not None else None,
            holdout=options["holdout"],
            random_state=options["seed"],
            n_jobs=options["jobs"],
            progress=progress,
        )
    for message in dict.fromkeys(str(one.message) for one in met):
        click.echo(f"Warning: {message}", err=True)
    deliver(
        evaluation,
        options,
        lambda: show(evaluation, options["form"], width=CATEGORY_WIDTH, top=options["top"]),
    )
    undefined = [one.name for one in evaluation.categories if one.reason is not None]
    undefined = [name for name in undefined if name in categories]
    if undefined or evaluation.undefined:
        exit_partial(
            f"undefined on these documents: {', '.join([*undefined, *evaluation.undefined])}"
        )
