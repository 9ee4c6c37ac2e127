"""The critical-difference picture on a page."""

from itertools import pairwise

import numpy as np
import pytest

from truerisk.comparison.datasets.over_datasets import compare_over_datasets
from truerisk.reporting.sections.rank_picture import (
    BEST,
    WORST,
    critical_difference_section,
)


def ranked(k, n=8, **options):
    scores = np.random.default_rng(0).normal(size=(n, k))
    return compare_over_datasets(scores, names=[f"m{at}" for at in range(k)], **options)


@pytest.mark.parametrize("k", [3, 4, 6])
def test_names_stand_in_order_the_best_at_the_right_and_none_collide(k):
    found = ranked(k)
    names = critical_difference_section(found).data["names"]
    assert [found.in_order[at] in one["words"] for at, one in enumerate(names)] == [True] * k
    assert all(one["rank"] >= two["rank"] for one, two in pairwise(names))
    assert len({(one["side"], one["y"]) for one in names}) == k
    assert all(WORST <= one["rank"] <= BEST for one in names)


def test_a_rank_lies_at_its_share_of_the_line():
    found = ranked(3)
    names = critical_difference_section(found).data["names"]
    for name, one in zip(found.in_order, names, strict=True):
        share = (found.rank_of(name) - 1) / 2
        assert one["rank"] == pytest.approx(BEST - share * (BEST - WORST), abs=0.01)


def test_bars_join_the_groups_and_the_ruler_is_as_long_as_the_critical_difference():
    found = ranked(4)
    data = critical_difference_section(found).data
    assert len(data["bars"]) == len(found.cliques)
    ruler = data["difference"]
    whole = (ruler["high"] - ruler["low"]) / (BEST - WORST) * 3
    assert whole == pytest.approx(found.critical_difference, abs=0.01)
    assert "Not told apart" in data["description"]


def test_the_bar_of_a_control_ends_where_ranks_differ_from_it():
    found = ranked(5, n=40, control="m2")
    (bar,) = critical_difference_section(found).data["bars"]
    names = critical_difference_section(found).data["names"]
    assert bar["mark"] == "control"
    control = next(one for one in names if one["control"])
    assert bar["low"] <= control["rank"] <= bar["high"]


def test_on_a_phone_each_classifier_has_a_row_and_bars_join_the_rows_of_a_group():
    found = ranked(4)
    narrow = critical_difference_section(found).data["narrow"]
    assert [found.in_order[at] in row["words"] for at, row in enumerate(narrow["rows"])] == [
        True
    ] * 4
    for name, row in zip(found.in_order, narrow["rows"], strict=True):
        share = (found.rank_of(name) - 1) / 3
        reach = narrow["high"] - narrow["low"]
        assert row["rank"] == pytest.approx(narrow["high"] - share * reach, abs=0.01)
    for group, lane in zip(found.cliques, narrow["lanes"], strict=True):
        joined = [row for row in narrow["rows"] if lane["top"] <= row["y"] + 34 <= lane["bottom"]]
        assert len(joined) == len(group)
    controlled = critical_difference_section(ranked(5, n=40, control="m2")).data["narrow"]
    assert controlled["lanes"] == []
    assert controlled["band"]["width"] > 0


def test_many_ranks_are_not_all_numbered():
    ticks = critical_difference_section(ranked(30, control="m0")).data["ticks"]
    assert len(ticks) == 30
    assert sum(bool(tick["words"]) for tick in ticks) == 10
