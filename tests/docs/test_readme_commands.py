"""Every command of README is copied and run, on files made for it."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from truerisk.cli import main

TEXT = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for quoted in re.findall(r"`(truerisk [^`]+)`|^\$ (truerisk .*)$", TEXT, re.MULTILINE)
    for command in quoted
    if len(command.split()) > 2 and "FILE" not in command
]

SHORTER = {
    "audit predictions.csv": "--samples 60",
    "estimate data.csv": "--repeats 1",
}  # for the time of a test


def _write(name, lines):
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_files(labels):
    """Write every file that a command of README names."""
    draw = np.random.default_rng(1)
    is_spam = draw.random(400) < 0.4
    for name, skill in (("predictions", 6), ("old", 2), ("new", 2.5)):
        score = 1 / (1 + np.exp(-draw.normal(skill * (is_spam - 0.5), 1)))
        _write(f"{name}.csv", ["id,y_true,y_pred,score,region", *(
            f"{at},{labels[int(is_spam[at])]},{labels[int(score[at] > 0.5)]},{score[at]:.6f},"
            f"{['north', 'south'][at % 2]}"
            for at in range(400)
        )])  # fmt: skip
    _write("data.csv", ["age,blood,ill", *(
        f"{draw.normal(50 + 10 * (at % 2), 8):.1f},{'ab'[draw.integers(2)]},{at % 2}"
        for at in range(80)
    )])  # fmt: skip
    _write("corpus.jsonl", [
        json.dumps({"text": f"{'wheat corn' if at % 2 else 'ship port'} {draw.integers(9)}",
                    "label": "grain" if at % 2 else "sea"})
        for at in range(60)
    ])  # fmt: skip
    _write("scores.csv", ["data,a,b,c", *(
        f"d{at},{draw.random():.3f},{draw.random():.3f},{draw.random():.3f}" for at in range(12)
    )])  # fmt: skip
    for name in "abc":
        _write(f"{name}.jsonl", [
            json.dumps({"id": at, "acc": int(draw.random() < 0.6)}) for at in range(80)
        ])  # fmt: skip
    _write("pyproject.toml", [
        "[tool.truerisk.gate]", 'files = "predictions.csv"', 'recall = ">= 0.5"',
    ])  # fmt: skip


def test_no_command_is_missed():
    assert len(COMMANDS) >= 12


@pytest.mark.parametrize("command", [*COMMANDS, "truerisk gate", "truerisk --help"])
def test_a_command_does_its_work(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(("ham", "spam") if "--positive spam" in command else (0, 1))
    arguments = [
        *shlex.split(command)[1:],
        *shlex.split(SHORTER.get(" ".join(command.split()[1:3]), "")),
    ]
    done = CliRunner().invoke(main, arguments, prog_name="truerisk")
    assert done.exit_code == 0, done.output
