"""Logs in the structure in which lm-evaluation-harness and inspect_ai write them."""

import gzip
import json
import zipfile

import pyarrow as pa
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.inputs import open_predictions


def lm_eval_line(at, acc, name="none"):
    return {
        "doc_id": at,
        "doc": {"q": f"question {at}", "subject": "ab"[at % 2]},
        "target": "0",
        "arguments": {"gen_args_0": {"arg_0": f"question {at}", "arg_1": " x"}},
        "resps": [[["-0.1", "False"]]],
        "filtered_resps": [["-0.1", "False"]],
        "filter": name,
        "metrics": ["acc"],
        "doc_hash": "0" * 8,
        "acc": float(acc),
    }


@pytest.fixture
def lm_eval(tmp_path):
    def write(model, lines):
        folder = tmp_path / model
        folder.mkdir(exist_ok=True)
        path = folder / "samples_task_2026-01-01T00-00-00.000000.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return write


def test_the_only_metric_of_lm_eval_is_read_without_options(lm_eval):
    path = lm_eval("m", [lm_eval_line(at, at % 4 > 0) for at in range(20)])
    evaluation = tr.evaluate_files(path)
    assert evaluation["accuracy"].value == 0.75
    assert evaluation.source["roles"] == {"id": "doc_id", "correct": "acc"}
    grouped = tr.evaluate_files(path, roles=tr.Roles(group="doc.subject"))
    assert "2 groups" in grouped.notes[0]


def test_several_metrics_are_a_choice_of_the_user(lm_eval):
    lines = [lm_eval_line(0, 1) | {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0}]
    path = lm_eval("m", lines)
    with pytest.raises(InputError, match=r"results of this log: acc, acc_norm\. Use --correct acc"):
        tr.evaluate_files(path)
    assert tr.evaluate_files(path, roles=tr.Roles(correct="acc_norm"))["accuracy"].value == 0


def test_two_filters_are_never_mixed(lm_eval):
    lines = [
        lm_eval_line(at, one == "flexible", one) for at in (0, 1) for one in ("strict", "flexible")
    ]
    path = lm_eval("m", lines)
    with pytest.raises(InputError, match=r"got 'strict', 'flexible'. Choose one: --where filter"):
        tr.evaluate_files(path)
    for name, value in (("strict", 0.0), ("flexible", 1.0)):
        chosen = tr.ReadingOptions(where={"filter": name})
        assert tr.evaluate_files(path, options=chosen)["accuracy"].value == value


def test_models_are_named_by_the_folders_of_lm_eval(lm_eval):
    paths = [lm_eval(name, [lm_eval_line(at, at < 9) for at in range(10)]) for name in ("x", "y")]
    assert tr.compare_files(paths).names == ("x", "y")


def inspect_sample(at, epoch, value, scorer="match"):
    return {
        "id": f"q{at}",
        "epoch": epoch,
        "input": "?",
        "target": "1",
        "metadata": {"subject": "ab"[at % 2]},
        "scores": {scorer: {"value": value, "answer": "1", "history": []}},
        "model_usage": {},
    }


SAMPLES = [inspect_sample(at, epoch, "CIPN"[at % 4]) for epoch in (1, 2) for at in range(8)]
HEADER = {"version": 2, "status": "success", "eval": {"model": "mock/one", "task": "t"}}


def write_json(path, samples=SAMPLES, header=HEADER):
    path.write_text(json.dumps(header | {"samples": samples}, indent=2), encoding="utf-8")
    return path


def write_archive(path, samples=SAMPLES, header=HEADER):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": HEADER["eval"]}))
        archive.writestr("samples/q0_epoch_1.json", "{}")
        archive.writestr("_journal/summaries/1.json", json.dumps(samples))
        if header is not None:
            archive.writestr("summaries.json", json.dumps(samples))
            archive.writestr("header.json", json.dumps(header))
    return path


def write_zstandard(path, samples=SAMPLES, header=HEADER):
    """Compress every member by Zstandard, as newer versions do."""
    members = {"_journal/start.json": {}, "summaries.json": samples, "header.json": header}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            plain = json.dumps(content).encode()
            packed = pa.Codec("zstd").compress(plain, asbytes=True)
            archive.writestr(name, packed)
            archive.getinfo(name).CRC = zipfile.crc32(plain)
            archive.getinfo(name).file_size = len(plain)
            archive.getinfo(name).compress_type = 93
    return path


def write_gzip(path, samples=SAMPLES):
    path.write_bytes(gzip.compress(json.dumps(HEADER | {"samples": samples}).encode()))
    return path


WRITERS = {
    "log.json": write_json,
    "log.eval": write_archive,
    "zstandard.eval": write_zstandard,
    "log.json.gz": write_gzip,
}


@pytest.mark.parametrize("name", WRITERS)
def test_logs_of_inspect_are_read_in_every_form(tmp_path, name):
    path = WRITERS[name](tmp_path / name)
    roles = tr.Roles(value="scores.match")
    evaluation = tr.evaluate_files(path, roles=roles)
    # C, I, P and N are 1, 0, ½ and 0; two epochs of each of eight questions.
    assert (evaluation.n, evaluation["mean_value"].value) == (8, 0.375)
    assert not any("whatever its name" in note for note in evaluation.notes)
    with pytest.raises(InputError, match=r"'scores.match' has '0.5'"):
        tr.evaluate_files(path)
    grouped = tr.evaluate_files(
        path, roles=tr.Roles(value="scores.match", group="metadata.subject")
    )
    assert "2 groups" in " ".join(grouped.notes)


def test_an_unfinished_evaluation_is_read_and_said(tmp_path):
    right = [inspect_sample(at, 1, "C") for at in range(3)]
    path = write_archive(tmp_path / "log.eval", right, header=None)
    evaluation = tr.evaluate_files(path)
    assert evaluation["accuracy"].value == 1
    assert "its status is unfinished" in evaluation.notes[0]


def test_a_sample_without_a_score_is_missing(tmp_path):
    samples = [inspect_sample(0, 1, "C"), inspect_sample(1, 1, "I") | {"scores": {}}]
    path = write_json(tmp_path / "log.json", samples)
    with pytest.raises(InputError, match=r"sample 2.*must have a value in every row"):
        tr.evaluate_files(path)
    remaining = tr.evaluate_files(path, options=tr.ReadingOptions(missing="drop"))
    assert remaining.n == 1


def test_models_are_named_by_inspect(tmp_path):
    other = HEADER | {"eval": {"model": "mock/two"}}
    scored = [inspect_sample(at, 1, at % 2) for at in range(8)]
    paths = [
        write_json(tmp_path / "a.json", scored),
        write_archive(tmp_path / "b.eval", scored, other),
    ]
    assert tr.compare_files(paths).names == ("mock/one", "mock/two")


def test_a_damaged_archive_is_refused(tmp_path):
    whole = write_zstandard(tmp_path / "a.eval").read_bytes()
    path = tmp_path / "b.eval"
    path.write_bytes(whole[:-40])
    with pytest.raises(InputError, match="must be an intact log of inspect_ai"):
        tr.evaluate_files(path)
    turned = bytearray(whole)
    at = whole.index(b"summaries.json") + 40
    turned[at] ^= 255
    path.write_bytes(turned)
    with pytest.raises(InputError, match="must be an intact log of inspect_ai"):
        tr.evaluate_files(path, roles=tr.Roles(value="scores.match"))


def test_labels_are_needed_where_a_threshold_is_chosen(lm_eval):
    path = lm_eval("m", [lm_eval_line(0, 1)])
    with pytest.raises(InputError, match="must hold labels for this"):
        open_predictions(path).check_labels()
