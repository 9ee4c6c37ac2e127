"""Options that several commands share, and what is made of their values.

Commands import this module as `opt`: `@opt.level`, `@opt.reading`, `@opt.option("--best", …)`.
"""

import json
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from truerisk.cli import INTERRUPTED, TERMINATED
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.measures import AVERAGES, MEASURES

if TYPE_CHECKING:
    from truerisk.inputs.corpora import Corpus
    from truerisk.inputs.tables import Table

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]
MAX_COST_BYTES = 2**24


class InputPath(click.Path):
    """A file that is read: where it is absent, the input is wrong, not the option."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Copy what is not on this disk; leave patterns to the reader, and paths to click."""
        if isinstance(value, str) and re.search(r"^-$|://|[*?[]", value):
            from truerisk.inputs.records.places import is_pattern, local_path

            path = local_path(value)
            if is_pattern(path):
                return path
            value = str(path)
        return super().convert(value, param, ctx)

    def fail(
        self,
        message: str,
        param: click.Parameter | None = None,  # noqa: ARG002
        ctx: click.Context | None = None,  # noqa: ARG002
    ) -> NoReturn:
        """Raise an error of the input."""
        raise InputError(message)


def option(
    names: str, text: str, kind: Any = None, default: Any = None, **settings: Any
) -> Decorator:
    """Make an option: its flags and, where it differs, its name, separated by spaces; its help.

    `kind` is a type, or the list of what may be chosen.  Help shows the default where there is one.
    """
    if isinstance(kind, (tuple, list)):
        kind = click.Choice(kind)
    if default is not None:
        settings = {"default": default, "show_default": True, **settings}
    return click.option(*names.split(), type=kind, help=text, **settings)


def flag(names: str, text: str) -> Decorator:
    """Make an option without a value."""
    return click.option(*names.split(), is_flag=True, help=text)


def column(names: str, text: str, **settings: Any) -> Decorator:
    """Make an option that names a column."""
    return option(names, text, metavar="COLUMN", **settings)


def bundle(*options: Decorator) -> Callable[[Function], Function]:
    """Join options into one decorator, in the order in which help is to list them."""

    def add(function: Function) -> Function:
        for one in reversed(options):
            function = one(function)
        return function

    return add


FILE = InputPath(exists=True, path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
DATA = click.argument("data", type=FILE, metavar="DATA")
COUNT = click.IntRange(min=1)

level = option("--level", "Confidence level.", float, 0.95)
positive = option(
    "--positive pos_label",
    "Positive label; not needed for 0/1, -1/1 and booleans.",
    metavar="LABEL",
)
seed = option(
    "--seed --random-state seed",
    "Seed of all randomness; drawn if absent.",
    click.IntRange(0, 2**32 - 1),
)
costs = option(
    "--costs",
    "What mistakes cost: by outcome, or a JSON or CSV file with a K × K table, rows truth.",
    metavar="fp=1,fn=5|FILE",
)
by = column(
    "--by",
    "Slice the examples by this column: where is it worse than elsewhere?  May be repeated.",
    multiple=True,
)
measure = option(
    "--measure --measures measures",
    f"Only this measure, the first being the main one; may be repeated, or listed with commas.  "
    f"One of {', '.join(MEASURES)}; f and a number is F with that β; averages end in "
    f"{', '.join(f'_{name}' for name in AVERAGES)}.",
    multiple=True,
    metavar="NAME",
)
threshold = option("--threshold", "Predict positive from this score on.", float)
probabilities = flag("--probabilities", "Scores are probabilities: log loss, Brier.")
jobs = option("--jobs", "Processes; -1 for all cores.", int, 1)
threads = option("--jobs", "Threads; -1 for all cores.", int, 1)
multilabel_sep = option(
    "--multilabel-sep", "Separator of several labels in a cell.", metavar="TEXT"
)
group = column("--group", "Column that says which rows belong together.")
cells = bundle(
    option("--delimiter", "Separator of the cells; detected if absent.", metavar="CHARACTER"),
    option("--encoding", "Encoding of text files.", default="utf-8"),
    option("--decimal", "Decimal mark.", (".", ","), "."),
)


def missing(rows: str) -> Decorator:
    """Make the option that says what to do with rows that lack something."""
    return option("--missing", f"What to do with rows {rows}.", ("refuse", "drop"), "refuse")


reading = bundle(
    column("--truth", "Column of the true labels."),
    column("--pred", "Column of the predicted labels."),
    column(
        "--score",
        "Column of the scores, larger meaning more positive; once for each class if several.",
        multiple=True,
    ),
    group,
    column("--weight", "Column of the weights of the examples."),
    column("--id id_column", "Column of unique ids; of questions, with --correct and --value."),
    option(
        "--where",
        "Read only rows with this value; may be repeated.",
        nargs=2,
        multiple=True,
        metavar="COLUMN VALUE",
    ),
    cells,
    missing("in which a used cell is empty"),
    flag("--strip", "Remove white space around labels."),
    flag(
        "--numeric-labels",
        "Give labels that are numbers one spelling: 1.0, 01 and True are 1.",
    ),
    option(
        "--map label_map",
        "Rename a label; may be repeated.",
        nargs=2,
        multiple=True,
        metavar="OLD NEW",
    ),
    flag("--allow-inf", "Let scores be infinite."),
    multilabel_sep,
    option("--max-labels", "Most distinct labels of a column; 1,000,000 if absent.", COUNT),
    option("--max-line-bytes", "Longest line; 16 MiB if absent.", COUNT),
    option("--max-expanded-bytes", "Largest expanded file; 1 TiB if absent.", COUNT),
    option("--max-ratio", "Most that a compressed file may expand; 1000 times if absent.", COUNT),
    flag("--hash-all", "Print the SHA-256 of files over 2 GiB, too."),
)
values = bundle(
    column("--correct", "Column of 0 and 1, wrong or right; no labels needed."),
    column("--value", "Column of a score of each answer; no labels needed."),
    option(
        "--range value_range",
        "Smallest and largest score that --value can have; 0 1 if absent.",
        float,
        nargs=2,
        metavar="LOW HIGH",
    ),
    option(
        "--pass-at",
        "Estimate pass@K from several samples of each question (--correct, --id).",
        COUNT,
        metavar="K",
    ),
)
evaluation = bundle(
    positive,
    level,
    measure,
    option("--beta", "Add F and E with this β.", float, multiple=True),
    costs,
    threshold,
    probabilities,
    option("--replicates", "Replicates of the bootstrap.", int, 1000),
    seed,
    option("--max-classes", "Refuse more classes than this.", int, 10_000),
)
# Of the commands that train learners on a table, or on documents
target = column("--target", "Column of the labels; recognised by its usual names.")
features = bundle(
    column("--drop", "Column that is no feature.", multiple=True),
    column("--text", "Column of texts.", multiple=True),
    column("--categorical", "Column of names.", multiple=True),
    option("--missing-values", "Says missing: ?, NA.", multiple=True, metavar="TEXT"),
)
table = bundle(target, group, features, missing("that have no label"), cells)
labels = column("--labels", "Documents: column of the labels.")
categories = option("--categories", "Documents: only these; all if absent.", metavar="A,B")
separator = option("--multilabel-sep", "Separator of the labels in a cell.", metavar="TEXT")
running = bundle(
    jobs,
    option("--cluster", "Run on the Dask cluster at this address.", metavar="ADDRESS"),
    option(
        "--resume",
        "Keep refits here, and go on from those that are here; needs --seed.",
        click.Path(path_type=Path),
        metavar="FOLDER",
    ),
)

ROLES = ("truth", "pred", "group", "weight", "correct", "value")
STRICTNESS = (
    "encoding", "decimal", "missing", "strip", "numeric_labels", "allow_inf", "hash_all",
    "max_labels", "max_line_bytes", "max_expanded_bytes", "max_ratio",
)  # fmt: skip
READING = (
    *ROLES, *STRICTNESS, "id_column", "score", "value_range", "delimiter", "multilabel_sep",
    "label_map", "where",
)  # fmt: skip


def guarantee(example: str, measures: str) -> Decorator:
    """Make the option that promises values of measures."""
    text = f"Guarantee a value of {measures} on new examples, as {example}; may be repeated."
    return bounds("--guarantee", text)


def bounds(names: str, text: str, metavar: str = "MEASURE=NUMBER") -> Decorator:
    """Make an option of pairs of a name and a number, such as `f1=0.9`."""
    return option(names, text, callback=read_bounds, metavar=metavar, multiple=True)


def only(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take some options, as keyword arguments of the library that have the same names."""
    return {name: options[name] for name in names}


def reading_from(options: dict[str, Any]) -> tuple[Any, Any]:
    """Say how predictions are read: roles of columns, and strictness."""
    from truerisk.inputs import Roles

    score, value_range = options["score"], options.get("value_range")
    if value_range is not None and options["value"] is None:
        raise click.UsageError("--range is for --value.")
    columns: dict[str, Any] = {role: options.get(role) for role in ROLES}
    if value_range is not None:
        columns["value_range"] = value_range
    one_or_more = score[0] if len(score) == 1 else score or None
    roles = Roles(score=one_or_more, id=options["id_column"], **columns)
    return roles, strictness_from(options)


def strictness_from(options: dict[str, Any]) -> Any:
    """Say how strictly files are read, by as many of the options as a command has."""
    from truerisk.inputs.options import ReadingOptions

    delimiter = options["delimiter"]
    return ReadingOptions(
        delimiter="\t" if delimiter in {r"\t", "tab"} else delimiter,
        multilabel_separator=options.get("multilabel_sep"),
        label_map=dict(options.get("label_map", ())),
        where=dict(options.get("where", ())),
        **{name: options[name] for name in STRICTNESS if options.get(name) is not None},
    )


def evaluation_from(options: dict[str, Any]) -> dict[str, Any]:
    """Make keyword arguments of the library of as many of these options as a command has."""
    names = [name.strip() for text in options["measures"] for name in text.split(",")]
    as_named = ("level", "pos_label", "replicates", "probabilities", "threshold", "max_classes")
    return {
        **{name: options[name] for name in as_named if name in options},
        "measures": tuple(names) or None,
        "betas": options.get("beta", ()),
        "costs": read_costs(options["costs"]),
        "random_state": options["seed"],
    }


def read_bounds(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    """Read pairs of a measure and a number, such as `f1=0.9`."""
    pairs = []
    for value in values:
        measure, _, number = value.partition("=")
        try:
            pairs.append((measure.strip(), float(number)))
        except ValueError:
            message = f"{value!r} is not of the form f1=0.9."
            raise click.BadParameter(message, ctx, param) from None
    return tuple(pairs)


def read_costs(text: str | None) -> Any:
    """Read costs given by outcome (`fp=1,fn=5`) or in a file; None when there are none."""
    if text is None:
        return None
    if re.fullmatch(r"\s*[a-z]{2}\s*=[^=,]+(,\s*[a-z]{2}\s*=[^=,]+)*", text):
        pairs = (part.split("=") for part in text.split(","))
        return {name.strip(): _cost(number, text) for name, number in pairs}
    path = Path(text)
    if not path.is_file():
        raise InputError(
            f"`--costs` must be costs by outcome, such as fp=1,fn=5, or a file; got {text!r}."
        )
    if path.stat().st_size > MAX_COST_BYTES:
        raise InputError(f"`--costs` must be a small file; {text!r} has over 16 MiB.")
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"`--costs` must be a text file, JSON or CSV; {text!r} is none.") from None
    return _cost_json(content, text) if path.suffix == ".json" else _cost_csv(content, text)


def _cost_json(content: str, name: str) -> Any:
    try:
        table = json.loads(content)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"`--costs` must be a JSON file; {name!r}: {error}.") from None
    if not isinstance(table, (list, dict)):
        raise InputError(f"`--costs` must hold a table or an object; {name!r} holds neither.")
    if isinstance(table, dict) and any(isinstance(row, dict) for row in table.values()):
        return {
            (truth, predicted): _cost(cost, name)
            for truth, row in table.items()
            for predicted, cost in row.items()
        }
    return table


def _cost_csv(content: str, name: str) -> dict[tuple[str, str], float] | list[list[float]]:
    """Read a table with the predicted labels as header and the true ones in the first column."""
    import csv

    rows = [row for row in csv.reader(content.splitlines()) if row]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(f"`--costs` must be a table with rows of one length; {name!r} is not.")
    if len(rows) == len(rows[0]) and not rows[0][0].strip():
        return {
            (row[0], predicted): _cost(cost, name)
            for row in rows[1:]
            for predicted, cost in zip(rows[0][1:], row[1:], strict=True)
        }
    return [[_cost(cost, name) for cost in row] for row in rows]


def _cost(text: Any, where: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise InputError(f"`--costs` must hold numbers; got {text!r} in {where!r}.") from None


# What is made of the options of tables and documents


def table_from(data: Path, options: dict[str, Any]) -> "Table":
    """Read the table that the options describe."""
    from truerisk.inputs.tables import read_table

    roles = ("target", "group", "drop", "text", "categorical", "missing_values")
    with Progress("Reading", quiet=options["quiet"]):
        strictness = strictness_from(options)
        return read_table(data, **only(options, *roles), options=strictness)


def corpus_from(data: Path, options: dict[str, Any], split: str | None) -> "Corpus":
    """Read the documents that the options describe."""
    from truerisk.inputs.corpora import read_corpus

    with Progress("Reading", quiet=options["quiet"]):
        return read_corpus(
            data,
            text=options["text"][-1] if options["text"] else None,
            labels=options["labels"],
            id=options.get("id_column"),
            split=split,
            options=strictness_from(options),
        )


def categories_from(options: dict[str, Any]) -> tuple[str, ...]:
    """List the categories that were named."""
    listed = (name.strip() for name in (options["categories"] or "").split(","))
    return tuple(name for name in listed if name)


def models_from(
    names: tuple[str, ...], table: "Table", examples: int, *, tune: bool = False
) -> dict[str, Any]:
    """Make the learners that were named, each with its preprocessing; tuned if `tune`."""
    from truerisk.learners.named_models import find_grid, find_model

    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"`--model` must name each learner once; got {twice[0]!r} twice.")
    models = {name: find_model(name, table.kinds, examples=examples) for name in names}
    if not tune:
        return models
    from truerisk.learners.tuning import tuned

    return {name: tuned(model, find_grid(name)) for name, model in models.items()}


def seed_from(options: dict[str, Any]) -> int:
    """Return the seed; drawn if absent, but required with `--resume`."""
    seed: int | None = options["seed"]
    if seed is not None:
        return seed
    if options["resume"] is not None:
        raise InputError("`--seed` must be given with `--resume`: another seed is another run.")
    return secrets.randbelow(2**32)


@contextmanager
def stopping_cleanly(folder: Path | None) -> Iterator[None]:
    """End the workers when the work is stopped, and say how it is gone on with."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        from truerisk.execution.processes import stop_processes

        # Python waits at its end for workers, and they for the end of a refit that nobody wants.
        stop_processes()
        code = INTERRUPTED if isinstance(stop, KeyboardInterrupt) else stop.code
        if folder is None or code not in {INTERRUPTED, TERMINATED}:
            raise
        click.echo(f"Interrupted; the same command goes on from {folder}.", err=True)
        sys.exit(code)


@contextmanager
def training(table: "Table", options: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Refit where the options say, with a progress bar; give the arguments of all who refit."""
    bar = Progress("Training", quiet=options["quiet"])
    with stopping_cleanly(options["resume"]), place_of(options["cluster"]), bar as progress:
        yield {
            **only(options, "level", "pos_label", "resume"),
            "groups": table.groups,
            "n_jobs": options["jobs"],
            "random_state": seed,
            "progress": progress,
        }


def place_of(address: str | None) -> AbstractContextManager[Any]:
    """Use a cluster while the work is done, if one is given."""
    if address is None:
        return nullcontext()
    from truerisk.execution import use_cluster

    return use_cluster(address)
