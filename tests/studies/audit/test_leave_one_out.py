"""The audit of exact leave-one-out of SVMs."""

import numpy as np

from studies.audit import leave_one_out
from studies.audit.leave_one_out import Cell


def test_noise_has_as_many_of_either_class_and_nothing_to_learn():
    own, X, y = leave_one_out.sample_of(Cell("noise", 60, "linear SVM", 5), 0)
    assert np.bincount(y).tolist() == [30, 30]
    assert X.shape == (60, 5)
    assert abs(np.corrcoef(own.X[:, 0], own.y)[0, 1]) < 0.02


def test_a_cell_counts_this_model_and_for_the_binomial_interval_the_learner(monkeypatch, tmp_path):
    cell = Cell("noise", 40, "linear SVM", 2)
    monkeypatch.setattr(leave_one_out, "cells", lambda: iter([cell]))
    [rows] = leave_one_out.measure_all(samples=2, folder=tmp_path)
    assert {row.design for row in rows} == {"leave-one-out"}
    *own, binomial = rows
    assert {row.target for row in own} == {"this model"}
    assert {row.method for row in own} == {"variance_components"}
    assert (binomial.method, binomial.target) == (
        "clopper_pearson",
        "the learner at this sample size",
    )
