"""The one list of measures: what each is called, needs, promises and admits.

Help, tables, tests and checks all read it, so a measure is one small function and one line.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from truerisk.errors import InputError
from truerisk.measures.proportion import Proportion

Needs = Literal[
    "binary counts", "class counts", "rejections", "ranking", "documents", "probabilities"
]

BINOMIAL_INTERVALS = (
    "clopper_pearson",
    "wilson",
    "wilson_cc",
    "jeffreys",
    "agresti_coull",
    "mid_p",
    "blaker",
    "wald",
)
CELL_INTERVALS = ("smoothed_delta", "delta", "percentile", "basic", "bca", "dirichlet")
RANKING_INTERVALS = ("percentile", "basic", "bca")


@dataclass(frozen=True)
class Measure:
    """One entry of the registry."""

    name: str
    title: str
    function: Callable[..., Any]
    needs: Needs
    higher_is_better: bool | None
    measure_range: tuple[float, float]
    intervals: tuple[str, ...]
    undefined: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    @property
    def formula(self) -> str:
        """The formula of its docstring, in LaTeX."""
        found = re.search(
            r"\.\. math::\s*(.+?)(?:\n\s*\n|\Z)", self.function.__doc__ or "", re.DOTALL
        )
        return " ".join(found.group(1).split()) if found else ""

    def __call__(self, tally: Any) -> Any:  # noqa: ANN401
        """Apply the formula; a `Proportion` where the value is k of n."""
        return self.function(tally, **self.parameters)

    def value(self, tally: Any) -> Any:  # noqa: ANN401
        """Apply the formula and give the bare number, or array of numbers."""
        found = self(tally)
        return found.value if isinstance(found, Proportion) else np.asarray(found)


MEASURES: dict[str, Measure] = {}


def measure(
    *,
    title: str,
    needs: Needs,
    higher_is_better: bool | None,
    undefined: str,
    measure_range: tuple[float, float] = (0.0, 1.0),
    intervals: tuple[str, ...] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function in the registry under its own name."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        default = RANKING_INTERVALS if needs == "ranking" else CELL_INTERVALS
        MEASURES[function.__name__] = Measure(
            name=function.__name__,
            title=title,
            function=function,
            needs=needs,
            higher_is_better=higher_is_better,
            measure_range=measure_range,
            intervals=default if intervals is None else intervals,
            undefined=undefined,
        )
        return function

    return enter


def find_measure(name: str) -> Measure:
    """Look a measure up; `f2`, `f0.5`, `e2` are F_β and E_β with β in the name.

    Examples
    --------
    >>> find_measure("f2").parameters["beta"]
    2.0
    """
    if name in MEASURES:
        return MEASURES[name]
    found = re.fullmatch(r"([fe])(\d+(?:\.\d+)?|inf)", name)
    if found is None:
        close = ", ".join(sorted(MEASURES))
        raise InputError(f"`measure` must be one of {close}, or f and a number; got {name!r}.")
    base, beta = MEASURES[{"f": "f_beta", "e": "e_beta"}[found.group(1)]], float(found.group(2))
    title = base.title.replace("β", f"{beta:g}")
    return replace(base, name=name, title=title, parameters={"beta": beta})


def measures_that_need(needs: Needs) -> Iterator[Measure]:
    """All measures computed from one kind of tally, in the order of the registry."""
    return (entry for entry in MEASURES.values() if entry.needs == needs)
