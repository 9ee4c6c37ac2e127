"""The gate of a pipeline: settings in TOML, predictions in files, one answer."""

import dataclasses
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from truerisk.checks import did_you_mean, shown
from truerisk.comparison.predictions.compare_files import compare_files
from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate_files
from truerisk.gates import claims
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.roles import Roles
from truerisk.measures.registry import base_measure
from truerisk.results import Estimate, Reportable, Row

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
    checks: tuple[claims.Check, ...]
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
        roles = Roles(**{key: _of_list(value) for key, value in self._given(ROLES).items()})
        reading = ReadingOptions(**self._given(READING))
        common = self._given(EVALUATION) | {"pos_label": self.settings.get("positive")}
        checks: list[claims.Check] = []
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
                    claims.in_slice(check, name) for check in _checked(one, self.slice_bounds)
                ]
            if self.by and not self.slice_bounds:
                checks.append(claims.no_slice_worse(evaluation))
        checks += [
            self._against(key, roles, reading, common) for key in BASELINES if key in self.settings
        ]
        return GateResult(name=self.name, checks=tuple(checks), source=source)

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self.settings[name] for name in names if name in self.settings}

    def _against(
        self, key: str, roles: Roles, reading: ReadingOptions, common: Mapping[str, Any]
    ) -> claims.Check:
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
        return claims.is_better(result) if key == "better_than" else claims.is_not_worse(result)


def _checked(
    estimates: Mapping[str, Estimate], bounds: Mapping[str, tuple[str, float]]
) -> list[claims.Check]:
    return [
        (claims.at_least if sign == ">=" else claims.at_most)(estimates[measure], bound)
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
    claims.check_bound(key, bound, key)
    return sign, bound


def _of_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
