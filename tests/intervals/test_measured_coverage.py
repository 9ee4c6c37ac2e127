import pytest

from truerisk import InputError
from truerisk.intervals import measured_coverage
from truerisk.intervals.measured_coverage import (
    CHOSEN_ON,
    HELD_OUT,
    LEARNER,
    CoverageFigure,
    PerturbationFigure,
    all_figures,
    coverage_of,
    figures_as_csv,
    perturbation_figures,
    published_form_covers,
)


def figure(method, measure, mean, least, **others):
    facts = {
        "page": "coverage",
        "design": "",
        "target": "this model",
        "level": 0.95,
        "role": HELD_OUT,
        "smallest": 50,
        "largest": 1000,
        "cells": 4,
        "samples": 100,
    }
    return CoverageFigure(method=method, measure=measure, mean=mean, least=least, **facts | others)


REFITS = {"design": "5 × 10 folds"}
FIGURES = (
    figure("wilson", "", 0.95, 0.84, samples=0),
    figure("wilson", "", 0.99, 0.89, samples=0, level=0.99),
    figure("wilson", "recall", 0.5, 0.4),
    figure("smoothed_delta", "gmean", 0.99, 0.98, role=CHOSEN_ON),
    figure("smoothed_delta", "gmean", 0.94, 0.9),
    figure("corrected_t", "error_rate", 0.94, 0.8, **REFITS),
    figure("corrected_t", "error_rate", 0.91, 0.33, target=LEARNER, **REFITS),
    figure("tango", "difference of error_rate", 0.95, 0.93),
    figure("signed_rank", "difference of ", 0.96, 0.94),
)


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(measured_coverage, "all_figures", lambda: FIGURES)


@pytest.mark.usefixtures("shipped")
def test_problems_that_it_was_not_chosen_on_come_first():
    assert coverage_of("smoothed_delta", "gmean").least == 0.9


@pytest.mark.usefixtures("shipped")
def test_what_was_summed_speaks_for_every_proportion_and_comes_before_samples():
    for measure in ("recall", "precision"):
        found = coverage_of("wilson", measure)
        assert (found.mean, found.least, found.is_exact) == (0.95, 0.84, True)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(("level", "taken"), [(0.95, 0.95), (0.9, 0.95), (0.999, 0.99)])
def test_the_nearest_level_is_taken_and_named(level, taken):
    found = coverage_of("wilson", "recall", level=level)
    assert found.level == taken
    assert found.words(level).startswith("0.") == (level == taken)


@pytest.mark.usefixtures("shipped")
def test_accuracy_is_covered_when_the_error_rate_is():
    assert coverage_of("corrected_t", "accuracy", **REFITS).least == 0.8
    assert coverage_of("corrected_t", "accuracy", target=LEARNER, **REFITS).least == 0.33
    assert coverage_of("tango", "difference of accuracy").least == 0.93


@pytest.mark.usefixtures("shipped")
def test_a_difference_is_none_of_the_measure_itself():
    assert coverage_of("tango", "error_rate") is None
    assert coverage_of("wilson", "difference of recall") is None
    assert coverage_of("signed_rank", "difference of anything").mean == 0.96


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("method", "measure", "design"),
    [
        ("smoothed_delta", "cost", ""),
        ("cluster_smoothed_delta", "gmean", ""),
        ("corrected_t", "error_rate", ""),
        ("corrected_t", "recall", "5 × 10 folds"),
    ],
)
def test_what_was_not_measured_is_none(method, measure, design):
    assert coverage_of(method, measure, design=design) is None


def test_the_figures_that_ship_are_shares_and_few():
    figures = all_figures()
    assert len(figures) < 1000
    assert all(0 <= one.least <= one.mean <= 1 for one in figures)
    assert all(0 < one.smallest <= one.largest and one.cells > 0 for one in figures)
    assert {one.role for one in figures} <= {HELD_OUT, CHOSEN_ON}
    keys = [(f.method, f.measure, f.design, f.target, f.level) for f in figures]
    assert len(set(keys)) == len(keys), "two figures for one interval"


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    text = figures_as_csv(CoverageFigure, FIGURES)
    (tmp_path / measured_coverage.FILE).write_text(text, encoding="utf-8")
    monkeypatch.setattr(measured_coverage, "files", lambda _: tmp_path)
    all_figures.cache_clear()
    try:
        assert all_figures() == FIGURES
    finally:
        all_figures.cache_clear()


def test_the_exact_interval_keeps_its_promise_at_every_level():
    for level in (0.9, 0.95, 0.99):
        assert coverage_of("clopper_pearson", "recall", level=level).least >= level


def cell(published, default, *, n=100, d=10, errors=(0.05, 0.3), classifier="linear"):
    return PerturbationFigure(
        classifier=classifier,
        n=n,
        d=d,
        lowest_error=errors[0],
        highest_error=errors[1],
        samples=300,
        published_low=published[0],
        published_high=published[1],
        default_low=default[0],
        default_high=default[1],
    )


CELLS = (
    cell((0.31, 0.69), (0.984, 0.996)),
    cell((0.87, 0.87), (0.97, 0.97), n=400),
    cell((0.9, 0.9), (0.9, 0.9), n=20, d=2),
    cell((0.7, 0.7), (0.98, 0.98), n=50, d=2, classifier="rbf", errors=(0.15, 0.15)),
)


@pytest.fixture
def cells(monkeypatch):
    monkeypatch.setattr(measured_coverage, "perturbation_figures", lambda: CELLS)


@pytest.mark.usefixtures("cells")
def test_the_nearest_cells_are_quoted_with_the_range_over_error_levels():
    assert published_form_covers(90, 10) == (
        "Measured for linear SVMs at n = 100, d = 10 (Bayes error 0.05 to 0.3, 300 data "
        "sets each): of the intervals promised for 95 %, the published form (training, percentile) "
        "covered the error of 31 to 69 % of the models, the default (cross-validated, effective "
        "size) of 98 to 100 %."
    )


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize(
    ("n", "d", "cell"),
    [
        (500, 10, "n = 400, d = 10"),
        (10_000, 3, "n = 400, d = 10"),
        (1000, 100, "n = 100, d = 10"),  # as many examples a feature, and the nearer size
        (30, 3, "n = 20, d = 2"),
        (10, 50, "n = 20, d = 2"),
    ],
)
def test_examples_per_feature_decide_then_examples(n, d, cell):
    assert cell in published_form_covers(n, d)


@pytest.mark.usefixtures("cells")
def test_kernels_are_quoted_by_themselves_where_they_were_measured():
    assert published_form_covers(90, 10, "rbf").startswith(
        "Measured for rbf kernels at n = 50, d = 2 (Bayes error 0.15, "
    )
    assert published_form_covers(90, 10, "sigmoid").startswith("Measured for linear SVMs")


def test_every_kernel_of_the_audit_ships():
    assert {"linear", "rbf"} <= {one.classifier for one in perturbation_figures()}


@pytest.mark.parametrize(("n", "d"), [(0, 3), (10, 0), (10.5, 3)])
def test_sizes_that_are_none_are_refused(n, d):
    with pytest.raises(InputError, match="must"):
        published_form_covers(n, d)
