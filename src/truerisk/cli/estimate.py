"""`truerisk estimate`: how well a learner will do on examples it has not seen.

Three questions, by their input: learners on a table (refits), two learners on a table (a test of
their difference), SVMs on documents with sets of labels (no refits).
"""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
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
ONLY_TRAINING = ("refine", "depth")
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
ONLY_REFITS = (
    "against", "test", "region", "interval", "folds", "repeats", "test_size", "not_stratified",
    "allow_small_classes", "allow_failed", "tune", "measure", "group", "cluster", "resume",
)  # fmt: skip
ONLY_TABLES = (
    *ONLY_REFITS, "pos_label", "drop", "categorical", "missing_values", "decimal", "fail_under",
    "fail_over",
)  # fmt: skip
ONLY_ONE = ("method", "interval", "test_size", "allow_failed", "fail_under", "fail_over")
ONLY_TWO = ("test", "region")
CATEGORY_WIDTH = 120  # columns of the table of categories where output is piped


@click.command()
@opt.DATA
@opt.option(
    "--model models",
    f"A learner: {', '.join(MODELS)}, or module:attribute. linear_svm if absent; repeat it to "
    "choose the best of several.",
    multiple=True,
    metavar="NAME",
)
@opt.option("--against", "Another learner: is it better than --model?", metavar="NAME")
@opt.option(
    "--test",
    "With --against: the test of the difference; resampled_t and k_fold_t are invalid, "
    "for comparison.",
    TESTS,
    TESTS[0],
)
@opt.option(
    "--region", "With --against: the largest difference that does not matter.", float, metavar="X"
)
@opt.option(
    "--method",
    "Method of estimation; cross_validation for a table, xi_alpha for documents if absent.",
    METHODS,
)
@opt.option(
    "--interval",
    "Rule of the intervals; plain_t is invalid, for comparison.",
    ("variance_components", "agreement", "corrected_t", "central_limit", "plain_t"),
    "variance_components",
)
@opt.option("--folds", "Folds of one repetition; 10 if absent.", click.IntRange(2))
@opt.option("--repeats", "Repetitions; 5 of cross-validation, 10 with --against.", opt.COUNT)
@opt.option("--test-size", "Share to hold out; a third if absent.", float)
@opt.flag("--not-stratified", "Ignore the classes when dividing.")
@opt.flag("--allow-small-classes", "Let folds lack a class.")
@opt.flag("--allow-failed", "Leave out refits in which the model fails.")
@opt.flag("--tune", "Choose settings anew within every training part.")
@opt.option(
    "--measure",
    "Measure by which the best is chosen, or two are compared; also scikit-learn's names.",
    default="error_rate",
)
@opt.positive
@opt.table
@opt.labels
@opt.column("--id id_column", "Documents: column of unique ids.")
@opt.column("--split", "Documents: column that says train or test; '' to ignore it.")
@opt.option("--holdout", "Documents: hold out this share at random.", float, metavar="SHARE")
@opt.categories
@opt.option("--C cost", "Documents: C.", float, 0.5)
@opt.option("--rho", "ρ: 1 for text, 2 is proven.", float, 1.0)
@opt.option(
    "--refine",
    "xi_alpha of a table: take most of its bias away; search is SVM-light's.",
    ("span", "search"),
)
@opt.option("--depth", "Of --refine search; 10 if absent.", opt.COUNT)
@opt.option(
    "--min-documents",
    "Documents: use words that occur in at least this many; 3 if absent.",
    opt.COUNT,
)
@opt.separator
@opt.flag("--strip", "Documents: remove white space around labels.")
@opt.option("--top", "Documents: show only this many categories.", opt.COUNT)
@opt.level
@opt.seed
@opt.running
@out.checks
@out.formats("json", "csv", "markdown", "latex")
@out.page
@out.quiet
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
    out.check_outputs(options, [data])
    if not _is_table(data, options):
        out.refuse_options(ONLY_TRAINING, "--method xi_alpha of a table")
        tables = "tables, and this is read as documents: name the --target or a --model"
        out.refuse_options(ONLY_TABLES, tables)
        if options["form"] in {"markdown", "latex"}:
            raise click.UsageError(f"--{options['form']}: for {tables}.")
        _estimate_documents(data, options)
        return
    by_training = options["method"] == "xi_alpha"
    if not by_training:
        out.refuse_options(ONLY_TRAINING, "--method xi_alpha of a table")
    only_documents = tuple(name for name in ONLY_DOCUMENTS if name != "rho" or not by_training)
    out.refuse_options(only_documents, "documents, and this is read as a table")
    if by_training:
        out.refuse_options(ONLY_REFITS, "refits, and xi_alpha needs none")
        _estimate_by_training(data, options)
    elif options["against"] is None:
        out.refuse_options(ONLY_TWO, "two learners: name the other one by --against")
        _estimate_learners(data, options)
    else:
        out.refuse_options(ONLY_ONE, "one learner by itself; two are compared by --test")
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

    out.check_scoring(options["measure"])
    out.check_bounds(options)
    seed = opt.seed_from(options)
    table = opt.table_from(data, options)
    names = options["models"] or ("linear_svm",)
    models = opt.models_from(names, table, len(table), tune=options["tune"])
    several = len(models) > 1
    with opt.training(table, options, seed) as settings:
        settings |= {
            **_design(options, ("folds", "repeats", "test_size")),
            **opt.only(options, "interval", "allow_failed"),
            "method": options["method"] or "cross_validation",
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
    out.check_names(evaluation, options)
    result = choice if several else evaluation
    out.deliver(result, options, source=evaluation.source)
    out.finish(evaluation, options)


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
        source=out.table_source(table, **({"columns": columns} if columns else {})),
        settings={**evaluation.settings, "model": name, "tuned": tuned},
        notes=(*table.notes, *evaluation.notes),
    )


# An SVM on a table, by its training alone


def _estimate_by_training(data: Path, options: dict[str, Any]) -> None:
    from truerisk.estimation.svm.xi_alpha import xi_alpha

    if len(options["models"]) > 1:
        raise click.UsageError("--model: once with --method xi_alpha.")
    out.check_bounds(options)
    table = opt.table_from(data, options)
    names = options["models"] or ("linear_svm",)
    model = opt.models_from(names, table, len(table))[names[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)  # the notes say it
        evaluation = xi_alpha(
            model.fit(table.X, table.y),
            table.X,
            table.y,
            **opt.only(options, "rho", "refine", "depth", "level", "pos_label"),
        )
    evaluation = replace(
        evaluation,
        source={**out.table_source(table), **evaluation.source},
        settings={**evaluation.settings, "model": names[0]},
        notes=(*table.notes, *evaluation.notes),
    )
    out.check_names(evaluation, options)
    out.deliver(evaluation, options, source=evaluation.source)
    out.finish(evaluation, options)


# Two learners on a table


def _compare_learners(data: Path, options: dict[str, Any]) -> None:
    from truerisk.comparison.learners.compare_models import compare_models

    if len(options["models"]) > 1:
        raise click.UsageError("--model: once with --against, which names the other learner.")
    out.check_scoring(options["measure"])
    seed = opt.seed_from(options)
    table = opt.table_from(data, options)
    names = (*(options["models"] or ("linear_svm",)), options["against"])
    first, second = (
        opt.models_from((name,), table, len(table), tune=options["tune"])[name] for name in names
    )
    with opt.training(table, options, seed) as settings:
        comparison: Comparison = compare_models(
            first,
            second,
            table.X,
            table.y,
            method=options["test"],
            scoring=options["measure"],
            region=options["region"],
            names=names if names[0] != names[1] else [f"{names[0]} ({at})" for at in (1, 2)],
            **settings,
            **_design(options, ("folds", "repeats")),
        )
    comparison = replace(comparison, notes=(*table.notes, *comparison.notes))
    read = {"file": table.source, "target": table.target}
    source = out.table_source(table, seed=seed)
    out.deliver(comparison, options, source=source, extra={"source": read})
    if not comparison.difference.is_defined:
        out.exit_partial(comparison.verdict.removesuffix("."))


# SVMs on documents


def _estimate_documents(corpus: Path, options: dict[str, Any]) -> None:
    from truerisk.estimation.corpus.corpus import estimate_corpus

    # A random division replaces the one in the file.
    split = "" if options["split"] is None and options["holdout"] is not None else options["split"]
    documents = opt.corpus_from(corpus, options, split)
    categories = opt.categories_from(options)
    bar = Progress("Training", quiet=options["quiet"])
    with warnings.catch_warnings(record=True) as met, bar as progress:
        warnings.simplefilter("ignore", UnstableWarning)  # the verdict says it
        warnings.simplefilter("always", NotConvergedWarning)
        evaluation = estimate_corpus(
            documents,
            C=options["cost"],
            method=options["method"] or "xi_alpha",
            categories=categories if options["categories"] is not None else None,
            **opt.only(options, "rho", "level", "min_documents", "holdout"),
            random_state=options["seed"],
            n_jobs=options["jobs"],
            progress=progress,
        )
    for message in dict.fromkeys(str(one.message) for one in met):
        click.echo(f"Warning: {message}", err=True)
    out.deliver(evaluation, options, width=CATEGORY_WIDTH, top=options["top"])
    undefined = [one.name for one in evaluation.categories if one.reason is not None]
    undefined = [name for name in undefined if name in categories]
    if undefined or evaluation.undefined:
        out.exit_partial(
            f"undefined on these documents: {', '.join([*undefined, *evaluation.undefined])}"
        )
