"""The audit of differences between a slice and the rest."""

import numpy as np
import pytest

from studies.audit import slice_differences
from studies.audit.slice_differences import Design
from studies.audit.slices import OF_TWO


def test_quick_ends_are_those_of_evaluate():
    design = Design(size=60, rest=200, shift=1.0)
    quick = slice_differences.quick_ends(
        slice_differences.draw(design, np.random.default_rng(4))[:2]
    )
    whole = slice_differences.whole_ends(design, np.random.default_rng(4))
    assert quick == pytest.approx(whole)


@pytest.mark.parametrize("scores", slice_differences.SCORES)
def test_true_differences_are_those_of_many_rows(scores):
    design = Design(size=100_000, rest=100_000, scores=scores, shift=1.0)
    inside, rest, _ = slice_differences.draw(design, np.random.default_rng(0))
    values = []
    for positive, score in (inside, rest):
        called = score >= 1.0
        order = np.argsort(score)
        ranks = np.empty(len(score))
        ranks[order] = np.arange(1, len(score) + 1)
        pairs = positive.sum() * (~positive).sum()
        area = (ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / pairs
        right = [np.mean(called == positive), called[positive].mean(), positive[called].mean()]
        values.append([*right, area])
    found = np.subtract(*values)
    assert found == pytest.approx(slice_differences.truths_of(design), abs=0.01)


def test_groups_and_weights_have_rows_of_their_own(tmp_path, monkeypatch):
    designs = [
        Design(size=50, rest=100, groups="crossed"),
        Design(size=50, rest=100, weighted=True),
    ]
    monkeypatch.setattr(slice_differences, "designs", lambda: designs)
    first, second = slice_differences.measure_all(samples=3, folder=tmp_path)
    assert {row.method for row in first} == {"group_jackknife"}
    assert {row.design for row in second} == {"slice less rest, weights"}
    assert [row.measure for row in second] == [f"difference of {name}" for name in OF_TWO]
    again = list(slice_differences.measure_all(samples=3, folder=tmp_path))
    assert again == [first, second]
