import csv
import io
import json
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

from truerisk.comparison.datasets.over_datasets import compare_over_datasets
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.page import report_of
from truerisk.reporting.render.formats import formatted
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results.over_datasets import (
    BEST,
    WORST,
    OverDatasetsPresenter,
    critical_difference_section,
    p_value_table,
    pair_table,
    posterior_table,
    rank_table,
    ranking_tables,
)


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).normal(size=(8, 3))


@pytest.fixture(scope="module")
def result(scores):
    return compare_over_datasets(scores, names=["<script>", "b", "c"], region=0.5)


def test_the_page_holds_words_picture_and_tables_and_names_are_texts(result, tmp_path):
    page = report_of(result).save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script>" not in page.replace('<script>"use strict"', "").split("</main>")[0]
    assert "&lt;script&gt;" in page
    assert "Average ranks over 8 data sets" in page
    assert "critical difference" in page


def test_every_pair_is_drawn_with_its_region_and_its_probabilities(result):
    sections = {
        section.kind: section.data for section in OverDatasetsPresenter().chapter(result).sections
    }
    rows = sections["differences"]["groups"][0]["rows"]
    assert [row["title"] for row in rows] == ["b − <script>", "c − <script>", "c − b"]
    assert [row["finding"] for row in rows] == [pair.finding for pair in result.pairs]
    assert all(row["band"]["high_words"] == "+0.5" for row in rows)
    bars = sections["probabilities"]["rows"]
    assert [len(bar["parts"]) for bar in bars] == [3, 3, 3]
    assert bars[0]["parts"][2]["width"] == pytest.approx(100 * result.pairs[0].posterior.better)


def test_two_classifiers_have_one_large_difference_and_no_ranks_picture(scores):
    two = compare_over_datasets(scores[:, :2], names=["a", "b"], higher_is_better=False)
    chapter = OverDatasetsPresenter().chapter(two)
    assert [section.kind for section in chapter.sections][:2] == ["differences", "probabilities"]
    main = chapter.sections[0].data["main"]
    assert main["drawn"]["sides"] == {"left": "← b better", "right": "a better →"}
    assert chapter.tiles[0].title == "Typical difference: b − a"


def test_a_control_is_told_and_has_its_table(scores):
    controlled = compare_over_datasets(scores, names=list("abc"), control="a")
    chapter = OverDatasetsPresenter().chapter(controlled)
    assert "control" in chapter.sections[0].lead
    assert chapter.sections[-1].title.startswith("Average ranks against a")
    assert chapter.tiles[-1].interval == "Bonferroni-Dunn, 95 %"


def test_folds_have_a_posterior_for_the_next_data_set():
    rng = np.random.default_rng(0)
    folds = rng.uniform(0.6, 0.9, (4, 1, 1)) + rng.normal(0, 0.02, (4, 2, 5))
    two = compare_over_datasets(folds, names=["a", "b"], test_share=0.2)
    rows = OverDatasetsPresenter().chapter(two).sections[1].data["rows"]
    assert [row["model"] for row in rows] == [
        "signed rank",
        "hierarchical",
        "on the next data set",
    ]


@pytest.fixture(scope="module")
def second():
    rng = np.random.default_rng(0)
    gains = np.array([0, 0.01, 0.05])
    scores = rng.uniform(0.6, 0.9, (10, 1)) + gains + rng.normal(0, 0.01, (10, 3))
    return compare_over_datasets(np.round(scores, 2), names=["=low", "mid|", "<top>"], region=0.01)


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    folds = rng.uniform(0.6, 0.9, (4, 1, 1)) + rng.normal(0, 0.02, (4, 2, 5))
    return compare_over_datasets(folds, names=["a", "b"], test_share=0.2)


def test_the_best_stands_first_and_groups_are_numbered(second):
    table = rank_table(second)
    assert [row[0] for row in table.rows] == list(second.in_order)
    assert [column.heading for column in table.columns][-1] == "Groups"
    together = {row[0] for row in table.rows if "1" in row[3]}
    assert together == set(second.cliques[0])


def test_the_tables_of_two_classifiers_have_no_ranks_tests(two):
    titles = [table.title for table in ranking_tables(two)]
    assert titles == [
        "Average ranks over 4 data sets",
        "Pairs",
        "p-values",
        "Posterior probabilities (no region)",
    ]
    heads = [column.heading for column in p_value_table(two).columns]
    assert heads == ["Second − first", "Wilcoxon", "Holm", "Sign"]
    models = [row[1] for row in posterior_table(two).rows]
    assert models == ["signed rank", "hierarchical", "next data set"]
    assert pair_table(two).rows[0][2] == "–"
    assert "Too few data sets for an interval at 95 %." in list(OverDatasetsPresenter().notes(two))


def test_a_control_has_its_table():
    scores = np.random.default_rng(0).normal(size=(60, 3))
    second = compare_over_datasets(scores, names=list("abc"), control="b")
    *_, last = ranking_tables(second)
    assert last.title == "Average ranks against b (positive z: better)"
    assert [row[0] for row in last.rows] == ["a", "c"]
    assert "Over 50 data sets: Wilcoxon's p-values are normal approximations." in list(
        OverDatasetsPresenter().notes(second)
    )


def test_json_and_csv_hold_the_same_numbers(second):
    plain = json.loads(formatted(second, "json"))
    rows = list(csv.DictReader(io.StringIO(formatted(second, "csv"))))
    assert plain["schema"] == "truerisk/over_datasets/1"
    assert len(rows) == len(plain["pairs"]) == 3
    for row, pair in zip(rows, plain["pairs"], strict=True):
        assert float(row["holm_p"]) == pair["p_value"]
        assert float(row["better"]) == pair["posterior"]["better"]
        assert float(row["low"]) == pair["interval"]["low"]
        assert float(row["equivalence_p"]) == pair["equivalence_p_value"]
        assert row["finding"] == pair["finding"]
    assert rows[0]["against"] == "'=low"  # no formula for a spreadsheet


def test_markdown_escapes_names(second):
    text = formatted(second, "markdown")
    assert "&lt;top&gt;" in text
    assert r"mid\|" in text


def test_it_fits_eighty_columns(second):
    page = io.StringIO()
    print_result(second, Console(file=page, width=80, highlight=False, markup=False))
    assert max(map(len, page.getvalue().splitlines())) <= 80
    assert "The classifiers differ over these 10 data sets" in page.getvalue()
    assert "critical difference (Nemenyi)" in page.getvalue()


def test_a_small_p_value_is_never_written_as_nothing(second):
    written = [cell for row in p_value_table(second).rows for cell in row[1:]]
    assert "0.000" not in written
    assert all(cell in {"–", "<0.0001"} or float(cell) > 0 for cell in written)


def ranked(k, n=8, **options):
    scores = np.random.default_rng(0).normal(size=(n, k))
    return compare_over_datasets(scores, names=[f"m{at}" for at in range(k)], **options)


@pytest.mark.parametrize("k", [3, 4, 6])
def test_names_stand_in_order_the_best_at_the_right_and_none_collide(k):
    result = ranked(k)
    names = critical_difference_section(result).data["names"]
    assert [result.in_order[at] in one["words"] for at, one in enumerate(names)] == [True] * k
    assert all(one["rank"] >= two["rank"] for one, two in pairwise(names))
    assert len({(one["side"], one["y"]) for one in names}) == k
    assert all(WORST <= one["rank"] <= BEST for one in names)


def test_a_rank_lies_at_its_share_of_the_line():
    result = ranked(3)
    names = critical_difference_section(result).data["names"]
    for name, one in zip(result.in_order, names, strict=True):
        share = (result.rank_of(name) - 1) / 2
        assert one["rank"] == pytest.approx(BEST - share * (BEST - WORST), abs=0.01)


def test_bars_join_the_groups_and_the_ruler_is_as_long_as_the_critical_difference():
    result = ranked(4)
    data = critical_difference_section(result).data
    assert len(data["bars"]) == len(result.cliques)
    ruler = data["difference"]
    whole = (ruler["high"] - ruler["low"]) / (BEST - WORST) * 3
    assert whole == pytest.approx(result.critical_difference, abs=0.01)
    assert "Not told apart" in data["description"]


def test_the_bar_of_a_control_ends_where_ranks_differ_from_it():
    result = ranked(5, n=40, control="m2")
    (bar,) = critical_difference_section(result).data["bars"]
    names = critical_difference_section(result).data["names"]
    assert bar["mark"] == "control"
    control = next(one for one in names if one["control"])
    assert bar["low"] <= control["rank"] <= bar["high"]


def test_on_a_phone_each_classifier_has_a_row_and_bars_join_the_rows_of_a_group():
    result = ranked(4)
    narrow = critical_difference_section(result).data["narrow"]
    assert [result.in_order[at] in row["words"] for at, row in enumerate(narrow["rows"])] == [
        True
    ] * 4
    for name, row in zip(result.in_order, narrow["rows"], strict=True):
        share = (result.rank_of(name) - 1) / 3
        reach = narrow["high"] - narrow["low"]
        assert row["rank"] == pytest.approx(narrow["high"] - share * reach, abs=0.01)
    for group, lane in zip(result.cliques, narrow["lanes"], strict=True):
        joined = [row for row in narrow["rows"] if lane["top"] <= row["y"] + 34 <= lane["bottom"]]
        assert len(joined) == len(group)
    controlled = critical_difference_section(ranked(5, n=40, control="m2")).data["narrow"]
    assert controlled["lanes"] == []
    assert controlled["band"]["width"] > 0


def test_many_ranks_are_not_all_numbered():
    ticks = critical_difference_section(ranked(30, control="m0")).data["ticks"]
    assert len(ticks) == 30
    assert sum(bool(tick["words"]) for tick in ticks) == 10


def spread_out(k, n=12, **options):
    scores = np.random.default_rng(k).normal(size=(n, k)) + 0.4 * np.arange(k)
    return compare_over_datasets(scores, **options)


def drawn(result):
    figure = Figure(figsize=(7.2, 3))
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    assert result.plot(axes) is axes
    canvas.draw()
    return axes


def drawn_bars(axes, colour):
    return [
        tuple(segment[:, 0])
        for lines in axes.collections
        if tuple(lines.get_color()[0]) == mpl.colors.to_rgba(colour)
        for segment in lines.get_segments()
    ]


@pytest.mark.parametrize(
    ("options", "ink"), [({}, "first"), ({"control": "classifier 3"}, "second")]
)
def test_matplotlib_draws_the_bars_that_the_section_describes(options, ink):
    result = spread_out(5, **options)
    bars = critical_difference_section(result).data["bars"]
    assert bars
    expected = [[bar["low"], bar["high"]] for bar in bars]
    assert np.array(drawn_bars(drawn(result), FIGURE[ink])) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("k", [2, 3, 8])
def test_no_two_names_of_the_drawing_collide_and_all_are_there(k):
    result = spread_out(k)
    axes = drawn(result)
    renderer = axes.figure.canvas.get_renderer()
    named = [text for text in axes.texts if "classifier" in text.get_text()]
    assert len(named) == k
    boxes = [text.get_window_extent(renderer) for text in named]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    # The best half hangs at the right.
    right = [text.get_text() for text in named if text.get_horizontalalignment() == "left"]
    assert all(any(name in text for text in right) for name in result.in_order[: (k + 1) // 2])


def test_hostile_and_long_names_are_drawn_as_they_are():
    result = spread_out(3, names=["_hidden", "$x$", "n" * 200])
    texts = [text.get_text() for text in drawn(result).texts]
    assert any(r"\$x\$" in text for text in texts)
    assert any("_hidden" in text for text in texts)
    assert all(len(text) < 60 for text in texts)


def test_drawing_touches_no_global_state():
    before = dict(mpl.rcParams)
    drawn(spread_out(4))
    assert dict(mpl.rcParams) == before
