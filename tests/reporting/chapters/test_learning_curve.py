"""The chapter of a learning curve: what comes first, and nothing that runs."""

import math
from dataclasses import replace

from truerisk.reporting.chapters.learning_curve import learning_curve_chapter
from truerisk.reporting.page.report import report_of
from truerisk.results import Interval

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


def _charts(chapter):
    return {
        chart["title"]: chart
        for section in chapter.sections
        if section.kind == "charts"
        for chart in section.data["charts"]
    }


def test_the_best_learner_is_told_first(curve):
    chapter = learning_curve_chapter(curve, wanted=0.1)
    assert chapter.verdict[0].startswith(f"{HOSTILE}: trained on all 160 examples")
    assert chapter.tiles[0].title == f"{HOSTILE}: Error rate from 80 examples"
    assert chapter.tiles[0].beside.startswith("320 examples: ")
    turned = learning_curve_chapter(replace(curve, higher_is_better=True))
    assert turned.tiles[0].title.startswith("baseline")


def test_one_learner_has_tiles_of_what_was_measured_and_of_what_is_expected(curve):
    alone = replace(curve, curves={HOSTILE: curve[HOSTILE]})
    tiles = learning_curve_chapter(alone).tiles
    assert [tile.title for tile in tiles] == [
        f"Error rate from {size} examples" for size in (80, 160, 320)
    ]
    assert tiles[0].value == f"{curve[HOSTILE].points[-1].mean:.3f}"
    assert tiles[2].value == f"{curve[HOSTILE].at(320).value:.3f}"


def test_what_is_wanted_and_who_is_better_have_tables(curve):
    tables = [
        one for one in learning_curve_chapter(curve, wanted=0.1).sections if one.kind == "table"
    ]
    needed, crossings = tables[:2]
    assert needed.title == "What Error rate 0.1 takes"
    assert [row[0] for row in needed.data["rows"]] == ["baseline", HOSTILE]
    assert needed.data["rows"][0][1:] == ["∞", "[∞, ∞]", "∞", "no"]
    assert crossings.data["rows"][0][:3] == [HOSTILE, "baseline", "8"]
    (crossing,) = curve.crossings
    assert crossings.data["rows"][0][3] == f"{crossing.lead:.3f}"
    assert crossings.data["rows"][0][-1] == ("yes" if crossing.is_sure else "no")
    turned = replace(crossing, lead_interval=Interval(0.1, 0.2, 0.95, "corrected_t"))
    sure = learning_curve_chapter(replace(curve, crossings=(turned,)), wanted=0.1)
    assert [one for one in sure.sections if one.kind == "table"][1].data["rows"][0][-1] == "yes"


def test_the_page_runs_nothing_of_the_data_and_is_the_same_twice(curve, tmp_path):
    page = report_of(curve, wanted=0.1)
    assert "<script>alert" not in page.html
    assert "&lt;script&gt;alert" in page.html
    saved = curve.report(wanted=0.1).save(tmp_path / "curve.html")
    assert saved.read_text(encoding="utf-8") == page.html


def test_a_page_can_be_made_of_what_failed(failed):
    chapter = learning_curve_chapter(failed, wanted=0.2)
    assert math.isnan(failed["Failing"].points[-1].mean)
    assert chapter.tiles[0].value == "undefined"
    assert chapter.verdict[0].startswith("What more examples would bring cannot be said")
    assert "too &lt;many&gt;" in report_of(failed, wanted=0.2).html
    for chart in _charts(chapter).values():
        assert all(shape.get("path", "M").startswith("M") for shape in chart["shapes"])
