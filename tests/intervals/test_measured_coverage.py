import pytest

from truerisk import InputError
from truerisk.intervals import measured_coverage
from truerisk.intervals.measured_coverage import (
    DEFAULT,
    LEARNER,
    PAGES,
    PERTURBATION,
    PUBLISHED,
    CoverageFigure,
    all_figures,
    coverage_of,
    figures_as_csv,
    published_form_covers,
)


def figure(method, measure, mean, least, **others):
    facts = {
        "page": "coverage",
        "design": "",
        "target": "this model",
        "level": 0.95,
        "samples": 100,
    }
    sizes = {"smallest": others.pop("n", 50), "largest": others.pop("largest", 50)}
    return CoverageFigure(
        method=method, measure=measure, mean=mean, least=least, **{**facts, **sizes, **others}
    )


REFITS = {"page": "coverage-of-learners", "design": "5 × 10 folds"}
FIGURES = (
    figure("wilson", "", 0.95, 0.84, samples=0, n=5, largest=1000),
    figure("wilson", "", 0.99, 0.89, samples=0, n=5, largest=1000, level=0.99),
    figure("wilson", "recall", 0.5, 0.4),
    figure("smoothed_delta", "gmean", 0.96, 0.94),
    figure("smoothed_delta", "gmean", 0.94, 0.9, n=200, largest=200, samples=70),
    figure("smoothed_delta", "youden", 0.8, 0.7),
    figure("corrected_t", "error_rate", 0.94, 0.8, **REFITS),
    figure("corrected_t", "error_rate", 0.91, 0.33, target=LEARNER, **REFITS),
)


@pytest.fixture
def shipped(monkeypatch):
    monkeypatch.setattr(measured_coverage, "all_figures", lambda: FIGURES)


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
@pytest.mark.parametrize(("level", "taken"), [(0.95, 0.95), (0.9, 0.95), (0.999, 0.99)])
def test_the_nearest_level_is_taken(level, taken):
    assert coverage_of("wilson", "recall", level=level).level == taken


@pytest.mark.usefixtures("shipped")
def test_accuracy_is_covered_when_the_error_rate_is():
    assert coverage_of("corrected_t", "accuracy", **REFITS).least == 0.8
    assert coverage_of("corrected_t", "accuracy", target=LEARNER, **REFITS).least == 0.33


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
        coverage_of("wilson", "recall", page="coverages")


def test_every_audit_has_figures_that_are_shares():
    figures = all_figures()
    assert {one.page for one in figures} == set(PAGES)
    assert all(0 <= one.least <= one.mean <= 1 for one in figures)
    assert all(0 < one.smallest <= one.largest for one in figures)


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    (tmp_path / measured_coverage.FILE).write_text(figures_as_csv(FIGURES), encoding="utf-8")
    monkeypatch.setattr(measured_coverage, "files", lambda _: tmp_path)
    all_figures.cache_clear()
    try:
        # NaN, the Bayes error of what has none, equals nothing.
        assert figures_as_csv(all_figures()) == figures_as_csv(FIGURES)
    finally:
        all_figures.cache_clear()


def test_the_exact_interval_keeps_its_promise_at_every_level():
    for level in (0.9, 0.95, 0.99):
        assert coverage_of("clopper_pearson", "recall", level=level).least >= level


def cell(form, share, *, n=100, d=10, error=0.15, classifier="linear", problem="normal"):
    method, design = form
    facts = {"classifier": classifier, "problem": problem, "features": d, "bayes_error": error}
    facts |= {"page": PERTURBATION, "design": design, "n": n, "largest": n, "samples": 300}
    return figure(method, "", share, share, **facts)


CELLS = (
    cell(PUBLISHED, 0.31, error=0.05),
    cell(DEFAULT, 0.984, error=0.05),
    cell(PUBLISHED, 0.69, error=0.3),
    cell(DEFAULT, 0.996, error=0.3),
    cell(PUBLISHED, 0.99, problem="normal, C = 100"),
    cell(PUBLISHED, 0.99, problem="exponential"),
    cell(PUBLISHED, 0.87, n=400),
    cell(DEFAULT, 0.97, n=400),
    cell(PUBLISHED, 0.9, n=20, d=2),
    cell(DEFAULT, 0.9, n=20, d=2),
    cell(PUBLISHED, 0.7, classifier="rbf", n=50, d=2),
    cell(DEFAULT, 0.98, classifier="rbf", n=50, d=2),
)


@pytest.fixture
def cells(monkeypatch):
    monkeypatch.setattr(measured_coverage, "all_figures", lambda: CELLS)


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


@pytest.mark.usefixtures("cells")
def test_all_problems_of_an_interval_become_one_figure():
    measured = coverage_of(PUBLISHED[0], "error_rate", page=PERTURBATION, design=PUBLISHED[1])
    assert (measured.smallest, measured.largest, measured.least) == (20, 400, 0.31)
    assert measured.mean == pytest.approx((0.31 + 0.69 + 0.99 + 0.99 + 0.87 + 0.9 + 0.7) / 7)


@pytest.mark.parametrize(("n", "d"), [(0, 3), (10, 0), (10.5, 3)])
def test_sizes_that_are_none_are_refused(n, d):
    with pytest.raises(InputError, match="must"):
        published_form_covers(n, d)
