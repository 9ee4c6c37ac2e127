"""Every way in × every shape of predictions: the same results, notes and refusals.

Matrices of indicators exist in memory only: a file holds label sets as cells or lists.
"""

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import truerisk as tr
from truerisk.errors import InputError

RNG = np.random.default_rng(5)
N = 60
TRUTH = RNG.integers(0, 2, N)
SCORE = np.round(np.clip(TRUTH * 0.3 + RNG.random(N) * 0.7, 0.01, 0.99), 3)
PRED = (SCORE > 0.5).astype(int)
WORDS = np.array(["ham", "spam"])
CLASSES = RNG.integers(0, 3, N)
TABLE = np.round((np.eye(3)[CLASSES] + RNG.random((N, 3))) / 4, 3)
NAMES = np.array(["cat", "cow", "dog"])
SETS = RNG.random((N, 3)) < 0.4
CALLED_SETS = SETS ^ (RNG.random((N, 3)) < 0.1)
SET_SCORES = np.round(SETS + RNG.normal(size=(N, 3)), 3)
COMMON = {"random_state": 1, "replicates": 100}


def lists_of(indicators, names=NAMES):
    return [[str(name) for name in names[row]] for row in indicators]


def both(score):
    return {"score_0": np.round(1 - score, 3), "score_1": score}


def of_classes(table, names=NAMES):
    return {f"score_{name}": table[:, at] for at, name in enumerate(names)}


# The columns of a file, by role; several scores are a dict of columns.
SHAPES = {
    "labels": ({"truth": TRUTH, "pred": PRED}, {}),
    "words": ({"truth": WORDS[TRUTH], "pred": WORDS[PRED]}, {"pos_label": "spam"}),
    "classes": ({"truth": NAMES[CLASSES], "pred": NAMES[TABLE.argmax(1)]}, {}),
    "one score": ({"truth": TRUTH, "pred": PRED, "score": SCORE}, {}),
    "only a score": ({"truth": TRUTH, "score": SCORE}, {}),
    "threshold": ({"truth": TRUTH, "score": SCORE}, {"threshold": 0.4}),
    "two scores": ({"truth": TRUTH, "pred": PRED, "score": both(SCORE)}, {}),
    "only two scores": ({"truth": TRUTH, "score": both(SCORE)}, {"probabilities": True}),
    "two scores, threshold": ({"truth": TRUTH, "score": both(SCORE)}, {"threshold": 0.4}),
    "two scores of words": (
        {"truth": WORDS[TRUTH], "score": of_classes(np.c_[1 - SCORE, SCORE].round(3), WORDS)},
        {"pos_label": "ham"},
    ),
    "two scores, none positive": (
        {"truth": WORDS[TRUTH], "score": of_classes(np.c_[1 - SCORE, SCORE].round(3), WORDS)},
        {},
    ),
    "three scores": (
        {"truth": NAMES[CLASSES], "pred": NAMES[TABLE.argmax(1)], "score": of_classes(TABLE)},
        {},
    ),
    "only three scores": ({"truth": NAMES[CLASSES], "score": of_classes(TABLE)}, {}),
    "weights": (
        {"truth": TRUTH, "pred": PRED, "score": SCORE, "weight": 1 + np.arange(N) % 3 / 2},
        {},
    ),
    "groups": ({"truth": TRUTH, "pred": PRED, "score": SCORE, "group": np.arange(N) // 4}, {}),
    "weights and groups, two scores": (
        {
            "truth": TRUTH,
            "score": both(SCORE),
            "weight": 1 + np.arange(N) % 3 / 2,
            "group": np.arange(N) // 4,
        },
        {},
    ),
    "groups, three scores": (
        {
            "truth": NAMES[CLASSES],
            "pred": NAMES[TABLE.argmax(1)],
            "score": of_classes(TABLE),
            "group": np.arange(N) // 4,
        },
        {},
    ),
    "groups, label sets": (
        {"truth": lists_of(SETS), "pred": lists_of(CALLED_SETS), "group": np.arange(N) // 4},
        {"multilabel": True, "average_over": NAMES.tolist()},
    ),
    "label sets": (
        {"truth": lists_of(SETS), "pred": lists_of(CALLED_SETS)},
        {"multilabel": True, "average_over": NAMES.tolist()},
    ),
    "label sets, scores": (
        {
            "truth": lists_of(SETS),
            "pred": lists_of(CALLED_SETS),
            "score": of_classes(SET_SCORES),
        },
        {"multilabel": True, "average_over": NAMES.tolist()},
    ),
}


# Ways in: columns and settings → Evaluation.


def in_memory(column=lambda values: values, table=np.asarray):
    def evaluated(columns, settings):
        score = columns.get("score")
        if isinstance(score, dict):
            score = table(score)
        elif score is not None:
            score = column(score)
        made = {
            name: None if name not in columns else column(columns[name])
            for name in ("truth", "pred", "weight", "group")
        }
        return tr.evaluate(
            made["truth"],
            made["pred"],
            y_score=score,
            sample_weight=made["weight"],
            groups=made["group"],
            **COMMON,
            **settings,
        )

    return evaluated


def stacked(score):
    return np.column_stack(list(score.values()))


def flat(columns):
    score = columns.get("score")
    others = {name: list(values) for name, values in columns.items() if name != "score"}
    if score is None:
        return others
    return others | (score if isinstance(score, dict) else {"score": score})


def plain_columns(columns):
    return {
        name: values if isinstance(values[0], list) else np.asarray(values).tolist()
        for name, values in flat(columns).items()
    }


def strictness(settings):
    separator = "|" if settings.get("multilabel") else None
    others = {name: value for name, value in settings.items() if name != "multilabel"}
    return others, tr.ReadingOptions(multilabel_separator=separator)


def from_frame(frame):
    def evaluated(columns, settings):
        others, options = strictness(settings)
        return tr.evaluate_frame(frame(plain_columns(columns)), options=options, **COMMON, **others)

    return evaluated


def write_csv(path, columns):
    cells = {
        name: ["|".join(one) if isinstance(one, list) else str(one) for one in values]
        for name, values in columns.items()
    }
    rows = [",".join(columns), *map(",".join, zip(*cells.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_json(path, columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path, columns):
    pq.write_table(pa.table(columns), path, row_group_size=16)
    return path


def write_arrow(path, columns):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pa.table(columns).schema) as out:
        out.write_table(pa.table(columns), max_chunksize=16)
    return path


def write_stream(path, columns):
    schema = pa.table(columns).schema
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as out:
        out.write_table(pa.table(columns), max_chunksize=16)
    return path


def as_uri(path, columns):
    return write_csv(path, columns).as_uri()


def from_stdin(columns, settings, folder):
    others, options = strictness(settings)
    path = write_csv(folder / "p.csv", plain_columns(columns))
    with path.open(encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", file)
        return tr.evaluate_files("-", options=options, **COMMON, **others)


from_stdin.needs_folder = True


def duckdb_relation(columns):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.table(columns))


def exported(columns):
    """Give what a driver of ADBC gives: nothing but a stream of Arrow."""
    return pa.RecordBatchReader.from_batches(
        pa.table(columns).schema, pa.table(columns).to_batches(max_chunksize=16)
    )


def hugging_face(columns):
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset(pa.table(columns))


def write_folder(path, columns):
    path.mkdir(exist_ok=True)
    half = len(columns["truth"]) // 2
    for at, cut in enumerate((slice(0, half), slice(half, None))):
        part = {name: values[cut] for name, values in columns.items()}
        write_csv(path / f"{at}.csv", part)
    return path


def from_files(name, write):
    def evaluated(columns, settings, folder):
        others, options = strictness(settings)
        path = write(folder / name, plain_columns(columns))
        return tr.evaluate_files(path, options=options, **COMMON, **others)

    evaluated.needs_folder = True
    return evaluated


def compared(columns, settings):
    score = columns.get("score")
    score = stacked(score) if isinstance(score, dict) else score
    pred = columns.get("pred")
    result = tr.compare(
        columns["truth"],
        pred,
        pred,
        scores=[score, score],
        sample_weight=columns.get("weight"),
        groups=columns.get("group"),
        **COMMON,
        **settings,
    )
    return result.evaluations["first"]


def compared_files(columns, settings, folder):
    others, options = strictness(settings)
    paths = [write_csv(folder / f"{name}.csv", plain_columns(columns)) for name in "ab"]
    return tr.compare_files(paths, options=options, **COMMON, **others).evaluations["a"]


compared_files.needs_folder = True

MEMORY = {
    "list": in_memory(list, stacked),
    "NumPy": in_memory(lambda values: values if isinstance(values, list) else np.array(values),
                       stacked),
    "pandas": in_memory(pd.Series, pd.DataFrame),
    "polars": in_memory(pl.Series, pl.DataFrame),
    "Arrow": in_memory(lambda values: pa.chunked_array([pa.array(values)]), pa.table),
}  # fmt: skip
FRAMES = {
    "pandas frame": from_frame(pd.DataFrame),
    "polars frame": from_frame(pl.DataFrame),
    "Arrow table": from_frame(pa.table),
    "DuckDB": from_frame(duckdb_relation),
    "Arrow stream": from_frame(exported),
    "Hugging Face": from_frame(hugging_face),
}
FILES = {
    "CSV": from_files("p.csv", write_csv),
    "JSON lines": from_files("p.jsonl", write_json),
    "Parquet": from_files("p.parquet", write_parquet),
    "folder": from_files("parts", write_folder),
    "Arrow file": from_files("p.arrow", write_arrow),
    "Arrow stream file": from_files("p.arrows", write_stream),
    "URI": from_files("p.csv", as_uri),
    "stdin": from_stdin,
}
WAYS = {**MEMORY, **FRAMES, **FILES, "compare": compared, "compare files": compared_files}


def called(way, columns, settings, folder):
    extra = (folder,) if getattr(way, "needs_folder", False) else ()
    return way(columns, settings, *extra)


def seen(evaluation):
    plain = evaluation.to_dict()
    return {key: plain[key] for key in ("estimates", "by_class", "n", "labels", "verdict", "notes")}


@cache
def from_lists(shape):
    return seen(WAYS["list"](*SHAPES[shape]))


@pytest.mark.parametrize("way", [way for way in WAYS if way != "list"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_way_gives_what_lists_give(shape, way, tmp_path):
    assert seen(called(WAYS[way], *SHAPES[shape], tmp_path)) == from_lists(shape)


def test_the_workers_of_a_cluster_give_what_lists_give(client, tmp_path):
    for shape, (columns, settings) in SHAPES.items():
        with tr.use_cluster(client):
            found = seen(FILES["folder"](columns, settings, tmp_path))
        assert found == from_lists(shape), shape


@pytest.mark.parametrize(
    "indicators", [np.asarray, sp.csr_matrix, sp.coo_array, pd.DataFrame], ids=lambda f: f.__name__
)
def test_indicators_are_label_sets(indicators):
    numbered = np.array(["0", "1", "2"])
    sets = tr.evaluate(
        lists_of(SETS, numbered),
        lists_of(CALLED_SETS, numbered),
        y_score=SET_SCORES,
        multilabel=True,
        labels=[0, 1, 2],
        **COMMON,
    )
    matrix = tr.evaluate(
        indicators(SETS.astype(int)),
        indicators(CALLED_SETS.astype(int)),
        y_score=SET_SCORES,
        multilabel=True,
        **COMMON,
    )
    assert seen(matrix) == seen(sets)


def test_sets_are_lists_in_any_order():
    columns, settings = SHAPES["label sets"]
    turned = {name: [frozenset(one) for one in values] for name, values in columns.items()}
    assert seen(WAYS["list"](turned, settings)) == seen(WAYS["list"](columns, settings))


FEW = {"truth": ["1", "0", "1", "0"], "pred": ["1", "0", "0", "0"]}
REFUSED = {
    "numbers in two spellings": (FEW | {"pred": ["1.0", "0.0", "0.0", "0.0"]}, {}, "same number"),
    "booleans and numbers": (FEW | {"pred": ["True", "False"] * 2}, {}, "--numeric-labels"),
    "case": ({"truth": ["Yes", "No"], "pred": ["yes", "No"]}, {"pos_label": "Yes"}, "in case"),
    "white space": (FEW | {"pred": ["1 ", "0", "0", "0"]}, {}, "white space. Use --strip"),
    "other labels": (FEW | {"pred": ["a", "b", "b", "b"]}, {}, "labels in common"),
    "scores as labels": (FEW | {"pred": ["0.9", "0.2", "0.4", "0.3"]}, {}, "look like scores"),
    "no positive label": ({"truth": ["a", "b"], "pred": ["a", "b"]}, {}, "`pos_label` must be"),
    "another positive label": (FEW, {"pos_label": "7"}, "one of the labels '0', '1'; got '7'"),
    "three classes, one score": (
        {"truth": ["a", "b", "c"] * 2, "score": [0.1, 0.2, 0.3] * 2},
        {},
        "which of the 3 classes the one score column scores",
    ),
    "a class without a score": (
        {"truth": ["0", "1", "2"], "score": {"score_0": [0.5] * 3, "score_1": [0.5] * 3}},
        {"labels": ["0", "1"]},
        "Every class must have a score column; '2' has none",
    ),
    "a prediction without a score": (
        FEW | {"pred": ["1", "0", "2", "2"], "score": {"score_0": [0.5] * 4, "score_1": [0.5] * 4}},
        {"labels": ["0", "1"]},
        "Every class must have a score column; '2' has none",
    ),
    "no probabilities": (
        FEW | {"score": {"score_0": [0.5] * 4, "score_1": [0.6] * 4}},
        {"probabilities": True},
        "must add up to 1",
    ),
    "weights of 0": (FEW | {"weight": [0.0] * 4}, {}, "all are 0|not be 0 for every example"),
    "a negative weight": (FEW | {"weight": [1.0, 1.0, -1.0, 1.0]}, {}, "not negative"),
    "no such measure": (FEW, {"measures": ["acc"]}, "`measure` must be one of"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", REFUSED)
def test_every_way_refuses_what_lists_refuse(case, way, tmp_path):
    columns, settings, message = REFUSED[case]
    if way not in {*MEMORY, "compare"}:  # the names of their columns say what `labels` says
        settings = {name: value for name, value in settings.items() if name != "labels"}
    with pytest.raises(InputError, match=message):
        called(WAYS[way], columns, settings, tmp_path)


REPAIRED = {
    "numeric_labels": {"numeric_labels": True},
    "strip": {"strip": True},
    "label_map": {"label_map": {"ja": "1", "nein": "0"}},
}
SPELT = {
    "numeric_labels": ["1.0", "0", "0.0", "False"],
    "strip": [" 1", "0 ", "0", "0"],
    "label_map": ["ja", "nein", "nein", "0"],
}


@pytest.mark.parametrize("remedy", REPAIRED)
def test_the_remedies_are_the_same_for_arrays_frames_files_and_comparisons(remedy, tmp_path):
    expected = seen(WAYS["list"](FEW, {}))
    columns = FEW | {"pred": SPELT[remedy]}
    settings = REPAIRED[remedy]
    options = tr.ReadingOptions(**settings)
    path = write_csv(tmp_path / "p.csv", columns)
    assert seen(WAYS["list"](columns, settings)) == expected
    assert seen(tr.evaluate_frame(pa.table(columns), options=options, **COMMON)) == expected
    assert seen(tr.evaluate_files(path, options=options, **COMMON)) == expected
    assert seen(compared(columns, settings)) == expected
