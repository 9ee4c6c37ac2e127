"""What `to_dict` gives is what docs/schemas say, for every kind of result."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import truerisk as tr
from truerisk.estimation.corpus.corpus import estimate_corpus
from truerisk.estimation.svm.without_resampling import without_resampling
from truerisk.gates import GateResult, at_least
from truerisk.inputs.corpora import read_corpus
from truerisk.results import Reportable, Resampled, Tabular

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
_spec = importlib.util.spec_from_file_location("make_schemas", FOLDER / "make_schemas.py")
make_schemas = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_schemas)

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 2)) + 1.2 * Y[:, None]
TYPES = {
    "object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool,
    "null": type(None),
}  # fmt: skip


def faults(value, schema, whole, at="$"):  # noqa: C901  (one line per keyword)
    """Validate the few keywords that our schemas use; yields where a value is not as it says."""
    if "$ref" in schema:
        yield from faults(value, whole["$defs"][schema["$ref"].split("/")[-1]], whole, at)
        return
    if "anyOf" in schema and all(list(faults(value, one, whole, at)) for one in schema["anyOf"]):
        yield f"{at}: {value!r} is none of {schema['anyOf']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not one of {schema['enum']}"
    if "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(isinstance(value, TYPES[name]) for name in named):
            yield f"{at}: {value!r} is no {' or '.join(named)}"
            return
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, one in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            yield from faults(one, inner, whole, f"{at}.{name}")
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from faults(one, schema.get("items", {}), whole, f"{at}[{place}]")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    scores = RNG.random((6, 3))
    called = np.where(RNG.random(60) < 0.8, Y, 1 - Y)
    svm = tr.LinearSVM().fit(X, Y)
    few = {"repeats": 1, "random_state": 1}
    folder = tmp_path_factory.mktemp("corpus")
    lines = [
        json.dumps({"text": text, "categories": [name]})
        for name, text in (("a", "wheat corn rice"), ("b", "gold silver copper")) * 8
    ]
    (folder / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    evaluation = tr.evaluate(Y, called, y_score=X[:, 0], pos_label=1, random_state=1)
    (folder / "predictions.csv").write_text("y_true,y_pred\n1,1\n0,0\n", encoding="utf-8")
    return [
        evaluation,
        tr.doctor(folder / "predictions.csv"),
        tr.evaluate(Y, called, y_score=X[:, 0], by=np.arange(60) % 3, random_state=1),
        evaluation["recall"],
        GateResult(name="gate", checks=(at_least(evaluation["recall"], 0.5),)),
        Resampled(**vars(evaluation["recall"]), replicates=(0.1, float("nan"))),
        tr.evaluate_counts([[5, 1, 0], [2, 6, 1], [0, 0, 9]]),
        tr.estimate("tree", X, Y, **few),
        tr.leave_one_out(tr.LinearSVM(), X, Y),
        tr.xi_alpha(svm, X, Y),
        tr.perturbation(tr.LinearSVM(), X, Y, random_state=1),
        tr.compare_models("tree", "majority", X, Y, **few),
        tr.compare_models("tree", "majority", X, Y, measures=["error_rate", "f1"], **few),
        tr.compare(Y, called, 1 - called, Y, pos_label=1, random_state=1),
        tr.compare(Y, called, 1 - called, by=np.arange(60) % 3, random_state=1),
        tr.compare_over_datasets(scores, names=["a", "b", "c"]),
        tr.learning_curve(tr.LinearSVM(), X, Y, sizes=[10, 20, 30, 40], repeats=2, random_state=1),
        tr.best_of({"a": "tree", "b": "majority"}, X, Y, replicates=100, **few),
        tr.select(tr.LinearSVM(), X, Y, over={"C": [0.5, 2.0]}, replicates=100),
        without_resampling(tr.LinearSVM(), X, Y),
        tr.audit(Y, called, size=20, samples=20, random_state=1),
        estimate_corpus(read_corpus(folder / "corpus.jsonl"), holdout=0.25, random_state=1),
        tr.roc(Y, X[:, 0]),
        tr.roc(Y, X[:, 0]).normalised_cost(),
        tr.confidence_band(tr.roc(Y, X[:, 0])),
        tr.precision_recall(Y, X[:, 0]),
        tr.precision_recall(Y, X[:, 0]).breakeven(),
        tr.det(Y, X[:, 0]),
        tr.cost(Y, X[:, 0], {"fp": 1, "fn": 5}),
        tr.calibration(Y, np.linspace(0, 1, 60)),
        tr.score_distribution(Y, X[:, 0]),
        tr.rejection(Y, np.linspace(0, 1, 60), guarantee={"error": 0.4}),
        tr.best_threshold(Y, X[:, 0]),
        tr.best_threshold(Y, X[:, 0], guarantee={"recall": 0.8}),
        tr.sample_size(half_width=0.1, expected=0.2),
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_result_is_as_its_schema_says(results):
    for result in results:
        schema = json.loads((FOLDER / f"{result.kind}.json").read_text(encoding="utf-8"))
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert list(faults(plain, schema, schema)) == [], type(result)
    assert {one.kind for one in results} == {path.stem for path in FOLDER.glob("*.json")}


def test_every_result_becomes_a_table_metrics_and_one_line(results):
    for result in results:
        rows = result.to_rows()
        assert rows
        assert len({tuple(row) for row in rows}) == 1
        for kind in ("pandas", "polars", "arrow"):
            assert len(result.to_frame(kind)) == len(rows)
        assert "\n" not in repr(result)
        assert len(repr(result)) < 250
        metrics = result.to_metrics()
        assert all(type(value) is float for value in metrics.values())
        # A curve may be its points alone.
        assert metrics or not isinstance(result, Reportable)


def test_metrics_of_curves_thresholds_and_plans_are_their_numbers():
    curve = tr.roc([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.9])
    assert curve.to_metrics() == {"auc": 0.75, "n_positive": 2.0, "n_negative": 2.0}
    plan = tr.sample_size(half_width=0.1, expected=0.2)
    assert plan.to_metrics() == {"n": float(plan.n), "level": 0.95, "assurance": 0.8}
    best = tr.best_threshold(Y, X[:, 0])
    recall = best.estimates["recall"]
    metrics = best.to_metrics()
    assert (metrics["at"], metrics["recall"]) == (best.at, recall.value)
    assert metrics["recall_low"] == recall.interval.low


def test_the_files_are_those_that_the_classes_give():
    for kind in make_schemas.KINDS:
        path = FOLDER / f"{kind.kind}.json"
        text = make_schemas.text_of(make_schemas.schema_of(kind))
        assert path.read_text(encoding="utf-8") == text, "run docs/schemas/make_schemas.py"


def test_every_kind_of_result_has_a_schema():
    def kinds(of):
        for one in of.__subclasses__():
            if one.__module__.startswith("truerisk"):
                yield getattr(one, "kind", None)
                yield from kinds(one)

    assert set(kinds(Tabular)) - {None} == {kind.kind for kind in make_schemas.KINDS}
