import pytest

from truerisk import InputError
from truerisk.estimation.svm import measured_coverage
from truerisk.estimation.svm.measured_coverage import (
    DEFAULT,
    PUBLISHED,
    PerturbationCoverage,
    as_csv,
    measured_rows,
    published_form_covers,
)


def row(interval, model, *, n=100, d=10, error=0.15, machine="linear", C=1.0, features="normal"):
    return PerturbationCoverage(
        machine=machine,
        features=features,
        n=n,
        d=d,
        error=error,
        C=C,
        interval=interval,
        samples=300,
        random_state=0,
        replicates=300,
        folds=5,
        truth=0.2,
        model=model,
        learner=0.9,
        mean_width=0.1,
    )


ROWS = (
    row(PUBLISHED, 0.31, error=0.05),
    row(DEFAULT, 0.984, error=0.05),
    row(PUBLISHED, 0.69, error=0.3),
    row(DEFAULT, 0.996, error=0.3),
    row(PUBLISHED, 0.99, C=100.0),
    row(PUBLISHED, 0.99, features="exponential"),
    row(PUBLISHED, 0.87, n=400),
    row(DEFAULT, 0.97, n=400),
    row(PUBLISHED, 0.9, n=20, d=2),
    row(DEFAULT, 0.9, n=20, d=2),
    row(PUBLISHED, 0.7, machine="rbf", n=50, d=2),
    row(DEFAULT, 0.98, machine="rbf", n=50, d=2),
)


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(measured_coverage, "measured_rows", lambda: ROWS)


@pytest.mark.usefixtures("rows")
def test_the_nearest_cells_are_told_with_the_range_over_error_levels():
    assert published_form_covers(90, 10) == (
        "Measured for linear machines at n = 100, d = 10 (Bayes error 0.05 to 0.3, 300 data "
        "sets each): of the intervals promised for 95 %, the published form (training, percentile) "
        "covered the error of 31 to 69 % of the machines, the default (cross-validated, effective "
        "size) of 98 to 100 %."
    )


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("n", "d", "told"),
    [
        (500, 10, "n = 400, d = 10"),
        (10_000, 3, "n = 400, d = 10"),
        (1000, 100, "n = 100, d = 10"),  # as many examples a feature, and the nearer size
        (30, 3, "n = 20, d = 2"),
        (10, 50, "n = 20, d = 2"),
    ],
)
def test_examples_a_feature_decide_then_examples(n, d, told):
    assert told in published_form_covers(n, d)


@pytest.mark.usefixtures("rows")
def test_kernels_are_told_about_by_themselves_where_they_were_measured():
    assert published_form_covers(90, 10, "rbf").startswith(
        "Measured for rbf kernels at n = 50, d = 2 (Bayes error 0.15, "
    )
    assert published_form_covers(90, 10, "sigmoid").startswith("Measured for linear machines")


@pytest.mark.parametrize(("n", "d"), [(0, 3), (10, 0), (10.5, 3)])
def test_sizes_that_are_none_are_refused(n, d):
    with pytest.raises(InputError, match="must"):
        published_form_covers(n, d)


def test_what_is_written_is_read_again(tmp_path, monkeypatch):
    (tmp_path / "measured_coverage.csv").write_text(as_csv(ROWS), encoding="utf-8")
    monkeypatch.setattr(measured_coverage, "files", lambda _: tmp_path)
    measured_rows.cache_clear()
    try:
        assert measured_rows() == ROWS
    finally:
        measured_rows.cache_clear()


def test_shares_stay_shares_in_what_ships():
    rows = measured_rows()
    assert rows
    assert all(0 <= share <= 1 for row in rows for share in (row.model, row.learner, row.truth))
    assert {row.interval for row in rows} >= {PUBLISHED, DEFAULT}
