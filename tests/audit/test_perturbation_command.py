import pytest
from click.testing import CliRunner

from truerisk.audit import perturbation_cells, perturbation_coverage, sizes_trials
from truerisk.cli import main
from truerisk.estimation.svm.measured_coverage import COLUMNS

CELL = perturbation_cells.PerturbationCell(machine="linear", n=50, d=2, error=0.3)
TRIAL = sizes_trials.Trial(kind="datasets", setting="scores to any digit", n=10)


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(perturbation_cells, "all_cells", lambda: [CELL])
    monkeypatch.setattr(perturbation_coverage, "BLOCK", 2)
    monkeypatch.setattr(sizes_trials, "all_trials", lambda: [TRIAL])
    monkeypatch.setattr(sizes_trials, "BLOCK", 2)
    return lambda *arguments: CliRunner().invoke(main, ["audit", *map(str, arguments)])


def test_the_audit_of_perturbation_writes_page_and_figures(run, tmp_path):
    page, figures = tmp_path / "page.md", tmp_path / "figures.csv"
    words = ["--perturbation", "--repetitions", 2, "--resume", tmp_path / "done"]
    ended = run(*words, "--output", page, "--figures", figures)
    assert ended.exit_code == 0, ended.output
    assert page.read_text().startswith("# Measured coverage of perturbation resampling")
    assert page.read_text() in ended.stdout
    assert "1 of 1: linear, n = 50, d = 2, error 0.3" in ended.stderr
    assert figures.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert len(figures.read_text().splitlines()) == 8
    assert len(list((tmp_path / "done").iterdir())) == 1


def test_the_audit_of_tests_writes_the_page(run, tmp_path):
    figures = tmp_path / "figures.csv"
    written = ("--output", tmp_path / "page.md", "--figures", figures)
    ended = run("--tests", "--repetitions", 2, *written)
    assert ended.exit_code == 0, ended.output
    assert figures.read_text().startswith("method,measure,design,")
    assert (tmp_path / "page.md").read_text().startswith("# Measured size of the tests")
    assert "1 of 1: datasets, scores to any digit, n = 10" in ended.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--tests", "--perturbation"], "--perturbation"),
        (["--learners", "--tests"], "--perturbation"),
        (["--quick", "--figures", "a.csv"], "--figures"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, words, named):
    ended = run(*words)
    assert ended.exit_code == 2
    assert named in ended.stderr
