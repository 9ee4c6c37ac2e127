"""The critical-difference picture: what is where."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from truerisk.comparison.datasets.critical_difference import CONTROL, GROUP
from truerisk.comparison.datasets.over_datasets import compare_over_datasets


def _drawn(found):
    figure = Figure(figsize=(7.2, 3))
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    assert found.plot(axes) is axes
    canvas.draw()
    return axes


def _found(k, n=12, **options):
    scores = np.random.default_rng(k).normal(size=(n, k)) + 0.4 * np.arange(k)
    return compare_over_datasets(scores, **options)


def _bars(axes, colour):
    wanted = mpl.colors.to_rgba(colour)
    return [
        segment[:, 0]
        for lines in axes.collections
        if tuple(lines.get_color()[0]) == wanted
        for segment in lines.get_segments()
    ]


def test_bars_span_the_groups():
    found = _found(5)
    bars = _bars(_drawn(found), GROUP)
    assert len(bars) == len(found.cliques) > 1
    for bar, group in zip(bars, found.cliques, strict=True):
        ranks = [found.rank_of(name) for name in group]
        assert sorted(bar) == pytest.approx([min(ranks), max(ranks)], abs=0.1)
        assert bar[1] - bar[0] > max(ranks) - min(ranks)


def test_the_bar_of_a_control_is_twice_bonferroni_and_dunns_difference():
    found = _found(5, n=40, control="classifier 3")
    (bar,) = _bars(_drawn(found), CONTROL)
    centre = found.rank_of("classifier 3")
    assert bar == pytest.approx(
        [centre - found.control_difference, centre + found.control_difference]
    )


@pytest.mark.parametrize("k", [2, 3, 8])
def test_no_two_names_collide_and_all_are_there(k):
    found = _found(k)
    axes = _drawn(found)
    renderer = axes.figure.canvas.get_renderer()
    named = [text for text in axes.texts if "classifier" in text.get_text()]
    assert len(named) == k
    heights = {}
    for text in named:
        side = text.get_horizontalalignment()
        heights.setdefault(side, []).append(text.get_position()[1])
    for places in heights.values():
        assert len(set(places)) == len(places)
    boxes = [text.get_window_extent(renderer) for text in named]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    # The best half hangs at the right, where the low end of the axis is.
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    right = [text.get_text() for text in named if text.get_horizontalalignment() == "left"]
    assert all(any(name in text for text in right) for name in found.in_order[: (k + 1) // 2])


def test_hostile_and_long_names_are_shown_as_they_are():
    found = _found(3, names=["_hidden", "$x$", "n" * 200])
    texts = [text.get_text() for text in _drawn(found).texts]
    assert any(r"\$x\$" in text for text in texts)
    assert any("_hidden" in text for text in texts)
    assert all(len(text) < 60 for text in texts)


def test_no_global_state_is_touched():
    before = dict(mpl.rcParams)
    _drawn(_found(4))
    assert dict(mpl.rcParams) == before
