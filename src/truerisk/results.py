"""The result protocol, and the few frozen types that results are made of.

Every result is `Tabular`: it declares its `kind`, yields its rows, and gets from there
`to_dict()`, `to_frame()` and a one-line `repr`.  Most are `Reportable`, too: `report()`,
`plot(ax)`, `to_metrics()`.
`Interval` → `Estimate` (→ `Resampled`) → `Evaluation`, or `Comparison` of two estimates.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_origin

from truerisk.errors import InputError, ResourceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FrameKind = Literal["pandas", "polars", "arrow"]
Row = dict[str, Any]
Target = Literal["this model", "the learner at this sample size", "the models of the folds"]
Conclusion = Literal["better", "worse", "equivalent", "no evidence"]
Side = Literal["both", "upper", "lower"]
Entry = TypeVar("Entry")
UNDEFINED = "undefined"
MIN_DECIMALS = 3
MAX_DECIMALS = 15
SMALL = 1e-4  # under this a number is written with an exponent
LARGEST_CONFUSION = 1000  # classes; a larger table has a million entries, nearly all 0


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


@cache
def _mappings(kind: type) -> tuple[str, ...]:
    """Name the fields that a dataclass declares as mappings."""
    return tuple(one.name for one in dataclasses.fields(kind) if get_origin(one.type) is Mapping)


def has_code(findings: Iterable[str], *codes: str) -> bool:
    """Whether one of the findings has one of the codes."""
    return any(isinstance(one, Finding) and one.code in codes for one in findings)


class Frozen:
    """A dataclass that can be pickled and copied; what it declares as `Mapping` is read-only."""

    def __post_init__(self) -> None:
        for name in _mappings(type(self)):  # type: ignore[arg-type]  # (classes are hashable)
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only views of dictionaries can be neither pickled nor copied; what they show can.
        names = [one.name for one in dataclasses.fields(self)]  # type: ignore[arg-type]
        fields = {name: _unlocked(getattr(self, name)) for name in names}
        return _remade, (type(self), fields)


class Tabular(Frozen):
    """A result as plain values, as a table, and in one line.

    A subclass declares its `kind`, which names its JSON schema (`docs/schemas/<kind>.json`), yields
    its rows from `_rows`, and has a `__str__` whose first line says what it is.
    """

    kind: ClassVar[str]
    schema_version: ClassVar[int] = 1

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain values, ready for JSON, with the name of their schema."""
        return {"schema": f"truerisk/{self.kind}/{self.schema_version}", **self._content()}

    def to_rows(self) -> list[Row]:
        """Give the result as a list of tidy rows; all have the same keys."""
        return list(self._rows())

    def to_frame(self, kind: FrameKind | None = None) -> Any:
        """Give the result as a tidy table, with the rows of `to_rows`.

        Parameters
        ----------
        kind
            "pandas", "polars" or "arrow"; by default the first of these that is installed.
        """
        return frame_of(self.to_rows(), kind)

    def to_metrics(self) -> dict[str, float]:
        """Give every defined number that stands alone under its name, for experiment trackers."""
        numbers = {
            name: float(value)
            for name, value in self._content().items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }
        return {name: value for name, value in numbers.items() if not math.isnan(value)}

    def _content(self) -> dict[str, Any]:
        """Give what `to_dict` holds: fields that take part in comparisons of results."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {one.name: as_plain(getattr(self, one.name)) for one in fields if one.compare}

    def _rows(self) -> Iterator[Row]:
        raise NotImplementedError

    def _headline(self) -> str:
        return str(self).split("\n", 1)[0]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>"


class Reportable(Tabular):
    """A result with a page, a picture and metrics; `kind` also names its presenter.

    That is `reporting/results/<kind>.py`.  The package `truerisk.reporting` is imported by its name
    on first use: the only call upwards.
    """

    def report(self, *, source: Mapping[str, Any] | None = None) -> Any:
        """Make the page of this result: `.save("report.html")` writes it, a notebook shows it.

        `source` says where the data came from, for results that do not hold it.
        """
        return import_module("truerisk.reporting.page").report_of(self, source=source)

    def plot(self, ax: Any = None) -> Any:
        """Draw the result into axes of matplotlib, or into a new figure, and return the axes."""
        return import_module("truerisk.reporting.render.figures").draw_result(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain values, ready for JSON, with the name of their schema.

        "coverage" lists the intervals, and what each kind was measured to cover.
        """
        coverage = import_module("truerisk.reporting.sections.coverage")
        return {**super().to_dict(), "coverage": as_plain(coverage.measured_facts(self))}

    def to_rows(self) -> list[Row]:
        """Give the result as a list of tidy rows, one per estimate; all have the same keys.

        The keys before "measure" say what the estimate is of: a model, a pair of models, a size.
        "measured" says what intervals of the kind covered, on average and at least, in the ledger:
        "0.96 (least 0.91)"; or "not measured", with the reason.
        """
        coverage = import_module("truerisk.reporting.sections.coverage")
        rows: list[Row] = coverage.with_measured(self, self._rows())
        return rows

    def to_metrics(self) -> dict[str, float]:
        """Give every defined number under one name, as experiment trackers take them.

        The name is made of what the estimate is of, its class and its measure; the ends of its
        interval get `_low` and `_high`, a p-value `_p_value`.
        """
        metrics = {}
        for row in self.to_rows():
            names = list(row)[: list(row).index("value")]
            parts = [str(row[name]) for name in (*names[:-2], "class", "measure")]
            key = "/".join(part for part in parts if part)
            columns = {"": "value", "_low": "low", "_high": "high", "_p_value": "p_value"}
            for ending, column in columns.items():
                value = row.get(column, math.nan)
                if not math.isnan(value):
                    metrics[key + ending] = float(value)
        return metrics

    def _repr_html_(self) -> str:
        shown: str = import_module("truerisk.reporting.page").notebook_html(self)
        return shown

    def _repr_markdown_(self) -> str:
        """For notebooks and exports that show no HTML."""
        shown: str = import_module("truerisk.reporting.render.formats").as_markdown(self)
        return shown


class NamedEntries(Mapping[str, Entry]):
    """A result that is a read-only mapping of names to entries, which one of its fields holds."""

    entries: ClassVar[str]  # the name of that field
    entry: ClassVar[str] = "measure"  # what its keys name

    def __getitem__(self, name: str) -> Entry:
        entries: Mapping[str, Entry] = getattr(self, self.entries)
        if name not in entries:
            raise MissingNameError(name, entries, self.entry)
        return entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(getattr(self, self.entries))

    def __len__(self) -> int:
        return len(getattr(self, self.entries))


class MissingNameError(KeyError):
    """A name that a result does not hold; the message names the nearest ones."""

    def __init__(self, name: object, names: Iterable[Any], what: str = "measure") -> None:
        super().__init__(name, tuple(names), what)

    def __str__(self) -> str:
        # Written only when it is read: `get` and `in` raise and catch it often.
        name, names, what = self.args
        near = get_close_matches(str(name), list(map(str, names)))
        listed = ", ".join(map(str, names)) or "none"
        remedy = f"Did you mean {' or '.join(near)}?" if near else f"There are: {listed}."
        return f"no {what} {name!r}. {remedy}"


def estimate_row(
    measure: str,
    value: float,
    interval: "Interval | None",
    *,
    label: str = "",
    method: str = "",
    n: float = math.nan,
    target: str = "",
    notes: Iterable[str] = (),
) -> Row:
    """Give one row of a tidy table; what is not there is NaN or empty."""
    ends = (math.nan, math.nan, math.nan, "")
    if interval is not None:
        ends = (interval.low, interval.high, interval.level, interval.method)
    low, high, level, name = ends
    return {
        "measure": measure,
        "class": label,
        "value": float(value),
        "low": float(low),
        "high": float(high),
        "level": float(level),
        "interval": name,
        "measured": "",
        "method": method,
        "n": n,
        "target": target,
        "notes": "; ".join(notes),
    }


def frame_of(rows: list[Row], kind: FrameKind | None = None) -> Any:
    """Make a table of rows that have the same keys: of pandas, polars or Arrow.

    Examples
    --------
    >>> frame_of([{"measure": "recall", "value": 0.5}], "polars").shape
    (1, 2)
    """
    packages = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
    if kind is None:
        name = next((name for name in packages.values() if find_spec(name) is not None), "")
        if not name:
            raise ResourceError(
                "A frame needs a package of frames: `pip install pandas`, polars or pyarrow. "
                "to_dict() and to_rows() need none."
            )
    elif kind in packages:
        name = packages[kind]
    else:
        raise InputError(f"`kind` must be one of {', '.join(packages)}; got {kind!r}.")
    if find_spec(name) is None:
        raise ResourceError(f"The package {name} is not installed: `pip install {name}`.")
    package = import_module(name)
    columns = {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}
    for key, cells in columns.items():
        if any(isinstance(cell, float) for cell in cells):  # integers among them, too
            columns[key] = [float(cell) for cell in cells]
    return package.table(columns) if name == "pyarrow" else package.DataFrame(columns)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval that knows its level and its method.

    A one-sided bound is an interval that ends where the measure ends; its `side` names the end that
    is claimed.

    Examples
    --------
    >>> interval = Interval(0.127, 0.292, 0.95, "clopper_pearson")
    >>> print(interval)
    [0.127, 0.292] at 95 %
    >>> interval.covers(0.2)
    True
    >>> print(Interval(0.0, 0.213, 0.95, "xi_alpha_upper", "upper"))
    at most 0.213 with 95 % confidence
    """

    low: float
    high: float
    level: float
    method: str
    side: Side = "both"

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

    def words(self, write: Callable[[float], str], *, signs: bool = False) -> str:
        """Write the ends, or the bound, with a function that writes a number.

        Examples
        --------
        >>> bound = Interval(0.25, 1.0, 0.95, "xi_alpha_lower", "lower")
        >>> bound.words(str), bound.words(str, signs=True)
        ('at least 0.25', '≥ 0.25')
        """
        if self.side == "upper":
            return f"{'≤' if signs else 'at most'} {write(self.high)}"
        if self.side == "lower":
            return f"{'≥' if signs else 'at least'} {write(self.low)}"
        return f"[{write(self.low)}, {write(self.high)}]"

    def __str__(self) -> str:
        level = f"{100 * self.level:.10g} %"
        confidence = f"at {level}" if self.side == "both" else f"with {level} confidence"
        return f"{self.words(_number)} {confidence}"


@dataclass(frozen=True, slots=True)
class RefitInterval(Interval):
    """An interval from refits, and what its variance is made of.

    `independent` is the variance as if one model had judged independent examples; `disagreement`
    the share of it in which refits disagree about the same example; `together` the variance
    between the models of the folds, which move many examples at once (0 or less: none is seen; NaN:
    unknown).  `lengthening` says how many times as long the interval is as without `together`.
    `truerisk.intervals.variance_components` has the formulas.
    """

    independent: float = math.nan
    disagreement: float = math.nan
    together: float = math.nan
    lengthening: float = 1.0

    def __str__(self) -> str:
        return Interval.__str__(self)


@dataclass(frozen=True, kw_only=True, repr=False)
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

    kind: ClassVar[str] = "estimate"

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
        comma = "" if self.interval.side == "both" else ","
        return f"{self.measure} = {shown}{comma} {self.interval} ({facts})"

    def __float__(self) -> float:
        return float(self.value)

    def row(self, label: str = "") -> Row:
        """Give the row of this estimate in a tidy table; `label` is the class it is of."""
        return estimate_row(
            self.measure,
            self.value,
            self.interval,
            label=label,
            method=self.method,
            n=self.n,
            target=self.target,
            notes=self.notes,
        )

    def _rows(self) -> Iterator[Row]:
        yield self.row()


@dataclass(frozen=True, kw_only=True, repr=False)
class Resampled(Estimate):
    """An estimate made of the values of several refits; `design` says how these were made.

    Examples
    --------
    >>> folds = Resampled(value=0.15, interval=None, measure="error_rate", method="folds", n=3,
    ...                   target="the learner", replicates=(0.14, 0.16, 0.15))
    >>> round(folds.standard_deviation, 4)
    0.01
    """

    replicates: tuple[float, ...] = ()
    design: str = ""

    @property
    def standard_deviation(self) -> float:
        """How much one replicate differs from the next: the n − 1 form."""
        mean = math.fsum(self.replicates) / len(self.replicates)
        squares = math.fsum((value - mean) ** 2 for value in self.replicates)
        return math.sqrt(squares / (len(self.replicates) - 1))


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation(Reportable, NamedEntries[Estimate]):
    """Every measure of one set of predictions: an ordered, read-only mapping of estimates.

    `by_class` holds the estimates of the single classes (empty for two classes); `verdict` says in
    words what is sure, what is not and which measure misleads; `settings` says what was assumed;
    `source` says where the predictions came from; `slices` holds the parts of the examples that
    `by` asked for (`truerisk.evaluation.slices.Slice`), by their names.

    Examples
    --------
    >>> right = Estimate(value=0.9, interval=None, measure="accuracy", method="counts", n=10)
    >>> evaluation = Evaluation(estimates={"accuracy": right}, n=10, level=0.95,
    ...                         labels=("0", "1"), pos_label="1")
    >>> list(evaluation), evaluation["accuracy"].value
    (['accuracy'], 0.9)
    """

    kind: ClassVar[str] = "evaluation"
    entries: ClassVar[str] = "estimates"

    estimates: Mapping[str, Estimate]
    by_class: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    n: int
    level: float
    labels: tuple[str, ...]
    pos_label: str | None
    tallies: Any = field(compare=False, default=None)
    curves: Mapping[str, Any] = field(compare=False, default_factory=dict)
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    slices: Mapping[str, Any] = field(compare=False, default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """Give what an evaluation holds, to make one of another kind from it."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(Evaluation)}

    @property
    def undefined(self) -> tuple[str, ...]:
        """The measures that have no value on these examples."""
        return tuple(name for name, estimate in self.items() if not estimate.is_defined)

    @property
    def confusion(self) -> "tuple[tuple[str, ...], NDArray[Any]] | None":
        """The labels and the K × K counts, rows truth; None where there is no such table.

        The counts of more than 2,048 classes are a sparse array of SciPy.
        """
        cells = self.tallies
        if cells is None or not hasattr(cells, "confusion") or cells.multilabel:
            return None
        return tuple(cells.labels), cells.confusion()

    def __str__(self) -> str:
        return "\n".join([*map(str, self.values()), *self.verdict])

    def _headline(self) -> str:
        first = next(iter(map(str, self.values())), "no measure")
        sizes = ((len(self), "measure"), (self.n, "example"))
        measures, examples = (f"{k:,} {what}{'' if k == 1 else 's'}" for k, what in sizes)
        return f"{measures} of {examples}, {first}"

    def _rows(self) -> Iterator[Row]:
        rows = self._own_rows()
        if not self.slices:
            yield from rows
            return
        every = [row for one in self.slices.values() for row in one.rows()]
        empty = {key: "" if key == "finding" else math.nan for key in every[0]}
        yield from ({**empty, "slice": "", **row} for row in rows)
        yield from every

    def _own_rows(self) -> Iterator[Row]:
        for name, one in self.items():
            yield one.row() | {"measure": name}
        for label, estimates in self.by_class.items():
            for name, one in estimates.items():
                yield one.row(label) | {"measure": name}

    def _content(self) -> dict[str, Any]:
        plain = super()._content()
        for name in ("verdict", "notes"):
            plain[f"{name}_codes"] = [getattr(one, "code", None) for one in getattr(self, name)]
        if self.slices:
            plain["slices"] = {name: as_plain(one.plain()) for name, one in self.slices.items()}
        return plain | {"confusion": self._plain_confusion()}

    def _plain_confusion(self) -> dict[str, Any] | None:
        confusion = self.confusion if len(self.labels) <= LARGEST_CONFUSION else None
        if confusion is None:
            return None
        labels, counts = confusion
        return {"labels": list(labels), "rows_are": "truth", "counts": as_plain(counts)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Reportable):
    """Whether the second of two models is really better than the first, by one measure.

    `difference` is second − first, in units of the measure.  `finding` is about the second model:
    "better" or "worse" than the first, "equivalent" to it within ± `region`, or "no evidence" for
    any of these; `verdict` says it in words.  `p_value` is of the two-sided test `method` of no
    difference: None where the method has no test, NaN where it is undefined.  `settled_by` is about
    how many examples in all would detect a difference as large as the one seen, or as `region` if
    that is larger; None where it is told, or where there is nothing to plan for.

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

    kind: ClassVar[str] = "comparison"

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
        ends, decimals, interval = self.difference.interval, MIN_DECIMALS, ""
        if ends is not None:
            decimals = decimals_for(ends.width)
            low, high = (number(end, decimals) for end in (ends.low, ends.high))
            interval = f" [{low}, {high}] at {100 * ends.level:.10g} %"
        shown = number(self.difference.value, decimals)
        test = "" if self.p_value is None else f", p = {_number(self.p_value)}"
        sentence = f"{second} − {first} = {shown}{interval}{test} ({self.method})"
        return f"{self.measure}: {sentence}\n{self.verdict}"

    def row(self) -> Row:
        """Give the row of the difference in a tidy table: the second model against the first."""
        first, second = self.names
        numbers = {"region": self.region, "settled_by": self.settled_by}
        return {
            "model": second,
            "against": first,
            **self.difference.row(),
            "method": self.method,
            "notes": "; ".join(self.notes),
            "p_value": math.nan if self.p_value is None else self.p_value,
            "finding": self.finding,
            **{name: math.nan if one is None else float(one) for name, one in numbers.items()},
        }

    def _rows(self) -> Iterator[Row]:
        for name, one in zip(self.names, (self.first, self.second), strict=True):
            yield model_row(name, one)
        yield self.row()


def model_row(name: str, estimate: Estimate) -> Row:
    """Give the row of a model's own estimate in the tidy table of a comparison."""
    tests = {"p_value": math.nan, "finding": "", "region": math.nan, "settled_by": math.nan}
    return {"model": name, "against": "", **estimate.row(), **tests}


def _unlocked(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return {key: _unlocked(entry) for key, entry in value.items()}
    return value


def _remade(kind: type, fields: dict[str, Any]) -> Any:
    return kind(**fields)


def as_plain(result: Any) -> Any:
    """Turn a result into dicts, lists, strings and numbers that JSON can hold.

    NaN becomes None; an infinity, which JSON does not know, becomes "Infinity" or "-Infinity".

    Examples
    --------
    >>> as_plain(Interval(0.0, math.inf, 0.95, "log_normal"))
    {'low': 0.0, 'high': 'Infinity', 'level': 0.95, 'method': 'log_normal', 'side': 'both'}
    """
    plain = result
    if isinstance(result, Tabular):
        plain = result._content()  # noqa: SLF001  (its own base class)
    elif dataclasses.is_dataclass(result) and not isinstance(result, type):
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


def decimals_for(width: float) -> int:
    """Give the decimals that show two digits of a width, three at least."""
    if not 0 < width < math.inf:
        return MIN_DECIMALS
    return min(max(MIN_DECIMALS, 1 - math.floor(math.log10(width))), MAX_DECIMALS)


def number(value: float, decimals: int = MIN_DECIMALS) -> str:
    """Write a number; NaN is undefined, and a small one gets an exponent rather than zeros.

    Examples
    --------
    >>> number(0.25), number(-0.5), number(math.inf), number(math.nan), number(2.5e-7, 9)
    ('0.250', '-0.500', '∞', 'undefined', '2.50e-07')
    """
    if math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value != 0 and abs(value) < SMALL:
        digits = math.floor(math.log10(abs(value))) + decimals
        return f"{value:.{max(2, digits)}e}"
    return f"{value:.{decimals}f}"


def _number(value: float) -> str:
    """Write a number alone, as `number` does; more decimals where three would show nothing."""
    if not math.isfinite(value):
        return f"{value:.3f}"
    return f"{value:.3g}" if SMALL <= abs(value) < 0.001 else number(value)
