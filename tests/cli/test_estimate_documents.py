import csv
import gzip
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from truerisk.errors import NotConvergedWarning

TEXTS = ("wheat corn rye", "corn wheat oats", "gold silver tin", "tin gold lead") * 6
TOPICS = ("grain", "grain", "metal", "metal") * 6


@pytest.fixture
def corpus(write):
    """Hold 24 documents in JSON lines, of which the last eight are for the test."""
    lines = [
        {"text": text, "labels": [topic], "split": "train" if at < 16 else "test"}
        for at, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True))
    ]
    return write("".join(json.dumps(line) + "\n" for line in lines), "corpus.jsonl")


def test_the_table_has_every_category_and_the_verdict(run, corpus):
    ended = run("estimate", corpus)
    assert ended.exit_code == 0
    for words in ("grain", "metal", "└ held out", "micro, ξα, ρ = 2", "Verdict", "not proven"):
        assert words in ended.stdout
    assert "8 documents held out" in ended.stdout
    assert ended.stderr == ""


def test_json_and_csv_are_what_the_library_says(run, corpus):
    from truerisk.estimation.corpus.corpus import estimate_corpus
    from truerisk.inputs.corpora import read_corpus

    options = ("--C", "0.3", "--rho", "2", "--level", "0.9", "--min-documents", "1")
    result = json.loads(run("estimate", corpus, *options, "--json").stdout)
    request = {"C": 0.3, "rho": 2.0, "level": 0.9, "min_documents": 1}
    library = estimate_corpus(read_corpus(corpus), **request)
    for entry in result["categories"]:
        for name, estimate in entry["estimates"].items():
            assert estimate["value"] == library.by_class[entry["name"]][name].value
            assert estimate["interval"]["level"] == 0.9
    rows = list(csv.DictReader(io.StringIO(run("estimate", corpus, *options, "--csv").stdout)))
    proven = [row for row in rows if (row["category"], row["rho"]) == ("metal", "2.0")]
    assert [float(row["value"]) for row in proven] == [
        one.value for one in library.by_class["metal"].values()
    ]
    assert {name: result["settings"][name] for name in request if name != "level"} == {
        name: value for name, value in request.items() if name != "level"
    }


def test_leave_one_out_is_asked_for_by_name(run, corpus):
    result = json.loads(run("estimate", corpus, "--method", "leave_one_out", "--json").stdout)
    assert result["categories"][0]["estimates"]["f1"]["method"] == "leave_one_out"
    assert "leave-one-out" in run("estimate", corpus, "--method", "leave_one_out").stdout


def test_only_some_categories_and_a_random_division(run, corpus):
    options = ("--categories", "metal, grain", "--holdout", "0.5", "--seed", "3", "--json")
    result = json.loads(run("estimate", corpus, *options).stdout)
    assert (result["documents"], result["documents_held_out"]) == (12, 12)
    assert result["settings"]["random_state"] == 3
    again = json.loads(
        run("estimate", corpus, *options[:4], "--random-state", "3", "--json").stdout
    )
    assert again == result


def test_the_division_of_the_file_and_a_random_one_are_one_too_many(run, corpus):
    ended = run("estimate", corpus, "--split", "split", "--holdout", "0.5")
    assert ended.exit_code == 3
    assert "`holdout` must not be given for a corpus that is split already" in ended.stderr


def test_a_page_is_written(run, corpus, tmp_path):
    page = tmp_path / "report.html"
    ended = run("estimate", corpus, "--html", page)
    assert f"The page is in {page}" in ended.stdout
    assert "Category by category" in page.read_text(encoding="utf-8")
    assert run("estimate", corpus, "--html", page, "--json").stdout.startswith("{")


def test_pictures_are_drawn(run, corpus, tmp_path):
    ended = run("estimate", corpus, "--figures", tmp_path / "new", "--figure-format", "png")
    assert ended.stdout.endswith(f"figures are in {tmp_path / 'new'}\n")
    assert (tmp_path / "new" / "categories.png").exists()


def test_a_page_that_would_take_the_place_of_the_corpus_is_refused(run, corpus):
    ended = run("estimate", corpus, "--html", corpus)
    assert ended.exit_code == 3
    assert "must not be an input" in ended.stderr
    assert run("estimate", corpus, "--html", corpus.parent / "no" / "p.html").exit_code == 5


def test_quiet_says_nothing(run, corpus):
    ended = run("estimate", corpus, "--quiet")
    assert (ended.exit_code, ended.output) == (0, "")


def test_a_category_asked_for_that_cannot_be_trained_ends_in_4(run, write):
    lines = [{"text": text, "labels": [topic]} for text, topic in zip(TEXTS, TOPICS, strict=True)]
    for at, line in enumerate(lines):
        line["split"] = "train" if at < 16 else "test"
    lines[-1]["labels"] = ["late"]
    path = write("".join(json.dumps(line) + "\n" for line in lines), "corpus.jsonl")
    ended = run("estimate", path)
    assert ended.exit_code == 0
    assert "'late'" in ended.stdout
    request = run("estimate", path, "--categories", "late,grain")
    assert request.exit_code == 4
    assert "Partial result: undefined on these documents: late." in request.stderr
    everything = write("".join(json.dumps({**one, "labels": ["all"]}) + "\n" for one in lines))
    assert run("estimate", everything).exit_code == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--categories", "gold"), "`categories` must be carried by a document; got 'gold'"),
        (("--C", "0"), "`C` must be positive"),
        (("--rho", "-1"), "`rho` must lie in"),
        (("--level", "95"), "Write 0.95 for 95 %"),
        (("--text", "body"), "body"),
        (("--min-documents", "99"), "`min_documents` must leave at least one word"),
        (("--jobs", "0"), "`n_jobs` must be a number of threads"),
    ],
)
def test_what_cannot_be_meant_ends_in_3(run, corpus, options, message):
    ended = run("estimate", corpus, *options)
    assert ended.exit_code == 3
    assert message in ended.stderr


def test_an_unstable_category_is_told_and_not_warned_of(run, corpus):
    ended = run("estimate", corpus, "--C", "0.001")
    assert ended.exit_code == 0
    assert "Unstable, as every support vector is at its bound" in ended.stdout
    assert "Warning" not in ended.output


def test_a_solver_that_stops_early_is_told_once(run, corpus, monkeypatch):
    from truerisk.estimation.corpus import categories

    def rough(*_):
        warnings.warn("The solver stopped with a gap of 0.5.", NotConvergedWarning, stacklevel=2)

    monkeypatch.setattr(categories, "_keep", rough)
    ended = run("estimate", corpus)
    assert ended.exit_code == 0
    assert ended.stderr == "Warning: The solver stopped with a gap of 0.5.\n"


def as_csv(folder):
    path = folder / "corpus.csv"
    rows = (f"{text};{topic}" for text, topic in zip(TEXTS, TOPICS, strict=True))
    path.write_text("body;topics\n" + "\n".join(rows) + "\n")
    return path, ("--text", "body", "--labels", "topics", "--delimiter", ";")


def as_folders(folder):
    root = folder / "corpus"
    for at, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True)):
        path = root / topic / f"{at}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root, ()


def as_gzip(folder):
    path = folder / "corpus.jsonl.gz"
    lines = (
        json.dumps({"text": text, "labels": topic}) + "\n"
        for text, topic in zip(TEXTS, TOPICS, strict=True)
    )
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path, ()


def as_svmlight(folder):
    from truerisk.text.vectorizer import Vectorizer

    X = Vectorizer().fit_transform(TEXTS)
    lines = []
    for topic, row in zip(TOPICS, X, strict=True):
        pairs = zip(row.indices + 1, row.data.tolist(), strict=True)
        lines.append(" ".join([topic, *(f"{place}:{value!r}" for place, value in pairs)]))
    path = folder / "corpus.svm"
    path.write_text("\n".join(lines) + "\n")
    return path, ()


def as_sgml(folder):
    path = folder / "reut2-000.sgm"
    documents = [
        f'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="{at}">'
        f"<TOPICS><D>{topic}</D></TOPICS><TEXT><BODY>{text}</BODY></TEXT></REUTERS>"
        for at, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True), start=1)
    ]
    path.write_text('<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "\n".join(documents) + "\n")
    return path, ()


@pytest.mark.parametrize("form", [as_csv, as_folders, as_gzip, as_svmlight, as_sgml])
def test_every_format_gives_the_same_estimates(run, corpus, tmp_path, form):
    expected = json.loads(run("estimate", corpus, "--split", "", "--json").stdout)
    path, options = form(tmp_path)
    ended = run("estimate", path, *options, "--json")
    assert ended.exit_code == 0, ended.stderr
    result = json.loads(ended.stdout)
    for mine, theirs in zip(result["categories"], expected["categories"], strict=True):
        assert mine.pop("gap") < 1e-6  # what is left depends on the order of the documents
        del theirs["gap"]
        assert mine == theirs


@pytest.mark.data
def test_all_90_categories_of_reuters_in_one_command():
    folder = os.environ.get("TRUERISK_DATA")
    if not folder:
        pytest.skip("TRUERISK_DATA does not name a folder")
    path = Path(folder) / "text" / "reuters21578_modapte.jsonl.gz"
    if not path.exists():
        pytest.skip("the folder of TRUERISK_DATA has no Reuters-21578")
    command = [sys.executable, "-m", "truerisk", "estimate", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    result = json.loads(done.stdout)
    assert (result["documents"], result["documents_held_out"]) == (9603, 3299)
    assert result["averages"]["estimates"]["f1_macro"]["notes"][0].startswith("over ")
    rows = {entry["name"]: entry for entry in result["categories"]}
    both = [one for one in rows.values() if one["documents"] and one["test_documents"]]
    assert (len(both), len(rows)) == (90, 118)
    earn = rows["earn"]
    # Joachims, ICML 2000, Table 1: error 2.68 % by ξα on random halves.
    assert earn["estimates"]["error_rate"]["value"] == pytest.approx(0.026, abs=0.002)
    for one in both[:10]:
        proven, usual = one["at_rho"]["2"], one["estimates"]
        assert proven["error_rate"]["value"] >= usual["error_rate"]["value"]
