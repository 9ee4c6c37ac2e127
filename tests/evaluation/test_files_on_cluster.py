import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import truerisk as tr
from truerisk.cli import main
from truerisk.errors import InputError, ResourceError
from truerisk.evaluation import files_on_cluster
from truerisk.evaluation.files_on_cluster import FilesOnCluster, remove_abandoned
from truerisk.execution import use_cluster
from truerisk.inputs import ReadingOptions, Roles
from truerisk.inputs.files import find_sources
from truerisk.reporting.render.formats import json_of

RNG = np.random.default_rng(8)


def two_classes(n, *, weighted=False, grouped=False):
    truth = RNG.integers(0, 2, n)
    columns = {"y_true": truth, "score": (truth + RNG.normal(size=n)).astype(np.float32)}
    if weighted:
        columns["weight"] = RNG.exponential(size=n)
    if grouped:
        columns["group"] = RNG.integers(0, 12, n)
    return columns


def three_classes(n, names="abc"):
    labels = np.array(list(names))
    truth = labels[RNG.integers(0, 3, n)]
    predicted = np.where(RNG.random(n) < 0.7, truth, labels[RNG.integers(0, 3, n)])
    table = RNG.dirichlet(np.ones(3), n)
    scores = {f"score_{name}": table[:, at] for at, name in enumerate("abc")}
    return {"y_true": truth, "y_pred": predicted, **scores}


def label_sets(n):
    cells = np.array(["", "a", "b|a", "c", "a|c"])
    return {"y_true": cells[RNG.integers(0, 5, n)], "y_pred": cells[RNG.integers(0, 5, n)]}


def with_gaps(n):
    columns = two_classes(n)
    score = columns["score"].astype(np.float64)
    score[::7] = np.nan
    return {**columns, "score": score, "y_true": columns["y_true"].astype(np.float64)}


def only(label, n):
    return {"y_true": [label] * n, "y_pred": [label] * n}


def one_class(label, n):
    return {"y_true": [label] * n, "score": RNG.normal(size=n)}


PROBLEMS = {
    "one class a file": ([one_class(-1, 30), one_class(1, 40), one_class(-1, 20)], {}, {}),
    "a third class that comes later": (
        [two_classes(40), {"y_true": [1, 2] * 15, "score": RNG.normal(size=30)}],
        {},
        {},
    ),
    "two classes, a threshold": (
        [two_classes(40), two_classes(70), two_classes(9)],
        {"threshold": 0.5},
        {},
    ),
    "weights and groups": (
        [two_classes(50, weighted=True, grouped=True) for _ in range(3)],
        {},
        {},
    ),
    "three classes": ([three_classes(60), three_classes(80)], {"probabilities": True}, {}),
    "classes in another order": (
        [only("cat", 3), only("dog", 4), three_classes(20, "dxc") | {"y_pred": ["cat"] * 20}],
        {},
        {},
    ),
    "label sets": ([label_sets(60), label_sets(80)], {}, {"multilabel_separator": "|"}),
    "gaps and whole floats": ([with_gaps(50), with_gaps(60)], {}, {"missing": "drop"}),
    "labels that differ in white space": ([only("a", 3), only(" a", 3), only("b ", 3)], {}, {}),
}


def write_parquet(folder, tables):
    folder.mkdir(exist_ok=True)
    for at, columns in enumerate(tables):
        parquet.write_table(pa.table(columns), folder / f"part{at}.parquet", row_group_size=16)
    return [folder]


def evaluated(paths, asked, strictness, **more):
    more |= {"random_state": 1, "replicates": 100, **asked}
    return json_of(tr.evaluate_files(paths, options=ReadingOptions(**strictness), **more))


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_cluster_finds_what_one_pass_finds(client, tmp_path, monkeypatch, name):
    tables, asked, strictness = PROBLEMS[name]
    paths = write_parquet(tmp_path / "files", tables)
    here = evaluated(paths, asked, strictness)
    for rows in (10, 2**22):
        monkeypatch.setattr(FilesOnCluster, "rows_of_piece", rows)
        with use_cluster(client):
            assert evaluated(paths, asked, strictness) == here


def test_rows_of_all_classes_are_kept_for_as_few_examples_as_in_one_pass(
    client, tmp_path, monkeypatch
):
    paths = write_parquet(tmp_path / "files", [three_classes(60), three_classes(80)])
    kept = evaluated(paths, {}, {})
    for module in ("prediction_tally", "files_in_pieces"):
        monkeypatch.setattr(f"truerisk.evaluation.{module}.MAX_ENTRIES", 3 * 139)
    forgotten = evaluated(paths, {}, {})
    assert forgotten != kept
    with use_cluster(client):
        assert evaluated(paths, {}, {}) == forgotten


def test_a_row_is_named_by_its_number_in_the_whole_file(client, tmp_path, monkeypatch):
    columns = only("a", 37)
    columns["y_pred"].append(None)
    columns["y_true"].append("a")
    paths = write_parquet(tmp_path / "files", [columns])
    monkeypatch.setattr(FilesOnCluster, "rows_of_piece", 10)
    with use_cluster(client), pytest.raises(InputError, match="row 38"):
        tr.evaluate_files(paths)


def test_every_worker_has_some_pieces_and_none_is_small(client, tmp_path, monkeypatch):
    paths = write_parquet(tmp_path / "files", [two_classes(64)] * 10)
    sources, _ = find_sources(paths, ReadingOptions())
    files = FilesOnCluster(sources, Roles(), ReadingOptions())
    monkeypatch.setattr(files_on_cluster, "RUN_ROWS", 16)
    with use_cluster(client) as cluster:
        workers = cluster.workers()
        # By hand: 640 rows, ten pieces for each worker; at least 16 rows, here at most 20
        assert files.rows_per_piece() == max(640 // (10 * workers), 16)
        monkeypatch.setattr(FilesOnCluster, "rows_of_piece", 20)
        assert files.rows_per_piece() == min(max(640 // (10 * workers), 16), 20)


@pytest.fixture
def large_pieces(client, tmp_path, monkeypatch):
    """Evaluate two pieces of 300,000 rows; give what workers send."""
    results = []
    unpacked = files_on_cluster.unpacked

    def noted(result, folder):
        results.append(result)
        return unpacked(result, folder)

    def run(shared_memory):
        monkeypatch.setattr(files_on_cluster, "unpacked", noted)
        monkeypatch.setattr(files_on_cluster, "SHARED_MEMORY", str(shared_memory))
        monkeypatch.setattr(FilesOnCluster, "rows_of_piece", 300_000)
        (tmp_path / "files").mkdir()
        path = tmp_path / "files" / "p.parquet"
        parquet.write_table(pa.table(two_classes(600_000)), path, row_group_size=300_000)
        here = evaluated([path], {}, {})
        with use_cluster(client):
            assert evaluated([path], {}, {}) == here
        assert len(results) == 2
        return results

    return run


def test_a_large_piece_is_sent_scattered_and_beside_its_pickle(large_pieces, tmp_path):
    for result in large_pieces(tmp_path / "nowhere"):
        # By hand: 2 bytes a row; the cells that have rows are few, and in the pickle.
        assert max(map(len, result.values())) == 2 * 300_000
        assert sum(map(len, result.values())) < 2.3 * 300_000


def test_a_worker_on_this_computer_leaves_a_large_piece_in_shared_memory(large_pieces, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    for result in large_pieces(shared):
        assert list(result) == ["piece", "name", "ends"]
        assert result["ends"].tolist() == [2 * 300_000]  # by hand: a multiple of 64
    assert list(shared.iterdir()) == []


def test_arrays_of_any_length_are_left_in_shared_memory(client, tmp_path):
    # 100,001 labels of one byte, the last of which ends between two places of 64 bytes
    paths = write_parquet(tmp_path / "files", [two_classes(100_001), two_classes(70_003)])
    here = evaluated(paths, {}, {})
    with use_cluster(client):
        assert evaluated(paths, {}, {}) == here


ABANDONED = """
import sys, time
from pathlib import Path
from truerisk.evaluation.files_on_cluster import locked_folder

with locked_folder(Path(sys.argv[1])) as folder:
    (folder / "piece").write_bytes(bytes(1000))
    print(folder, flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_has_left_is_removed_by_the_next(client, tmp_path, monkeypatch):
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setattr(files_on_cluster, "SHARED_MEMORY", str(shared))
    command = [sys.executable, "-c", ABANDONED, str(shared)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        theirs = Path(process.stdout.readline().strip())
        remove_abandoned(shared)
        assert (theirs / "piece").exists()  # its process is still at work
        process.kill()
    assert (theirs / "piece").exists()
    with use_cluster(client):
        tr.evaluate_files(write_parquet(tmp_path / "files", [two_classes(40)]))
    assert list(shared.iterdir()) == []


def test_a_file_that_vanishes_meanwhile_is_told_as_such(client, tmp_path, monkeypatch):
    paths = write_parquet(tmp_path / "files", [two_classes(40) for _ in range(10)])
    unpacked, last = files_on_cluster.unpacked, paths[0] / "part9.parquet"

    def then_deleted(result, folder):
        last.unlink(missing_ok=True)
        return unpacked(result, folder)

    monkeypatch.setattr(files_on_cluster, "unpacked", then_deleted)
    vanished = pytest.raises(ResourceError, match=r"part9\.parquet: vanished while it was read")
    with use_cluster(client), vanished:
        tr.evaluate_files(paths)


def test_what_cannot_be_left_in_shared_memory_is_sent(large_pieces, tmp_path, monkeypatch):
    nowhere = contextlib.nullcontext(tmp_path / "nowhere")
    monkeypatch.setattr(files_on_cluster, "_shared_folder", lambda _: nowhere)
    for result in large_pieces(tmp_path):
        assert max(map(len, result.values())) == 2 * 300_000


def test_text_files_and_progress(client, tmp_path):
    columns = three_classes(30)
    for at in range(3):
        rows = zip(columns["y_true"][at::3], columns["y_pred"][at::3], strict=True)
        (tmp_path / f"{at}.csv").write_text(
            "id,y_true,y_pred\n" + "".join(f"{at}-{n},{t},{p}\n" for n, (t, p) in enumerate(rows))
        )
    here, told = evaluated([tmp_path], {}, {}), []
    with use_cluster(client):
        assert evaluated([tmp_path], {}, {}, progress=told.append) == here
    assert told == [10, 20, 30]


def test_the_command_takes_an_address(client, tmp_path):
    paths = write_parquet(tmp_path / "files", [two_classes(40), two_classes(20)])
    command = ["score", str(paths[0]), "--json", "--seed", "1", "--threshold", "0.5"]
    here = CliRunner().invoke(main, command)
    there = CliRunner().invoke(main, [*command, "--cluster", client.scheduler.address])
    assert (there.exit_code, there.stdout) == (here.exit_code, here.stdout)
    assert here.exit_code == 0


def test_ids_that_come_twice_are_found_across_files(client, write):
    first = write("id,y_true,y_pred\nx,a,a\ny,b,b\n", "1.csv")
    second = write("id,y_true,y_pred\nz,a,a\nx,b,b\n", "2.csv")
    with pytest.raises(InputError) as here:
        tr.evaluate_files([first, second])
    with use_cluster(client), pytest.raises(InputError) as there:
        tr.evaluate_files([first, second])
    assert str(there.value) == str(here.value)


WRONG = {
    "no rows": "y_true,y_pred\n",
    "all missing": "y_true,y_pred\n,a\nb,\n",
    "ragged": "y_true,y_pred\na,b\na\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_here_is_refused_there_in_the_same_words(client, write, name):
    paths = [write("y_true,y_pred\na,a\nb,a\n", "1.csv"), write(WRONG[name], "2.csv")]
    options = ReadingOptions(missing="drop")
    with pytest.raises(InputError) as here:
        tr.evaluate_files(paths, options=options)
    with use_cluster(client), pytest.raises(InputError) as there:
        tr.evaluate_files(paths, options=options)
    assert str(there.value) == str(here.value)


def test_too_many_labels_of_all_files_together_are_refused(client, write):
    paths = [write(f"y_true,y_pred\n{one},{one}\n", f"{one}.csv") for one in "abc"]
    with use_cluster(client), pytest.raises(InputError, match="at most 2 distinct labels"):
        tr.evaluate_files(paths, options=ReadingOptions(max_labels=2))


def unseen(paths):
    """Lead the workers to other paths than the caller, as on machines without a common disk."""

    def lead(shared, piece):
        import dataclasses

        from truerisk.evaluation.files_on_cluster import _tally_piece

        reading = shared["reading"]
        sources = tuple(
            dataclasses.replace(source, path=path)
            for source, path in zip(reading.sources, paths, strict=True)
        )
        led = dataclasses.replace(reading, sources=sources)
        return _tally_piece({**shared, "reading": led}, piece)

    return lead


def test_a_file_that_a_worker_does_not_see_is_told(client, write, monkeypatch):
    path = write("y_true,y_pred\na,a\nb,a\n", "1.csv")
    gone, other = path.with_name("gone.csv"), write("y_true,y_pred\nb,a\n", "other.csv")
    for seen, kind, message in (
        (gone, InputError, r"gone\.csv: must be seen by every worker"),
        (other, ResourceError, r"other\.csv: is another file for a worker .* \(18 bytes\)"),
    ):
        lead = unseen((seen,))

        def task(shared, piece, lead=lead):
            return lead(shared, piece)

        monkeypatch.setattr("truerisk.evaluation.files_on_cluster._tally_piece", task)
        with use_cluster(client), pytest.raises(kind, match=message):
            tr.evaluate_files([path], roles=Roles())
