"""Each command that the doctor prints works; each oddity is seen, and not seen where it is not."""

import json
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

import truerisk as tr
from truerisk.cli import main
from truerisk.errors import InputError
from truerisk.reporting.results.diagnosis import column_table
from truerisk.results import has_code

RNG = np.random.default_rng(0)
N = 120


def write(path, **columns):
    """Write columns as CSV."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]  # noqa: B905
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def labels(names=("ham", "spam"), n=N):
    truth = RNG.choice(names, n, p=[0.6, 0.4] if len(names) == 2 else None)
    called = np.where(RNG.random(n) < 0.85, truth, RNG.choice(names, n))
    return truth, called


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_words(folder):
    truth, called = labels()
    score = (truth == "spam") + RNG.normal(size=N)
    region = RNG.choice(["north", "south"], N)
    return write(
        folder / "a.csv", y_true=truth, y_pred=called, score=score, region=region,
        age=RNG.integers(18, 90, N),
    )  # fmt: skip


def of_probabilities(folder):
    truth = RNG.integers(0, 2, N)
    p = 1 / (1 + np.exp(-(2 * truth - 1 + RNG.normal(size=N))))
    return write(folder / "b.csv", id=np.arange(N), label=truth, prob=p)


def of_three_classes(folder):
    truth, called = labels(("a", "b", "c"))
    p = RNG.dirichlet(np.ones(3), N)
    return write(
        folder / "c.csv", y_true=truth, y_pred=called, prob_a=p[:, 0], prob_b=p[:, 1],
        prob_c=p[:, 2],
    )  # fmt: skip


def of_unknown_names(folder):
    truth, called = labels()
    return write(folder / "d.csv", gold_answer=truth, model_says=called, note=["x"] * N)


def with_gaps(folder):
    truth, called = labels(("0", "1"))
    truth = np.where(np.arange(N) == 3, "", truth)
    return write(folder / "e.csv", y_true=truth, y_pred=called, patient=np.repeat(range(24), 5))


def a_table(folder):
    x = RNG.normal(size=N)
    y = np.where(x + 0.3 * RNG.normal(size=N) > 0, "yes", "no")
    return write(folder / "f.csv", id=np.arange(N), x=x, z=RNG.choice(list("uv"), N), target=y)


def a_table_without_usual_names(folder):
    x = RNG.normal(size=N)
    return write(folder / "g.csv", x=x, outcome=np.where(x > 0, "yes", "no"))


def documents(folder):
    words = {"grain": "wheat corn rice maize harvest bushel", "metal": "gold silver copper ounce"}
    lines = []
    for at in range(60):
        name = ("grain", "metal")[at % 2]
        text = " ".join(RNG.choice(words[name].split(), 12)) + f" report number {at}"
        lines.append(json.dumps({"text": text, "label": name}))
    path = folder / "h.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def vectors(folder):
    lines = [
        f"{'grain' if at % 2 else 'metal'} {at % 2 + 1}:1 3:{RNG.random():.3f}" for at in range(60)
    ]
    path = folder / "i.svm"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def a_log(folder):
    lines = [
        {"id": at, "doc": {"subject": f"s{at % 12}"}, "metrics": {"acc": bool(at % 3)}}
        for at in range(N)
    ]
    path = folder / "j.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def a_log_in_columns(folder):
    right = np.where(np.arange(N) == 5, "", RNG.integers(0, 2, N))
    return write(folder / "k.csv", question=np.arange(N), model=["m"] * N, is_correct=right)


def a_log_of_a_harness(folder):
    lines = [
        {"doc_id": at, "doc": {"q": "?"}, "target": "0", "filtered_resps": ["0"], "filter": "none",
         "metrics": ["acc", "bleu"], "acc": float(at % 2), "bleu": at / N}
        for at in range(N)
    ]  # fmt: skip
    path = folder / "samples_task.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


LOGS = (a_log, a_log_in_columns, a_log_of_a_harness)
FILES = (
    *LOGS,
    of_words, of_probabilities, of_three_classes, of_unknown_names, with_gaps, a_table,
    a_table_without_usual_names, documents, vectors,
)  # fmt: skip
KINDS = dict.fromkeys(LOGS, "log") | {
    a_table: "table",
    a_table_without_usual_names: "table",
    documents: "corpus",
}


@pytest.mark.parametrize("make", FILES, ids=lambda one: one.__name__)
def test_every_command_works(folder, make):
    path = make(folder)
    diagnosis = tr.doctor(path.name)
    assert diagnosis.files[0].kind == KINDS.get(
        make, "corpus" if make is vectors else "predictions"
    )
    assert diagnosis.commands
    for command in diagnosis.commands:
        program, *arguments = shlex.split(command)
        result = CliRunner().invoke(main, arguments)
        assert program == "truerisk"
        # 4 says that a measure is undefined on these examples.
        assert result.exit_code in {0, 4}, (command, result.output)


def test_two_files_are_compared(folder):
    truth, called = labels()
    other = np.where(RNG.random(N) < 0.7, truth, "ham")
    write(folder / "old.csv", y_true=truth, y_pred=called)
    write(folder / "new.csv", y_true=truth, y_pred=other)
    diagnosis = tr.doctor(["old.csv", "new.csv"])
    assert diagnosis.commands[0].startswith("truerisk compare old.csv new.csv --positive")
    result = CliRunner().invoke(main, shlex.split(diagnosis.commands[0])[1:])
    assert result.exit_code in {0, 4}, result.output
    write(folder / "short.csv", y_true=truth[:50], y_pred=called[:50])
    several = tr.doctor(["old.csv", "short.csv"])
    assert "a column of ids" in several.answers[0].missing


def test_a_log_without_truth_is_scored_by_what_was_right(folder):
    diagnosis = tr.doctor(a_log(folder).name)
    assert diagnosis.commands == (
        "truerisk score j.jsonl --correct metrics.acc",
        "truerisk score j.jsonl --correct metrics.acc --group doc.subject",
    )
    assert {one.name: one.role for one in diagnosis.columns}["metrics.acc"] == "correct"
    assert "an evaluation log" in diagnosis.verdict[0]
    gaps = tr.doctor(a_log_in_columns(folder).name)
    assert gaps.commands == ("truerisk score k.csv --correct is_correct --missing drop",)
    harness = tr.doctor(a_log_of_a_harness(folder).name)
    assert harness.commands == ("truerisk score samples_task.jsonl --correct acc",)
    (bleu,) = [one for one in harness.answers if "bleu" in one.question]
    assert "--value" in bleu.missing


def test_a_table_of_zeros_and_ones_is_no_log(folder):
    x = RNG.normal(size=N)
    path = write(folder / "t.csv", x=x, passed=(x > 0).astype(int))
    assert tr.doctor(path).files[0].kind == "table"
    right = (RNG.random(N) < 0.5).astype(int)
    path = write(folder / "p.csv", y_true=right, y_pred=right[::-1], correct=right == right[::-1])
    assert tr.doctor(path).files[0].kind == "predictions"


def test_a_log_is_sliced_by_its_columns_of_words(tmp_path):
    rows = [
        {"id": at, "subject": ["law", "algebra"][at % 2], "acc": int(at % 3 > 0)}
        for at in range(90)
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    commands = [answer.command for answer in tr.doctor(path).answers if answer.command]
    assert f"truerisk score {path} --correct acc --by subject" in commands


def test_two_logs_are_compared(folder):
    path = a_log(folder)
    lines = path.read_text(encoding="utf-8").splitlines()
    (folder / "other.jsonl").write_text("\n".join(lines[::-1]), encoding="utf-8")
    command = tr.doctor(["j.jsonl", "other.jsonl"]).commands[0]
    assert command == "truerisk compare j.jsonl other.jsonl --correct metrics.acc"
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    write(folder / "short.csv", correct=[0, 1, 1] * 10)
    several = tr.doctor(["j.jsonl", "short.csv"]).answers[0]
    assert "a column of ids" in several.missing
    write(folder / "long.csv", id=np.arange(N), correct=[0, 1] * (N // 2))
    assert "all logs have" in tr.doctor(["j.jsonl", "long.csv"]).answers[0].missing


def test_the_columns_are_told(folder):
    facts = {one.name: one for one in tr.doctor(of_words(folder)).columns}
    kinds = {name: (one.kind, one.role) for name, one in facts.items()}
    assert kinds == {
        "y_true": ("labels", "truth"),
        "y_pred": ("labels", "pred"),
        "score": ("numbers", "score"),
        "region": ("labels", ""),
        "age": ("numbers", ""),
    }
    assert facts["region"].distinct == 2
    times = [f"2024-01-{1 + at % 28:02d}" for at in range(N)]
    ids = [f"case{at}" for at in range(N)]
    path = write(
        folder / "x.csv", when=times, case=ids, user=np.repeat(range(20), 6), empty=[""] * N,
        one=["x"] * N, p=RNG.random(N), who=[f"u{at // 2}" for at in range(N)],
    )  # fmt: skip
    kinds = {one.name: one.kind for one in tr.doctor(path).columns}
    assert kinds == {
        "when": "time", "case": "ids", "user": "labels", "empty": "empty", "one": "constant",
        "p": "probabilities", "who": "groups",
    }  # fmt: skip


def odd_codes(path):
    return {one.code for one in tr.doctor(path).odd}


def test_nothing_is_odd_in_a_plain_file(folder):
    assert odd_codes(of_probabilities(folder)) == set()


def test_what_is_odd(folder):
    truth, called = labels(("0", "1"))
    good = (truth == "1") + RNG.normal(size=N)
    columns = {"y_true": truth, "y_pred": called, "score": good}
    assert "scores_do_not_fit" in odd_codes(write(folder / "a.csv", **columns))
    fitting = {**columns, "y_pred": np.where(good > 0.5, "1", "0")}
    assert odd_codes(write(folder / "b.csv", **fitting)) == set()
    reverse = {"y_true": truth, "score": -good}
    assert "reversed" in odd_codes(write(folder / "c.csv", **reverse))
    order = np.argsort(truth, kind="stable")
    in_order = {name: column[order] for name, column in fitting.items()}
    assert odd_codes(write(folder / "d.csv", **in_order)) == {"sorted_rows"}
    twice = {name: np.r_[column, column[:5]] for name, column in fitting.items()}
    assert odd_codes(write(folder / "e.csv", **twice)) == {"duplicates"}
    alone = {"y_true": ["1"] * N, "y_pred": called}
    assert "one_class" in odd_codes(write(folder / "f.csv", **alone))
    words, said = labels()
    spelt = {"y_true": words, "y_pred": np.where(np.arange(N) < 9, "Spam", said)}
    assert "spellings" in odd_codes(write(folder / "g.csv", **spelt))
    assert "gaps" in odd_codes(with_gaps(folder))
    leak = {"x": RNG.normal(size=N), "code": np.where(words == "ham", "h", "s"), "target": words}
    assert "leak" in odd_codes(write(folder / "h.csv", **leak))
    ids = {"id": np.arange(N) // 2, **fitting}
    assert "ids_repeat" in odd_codes(write(folder / "i.csv", **ids))


def test_what_is_missing_is_said(folder):
    path = write(folder / "a.csv", x=RNG.normal(size=N), y2=RNG.normal(size=N))
    diagnosis = tr.doctor(path)
    assert diagnosis.files[0].kind == "unknown"
    assert diagnosis.commands == ()
    assert "--truth" in diagnosis.answers[0].missing
    assert "--target" in diagnosis.answers[1].missing
    with pytest.raises(InputError, match="a file at least"):
        tr.doctor([])


def test_the_command_line(folder):
    of_words(folder)
    for arguments in (["doctor", "a.csv"], ["a.csv"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0
        assert "a.csv: predictions (csv, 120 rows)." in result.output
        assert "truerisk score a.csv" in result.output
    plain = json.loads(CliRunner().invoke(main, ["doctor", "a.csv", "--json"]).output)
    assert plain["schema"] == "truerisk/diagnosis/1"
    page = CliRunner().invoke(main, ["doctor", "a.csv", "--html", "page.html"])
    assert page.exit_code == 0
    assert "What is in these files?" in (folder / "page.html").read_text(encoding="utf-8")
    assert CliRunner().invoke(main, ["no-such-file.csv"]).exit_code == 3
    for flag in ("--csv", "--markdown"):
        assert "region" in CliRunner().invoke(main, ["doctor", "a.csv", flag]).output


def test_rows_and_metrics(folder):
    diagnosis = tr.doctor(of_words(folder))
    assert [row["column"] for row in diagnosis.to_rows()][:2] == ["y_true", "y_pred"]
    assert diagnosis.to_metrics()["odd"] == len(diagnosis.odd)
    assert len(diagnosis.to_frame()) == 5
    assert has_code(diagnosis.odd, "scores_do_not_fit")
    assert "truerisk score" in str(diagnosis)


def test_nested_columns_do_not_hide_the_others(folder):
    lines = [
        json.dumps({"doc": {"a": 1}, "y_true": at % 2, "y_pred": at % 3 % 2}) for at in range(40)
    ]
    (folder / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    diagnosis = tr.doctor("log.jsonl")
    assert [one.name for one in diagnosis.columns if one.role] == ["y_true", "y_pred"]


def test_a_table_of_several_files_is_short(folder):
    first = of_words(folder)
    other = folder / "other.csv"
    other.write_text("y_true,score\n0,0.12345678901234567\n1,0.9\n")
    table = column_table(tr.doctor([first, other]))
    assert {row[0] for row in table.rows} == {"a.csv", "other.csv"}
    assert any("0.123457" in row[-1] for row in table.rows)
    assert not any("0.1234567" in row[-1] for row in table.rows)
