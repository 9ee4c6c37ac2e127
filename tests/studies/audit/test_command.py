import pytest
from click.testing import CliRunner

from studies.audit import __main__ as command
from studies.audit import learner_coverage, learner_refits, perturbation, predictions, sizes
from studies.audit.coverage_cells import CoverageCell
from studies.audit.ledger import read_ledger
from studies.audit.perturbation import PerturbationCell, PerturbationCoverage
from studies.audit.predictions import POPULATIONS
from studies.audit.sizes import TestSize as Size

CELL = PerturbationCell(classifier="linear", n=50, d=2, error=0.3)
TRIAL = sizes.Trial(kind="datasets", setting="scores to any digit", n=10)


@pytest.fixture
def run(monkeypatch, tmp_path):
    every, short = learner_coverage.all_cells, predictions.simulate_all
    monkeypatch.setattr(command, "LEDGERS", tmp_path / "ledgers")
    monkeypatch.setattr(
        learner_coverage,
        "all_cells",
        lambda **options: [
            cell
            for cell in every(**options)
            if (cell.problem, cell.n, cell.learner) == ("crescent", 50, "naive Bayes")
        ],
    )
    monkeypatch.setattr(learner_refits, "NESTED_REPEATS", 1)
    monkeypatch.setattr(
        predictions,
        "simulate_all",
        lambda samples: short(populations=POPULATIONS[-1:], sizes=(20,), samples=samples),
    )
    monkeypatch.setattr(perturbation, "all_cells", lambda: [CELL])
    monkeypatch.setattr(perturbation, "BLOCK", 2)
    monkeypatch.setattr(sizes, "all_trials", lambda: [TRIAL])
    monkeypatch.setattr(sizes, "BLOCK", 2)
    return lambda *words: CliRunner().invoke(command.main, [str(word) for word in words])


def test_every_audit_writes_its_ledger(run, tmp_path):
    names = ["proportions", "predictions", "perturbation", "tests"]
    ended = run(*names, "--samples", 2, "--resume", tmp_path / "done")
    assert ended.exit_code == 0, ended.output
    assert "perturbation: linear, n = 50, d = 2, error 0.3" in ended.stderr
    assert "tests: datasets, scores to any digit, n = 10" in ended.stderr
    folder = tmp_path / "ledgers"
    assert read_ledger(CoverageCell, "predictions", folder)[0].samples == 2
    assert len(read_ledger(PerturbationCoverage, "perturbation", folder)) == 7
    assert read_ledger(Size, "tests", folder)[0].pairs == 2
    assert len(list((tmp_path / "done").iterdir())) == 2


def test_a_run_continues_to_the_same_ledger(run, tmp_path, monkeypatch):
    words = ["learners", "--samples", 2, "--resume", tmp_path / "done"]
    assert run(*words).exit_code == 0
    path = tmp_path / "ledgers" / "learners.csv"
    first = path.read_text()
    monkeypatch.setattr(learner_refits, "run_cell", lambda _: pytest.fail("was run again"))
    assert run(*words).exit_code == 0
    assert path.read_text() == first
    assert {row.n for row in read_ledger(CoverageCell, "learners", path.parent)} == {50}
    other = run("learners", "--samples", 3, "--resume", tmp_path / "done")
    assert other.exit_code == 1
    assert "must hold a run with the same settings" in other.stderr


def test_every_part_says_how_long_it_takes(run):
    assert set(command.LASTS) == set(command.AUDITS)
    assert "proportions: takes about 5 seconds\n" in run("proportions").stderr


def test_an_unknown_audit_is_refused(run):
    assert run("coverages").exit_code == 2
