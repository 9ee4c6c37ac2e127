"""Options that several commands share, and how their values are read."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from truerisk.errors import InputError
from truerisk.measures import AVERAGES, MEASURES

Function = TypeVar("Function", bound=Callable[..., Any])
MAX_COST_BYTES = 2**24
option_with_default = partial(click.option, show_default=True)  # help says what it is


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


FILE = InputPath(exists=True, path_type=Path)
group_option = click.option(
    "--group", metavar="COLUMN", help="Column that says which rows belong together."
)
delimiter_option = click.option(
    "--delimiter", metavar="CHARACTER", help="Separator of the cells; detected if absent."
)
encoding_option = option_with_default("--encoding", default="utf-8", help="Encoding of text files.")
decimal_option = option_with_default(
    "--decimal", type=click.Choice([".", ","]), default=".", help="Decimal mark."
)
READING = (
    click.option("--truth", metavar="COLUMN", help="Column of the true labels."),
    click.option("--pred", metavar="COLUMN", help="Column of the predicted labels."),
    click.option(
        "--score",
        metavar="COLUMN",
        multiple=True,
        help="Column of the scores, larger meaning more positive; once for each class if several.",
    ),
    group_option,
    click.option("--weight", metavar="COLUMN", help="Column of the weights of the examples."),
    click.option(
        "--id",
        "id_column",
        metavar="COLUMN",
        help="Column of unique ids; of questions, with --correct and --value.",
    ),
    click.option(
        "--where",
        nargs=2,
        multiple=True,
        metavar="COLUMN VALUE",
        help="Read only rows with this value; may be repeated.",
    ),
    delimiter_option,
    encoding_option,
    decimal_option,
    option_with_default(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        help="What to do with rows in which a used cell is empty.",
    ),
    click.option("--strip", is_flag=True, help="Remove white space around labels."),
    click.option(
        "--numeric-labels",
        is_flag=True,
        help="Give labels that are numbers one spelling: 1.0, 01 and True are 1.",
    ),
    click.option(
        "--map",
        "label_map",
        nargs=2,
        multiple=True,
        metavar="OLD NEW",
        help="Rename a label; may be repeated.",
    ),
    click.option("--allow-inf", is_flag=True, help="Let scores be infinite."),
    click.option("--multilabel-sep", metavar="TEXT", help="Separator of several labels in a cell."),
    *(
        click.option(f"--{name.replace('_', '-')}", type=click.IntRange(min=1), help=what)
        for name, what in (
            ("max_labels", "Most distinct labels of a column; 1,000,000 if absent."),
            ("max_line_bytes", "Longest line; 16 MiB if absent."),
            ("max_expanded_bytes", "Largest expanded file; 1 TiB if absent."),
            ("max_ratio", "Most that a compressed file may expand; 1000 times if absent."),
        )
    ),
    click.option("--hash-all", is_flag=True, help="Print the SHA-256 of files over 2 GiB, too."),
)
VALUES = (
    click.option(
        "--correct", metavar="COLUMN", help="Column of 0 and 1, wrong or right; no labels needed."
    ),
    click.option(
        "--value", metavar="COLUMN", help="Column of a score of each answer; no labels needed."
    ),
    click.option(
        "--range",
        "value_range",
        nargs=2,
        type=float,
        metavar="LOW HIGH",
        help="Smallest and largest score that --value can have; 0 1 if absent.",
    ),
    click.option(
        "--pass-at",
        type=click.IntRange(min=1),
        metavar="K",
        help="Estimate pass@K from several samples of each question (--correct, --id).",
    ),
)
ROLE_OPTIONS = {
    "truth": "truth",
    "pred": "pred",
    "group": "group",
    "weight": "weight",
    "id": "id_column",
    "correct": "correct",
    "value": "value",
}
AS_NAMED = ("encoding", "decimal", "missing", "strip", "numeric_labels", "allow_inf", "hash_all")
LIMITS = ("max_labels", "max_line_bytes", "max_expanded_bytes", "max_ratio")
READING_NAMES = (
    *ROLE_OPTIONS.values(), "score", "delimiter", "multilabel_sep", "label_map", "value_range",
    "where",
    *AS_NAMED, *LIMITS,
)  # fmt: skip

level_option = option_with_default("--level", type=float, default=0.95, help="Confidence level.")
positive_option = click.option(
    "--positive",
    "pos_label",
    metavar="LABEL",
    help="Positive label; not needed for 0/1, -1/1 and booleans.",
)
seed_option = click.option(
    "--seed",
    "--random-state",
    "seed",
    type=click.IntRange(0, 2**32 - 1),
    help="Seed of all randomness; drawn if absent.",
)
costs_option = click.option(
    "--costs",
    metavar="fp=1,fn=5|FILE",
    help="What mistakes cost: by outcome, or a JSON or CSV file with a K × K table, rows truth.",
)


by_option = click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    help="Slice the examples by this column: where is it worse than elsewhere?  May be repeated.",
)


def guarantee_option(example: str, measures: str) -> Callable[[Function], Function]:
    """Make the option that promises values of measures."""
    return click.option(
        "--guarantee",
        callback=read_bounds,
        metavar="MEASURE=NUMBER",
        multiple=True,
        help=f"Guarantee a value of {measures} on new examples, as {example}; may be repeated.",
    )


def with_options(options: Sequence[Callable[[Any], Any]], function: Function) -> Function:
    """Add options to a command, in the order in which help is to list them."""
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(function: Function) -> Function:
    """Add the options that say how files are read."""
    return with_options(READING, function)


def value_options(function: Function) -> Function:
    """Add the options of rows that have values, and no labels."""
    return with_options(VALUES, function)


def reading_from(options: dict[str, Any]) -> tuple[Any, Any]:
    """Take the reading options out of a command's options: roles of columns, and strictness."""
    from truerisk.inputs import ReadingOptions, Roles

    taken = {name: options.pop(name, None) for name in READING_NAMES}
    score = taken["score"]
    roles = {role: taken[name] for role, name in ROLE_OPTIONS.items()}
    if taken["value_range"] is not None:
        if roles["value"] is None:
            raise click.UsageError("--range is for --value.")
        roles["value_range"] = taken["value_range"]
    strictness = ReadingOptions(
        delimiter=unescaped(taken["delimiter"]),
        multilabel_separator=taken["multilabel_sep"],
        label_map=dict(taken["label_map"]),
        where=dict(taken["where"]),
        **{name: taken[name] for name in AS_NAMED},
        **{name: taken[name] for name in LIMITS if taken[name] is not None},
    )
    return Roles(score=score[0] if len(score) == 1 else score or None, **roles), strictness


def unescaped(delimiter: str | None) -> str | None:
    """Read a tab as it is written on a command line."""
    return "\t" if delimiter in {r"\t", "tab"} else delimiter


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


measure_option = click.option(
    "--measure",
    "--measures",
    "measures",
    multiple=True,
    metavar="NAME",
    help=f"Only this measure, the first being the main one; may be repeated, or listed with "
    f"commas.  One of {', '.join(MEASURES)}; f and a number is F with that β; averages end in "
    f"{', '.join(f'_{name}' for name in AVERAGES)}.",
)


EVALUATION = (
    positive_option,
    level_option,
    measure_option,
    click.option("--beta", type=float, multiple=True, help="Add F and E with this β."),
    costs_option,
    click.option("--threshold", type=float, help="Predict positive from this score on."),
    click.option(
        "--probabilities", is_flag=True, help="Scores are probabilities: log loss, Brier."
    ),
    option_with_default(
        "--replicates", type=int, default=1000, help="Replicates of the bootstrap."
    ),
    seed_option,
    option_with_default(
        "--max-classes", type=int, default=10_000, help="Refuse more classes than this."
    ),
)


def evaluation_options(function: Function) -> Function:
    """Add the options that say what is evaluated, and how."""
    return with_options(EVALUATION, function)


def evaluation_from(options: dict[str, Any]) -> dict[str, Any]:
    """Make keyword arguments of the library of the options."""
    names = [name.strip() for text in options["measures"] for name in text.split(",")]
    as_named = ("level", "pos_label", "replicates", "probabilities", "threshold", "max_classes")
    return {
        **{name: options[name] for name in as_named},
        "measures": tuple(names) or None,
        "betas": options["beta"],
        "costs": read_costs(options["costs"]),
        "random_state": options["seed"],
    }
