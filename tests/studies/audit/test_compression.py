"""The audit of sample compression: one row per cell, and what a bound is compared with."""

import numpy as np

from studies.audit import compression


def test_each_cell_has_a_row_with_the_distance_from_the_truth(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = X[:, 0] + rng.normal(size=900) / 2 > 0
    monkeypatch.setattr(compression, "population", lambda _: (X, y))
    monkeypatch.setattr(compression, "TABLES", ("banana",))
    monkeypatch.setattr(compression, "SIZES", (60,))
    rows = list(compression.measure(samples=24, folder=tmp_path))
    assert len(rows) == len(compression.CLASSIFIERS)
    for row in rows:
        assert row.method == "sample_compression"
        assert row.coverage >= 0.9
        assert 0 < row.width < 1
    again = list(compression.measure(samples=24, folder=tmp_path))
    assert again == rows
