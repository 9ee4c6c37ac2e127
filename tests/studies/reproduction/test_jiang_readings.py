"""Other readings of tables 2 and 3: the search looks at lengths and at nothing else."""

import numpy as np
import pytest

from studies.reproduction import jiang_readings as study
from studies.reproduction.jiang_printed import printed_rows
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.jiang_table2 import exact_error, two_normals


def test_the_error_with_correlated_features_and_turned_labels_is_that_of_many_draws():
    weights, bias = np.array([1.0, 2.0, -0.5]), 0.3
    unsaid = {"correlation": 0.4, "noise": 0.1}
    X, y = two_normals(400_000, 3, 1.5, np.random.default_rng(0), **unsaid)
    share = np.mean((X @ weights + bias > 0) != (y == 1))
    assert share == pytest.approx(exact_error(weights, bias, 1.5, **unsaid), abs=0.003)


def test_features_have_the_correlation_that_was_given():
    X, y = two_normals(100_000, 4, 2.0, np.random.default_rng(1), correlation=0.3)
    centred = X - np.where(y == 1, 1.0, -1.0)[:, None]
    found = np.corrcoef(centred.T)
    assert found[np.triu_indices(4, 1)] == pytest.approx(0.3, abs=0.02)
    assert centred.std() == pytest.approx(2.0, abs=0.02)


def test_the_distance_is_the_mean_of_eighteen_lengths(monkeypatch, tmp_path):
    for name, value in (
        *(("DATASETS", 3), ("REPLICATES", 20), ("CORRELATIONS", (0.3,)), ("SIGMAS", (2.5,))),
        *(("NOISES", (0.0,)), ("COSTS", (1.0,))),
    ):
        monkeypatch.setattr(study, name, value)
    monkeypatch.setattr(study, "repartitioned", lambda *_: 0.03)
    found = study.reproduce(JiangSettings(data=tmp_path, losses=("training",)))
    assert len(found.rows) == 1
    lengths = np.array([[float(one) for one in cell.split()] for cell in found.rows[0][-3:]])
    assert lengths.shape == (3, 6)
    away = np.abs(lengths.T - study.printed_lengths()).mean()
    assert float(found.rows[0][5]) == pytest.approx(away, abs=0.006)
    near = [line for line in printed_rows(3) if 0.8 <= 0.03 / float(line["rho_sd"]) <= 1.25]
    assert f"Within a quarter in {len(near)} of 10." in found.conclusion[-1]
