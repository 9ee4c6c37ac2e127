"""Arrays, CSV, Parquet and JSON lines, whole or in parts: the same predictions, the same answer."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs.arrays import code_labels
from truerisk.inputs.predictions import Predictions

SETTINGS = settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
rows = st.lists(
    st.tuples(
        st.sampled_from(["ham", "spam"]),
        st.sampled_from(["ham", "spam"]),
        st.floats(-4, 4, width=32),
        st.sampled_from([0.5, 1.0, 3.25]),
        st.integers(0, 5),
    ),
    min_size=2,
    max_size=60,
)
REQUEST = {"pos_label": "spam", "random_state": 4, "replicates": 100}
NAMES = ("truth", "pred", "score", "weight", "group")


def plain(evaluation):
    found = evaluation.to_dict()
    return {key: found[key] for key in ("estimates", "by_class", "n", "labels", "verdict")}


def write_csv(path, columns):
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_json_lines(path, columns):
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def write_parquet(path, columns, row_group_size=7):
    pq.write_table(pa.table(columns), path, row_group_size=row_group_size)
    return path


@given(rows, st.sets(st.sampled_from(["weight", "group"])))
@SETTINGS
def test_every_format_gives_what_the_arrays_give(tmp_path, table, extra):
    columns = dict(zip(NAMES, map(list, zip(*table, strict=True)), strict=True))
    assume("group" not in extra or len(set(columns["group"])) > 1)
    arrays = tr.evaluate(
        columns["truth"],
        columns["pred"],
        y_score=np.array(columns["score"]),
        sample_weight=columns["weight"] if "weight" in extra else None,
        groups=columns["group"] if "group" in extra else None,
        **REQUEST,
    )
    kept = {name: columns[name] for name in NAMES if name in {"truth", "pred", "score", *extra}}
    half = {name: column[: len(table) // 2] for name, column in kept.items()}
    rest = {name: column[len(table) // 2 :] for name, column in kept.items()}
    sources = (
        [write_csv(tmp_path / "a.csv", kept)],
        [write_csv(tmp_path / "a.csv.gz", kept)],
        [write_parquet(tmp_path / "a.parquet", kept)],
        [write_json_lines(tmp_path / "a.jsonl", kept)],
        [write_csv(tmp_path / "b.csv", rest), write_parquet(tmp_path / "c.parquet", half)],
    )
    for paths in sources:
        for batch_rows in (3, 1000):
            options = tr.ReadingOptions(batch_rows=batch_rows, block_bytes=64 * batch_rows)
            found = tr.evaluate_files(paths, options=options, **REQUEST)
            assert plain(found) == plain(arrays), (paths, batch_rows)


@given(rows, st.integers(0, 60), st.booleans(), st.booleans())
@SETTINGS
def test_parts_merge_into_the_whole(table, cut, weighted, grouped):
    truth, pred, score, weight, group = (np.array(column) for column in zip(*table, strict=True))
    coded = code_labels(truth, pred)
    request = Request(**REQUEST).checked()

    def tally(at):
        return PredictionTally(request).add(
            Predictions(
                coded.truth[at],
                coded.members,
                coded.predicted[at],
                score[at],
                weight[at] if weighted else None,
                group[at] if grouped else None,
            )
        )

    cut = min(cut, len(table) - 1)
    whole = tally(slice(None)).finish(coded.members)
    merged = tally(slice(cut, None)).merge(tally(slice(0, cut))).finish(coded.members)
    assert np.array_equal(whole.cells.totals, merged.cells.totals)
    first, second = whole.rankings["spam"], merged.rankings["spam"]
    assert first.auc == pytest.approx(second.auc, rel=1e-13, nan_ok=True)
    assert np.array_equal(first.thresholds, second.thresholds)
