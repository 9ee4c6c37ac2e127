import pytest

from truerisk import InputError
from truerisk.evaluation import measured_coverage
from truerisk.evaluation.measured_coverage import (
    FILES,
    LEARNER,
    CoverageFigure,
    coverage_of,
    figures_as_csv,
    figures_of,
)


def figure(method, measure, mean, least, **others):
    facts = {"design": "", "target": "this model", "level": 0.95, "samples": 100}
    sizes = {"smallest": others.pop("n", 50), "largest": others.pop("largest", 50)}
    return CoverageFigure(
        method=method, measure=measure, mean=mean, least=least, **{**facts, **sizes, **others}
    )


FIGURES = (
    figure("wilson", "", 0.95, 0.84, samples=0, n=5, largest=1000),
    figure("wilson", "", 0.99, 0.89, samples=0, n=5, largest=1000, level=0.99),
    figure("wilson", "recall", 0.5, 0.4),
    figure("smoothed_delta", "gmean", 0.96, 0.94),
    figure("smoothed_delta", "gmean", 0.94, 0.9, n=200, largest=200, samples=70),
    figure("smoothed_delta", "youden", 0.8, 0.7),
    figure("corrected_t", "error_rate", 0.94, 0.8, design="5 × 10 folds"),
    figure("corrected_t", "error_rate", 0.91, 0.33, design="5 × 10 folds", target=LEARNER),
)


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(measured_coverage, "figures_of", lambda _: FIGURES)


@pytest.mark.usefixtures("shipped")
def test_sizes_are_put_together_by_the_least_and_the_mean_of_means():
    found = coverage_of("smoothed_delta", "gmean")
    assert (found.mean, found.least) == (pytest.approx(0.95), 0.9)
    assert (found.smallest, found.largest, found.samples) == (50, 200, 70)
    assert not found.is_exact


@pytest.mark.usefixtures("shipped")
def test_what_was_summed_speaks_for_every_proportion_and_is_not_mixed_with_samples():
    for measure in ("recall", "precision"):
        found = coverage_of("wilson", measure)
        assert (found.mean, found.least, found.is_exact) == (0.95, 0.84, True)


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(("asked", "taken"), [(0.95, 0.95), (0.9, 0.95), (0.999, 0.99)])
def test_the_nearest_level_is_taken(asked, taken):
    assert coverage_of("wilson", "recall", level=asked).level == taken


@pytest.mark.usefixtures("shipped")
def test_accuracy_is_covered_when_the_error_rate_is():
    asked = {"design": "5 × 10 folds", "page": "coverage-of-learners"}
    assert coverage_of("corrected_t", "accuracy", **asked).least == 0.8
    assert coverage_of("corrected_t", "accuracy", target=LEARNER, **asked).least == 0.33


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


def test_a_page_that_is_none_is_refused():
    with pytest.raises(InputError, match="`page` must be one of"):
        figures_of("coverages")


@pytest.mark.parametrize("page", FILES)
def test_what_ships_are_shares_and_is_read_as_it_is_written(page):
    figures = figures_of(page)
    assert all(0 <= one.least <= one.mean <= 1 for one in figures)
    assert all(0 < one.smallest <= one.largest for one in figures)
    text = figures_as_csv(figures)
    assert len({line.count(",") for line in text.splitlines()}) == 1
    assert len(text.splitlines()) == len(figures) + 1


def test_the_exact_interval_keeps_its_promise_at_every_level():
    for level in (0.9, 0.95, 0.99):
        assert coverage_of("clopper_pearson", "recall", level=level).least >= level
