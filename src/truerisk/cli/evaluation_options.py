"""Options of the commands that evaluate predictions, and what is made of them."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from truerisk.cli.options import (
    costs_option,
    level_option,
    positive_option,
    read_costs,
    seed_option,
    with_options,
)
from truerisk.measures import AVERAGES, MEASURES

Function = TypeVar("Function", bound=Callable[..., Any])

EVALUATION = (
    positive_option,
    level_option,
    click.option(
        "--measure",
        "--measures",
        "measures",
        multiple=True,
        metavar="NAME",
        help=f"Only this measure, the first being the main one; may be repeated, or listed with "
        f"commas.  One of {', '.join(MEASURES)}; f and a number is F with that β; averages end in "
        f"{', '.join(f'_{name}' for name in AVERAGES)}.",
    ),
    click.option("--beta", type=float, multiple=True, help="Add F and E with this β."),
    costs_option,
    click.option("--threshold", type=float, help="Predict positive from this score on."),
    click.option(
        "--probabilities", is_flag=True, help="Scores are probabilities: log loss, Brier."
    ),
    click.option(
        "--replicates",
        type=int,
        default=1000,
        show_default=True,
        help="Replicates of the bootstrap.",
    ),
    seed_option,
    click.option(
        "--max-classes",
        type=int,
        default=10_000,
        show_default=True,
        help="Refuse more classes than this.",
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
