"""Table 3 in the small: partitions of the printed sizes, and every rule on each."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from studies.reproduction import JiangSettings, jiang_table3
from studies.reproduction.jiang_printed import printed_rows
from studies.reproduction.jiang_table3 import (
    COLUMNS,
    RULES,
    case_of,
    cells_of,
    deviations_of_partition,
    error_of_partition,
    read_partitions,
    reproduce,
)
from studies.reproduction.jiang_trials import Perturbing
from truerisk import InputError
from truerisk.estimation.svm.rivals import divided_errors, halves_and_whole

LINE = {
    "data_set": "flare-solar",
    "n": "24",
    "d": "2",
    "partitions": "4",
    "true_sd": "0.120",
    "resampling_sd": "0.124",
    "splitting_sd": "0.113",
    "rho_sd": "0.036",
}


@pytest.fixture
def folder(tmp_path):
    """Write a small table under the name of one of the paper's."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=100)
    X = rng.normal(size=(100, 2)) + y[:, None]
    lines = [f"{a!r},{b!r},{c}" for (a, b), c in zip(X.tolist(), y.tolist(), strict=True)]
    with gzip.open(tmp_path / "flare_solar.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(["x0,x1,target", *lines]) + "\n")
    return tmp_path


def test_partitions_share_no_row_and_have_the_printed_size(folder):
    parts = read_partitions(JiangSettings(data=folder), LINE)
    assert [X.shape for X, _ in parts] == [(24, 2)] * 4
    rows = np.concatenate([X for X, _ in parts])
    assert len(np.unique(rows, axis=0)) == 96
    other = read_partitions(JiangSettings(data=folder, random_state=1), LINE)
    assert not np.array_equal(other[0][0], parts[0][0])


def test_a_table_that_is_missing_or_too_short_is_told(folder):
    with pytest.raises(InputError, match=r"`data` must hold banana.csv.gz"):
        read_partitions(JiangSettings(data=folder), {**LINE, "data_set": "banana"})
    with pytest.raises(InputError, match="must have 120 rows; got 100"):
        read_partitions(JiangSettings(data=folder), {**LINE, "partitions": "5"})


def test_a_partition_of_one_class_errs_never_and_varies_never():
    shared = {"X": np.zeros((1, 10, 2)), "y": np.zeros((1, 10), dtype=int), "seed": 0}
    assert error_of_partition(shared, 0)["error"] == 0
    assert deviations_of_partition(shared, 0)["deviations"].tolist() == [0.0] * len(RULES)


def test_each_rule_is_that_of_its_formula(folder):
    parts = read_partitions(JiangSettings(data=folder), LINE)
    shared = {
        "X": np.array([X for X, _ in parts]),
        "y": np.array([y for _, y in parts]),
        "seed": 0,
        "replicates": 20,
    }
    found = dict(zip(RULES, deviations_of_partition(shared, 1)["deviations"], strict=True))
    case = case_of(shared, 1)
    values, test = divided_errors(case, 20, case.rng(3))
    assert test == 5
    expected = np.sqrt((1 / 20 + 5 / 19) * values.var(ddof=1))
    assert found["rho"] == pytest.approx(expected, rel=1e-12)
    _, pairs = halves_and_whole(case, 20, case.rng(2))
    expected = np.sqrt(np.sum((pairs[:, 0] - pairs[:, 1]) ** 2) / 40)
    assert found["splitting"] == pytest.approx(expected, rel=1e-12)
    design = Perturbing.of(case.examples.codes, case.rng(1), folds=5, replicates=20)
    for losses in ("training", "cross_validated"):
        expected = design.spread(case.examples.X, losses).std(ddof=1)
        assert found[losses] == pytest.approx(expected, rel=1e-12)


def test_the_true_deviation_is_that_of_all_partitions_but_the_first():
    errors, deviations = np.array([0.9, 0.1, 0.3]), np.array([[0.1, 0.2, 0.3, 0.4], [0.3] * 4])
    row = cells_of(LINE, errors, deviations, np.ones((2, 4)))
    assert row[3:6] == ("0.433", "0.120", "0.141")
    assert row[6:14] == ("0.124", "0.100", "0.200", "1.00", "0.124", "0.200", "0.250", "1.00")


def test_the_whole_table_in_the_small(folder, monkeypatch):
    monkeypatch.setattr(jiang_table3, "printed_rows", lambda _: (LINE,))
    table = reproduce(JiangSettings(data=folder, replicates=20, partitions=2))
    (row,) = table.rows
    cells = dict(zip(COLUMNS[:6], row, strict=False))
    assert (cells["data set"], cells["true sd paper"]) == ("flare-solar", "0.120")
    assert row[6::4] == ("0.124", "0.124", "0.113", "0.036")
    first, mean = (np.array(row[at::4], dtype=float) for at in (7, 8))
    assert (first > 0).all()
    assert not np.array_equal(first, mean)
    text = "\n".join(table.conclusion)
    assert "resampling" in text
    assert "(1.03)" in text  # .124 / .120
    assert "over the first 2 partitions" in text


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_the_true_deviation_of_titanic_is_about_the_papers():
    settings = JiangSettings(data=Path(os.environ["TRUERISK_DATA"]))
    line = next(line for line in printed_rows(3) if line["data_set"] == "titanic")
    parts = read_partitions(settings, line)
    shared = {
        "X": np.array([X for X, _ in parts]),
        "y": np.array([y for _, y in parts]),
        "seed": 0,
        "replicates": 20,
    }
    errors = [float(error_of_partition(shared, at)["error"][0]) for at in range(1, 50)]
    assert np.std(errors, ddof=1) == pytest.approx(float(line["true_sd"]), rel=0.25)
