"""Table 4 in the small: the points, the cubic kernel as features, the choice of C."""

import numpy as np
import pytest
from sklearn.svm import SVC

from studies.reproduction import JiangSettings, jiang_table4
from studies.reproduction.jiang_printed import printed_rows
from studies.reproduction.jiang_table4 import (
    COLUMNS,
    cells_of,
    choose,
    cubic_features,
    one_data_set,
    points,
    reproduce,
)
from studies.reproduction.jiang_trials import Perturbing
from truerisk.svm.kernels import Kernel


@pytest.mark.parametrize(("kind", "share"), [(1, 0.5), (2, 0.1166)])
def test_the_curve_parts_the_square_as_it_should(kind, share):
    # Under x³ + y³ = 1 lies Γ(4/3)² / Γ(5/3) = .8834 of the square.
    _, y = points(kind, 100_000, 0.0, np.random.default_rng(0))
    assert y.mean() == pytest.approx(share, abs=0.005)


def test_noise_turns_its_share_of_the_labels_round():
    rng = np.random.default_rng(1)
    X, y = points(1, 50_000, 0.1, rng)
    assert np.mean(y != (X.sum(axis=1) > 1)) == pytest.approx(0.1, abs=0.01)


def test_four_monomials_are_the_cubic_kernel():
    X = np.random.default_rng(2).uniform(size=(6, 2))
    kernel = Kernel("poly", gamma=1.0, degree=3, coef0=0.0)
    F = cubic_features(X)
    np.testing.assert_allclose(F @ F.T, kernel.between(X, X), rtol=1e-12)


def test_c_is_that_of_the_least_cross_validated_error(monkeypatch):
    costs = (0.1, 1.0, 5.0)
    monkeypatch.setattr(jiang_table4, "COSTS", costs)
    rng = np.random.default_rng(3)
    (X, y), (fresh, y_fresh) = points(1, 60, 0.1, rng), points(1, 500, 0.1, rng)
    parts = np.arange(60) % 5
    found = choose(X, fresh, (y, y_fresh), parts)
    errors = []
    for cost in costs:
        wrong = np.zeros(60, dtype=bool)
        for fold in range(5):
            train, judged = parts != fold, parts == fold
            machine = SVC(C=cost, kernel="linear", tol=1e-7).fit(X[train], y[train])
            wrong[judged] = machine.predict(X[judged]) != y[judged]
        errors.append(wrong.mean())
    assert len(set(errors)) > 1
    assert found.error == pytest.approx(min(errors), abs=1e-12)
    assert found.cost == costs[int(np.argmin(errors))]
    machine = SVC(C=found.cost, kernel="linear", tol=1e-7).fit(X, y)
    assert found.true == pytest.approx(np.mean(machine.predict(fresh) != y_fresh), abs=0.005)


def test_the_interval_is_that_of_cubic_less_linear(monkeypatch):
    monkeypatch.setattr(jiang_table4, "FRESH", 200)
    shared = {"type": 2, "n": 60, "noise": 0.1, "seed": 3, "replicates": 40}
    found = one_data_set({**shared, "losses": ("training",)}, 0)
    rng = np.random.default_rng([3, 2, 60, 100_000, 0])
    (X, y), (fresh, y_fresh) = points(2, 60, 0.1, rng), points(2, 200, 0.1, rng)
    design = Perturbing.of(y, rng, folds=10, replicates=40)
    F = cubic_features(X)
    linear = choose(X, fresh, (y, y_fresh), design.parts)
    cubic = choose(F, cubic_features(fresh), (y, y_fresh), design.parts)
    assert found["cv"].tolist() == [linear.error, cubic.error]
    assert found["true"].tolist() == [linear.true, cubic.true]
    moved = design.spread(F, "training", cubic.cost) - design.spread(X, "training", linear.cost)
    low, high = np.quantile(moved, [0.025, 0.975])
    difference = cubic.error - linear.error
    np.testing.assert_allclose(found["training"], [difference - high, difference - low], atol=1e-12)


def test_the_exact_interval_holds_the_middle_of_all_differences():
    differences = np.linspace(-0.2, 0.2, 401)
    found = [{"cv": np.array([0.3, 0.3 + at]), "true": np.array([0.1, 0.2])} for at in differences]
    found[0]["training"] = np.array([-0.1, 0.1])
    row = cells_of(printed_rows(4)[0], 0.05, "training", found, (0.5, 0.25))
    cells = dict(zip(COLUMNS, row, strict=True))
    assert cells["exact ours"] == "[-0.190, 0.190]"
    assert (cells["cubic better"], cells["cubic worse"]) == ("50 %", "25 %")
    assert row[3:11] == ("0.060", "0.300", "0.055", "0.100", "0.050", "0.100", "0.065", "0.200")


def test_only_the_first_data_sets_have_intervals(monkeypatch):
    monkeypatch.setattr(jiang_table4, "EVALUATED", 1)
    monkeypatch.setattr(jiang_table4, "FRESH", 200)
    shared = {"type": 1, "n": 40, "noise": 0.05, "seed": 0, "replicates": 20}
    shared["losses"] = ("training",)
    assert set(one_data_set(shared, 0)) == {"cv", "true", "training"}
    assert set(one_data_set(shared, 1)) == {"cv", "true"}


def test_the_whole_table_in_the_small(monkeypatch):
    monkeypatch.setattr(jiang_table4, "EVALUATED", 1)
    monkeypatch.setattr(jiang_table4, "FRESH", 200)
    settings = JiangSettings(datasets=2, replicates=20, noises=(0.05,), losses=("training",))
    table = reproduce(settings)
    assert len(table.rows) == 4
    cells = [dict(zip(COLUMNS, row, strict=True)) for row in table.rows]
    assert [row["type"] for row in cells] == ["1", "2", "1", "2"]
    assert cells[0]["estimated paper"] == "[-0.111, 0.066]"
    assert {row["cubic better"] for row in cells} <= {"0 %", "100 %"}
    text = "\n".join(table.conclusion)
    assert "Type 2, n = 200, training losses: the cubic kernel is found better in" in text
    assert "of 1 data sets (noise 0.05)" in text
    assert "2 data sets from seed 0" in text
