import pytest
from click.testing import CliRunner

from truerisk.audit import learner_coverage, learner_refits
from truerisk.cli import main


@pytest.fixture
def run(monkeypatch):
    every = learner_coverage.all_cells
    monkeypatch.setattr(
        learner_coverage,
        "all_cells",
        lambda **options: [
            cell
            for cell in every(**options)
            if (cell.problem, cell.n) == ("crescent", 50) and cell.learner != "decision tree"
        ],
    )

    def run(*arguments):
        words = ["audit", "--learners", "--repetitions", "2", *map(str, arguments)]
        return CliRunner().invoke(main, words)

    return run


def test_the_audit_of_learners_writes_the_page(run, tmp_path):
    ended = run("--output", tmp_path / "page.md", "--resume", tmp_path / "done")
    assert ended.exit_code == 0, ended.output
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# Measured coverage of resampling")
    assert page in ended.stdout
    assert "2 of 2: crescent, n = 50, naive Bayes" in ended.stderr
    assert len(list((tmp_path / "done").iterdir())) == 6


def test_a_run_goes_on_to_the_same_page(run, tmp_path, monkeypatch):
    first = run("--resume", tmp_path)
    monkeypatch.setattr(learner_refits, "run_cell", lambda _: pytest.fail("was run again"))
    again = run("--resume", tmp_path)
    assert again.exit_code == 0
    assert again.stdout == first.stdout


def test_a_run_with_other_settings_is_refused(run, tmp_path):
    assert run("--resume", tmp_path).exit_code == 0
    other = run("--resume", tmp_path, "--repetitions", "3")
    assert other.exit_code == 3
    assert "must hold a run with the same settings" in other.stderr
