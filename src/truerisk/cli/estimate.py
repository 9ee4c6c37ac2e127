"""`truerisk estimate`: what a learner will be worth on examples it has not seen."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from truerisk.cli.options import FILE, level_option, positive_option, read_bounds, seed_option
from truerisk.cli.output import format_options
from truerisk.cli.pages import check_pages, page_options
from truerisk.cli.table_options import running_options, table_options

WITHOUT_REFITS = ("xi_alpha", "leave_one_out")
RESAMPLING = (
    "cross_validation", "holdout", "subsampling", "five_by_two", "leave_one_out", "time_ordered",
    "bootstrap", "jackknife", "nested_cross_validation", "conservative_z", "training_error",
)  # fmt: skip
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
ONLY_ONE = ("method", "interval", "test_size", "allow_failed", "fail_under", "fail_over")
ONLY_TWO = ("test", "region")
TESTS = (
    "cautious_t", "corrected_t", "five_by_two_t", "five_by_two_f", "bayesian",
    "nested_cross_validation", "agreement", "resampled_t", "perturbation",
)  # fmt: skip
METHODS = tuple(dict.fromkeys((*RESAMPLING, *WITHOUT_REFITS)))


@click.command(short_help="How well a learner will do on examples it has not seen.")
@click.argument("data", type=FILE, metavar="DATA")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="A learner, or module:attribute; again for another, and the best is found.",
)
@click.option(
    "--against",
    metavar="NAME",
    help="Another learner: is it better than --model?",
)
@click.option(
    "--test",
    type=click.Choice(TESTS),
    default=TESTS[0],
    show_default=True,
    help="With --against: how it is told; resampled_t is invalid, for comparison.",
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
    help="How; cross_validation for a table, xi_alpha for documents if absent.",
)
@click.option(
    "--interval",
    type=click.Choice(["agreement", "corrected_t", "central_limit", "plain_t"]),
    default="agreement",
    show_default=True,
    help="Rule of the intervals; plain_t is invalid, for comparison.",
)
@click.option("--folds", type=click.IntRange(2), help="Folds of one repetition; 10 if absent.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Repetitions; 5 of cross-validation, 10 with --against.",
)
@click.option("--test-size", type=float, help="Share to hold out; a third if absent.")
@click.option("--not-stratified", is_flag=True, help="Divide with no regard to classes.")
@click.option("--allow-small-classes", is_flag=True, help="Let folds lack a class.")
@click.option("--allow-failed", is_flag=True, help="Leave out refits in which the model fails.")
@click.option("--tune", is_flag=True, help="Choose settings anew within every training part.")
@click.option(
    "--measure",
    default="error_rate",
    show_default=True,
    help="By which the best is chosen, or two are compared.",
)
@positive_option
@table_options
@click.option("--labels", metavar="COLUMN", help="Documents: column of the labels.")
@click.option("--id", "id_column", metavar="COLUMN", help="Documents: column of unique ids.")
@click.option(
    "--split",
    metavar="COLUMN",
    help="Documents: column that says train or test; '' leaves it aside.",
)
@click.option(
    "--holdout", type=float, metavar="SHARE", help="Documents: hold out this share at random."
)
@click.option("--categories", metavar="A,B", help="Documents: only these; all if absent.")
@click.option("--C", "cost", type=float, default=0.5, show_default=True, help="Documents: C.")
@click.option(
    "--rho", type=float, default=1.0, show_default=True, help="ρ: 1 for text, 2 is proven."
)
@click.option(
    "--min-documents",
    type=click.IntRange(1),
    help="Documents: use words of at least so many; 3 if absent.",
)
@click.option("--multilabel-sep", metavar="TEXT", help="What separates several labels of a cell.")
@click.option("--strip", is_flag=True, help="Documents: remove white space around labels.")
@click.option("--top", type=click.IntRange(1), help="Documents: show only so many categories.")
@level_option
@seed_option
@running_options
@click.option(
    "--fail-under",
    multiple=True,
    callback=read_bounds,
    metavar="MEASURE=X",
    help="End with 1 unless the lower end of the interval is at least X.",
)
@click.option(
    "--fail-over",
    multiple=True,
    callback=read_bounds,
    metavar="MEASURE=X",
    help="End with 1 unless the upper end of the interval is at most X.",
)
@format_options("json", "csv", "markdown", "latex")
@page_options
@click.option("-q", "--quiet", is_flag=True, help="Print no result; the exit code tells.")
def estimate(data: Path, **options: Any) -> None:  # noqa: ANN401
    """Train on DATA and say what that is worth on examples not seen, how sure that is.

    A table (CSV, Parquet, JSON lines, svmlight) with --target or --model: the learner is trained
    again and again on parts of the examples and judged by the others.  Numbers are scaled, names
    encoded and gaps filled within every training part.  Learners: linear_svm, rbf_svm,
    logistic_regression, naive_bayes, knn, tree, random_forest, gradient_boosting, adaboost,
    majority.

    \b
    truerisk estimate data.csv --target y
    truerisk estimate data.csv --target y --model svm --model tree --jobs 2 --seed 1
    truerisk estimate data.csv --target y --model rbf_svm --tune --resume run --seed 1
    truerisk estimate data.csv --target y --method bootstrap --html report.html
    truerisk estimate data.csv --target y --model tree --against svm --region 0.01
    truerisk estimate reviews.jsonl --target stars --text body --model svm

    Documents with sets of labels (JSON lines, CSV, svmlight, a folder for each category, Reuters
    files): a support vector machine for each category, judged from its training alone.

    \b
    truerisk estimate corpus.jsonl --text body --labels topics
    truerisk estimate corpus.jsonl --holdout 0.5 --seed 1 --html report.html

    Exit code: 0, 1 a check failed, 2 wrong option, 3 wrong input, 4 a measure has no value or a
    refit failed, 5 the machine stood in the way.
    """
    check_pages(options, [data])
    if _is_table(data, options):
        from truerisk.cli.learner_road import estimate_learners  # noqa: PLC0415  (start-up time)

        _refuse(ONLY_DOCUMENTS, "documents, and this is read as a table")
        if options["against"] is not None:
            from truerisk.cli.against import compare_learners  # noqa: PLC0415  (start-up time)

            _refuse(ONLY_ONE, "one learner by itself; two are compared by --test")
            compare_learners(data, options)
            return
        _refuse(ONLY_TWO, "two learners: name the other one by --against")
        estimate_learners(data, options)
    else:
        from truerisk.cli.corpus_road import estimate_documents  # noqa: PLC0415  (start-up time)

        tables = "tables, and this is read as documents: name the --target or a --model"
        _refuse(ONLY_TABLES, tables)
        if options["form"] in {"markdown", "latex"}:
            raise click.UsageError(f"--{options['form']}: for {tables}.")
        estimate_documents(data, options)


def _is_table(data: Path, options: dict[str, Any]) -> bool:
    """Tell a table of examples from a corpus: by what is asked, else by the ending."""
    only_tables = set(RESAMPLING) - set(WITHOUT_REFITS)
    asked = options["target"] or options["models"] or options["against"]
    asked = asked or options["method"] in only_tables
    return bool(asked) or data.suffix.lower() in {".parquet", ".pq"}


def _refuse(others: tuple[str, ...], what: str) -> None:
    """Refuse options that would be passed over."""
    context = click.get_current_context()
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name in others
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)}: for {what}.")
