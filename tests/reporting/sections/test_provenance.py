import hashlib
import platform

import numpy as np
import pytest

import truerisk as tr
from truerisk.reporting.document import Chapter
from truerisk.reporting.render.html import rendered
from truerisk.reporting.sections.provenance import NOT_HASHED, provenance_sections, versions

ROWS = "y_true,y_pred,score\n" + "1,1,0.9\n0,0,0.2\n1,0,0.4\n0,1,0.6\n" * 20


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text(ROWS)
    return path


def facts(result, source=None):
    *_, last = provenance_sections(result, source)
    return {row["name"]: row["words"] for row in last.data["rows"]}


def file_rows(source):
    _, files, _ = provenance_sections(tr.evaluate_counts([[5, 5], [4, 85]]), source)
    return files.data["rows"]


def test_a_file_is_told_by_its_hash(predictions):
    [row] = file_rows(tr.evaluate_files([predictions]).source)
    assert row["name"] == str(predictions)
    assert row["words"] == f"csv, {len(ROWS)} bytes, 80 rows"
    assert row["notes"] == [f"SHA-256 {hashlib.sha256(ROWS.encode()).hexdigest()}"]


def test_dropped_rows_and_compression_are_told():
    gone = {"path": "a", "format": "csv", "compression": "gzip", "rows": 9, "dropped": 2}
    [row] = file_rows({"files": [gone]})
    assert row["words"] == "csv gzip, 9 rows, 2 of them dropped"


def test_columns_say_whether_they_were_guessed(predictions):
    roles = tr.Roles(truth="y_true")
    words = facts(tr.evaluate_files([predictions], roles=roles))
    assert words["column of the true labels"] == "y_true (given)"
    assert words["column of the scores"] == "score (guessed from its name)"
    assert "read from" not in words


def test_settings_seed_and_versions_are_told():
    drawn = {"cell_interval": "bca", "random_state": 7}
    words = facts(tr.evaluate_counts([[5, 5], [4, 85]], level=0.9, **drawn))
    assert words["seed"] == "7"
    assert words["confidence level"] == "90 %"
    assert words["the numbers are about"] == "this model"
    assert words["read from"] == "values in memory, no file"
    assert words["Python"] == platform.python_version()
    assert words["numpy"] == np.__version__


def test_the_machine_is_not_named():
    words = " ".join(words for _, words in versions())
    assert platform.node() not in words


def test_what_is_not_loaded_has_no_version(monkeypatch):
    monkeypatch.delitem(__import__("sys").modules, "pyarrow", raising=False)
    assert "pyarrow" not in dict(versions())


def test_a_file_that_was_not_hashed_says_how():
    [row] = file_rows({"files": [{"path": "a.parquet", "sha256": None}]})
    assert row == {"name": "a.parquet", "words": "", "notes": [NOT_HASHED]}


def test_results_that_do_not_know_their_source_can_be_told():
    result = tr.compare_over_datasets(np.random.default_rng(0).random((6, 2)), names=["a", "b"])
    assert "read from" not in facts(result)
    source = {"path": "scores.csv", "bytes": 99, "rows": 6, "sha256": "ab"}
    titles = [section.title for section in provenance_sections(result, source)]
    assert titles == [
        "Does each interval keep its promise?",
        "Which files",
        "Where the numbers came from",
    ]


def test_files_and_promises_stand_in_words(predictions):
    promises, files, _ = provenance_sections(tr.evaluate_files([predictions]))
    assert promises.data["rows"][0]["words"].startswith("promises 95 %; covered 97.3 % on average,")
    assert promises.data["rows"][0]["notes"][0].startswith("Accuracy; Error rate; ")
    [file] = files.data["rows"]
    assert file["words"] == f"csv, {len(ROWS)} bytes, 80 rows"
    assert file["notes"] == [f"SHA-256 {hashlib.sha256(ROWS.encode()).hexdigest()}"]
    unmeasured = tr.evaluate([0, 1] * 20, [0, 1] * 20, sample_weight=1 + np.arange(40) % 2)
    rows = next(provenance_sections(unmeasured)).data["rows"]
    accuracy = next(row["words"] for row in rows if "Accuracy" in row["notes"][0])
    assert accuracy == "promises 95 %; not measured with weights"


def test_the_sections_are_drawn_and_hold_no_markup_of_others(predictions):
    evaluation = tr.evaluate_files([predictions])
    sections = tuple(provenance_sections(evaluation, {"files": [{"path": "<script>x</script>"}]}))
    page = rendered("t", "", [Chapter(title="t", subtitle="", sections=sections)])
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "<script>x" not in page
    assert "Does each interval keep its promise?" in page


def test_many_files_are_counted_not_listed():
    files = [{"path": f"{place}.csv", "sha256": "ab"} for place in range(250)]
    evaluation = tr.evaluate_counts([[5, 5], [4, 85]])
    _, section, _ = provenance_sections(evaluation, {"files": files})
    assert len(section.data["rows"]) == 200
    assert section.data["left_out"] == 50


def test_hostile_names_are_made_visible():
    source = {"files": [{"path": "a\x1b[31m\u202eb", "sha256": "ab"}], "roles": {"truth": "y\n"}}
    evaluation = tr.evaluate_counts([[5, 5], [4, 85]])
    _, files, last = provenance_sections(evaluation, source)
    assert files.data["rows"][0]["name"] == r"a\x1b[31m\u202eb"
    rows = {row["name"]: row["words"] for row in last.data["rows"]}
    assert rows["column of the true labels"] == r"y\n (given)"


def test_a_share_measured_at_another_level_is_not_held_against_the_promise():
    first, *_ = provenance_sections(tr.evaluate_counts([[5, 5], [4, 85]], level=0.8))
    words = {row["name"]: row["words"] for row in first.data["rows"]}
    assert words["smoothed delta"].startswith("promises 80 %; at 95 %, not 80 %, it covered ")
