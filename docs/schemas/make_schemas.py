# noqa: INP001  (a script beside what it writes)
"""Write one JSON schema per kind of result, from the fields of its class: `python make_schemas.py`.

NaN is null; an infinity is the string "Infinity" or "-Infinity".
"""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.comparison.datasets.over_datasets import OverDatasets
from truerisk.comparison.learners.compare_models import ModelComparisons
from truerisk.comparison.predictions.comparisons import ComparedSlice, Comparisons
from truerisk.estimation.audit import Audit
from truerisk.estimation.corpus.corpus import CorpusEvaluation
from truerisk.estimation.curves.results import LearningCurve
from truerisk.estimation.refits.best_of import BestOf
from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.estimation.svm.leave_one_out import LeaveOneOut
from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.estimation.svm.selection import Selection
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.estimation.svm.xi_alpha import XiAlpha
from truerisk.evaluation.best_threshold import ChosenThreshold
from truerisk.evaluation.curve_bands import Band
from truerisk.evaluation.doctor import Diagnosis
from truerisk.evaluation.slices import SliceTest
from truerisk.gates import GateResult
from truerisk.intervals.planning import Plan
from truerisk.measures.calibration import CalibrationCurve, ScoreDistribution
from truerisk.measures.curves import (
    BreakevenCurve,
    CostCurve,
    DetCurve,
    NormalisedCostCurve,
    PrecisionRecallCurve,
    RocCurve,
)
from truerisk.measures.rejection import ErrorRejectCurve
from truerisk.results import Comparison, Estimate, Evaluation, Reportable

HERE = Path(__file__).parent
KINDS = (
    Estimate, Evaluation, LearnerEvaluation, LeaveOneOut, XiAlpha, CorpusEvaluation, Perturbed,
    Comparison, ModelComparisons, Comparisons, OverDatasets, LearningCurve, BestOf, Selection,
    SideBySide, Audit, GateResult, Diagnosis,
    RocCurve, PrecisionRecallCurve, BreakevenCurve, DetCurve, CostCurve, NormalisedCostCurve,
    CalibrationCurve, ScoreDistribution, ErrorRejectCurve, Band, ChosenThreshold, Plan,
)  # fmt: skip

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
NUMBER: Schema = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["Infinity", "-Infinity"]}]}
CODES: Schema = {"type": "array", "items": {"type": ["string", "null"]}}
PLAIN = {float: NUMBER, int: {"type": "number"}, str: TEXT, bool: {"type": "boolean"}}
OBJECT: Schema = {"type": "object"}
CONFUSION: Schema = {
    "type": ["object", "null"],
    "properties": {
        "labels": TEXTS,
        "rows_are": {"const": "truth"},
        "counts": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    },
    "required": ["labels", "rows_are", "counts"],
}
COVERAGE: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            **dict.fromkeys(("interval", "of", "measured"), TEXT),
            **dict.fromkeys(("level", "mean", "least", "cells", "samples"), NUMBER),
            **{name: {"type": ["string", "null"]} for name in ("role", "page")},
        },
        "required": [
            "cells", "interval", "least", "level", "mean", "measured", "of", "page", "role",
            "samples",
        ],
    },
}  # fmt: skip
EVALUATION: Schema = {"verdict_codes": CODES, "notes_codes": CODES, "confusion": CONFUSION}
ESTIMATES: Schema = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Estimate"}}
SLICES: Schema = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "columns": TEXTS,
            "n": {"type": "number"},
            "estimates": ESTIMATES,
            "by_class": {"type": "object", "additionalProperties": ESTIMATES},
            "tests": {"type": "object", "additionalProperties": {"$ref": "#/$defs/SliceTest"}},
            "notes": TEXTS,
        },
        "required": ["columns", "estimates", "n", "tests"],
    },
}
OPTIONAL = {"slices"}  # only where slices were requested
BY_METHOD: Schema = {
    "type": "object",
    "properties": {
        "estimates": ESTIMATES,
        "at_rho": {"type": "object", "additionalProperties": ESTIMATES},
        "holdout": {"anyOf": [ESTIMATES, {"type": "null"}]},
    },
    "required": ["estimates", "at_rho", "holdout"],
}
# What `to_dict` adds to the fields of the class, or holds instead of them.
ADDED: dict[type, Schema] = {
    **dict.fromkeys((LearnerEvaluation, LeaveOneOut, XiAlpha), EVALUATION),
    Evaluation: {**EVALUATION, "slices": SLICES},
    OverDatasets: {"verdict": TEXTS},
    BestOf: {"ranking": TEXTS},
    Comparisons: {
        "evaluations": {"type": "object", "additionalProperties": ESTIMATES},
        "pairs": {"type": "array", "items": {"$ref": "#/$defs/Comparison"}},
        "slices": {"type": "array", "items": {"$ref": "#/$defs/ComparedSlice"}},
    },
    CorpusEvaluation: {
        "documents": {"type": "number"},
        "documents_held_out": {"type": ["number", "null"]},
        "averages": BY_METHOD,
        "categories": {"type": "array", "items": BY_METHOD},
        "one_label": {
            "type": ["object", "null"],
            "properties": {"estimates": ESTIMATES, "confusion": CONFUSION},
            "required": ["estimates", "confusion"],
        },
        "verdict_codes": CODES,
        "notes_codes": CODES,
    },
}
LEFT_OUT: dict[type, set[str]] = {
    Comparisons: {"adjusted", "beside"},
    CorpusEvaluation: {"estimates", "by_class", "n", "labels", "pos_label", "at_rho", "holdout"},
}
LAWS = "laws"  # of an extrapolation: hundreds of refitted ones, which are not saved


def schema_of(kind: type) -> Schema:
    """Give the schema of what `to_dict` of a class gives."""
    definitions: dict[str, Schema] = {}
    own = _fields(kind, definitions)
    if kind in (Comparisons, CorpusEvaluation):
        _refer(Estimate, definitions)
        _refer(Comparison, definitions)
    if kind is Comparisons:
        _refer(ComparedSlice, definitions)
    if kind is Evaluation:
        _refer(SliceTest, definitions)
    name = f"truerisk/{kind.kind}/{kind.schema_version}"  # type: ignore[attr-defined]
    properties = {"schema": {"const": name}, **own, **ADDED.get(kind, {})}
    if issubclass(kind, Reportable):
        properties["coverage"] = COVERAGE
    properties = {key: one for key, one in properties.items() if key not in LEFT_OUT.get(kind, ())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "type": "object",
        "properties": properties,
        "required": sorted(properties.keys() - OPTIONAL),
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _fields(kind: type, definitions: dict[str, Schema]) -> dict[str, Schema]:
    hints = typing.get_type_hints(kind)
    return {
        one.name: _type(hints[one.name], definitions)
        for one in dataclasses.fields(kind)
        if one.compare and one.name != LAWS
    }


def _refer(kind: type, definitions: dict[str, Schema]) -> Schema:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a class may hold itself
        properties = _fields(kind, definitions)
        if issubclass(kind, Evaluation):
            properties |= EVALUATION
        definitions[kind.__name__] = {
            "type": "object",
            "properties": properties,
            "required": sorted(properties),
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _type(hint: Any, definitions: dict[str, Schema]) -> Schema:  # noqa: PLR0911
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _refer(hint, definitions)
    if hint is type(None):
        return {"type": "null"}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type(one, definitions) for one in inner]}
    if origin is np.ndarray:
        return {"type": "array", "items": NUMBER}
    if origin in (tuple, list):
        kinds = [one for one in inner if one is not Ellipsis]
        items = kinds[0] if len(set(kinds)) == 1 else Any
        return {"type": "array", "items": _type(items, definitions)}
    if origin in {Mapping, dict}:
        return {"type": "object", "additionalProperties": _type(inner[1], definitions)}
    return {}


def text_of(schema: Schema) -> str:
    """Write a schema as the content of its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for one in KINDS:
        path = HERE / f"{one.kind}.json"
        path.write_text(text_of(schema_of(one)), encoding="utf-8")
