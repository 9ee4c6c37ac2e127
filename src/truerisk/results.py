"""The few frozen types in which every answer ends: printed, saved and drawn in one way.

`Interval` → `Estimate` (→ `Resampled`) → `Evaluation`, or `Comparison` of two estimates, and
`as_plain` for all of them.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, Self

from truerisk.errors import InputError

Target = Literal["this model", "the learner at this sample size", "the models of the folds"]
Conclusion = Literal["better", "worse", "equivalent", "no evidence"]


class Finding(str):
    """A sentence of a verdict or a note, with the code by which programs know it.

    Whatever is decided by a finding is decided by its `code`; the words are for people.

    Examples
    --------
    >>> finding = Finding("Sure: that is better than a constant.", code="better_than_constant")
    >>> print(finding)
    Sure: that is better than a constant.
    >>> has_code([finding], "better_than_constant")
    True
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, text: str, *, code: str) -> Self:
        """Keep the code beside the sentence."""
        finding = super().__new__(cls, text)
        finding.code = code
        return finding

    def __reduce__(self) -> tuple[Any, ...]:
        return _finding, (str(self), self.code)


def _finding(text: str, code: str) -> Finding:
    return Finding(text, code=code)


def has_code(findings: Iterable[str], *codes: str) -> bool:
    """Whether one of the findings has one of the codes."""
    return any(isinstance(one, Finding) and one.code in codes for one in findings)


class Frozen:
    """A dataclass that holds read-only views of dictionaries, and can be pickled and copied."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only views of dictionaries can be neither pickled nor copied; what they show can.
        names = self.__dataclass_fields__  # type: ignore[attr-defined]
        fields = {name: _unlocked(getattr(self, name)) for name in names}
        return _remade, (type(self), fields)


class Reportable(Frozen):
    """What every result can do besides being read: become a page, and be drawn.

    How is known to `truerisk.reporting`, which is loaded by its name when it is first asked: the
    only call from here upwards.
    """

    def report(self, **options: Any) -> Any:  # noqa: ANN401
        """Make the page of this result: `.save("report.html")` writes it, a notebook shows it."""
        return import_module("truerisk.reporting.page.report").report_of(self, **options)

    def plot(self, ax: Any) -> Any:  # noqa: ANN401
        """Draw the result into axes of matplotlib, and give them back."""
        return import_module("truerisk.reporting.figures.of_results").drawn(self, ax)

    def _repr_html_(self) -> str:
        shown: str = import_module("truerisk.reporting.page.notebook").notebook_html(self)
        return shown


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval that knows its level and its method.

    Examples
    --------
    >>> interval = Interval(0.127, 0.292, 0.95, "clopper_pearson")
    >>> print(interval)
    [0.127, 0.292] at 95 %
    >>> interval.covers(0.2)
    True
    """

    low: float
    high: float
    level: float
    method: str

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise InputError(f"`low` must not exceed `high`; got [{self.low!r}, {self.high!r}].")

    @property
    def width(self) -> float:
        """How much is left open."""
        return self.high - self.low

    def covers(self, value: float) -> bool:
        """Whether the value lies in the interval, ends included."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{_number(self.low)}, {_number(self.high)}] at {100 * self.level:.10g} %"


@dataclass(frozen=True, kw_only=True)
class Estimate(Reportable):
    """One number, what it is about, and how sure it is.

    `value` is never clipped; NaN says that it is undefined, and `notes` says why.  `target` says
    whether the number is about *this* trained model, or about the *learner* at this sample size.

    Examples
    --------
    >>> print(Estimate(value=0.2, interval=Interval(0.127, 0.292, 0.95, "clopper_pearson"),
    ...                measure="error_rate", method="holdout", n=100))
    error_rate = 0.200 [0.127, 0.292] at 95 % (clopper_pearson, n = 100, this model)
    """

    value: float
    interval: Interval | None
    measure: str
    method: str
    n: float
    target: Target = "this model"
    notes: tuple[str, ...] = ()

    @property
    def is_defined(self) -> bool:
        """Whether the measure has a value on these examples."""
        return not math.isnan(self.value)

    def __str__(self) -> str:
        shown = _number(self.value) if self.is_defined else "undefined"
        if self.interval is None:
            return f"{self.measure} = {shown} (n = {self.n:.10g}, {self.target})"
        facts = f"{self.interval.method}, n = {self.n:.10g}, {self.target}"
        return f"{self.measure} = {shown} {self.interval} ({facts})"

    def as_plain(self) -> dict[str, Any]:
        """Give the estimate as plain values, ready for JSON."""
        return as_plain(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Resampled(Estimate):
    """An estimate made of the values of several refits.

    Examples
    --------
    >>> folds = Resampled(value=0.15, interval=None, measure="error_rate", method="folds", n=3,
    ...                   target="the learner", replicates=(0.14, 0.16, 0.15))
    >>> round(folds.standard_deviation, 4)
    0.01
    """

    replicates: tuple[float, ...] = ()

    @property
    def standard_deviation(self) -> float:
        """How much one replicate differs from the next: the n − 1 form."""
        mean = math.fsum(self.replicates) / len(self.replicates)
        squares = math.fsum((value - mean) ** 2 for value in self.replicates)
        return math.sqrt(squares / (len(self.replicates) - 1))


@dataclass(frozen=True, kw_only=True)
class Evaluation(Reportable, Mapping[str, Estimate]):
    """Every measure of one set of predictions: an ordered, read-only mapping of estimates.

    `by_class` holds the estimates of the single classes (empty for two classes); `verdict` says in
    words what is sure, what is not and which measure misleads; `settings` says what was assumed;
    `source` says where the predictions came from.

    Examples
    --------
    >>> right = Estimate(value=0.9, interval=None, measure="accuracy", method="counts", n=10)
    >>> evaluation = Evaluation(estimates={"accuracy": right}, n=10, level=0.95,
    ...                         labels=("0", "1"), pos_label="1")
    >>> list(evaluation), evaluation["accuracy"].value
    (['accuracy'], 0.9)
    """

    estimates: Mapping[str, Estimate]
    by_class: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    n: int
    level: float
    labels: tuple[str, ...]
    pos_label: str | None
    tallies: Any = field(repr=False, compare=False, default=None)
    curves: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("estimates", "by_class", "curves", "settings", "source"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, measure: str) -> Estimate:
        return self.estimates[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def fields(self) -> dict[str, Any]:
        """Give what an evaluation holds, to make one of another kind from it."""
        return {name: getattr(self, name) for name in Evaluation.__dataclass_fields__}

    @property
    def undefined(self) -> tuple[str, ...]:
        """The measures that have no value on these examples."""
        return tuple(name for name, estimate in self.items() if not estimate.is_defined)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.values()), *self.verdict])

    def as_plain(self) -> dict[str, Any]:
        """Give the evaluation as plain values, ready for JSON."""
        return as_plain(self)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Comparison(Reportable):
    """Whether the second of two models is really better than the first, by one measure.

    `difference` is second − first, in units of the measure.  `finding` is about the second model:
    "better" or "worse" than the first, "equivalent" to it within ± `region`, or "no evidence" for
    any of these; `verdict` says it in words.  `p_value` is of the two-sided test `method` of no
    difference: None where the method has no test, NaN where it is undefined.  `settled_by` is about
    how many examples in all would tell a difference as large as the one seen; None where it is
    told, or where none was seen.

    Examples
    --------
    >>> def error(value): return Estimate(value=value, interval=None, measure="error_rate",
    ...                                   method="counts", n=100)
    >>> difference = Estimate(value=-0.06, interval=Interval(-0.11, -0.01, 0.95, "tango"),
    ...                       measure="error_rate", method="mcnemar_mid_p", n=100)
    >>> comparison = Comparison(names=("a", "b"), first=error(0.16), second=error(0.10),
    ...     difference=difference, p_value=0.016, method="mcnemar_mid_p", finding="better",
    ...     verdict="b is better than a.")
    >>> print(comparison)
    error_rate: b − a = -0.060 [-0.110, -0.010] at 95 %, p = 0.016 (mcnemar_mid_p)
    b is better than a.
    """

    names: tuple[str, str]
    first: Estimate
    second: Estimate
    difference: Estimate
    p_value: float | None
    method: str
    finding: Conclusion
    verdict: str
    region: float | None = None
    settled_by: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """The measure by which the two are compared."""
        return self.difference.measure

    def __str__(self) -> str:
        first, second = self.names
        shown = _number(self.difference.value) if self.difference.is_defined else "undefined"
        interval = "" if self.difference.interval is None else f" {self.difference.interval}"
        test = "" if self.p_value is None else f", p = {_number(self.p_value)}"
        found = f"{second} − {first} = {shown}{interval}{test} ({self.method})"
        return f"{self.measure}: {found}\n{self.verdict}"

    def as_plain(self) -> dict[str, Any]:
        """Give the comparison as plain values, ready for JSON."""
        return as_plain(self)  # type: ignore[no-any-return]


def _unlocked(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, MappingProxyType):
        return {key: _unlocked(entry) for key, entry in value.items()}
    return value


def _remade(kind: type, fields: dict[str, Any]) -> Any:  # noqa: ANN401
    return kind(**fields)


def as_plain(result: Any) -> Any:  # noqa: ANN401
    """Turn a result into dicts, lists, strings and numbers that JSON can hold.

    NaN becomes None; an infinity, which JSON does not know, becomes "Infinity" or "-Infinity".

    Examples
    --------
    >>> as_plain(Interval(0.0, math.inf, 0.95, "log_normal"))
    {'low': 0.0, 'high': 'Infinity', 'level': 0.95, 'method': 'log_normal'}
    """
    plain = result
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        names = [entry.name for entry in dataclasses.fields(result)]
        plain = {name: as_plain(getattr(result, name)) for name in names}
    elif isinstance(result, Mapping):
        plain = {str(key): as_plain(value) for key, value in result.items()}
    elif hasattr(result, "tolist"):  # arrays and scalars of NumPy
        plain = as_plain(result.tolist())
    elif isinstance(result, (list, tuple)):
        plain = [as_plain(value) for value in result]
    elif isinstance(result, float) and not math.isfinite(result):
        plain = None if math.isnan(result) else f"{'-' if result < 0 else ''}Infinity"
    return plain


def _number(value: float) -> str:
    """Three decimals, more where three would show nothing."""
    if value == 0 or not math.isfinite(value) or abs(value) >= 0.001:
        return f"{value:.3f}"
    return f"{value:.3g}"
