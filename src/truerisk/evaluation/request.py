"""The settings of an evaluation, checked once."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from truerisk.checks import (
    check_choice,
    check_level,
    check_number,
    check_whole_number,
    shown,
    stated_seed,
)
from truerisk.errors import InputError
from truerisk.measures.registry import (
    AVERAGE_NAMES,
    BINOMIAL_INTERVALS,
    CELL_INTERVALS,
    base_measure,
)
from truerisk.tallies.cells import MAX_CLASSES

AVERAGE_ENDINGS = tuple(f"_{name}" for name in AVERAGE_NAMES)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The settings of one evaluation: the keyword arguments that `evaluate` documents."""

    level: float = 0.95
    pos_label: str | None = None
    betas: tuple[float, ...] = ()
    costs: Any = None
    binomial: str = "clopper_pearson"
    cell_interval: str = "by_measure"
    replicates: int = 1000
    random_state: int | None = None
    zero_division: float = math.nan
    average_over: tuple[str, ...] | None = None
    probabilities: bool = False
    threshold: float | None = None
    reject: str | None = None
    measures: tuple[str, ...] | None = None
    max_classes: int = MAX_CLASSES
    pass_at: int | None = None
    prior: dict[str, float] | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Request":
        """Take the settings among the arguments of a public function, and check them."""
        given = {name: arguments[name] for name in cls.__dataclass_fields__ if name in arguments}
        for name in ("betas", "average_over", "measures"):
            if given.get(name) is not None:
                given[name] = _several(given[name])
        if given.get("average_over") is not None:
            given["average_over"] = tuple(map(str, given["average_over"]))
        if given.get("prior") is not None:
            given["prior"] = _checked_prior(given["prior"])
        return cls(**given).checked()

    def requested(self, names: Iterable[str], ending: str = "") -> list[str]:
        """Keep the names that, with the ending, are requested."""
        return [name for name in names if self.measures is None or name + ending in self.measures]

    def requested_or_averaged(self, names: Iterable[str]) -> list[str]:
        """Keep the names that are requested, averaged or not."""
        endings = ("", *AVERAGE_ENDINGS)
        return [name for name in names if any(self.requested([name], one) for one in endings)]

    def refuse(self, names: Iterable[str], why: str, remedy: str = "") -> None:
        """Refuse settings that mean nothing here, if they are other than their defaults."""
        for name in names:
            value = getattr(self, name)
            if value != self.__dataclass_fields__[name].default:
                raise InputError(f"`{name}` must be left out{why}; got {shown(value)}.{remedy}")

    def checked(self) -> "Request":
        """Refuse what cannot be meant; draw the seed that was not given."""
        check_level(self.level)
        check_choice(self.binomial, BINOMIAL_INTERVALS, "binomial")
        check_choice(self.cell_interval, CELL_INTERVALS, "cell_interval")
        check_whole_number(self.replicates, "replicates", low=100, high=10_000_000)
        check_whole_number(self.max_classes, "max_classes", low=2)
        if not _is_nan(self.zero_division):
            check_number(self.zero_division, "zero_division", low=0.0, high=1.0)
        if self.threshold is not None:
            check_number(self.threshold, "threshold")
        for beta in self.betas:
            check_number(beta, "beta", low=0.0)
        for name in self.measures or ():
            base_measure(name)
        if self.prior is not None:
            remedy = " Every measure is then one of the shares within each class."
            self.refuse(("binomial", "cell_interval", "reject"), " with a prior", remedy)
        pos_label = None if self.pos_label is None else str(self.pos_label)
        return replace(self, random_state=stated_seed(self.random_state), pos_label=pos_label)


def _checked_prior(prior: Any) -> dict[str, float]:
    """Refuse what is no share of classes."""
    if not isinstance(prior, Mapping) or not prior:
        raise InputError(
            f"`prior` must give the share of a class, such as {{'spam': 0.01}}; got {shown(prior)}."
        )
    shares = {
        str(label): check_number(share, "prior", low=0.0, high=1.0)
        for label, share in prior.items()
    }
    for label, share in shares.items():
        if not 0 < share < 1:
            raise InputError(
                f"`prior` must lie strictly between 0 and 1; got {share:g} for {shown(label)}."
            )
    return shares


def _several(values: Any) -> tuple[Any, ...]:
    """Make a tuple of one value or of several."""
    is_one = isinstance(values, (str, int, float)) or callable(values)
    return (values,) if is_one else tuple(values)


def _is_nan(value: float) -> bool:
    return value != value  # noqa: PLR0124  (what is no number at all is refused in words)
