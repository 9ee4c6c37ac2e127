"""`truerisk curve`: one call from a file to curves, and an exit code for what went wrong."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from truerisk.cli.curve import curve

OPTIONS = ("--sizes", "10,20,40,80", "--repeats", "3", "--seed", "1")


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    x = rng.normal(size=(160, 2)) + 1.5 * y[:, None]
    rows = [f"{a:.4f},{b:.4f},{'yes' if c else 'no'}" for (a, b), c in zip(x, y, strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,y", *rows]) + "\n", encoding="utf-8")
    return path


def _run(*arguments):
    return CliRunner().invoke(curve, [str(argument) for argument in arguments])


def test_it_prints_the_curves_of_named_models(data):
    done = _run(data, "--target", "y", "--model", "svm", "--model", "tree", *OPTIONS)
    assert done.exit_code == 0, done.output
    assert "Error rate on examples held out" in done.stdout
    assert "svm" in done.stdout
    assert "tree" in done.stdout


def test_json_and_csv_hold_the_same_values(data):
    arguments = (data, "--model", "majority", "--wanted-error", "0.1", *OPTIONS)
    plain = json.loads(_run(*arguments, "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(_run(*arguments, "--csv").stdout)))
    points = plain["curves"]["majority"]["points"]
    assert [float(row["value"]) for row in rows] == [point["mean"] for point in points]
    assert plain["random_state"] == 1
    assert plain["source"]["rows"] == 160
    assert plain["needed"]["majority"]["reachable"] == "unknown"


def test_a_page_is_written(data, tmp_path):
    page = tmp_path / "curve.html"
    done = _run(data, "--model", "majority", "--html", page, "--quiet", *OPTIONS)
    assert (done.exit_code, done.stdout) == (0, "")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_xi_alpha_and_no_estimate(data):
    beside = _run(data, "--estimate", "xi_alpha", *OPTIONS)
    assert "ξα" in beside.stdout
    alone = _run(data, "--model", "majority", "--estimate", "none", *OPTIONS)
    assert "Cross-validated" not in alone.stdout


def test_it_resumes(data, tmp_path):
    arguments = (data, "--model", "majority", "--json", "--resume", tmp_path / "run", *OPTIONS)
    first, second = _run(*arguments), _run(*arguments)
    assert first.stdout == second.stdout  # seconds and all


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "majority", "--model", "majority"), "must name each learner once"),
        (("--sizes", "10,x"), "`--sizes` must be whole numbers"),
        (("--resume", "run"), "`--seed` must be given with `--resume`"),
        (("--measure", "roc_auc", "--model", "majority"), "`pos_label` must be given"),
        (("--measure", "roc_auk", "--model", "majority"), "Did you mean 'roc_auc'?"),
        (("--measure", "recall", "--model", "majority"), "`pos_label` must be given"),
        (("--target", "z"), "z"),
        (("--model", "svmm"), "Did you mean"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_is_refused(data, arguments, message):
    done = _run(data, *arguments)
    assert type(done.exception).__name__ == "InputError"
    assert message in str(done.exception)


def test_a_value_that_is_undefined_ends_in_4(data):
    arguments = ("--model", "majority", "--measure", "precision", "--positive", "yes")
    done = _run(data, *arguments, *OPTIONS)
    assert done.exit_code == 4
    assert "Partial result: undefined for majority on 10 examples" in done.stderr
