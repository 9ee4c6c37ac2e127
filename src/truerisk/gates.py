"""The gate of a pipeline: claims about results, checked by the ends of intervals; settings in TOML.

A claim is shown when the end of the interval shows it: the one check behind `--fail-under`, `gate`
and `testing`.
"""

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from truerisk.checks import check_number, did_you_mean, shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.roles import Roles
from truerisk.measures.registry import base_measure
from truerisk.results import Comparison, Estimate, Evaluation, Reportable, Row, number

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons

MAX_TIMES = 10**6  # nobody gets so many more examples
DIGITS = 6
NO_SLICE_WORSE = "no slice worse than the rest"
BOUND = re.compile(r"\s*(>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
ROLES = tuple(one.name for one in dataclasses.fields(Roles) if one.name != "by")
READING = (
    "delimiter", "encoding", "decimal", "missing", "strip", "numeric_labels", "label_map",
    "multilabel_separator", "allow_inf",
)  # fmt: skip
EVALUATION = ("threshold", "probabilities", "costs", "level")
BASELINES = ("not_worse_than", "better_than")
OWN = ("name", "files", "positive", "measure", "region", "join", "slices", *BASELINES)
KEYS = (*OWN, *ROLES, *READING, *EVALUATION)
SLICES_FORM = 'by = ["region"], recall = ">= 0.5"'
FORM = 'recall = ">= 0.6" or error_rate = "<= 0.1"'


@dataclass(frozen=True, kw_only=True)
class Check:
    """A claim, and whether the examples show it.

    `estimate` is what the claim is about: a measure of one model, or a difference of two.
    """

    claim: str
    is_shown: bool
    reason: str
    estimate: Estimate

    def __str__(self) -> str:
        return f"{self.claim} is {'' if self.is_shown else 'not '}shown: {self.reason}"


def at_least(estimate: Estimate, bound: float) -> Check:
    """Check that the lower end of the interval is at least the bound.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> print(at_least(evaluate_counts([[80, 20], [40, 860]])["recall"], 0.75))
    recall ≥ 0.75 is not shown: the lower end of its 95 % interval is 0.708157. About 3.4 times as \
many examples would show it if the value stays so.
    """
    return _against(estimate, bound, lower=True)


def at_most(estimate: Estimate, bound: float) -> Check:
    """Check that the upper end of the interval is at most the bound."""
    return _against(estimate, bound, lower=False)


def no_slice_worse(evaluation: Evaluation) -> Check:
    """Check that no slice is surely worse than the rest: the claim fails if one is.

    It is no proof that all slices are equal; bounds for every slice are.
    """
    tests = [
        (name, test)
        for name, one in evaluation.slices.items()
        for test in one.tests.values()
        if not math.isnan(test.adjusted)
    ]
    if not tests:
        reason = "no slice could be tested."
        first = next(iter(evaluation.values()))
        return Check(claim=NO_SLICE_WORSE, is_shown=False, reason=reason, estimate=first)
    worse = [entry for entry in tests if entry[1].finding == "worse"]
    name, test = min(worse or tests, key=lambda entry: entry[1].adjusted)
    reason = f"the nearest to it is {test.rest.measure} in {name}"
    if worse:
        reason = f"{test.rest.measure} is worse in {name}"
    return Check(
        claim=NO_SLICE_WORSE,
        is_shown=not worse,
        reason=f"{reason}: {number(test.difference.value, DIGITS)} against the rest, adjusted p = "
        f"{number(test.adjusted, DIGITS)}.",
        estimate=evaluation.slices[name][test.rest.measure],
    )


def check_bound(measure: str, bound: float, name: str) -> None:
    """Refuse a bound that its measure cannot have; `name` is what the user wrote it under."""
    low, high = base_measure(measure).measure_range
    if not low <= bound <= high:
        percent = (low, high) == (0, 1) and 1 < bound <= 100
        remedy = f" Write {bound / 100:g} for {bound:g} %." if percent else ""
        raise InputError(
            f"`{name}` must be a value that {measure} can have, from {low:g} to {high:g}; got "
            f"{bound:g}.{remedy}"
        )


def _against(estimate: Estimate, bound: float, *, lower: bool) -> Check:
    sign, side = ("≥", "lower") if lower else ("≤", "upper")
    claim = f"{estimate.measure} {sign} {bound:g}"
    interval = estimate.interval
    if not estimate.is_defined or interval is None:
        undefined = f"it is undefined on these examples. {'; '.join(estimate.notes)}".strip()
        reason = "it has no interval." if estimate.is_defined else undefined
        return Check(claim=claim, is_shown=False, reason=reason, estimate=estimate)
    end = interval.low if lower else interval.high
    is_shown = end >= bound if lower else end <= bound
    reason = f"the {side} end of its {100 * interval.level:.10g} % interval is "
    reason += f"{number(end, DIGITS)}."
    if not is_shown:
        reason += _remedy(estimate, end, bound)
    return Check(claim=claim, is_shown=is_shown, reason=reason, estimate=estimate)


def _remedy(estimate: Estimate, end: float, bound: float) -> str:
    """Say how many examples would do; the distance to the end falls as 1/√n."""
    room = (estimate.value - bound) / (estimate.value - end) if estimate.value != end else 0.0
    if room <= 0:
        return f" The value itself, {number(estimate.value)}, does not meet it."
    times = 1 / room**2
    if times > MAX_TIMES:
        return ""
    words = f"{times:.1f}" if times < 10 else f"{math.ceil(times):,}"
    return f" About {words} times as many examples would show it if the value stays so."


def is_better(result: "Comparisons | Comparison") -> Check:
    """Check that the last model is better than the first, by the main measure.

    Of several models the adjusted p-value counts.
    """
    last = _last(result)
    is_shown = last.finding == "better"
    if not isinstance(result, Comparison):
        is_shown &= result.adjusted[last.names] <= 1 - result.level
    claim = f"{last.names[1]} better than {last.names[0]}"
    return Check(claim=claim, is_shown=is_shown, reason=last.verdict, estimate=last.difference)


def is_not_worse(result: "Comparisons | Comparison", region: float | None = None) -> Check:
    """Check that the last model is not worse than the first by `region` or more.

    By the one-sided test of non-inferiority where the comparison was made with this region, else by
    the end of its two-sided interval, which is more cautious.
    """
    last = _last(result)
    limit = last.region if region is None else check_number(region, "region", low=0.0)
    if limit is None:
        raise InputError("`region` must be given: not worse by how much? got None.")
    claim = f"{last.names[1]} not worse than {last.names[0]} by {limit:g} in {last.measure}"
    interval, value = last.difference.interval, last.difference.value
    if math.isnan(value) or interval is None:
        reason = "the difference is undefined on these examples."
        return Check(claim=claim, is_shown=False, reason=reason, estimate=last.difference)
    higher = base_measure(last.measure).higher_is_better is not False
    worst = interval.low if higher else interval.high
    is_shown = worst > -limit if higher else worst < limit
    reason = f"the difference is {number(value, DIGITS)}, at worst {number(worst, DIGITS)} at "
    reason += f"{100 * interval.level:.10g} %."
    if not isinstance(result, Comparison) and last.region == limit:
        for test in result.beside.get((last.measure, *last.names), ()):
            if test.method == "non_inferiority":
                is_shown = bool(test.p_value <= 1 - result.level)
                reason += f" The one-sided test has p = {number(test.p_value, DIGITS)}."
    if not is_shown:
        reason += _remedy(last.difference, worst, -limit if higher else limit)
    return Check(claim=claim, is_shown=is_shown, reason=reason, estimate=last.difference)


def _last(result: "Comparisons | Comparison") -> Comparison:
    if isinstance(result, Comparison):
        return result
    return result[result.measure, result.names[0], result.names[-1]]


@dataclass(frozen=True, kw_only=True, repr=False)
class GateResult(Reportable):
    """What a gate checked; it is open if every claim is shown.

    Examples
    --------
    >>> GateResult(name="gate", checks=()).passed
    True
    """

    kind: ClassVar[str] = "gate"

    name: str
    checks: tuple[Check, ...]
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every claim is shown."""
        return all(one.is_shown for one in self.checks)

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        shown_ones = sum(one.is_shown for one in self.checks)
        answer = "open" if self.passed else "closed"
        return f"The gate is {answer}: {shown_ones} of {len(self.checks)} claims shown."

    def __str__(self) -> str:
        return "\n".join([self.verdict, *map(str, self.checks)])

    def _rows(self) -> Iterator[Row]:
        for one in self.checks:
            yield {"claim": one.claim, "shown": one.is_shown, **one.estimate.row()}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One gate: which files, and what they must show.

    `bounds` maps a measure to a sign and a number, `slice_bounds` does for every slice by the
    columns `by`.  `folder` is where relative paths start.
    """

    name: str
    files: tuple[Path, ...]
    bounds: Mapping[str, tuple[str, float]]
    settings: Mapping[str, Any]
    folder: Path
    by: tuple[str, ...] = ()
    slice_bounds: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Mapping[str, Any], folder: Path) -> "Gate":
        """Read one gate; a key that is neither a setting nor a measure is refused."""
        bounds = {key: _bound(key, value) for key, value in table.items() if key not in KEYS}
        settings = {key: value for key, value in table.items() if key in KEYS}
        files = settings.get("files")
        listed = [files] if isinstance(files, str) else files
        is_list = isinstance(listed, list) and all(isinstance(one, str) for one in listed)
        if not listed or not is_list:
            raise InputError(f"`files` of the gate must be a file or a list of files; got {files}.")
        by, slice_bounds = _slices(settings.get("slices"))
        if not bounds and not by and not any(key in settings for key in BASELINES):
            raise InputError(f"The gate must demand something, such as {FORM}; it demands nothing.")
        for key in BASELINES:
            if not isinstance(settings.get(key, ""), str):
                raise InputError(f"`{key}` of the gate must be a file; got {settings[key]!r}.")
        if "not_worse_than" in settings and "region" not in settings:
            raise InputError(
                "`not_worse_than` of the gate must come with region, the smallest difference that "
                "matters; got none."
            )
        return cls(
            name=str(settings.get("name", "gate")),
            files=tuple(folder / one for one in listed),
            bounds=bounds,
            settings=settings,
            folder=folder,
            by=by,
            slice_bounds=slice_bounds,
        )

    def run(self) -> GateResult:
        """Read the files and check every claim."""
        from truerisk.evaluation.evaluate import evaluate_files

        roles = Roles(**{key: _of_list(value) for key, value in self._given(ROLES).items()})
        reading = ReadingOptions(**self._given(READING))
        common = self._given(EVALUATION) | {"pos_label": self.settings.get("positive")}
        checks: list[Check] = []
        source: Mapping[str, Any] = {}
        if self.bounds or self.by:
            measures = tuple(dict.fromkeys((*self.slice_bounds, *self.bounds)))
            evaluation = evaluate_files(
                self.files,
                roles=roles,
                options=reading,
                measures=measures or None,
                by=self.by,
                **common,
            )
            source = evaluation.source
            checks += _checked(evaluation, self.bounds)
            for name, one in evaluation.slices.items():
                checks += [
                    dataclasses.replace(check, claim=f"{check.claim} in {name}")
                    for check in _checked(one, self.slice_bounds)
                ]
            if self.by and not self.slice_bounds:
                checks.append(no_slice_worse(evaluation))
        checks += [
            self._against(key, roles, reading, common) for key in BASELINES if key in self.settings
        ]
        return GateResult(name=self.name, checks=tuple(checks), source=source)

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self.settings[name] for name in names if name in self.settings}

    def _against(
        self, key: str, roles: Roles, reading: ReadingOptions, common: Mapping[str, Any]
    ) -> Check:
        from truerisk.comparison.predictions.compare_files import compare_files

        if len(self.files) != 1:
            raise InputError(
                f"`files` of the gate must be one file for {key}; got {len(self.files)}."
            )
        measure = self.settings.get("measure")
        result = compare_files(
            [self.folder / self.settings[key], self.files[0]],
            names=("baseline", self.name if self.name != "gate" else "this model"),
            join=self.settings.get("join", "auto"),
            region=self.settings.get("region"),
            roles=roles,
            options=reading,
            measures=None if measure is None else (measure,),
            **common,
        )
        return is_better(result) if key == "better_than" else is_not_worse(result)


def _checked(
    estimates: Mapping[str, Estimate], bounds: Mapping[str, tuple[str, float]]
) -> list[Check]:
    return [
        (at_least if sign == ">=" else at_most)(estimates[measure], bound)
        for measure, (sign, bound) in bounds.items()
    ]


def _slices(table: object) -> tuple[tuple[str, ...], dict[str, tuple[str, float]]]:
    """Read the table of slices: the columns, and what every slice must show."""
    if table is None:
        return (), {}
    by = table.get("by") if isinstance(table, dict) else None
    listed = [by] if isinstance(by, str) else by
    if not isinstance(table, dict) or not isinstance(listed, list) or not listed:
        raise InputError(f"`slices` of the gate must be like {SLICES_FORM}; got {shown(table)}.")
    bounds = {key: _bound(key, value) for key, value in table.items() if key != "by"}
    return tuple(map(str, listed)), bounds


def read_gates(path: Path) -> tuple[Gate, ...]:
    """Read the gates of a TOML file: `[tool.truerisk.gate]` of pyproject.toml, else `[gate]`.

    An array of tables (`[[gate]]`) is several gates.
    """
    import tomllib

    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be TOML; {error}.") from error
    place = "tool.truerisk.gate" if path.name == "pyproject.toml" else "gate"
    tables: Any = content
    for key in place.split("."):
        tables = tables.get(key) if isinstance(tables, dict) else None
    if not isinstance(tables, (dict, list)) or not tables:
        raise InputError(f"{path} must have a table [{place}], such as [{place}] with {FORM}.")
    listed = tables if isinstance(tables, list) else [tables]
    return tuple(Gate.of(table, path.parent) for table in listed)


def _bound(key: str, value: object) -> tuple[str, float]:
    try:
        base_measure(key)
    except InputError:
        from truerisk.measures.registry import MEASURES

        raise InputError(
            f"The gate has no setting {key!r}.{did_you_mean(key, [*KEYS, *MEASURES])}"
        ) from None
    match = BOUND.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"`{key}` of the gate must be like {FORM}; got {shown(value)}.")
    sign, bound = match[1], float(match[2])
    if not math.isfinite(bound):
        raise InputError(f"`{key}` of the gate must be a finite number; got {shown(value)}.")
    check_bound(key, bound, key)
    return sign, bound


def _of_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
