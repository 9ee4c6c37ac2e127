import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from studies.audit import curves
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT


@pytest.fixture
def problem(monkeypatch):
    monkeypatch.setattr(curves, "TRAININGS", 4)
    monkeypatch.setattr(curves, "FRESH", 300)

    def draw(rng, n):
        return curves.normal_classes(rng, n, d=4, shift=1.5)

    return curves.problem_of(HELD_OUT, "easy", draw, GaussianNB(), 120)


def test_a_problem_is_measured_beyond_its_sizes_and_between_them(problem, tmp_path):
    rows = list(curves.measure_problem(problem, samples=3, folder=tmp_path))
    assert [row.design for row in rows] == [
        "2 times the sample", "4 times the sample", "between sizes",
    ]  # fmt: skip
    assert all(row.samples + row.undefined == 3 for row in rows[:2])
    again = list(curves.measure_problem(problem, samples=3, folder=tmp_path))
    assert [row.coverage for row in again[2:]] == [row.coverage for row in rows[2:]]


def test_the_true_error_of_a_constant_is_the_share_of_the_other_class(monkeypatch):
    monkeypatch.setattr(curves, "TRAININGS", 4)

    def draw(rng, n):
        return curves.pure_noise(rng, n, share=0.3)

    constant = curves.problem_of(HELD_OUT, "constant", draw, DummyClassifier(), 100)
    assert curves.true_error(constant, 200) == pytest.approx(0.3, abs=0.05)


def test_problems_to_choose_on_and_to_report_are_different():
    roles = {role: {p.name for p in curves.problems() if p.role == role}
             for role in (CHOSEN_ON, HELD_OUT)}  # fmt: skip
    assert len(roles[CHOSEN_ON]) == 11
    assert len(roles[HELD_OUT]) == 11
    assert not roles[CHOSEN_ON] & roles[HELD_OUT]


def test_outliers_make_a_curve_rise():
    X, y = curves.far_outliers(np.random.default_rng(0), 5000)
    assert X[y == 1].min() < -30 < X[y == 0].min()
