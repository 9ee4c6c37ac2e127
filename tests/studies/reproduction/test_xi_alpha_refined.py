"""Refinements of ξα beside leave-one-out: what is counted, and what is said of it."""

import os
from pathlib import Path

import numpy as np
import pytest

from studies.reproduction import xi_alpha_refined as study
from studies.reproduction.settings import Settings
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM


def problem(n=60):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)


def test_the_deeper_the_search_the_nearer_to_leave_one_out():
    row = study.measured("one", KernelSVM(C=1.0, gamma=0.3), *problem())
    counted = [row.errors[name] for name in study.RULES]
    assert counted[:-1] == sorted(counted[:-1], reverse=True)
    assert row.errors["ρ = 2"] > row.errors["depth 10"] >= row.exact
    assert row.differs <= 5
    assert len(row.cells()) == len(study.COLUMNS)
    assert all(seconds >= 0 for seconds in row.seconds.values())


def test_every_part_is_summed(monkeypatch):
    X, y = problem()
    texts = [("acq, linear", LinearSVM(C=1.0), X, y)]
    pairs = [("a, linear", LinearSVM(C=1.0), X, y), ("a, RBF", KernelSVM(C=1.0), X, y)]
    monkeypatch.setattr(study, "CATEGORIES", ((None, ("acq",)),))
    monkeypatch.setattr(study, "categories", lambda *_: texts)
    monkeypatch.setattr(study, "tables", lambda *_: pairs)
    found = study.reproduce(Settings(data=Path("nowhere")))
    assert [row[0] for row in found.rows] == ["acq, linear", "a, linear", "a, RBF"]
    assert [line.split(":")[0] for line in found.conclusion[::2]] == [
        "Text",
        "Tables, linear",
        "Tables, RBF",
    ]
    exact, at_one = int(found.rows[0][2]), int(found.rows[0][4])
    assert f"ρ = 1 {at_one / exact:.2f}, " in found.conclusion[0]


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_tables_are_prepared_and_scaled():
    data = Path(os.environ["TRUERISK_DATA"])
    name, svm, X, y = next(study.tables(data, np.random.default_rng(0)))
    assert (name, len(y)) == ("wdbc, linear", 569)
    assert np.abs(X.mean(axis=0)).max() < 1e-9
    assert study.measured(name, svm, X, y).exact < 40
