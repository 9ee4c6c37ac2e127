import numpy as np
import pytest
from scipy.special import ndtr

from studies.audit import bands
from studies.audit.bands import measure
from truerisk.evaluation.curve_bands import Band

X = np.linspace(0, 1, 11)


def test_one_row_per_curve_and_level(tmp_path):
    few = {"half positive, 1 sd apart": (0.5, 1.0)}
    rows = list(measure(samples=3, sizes=(60,), populations=few, folder=tmp_path))
    assert [(row.measure, row.level) for row in rows] == [
        (curve, level) for curve in bands.BANDS for level in bands.LEVELS
    ]
    assert {row.samples for row in rows} == {3}
    again = list(measure(samples=3, sizes=(60,), populations=few, folder=tmp_path))
    assert str(again) == str(rows)


def test_samples_of_one_class_have_no_curve():
    held = bands.held_samples(5, 0.01, 1.0, 20)
    assert (held == -1).all(axis=(1, 2)).sum() > 10


@pytest.mark.parametrize(("off", "holds"), [(0.0, True), (0.2, False)])
def test_a_curve_is_held_only_if_it_is_held_everywhere(monkeypatch, off, holds):
    # True ROC at distance 1: Φ(1 + Φ⁻¹(x)).  The band is the diagonal up to 1, less a part at .5.
    low, high = np.minimum(X, 0.0), np.ones(11)
    high[5] -= off
    monkeypatch.setattr(bands.tr, "confidence_band", lambda *_, **__: Band(X, low, high, 0.9, ""))
    assert ndtr(1.0) > 0.8
    assert bands.roc_is_held(np.array([0, 1]), np.array([0.0, 1.0]), 0.5, 1.0, 0.9) is holds


def test_a_calibrated_model_is_held_and_another_is_not():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.5).astype(int)
    score = rng.normal(size=2000) + y
    assert bands.calibration_is_held(y, score, 0.5, 1.0, 0.99)
    assert not bands.calibration_is_held(y, score, 0.1, 1.0, 0.99)
