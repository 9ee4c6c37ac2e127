"""The audit of slices: two models, one of which is worse in a slice."""

import numpy as np

from studies.audit import slices


def test_two_models_are_drawn_alike_but_for_the_worse_slice():
    design = slices.Design("large", (40_000, 40_000), slices.two_models, shift=1.0)
    drawn = design.draw(design, np.random.default_rng(0))
    positive = drawn["y_true"] == 1
    first, second = (score[positive] for score in drawn["scores"])
    inside = (drawn["by"]["slice"] == slices.WORSE)[positive]
    assert abs((first - second)[~inside].mean()) < 0.03
    assert abs((first - second)[inside].mean() - 1.0) < 0.03
    assert abs(np.corrcoef(first[~inside], second[~inside])[0, 1] - slices.CORRELATION) < 0.03


def test_a_model_that_is_much_worse_in_a_slice_is_named_there(monkeypatch, tmp_path):
    design = slices.Design("two models, one worse", (150, 150), slices.two_models, shift=3.0)
    monkeypatch.setattr(slices, "DESIGNS", (design,))
    monkeypatch.setattr(slices, "BLOCK", 2)
    [row] = slices.measure_all(samples=2, folder=tmp_path)
    assert (row.slices, row.n, row.samples) == (2, 300, 2)
    assert row.named == 1.0
