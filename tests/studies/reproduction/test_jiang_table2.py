"""Table 2 in the small: the error that needs no simulation, and coverage counted by hand."""

import numpy as np
import pytest

from studies.reproduction import SIMULATIONS, JiangSettings
from studies.reproduction.jiang_printed import printed_rows
from studies.reproduction.jiang_table2 import (
    COLUMNS,
    Coverage,
    Row,
    exact_error,
    one_data_set,
    row_of,
    two_normals,
)

SHARED = {"n": 30, "d": 3, "sigma": 2.0, "seed": 1, "replicates": 40, "losses": ("training",)}


@pytest.mark.parametrize(
    ("weights", "bias", "sigma"),
    [([1.0, 0.5, -0.2], 0.3, 2.0), ([0.1, 0.1], -0.05, 1.0)],
    ids=["three features", "two features"],
)
def test_the_error_of_a_rule_is_that_of_a_simulation(weights, bias, sigma):
    X, y = two_normals(200_000, len(weights), sigma, np.random.default_rng(3))
    wrong = np.mean((X @ weights + bias > 0) != (y == 1))
    assert exact_error(np.array(weights), bias, sigma) == pytest.approx(wrong, abs=0.004)


def test_a_rule_without_weights_is_a_coin():
    assert exact_error(np.zeros(3), 1.0, 2.0) == 0.5


def test_the_classes_have_means_one_and_minus_one_and_the_asked_deviation():
    X, y = two_normals(100_000, 2, 3.0, np.random.default_rng(0))
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(X[y == 0].mean(axis=0), -1.0, atol=0.05)
    np.testing.assert_allclose(X[y == 1].std(axis=0), 3.0, atol=0.05)
    assert y.mean() == pytest.approx(0.5, abs=0.01)


def test_a_data_set_depends_on_its_number_alone():
    first, again, other = (one_data_set(SHARED, at) for at in (4, 4, 5))
    assert {name: value.tolist() for name, value in first.items()} == {
        name: value.tolist() for name, value in again.items()
    }
    assert first["truth"] != other["truth"]


def test_coverage_is_counted_for_the_model_and_for_the_learner():
    ends = np.array([[0.1, 0.2], [0.1, 0.25], [0.2, 0.4], [0.25, 0.35]])
    truth = np.array([0.15, 0.35, 0.4, 0.3])  # held: yes, no, yes, yes; the mean is 0.3
    found = Coverage.of(ends, truth)
    assert (found.this_model, found.learner) == (75.0, 50.0)
    assert found.length == pytest.approx((0.1 + 0.15 + 0.2 + 0.1) / 4)
    assert found.cells("94.7", "0.20") == ("94.7", "75.0 (50.0)", "0.20", "0.14")


def test_a_row_has_intervals_by_percentiles_by_estimated_and_by_true_deviations():
    found = {
        "truth": np.array([0.2, 0.2, 0.3]),
        "value": np.array([0.1, 0.2, 0.3]),  # their deviation is .1
        "bounds": np.array([[1.0, 0.25], [1.0, 0.25], [0.29, 0.25]]),
        "training ends": np.array([[0.15, 0.25], [0.3, 0.4], [0.3, 0.5]]),
        "training sd": np.array([0.04, 0.01, 0.02]),
    }
    row = row_of(2.5, printed_rows(2)[0], "training", found)
    assert row.percentile.this_model == pytest.approx(200 / 3)
    assert row.normal.length == pytest.approx(2 * 1.959964 * 0.07 / 3, rel=1e-6)
    assert row.normal.this_model == pytest.approx(200 / 3)  # .1 ± .078 does not reach .2
    assert row.true_sd.length == pytest.approx(2 * 1.959964 * 0.1, rel=1e-6)
    assert row.true_sd.this_model == 100.0
    assert row.bounds == pytest.approx((200 / 3, 200 / 3))


@pytest.mark.parametrize(("ours", "agrees"), [(94.0, True), (92.0, True), (90.5, False)])
def test_coverage_agrees_within_three_monte_carlo_errors(ours, agrees):
    # Two shares of 1,000: the error of their difference is about .01 at .94.
    covered = Coverage(ours, ours, 0.2)
    truth = np.full(1000, 0.1)
    row = Row(2.5, printed_rows(2)[0], "training", truth, covered, covered, covered, (100.0, 100.0))
    assert row.agrees is agrees


def test_the_whole_table_in_the_small():
    seen = []

    def steps(items, total):
        for item in items:
            seen.append(total)
            yield item

    settings = JiangSettings(datasets=2, replicates=20, sigmas=(2.0,), progress=steps)
    table = SIMULATIONS["jiang-table2"].run(settings)
    assert seen == [12] * 12
    assert len(table.rows) == 12
    cells = [dict(zip(COLUMNS[:5], row, strict=False)) for row in table.rows]
    assert [(row["n"], row["d"]) for row in cells[::2]] == [
        (line["n"], line["d"]) for line in printed_rows(2)
    ]
    assert [row["losses"] for row in cells[:2]] == ["training", "cross_validated"]
    assert {row[-1] for row in table.rows} == {"100.0"}
    text = "\n".join(table.conclusion)
    assert "(paper 93.8 to 95.2)" in text
    assert "2 data sets from seed 0, 20 perturbations each" in text
    assert "σ is not said in the paper" in text
