import io
import json
import math
import re
from dataclasses import fields as fields_of
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from rich.console import Console

import truerisk as tr
from truerisk.comparison.learners.compare_models import (
    BayesianComparison,
    ModelComparisons,
    Probabilities,
)
from truerisk.comparison.predictions.compare import compare
from truerisk.reporting.document import STRIP
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import next_steps
from truerisk.reporting.render.formats import FORMATS, formatted
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results.comparison import (
    ComparisonPresenter,
    ComparisonsPresenter,
    ModelComparisonsPresenter,
    comparisons_tables,
    finding_among,
    model_comparison_table,
)
from truerisk.reporting.sections.differences import signed_words
from truerisk.results import Comparison, Estimate, Interval, Resampled

HOSTILE = '<img src=x onerror="alert(1)">\u202e'


def error(value, low, high, replicates=()):
    return Resampled(
        value=value,
        interval=Interval(low, high, 0.95, "corrected_t"),
        measure="error_rate",
        method="refits",
        n=100,
        target="the learner at this sample size",
        replicates=replicates,
    )


@pytest.fixture
def result():
    """Give a comparison whose second learner is better in three refits of five."""
    return Comparison(
        names=("a", "b"),
        first=error(0.16, 0.1, 0.22, (0.1, 0.2, 0.2, 0.14, 0.1)),
        second=error(0.10, 0.05, 0.15, (0.12, 0.1, 0.1, 0.08, 0.1)),
        difference=error(-0.06, -0.11, -0.01),
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        region=0.02,
        notes=("Both on the same folds.",),
    )


def fields(result):
    return {one.name: getattr(result, one.name) for one in fields_of(Comparison)}


def test_one_comparison_is_drawn_large_with_both_values_in_tiles(result):
    chapter = ComparisonPresenter().chapter(result)
    assert chapter.title == "Is b better than a?"
    assert chapter.verdict == ("b is better than a.",)
    assert [tile.value for tile in chapter.tiles] == ["0.160", "0.100", "-0.060"]
    drawn = chapter.sections[0].data
    assert drawn["main"]["drawn"]["sides"]["left"] == "← b better"
    assert drawn["groups"] == []


def test_refits_are_drawn_second_against_first(result):
    section = ComparisonPresenter().chapter(result).sections[1]
    assert section.kind == "charts"
    chart = svg_of(section.data["charts"][0])
    assert chart["caption"] == "b is higher in 1 of 5 refits, lower in 3."
    assert (chart["x_title"], chart["y_title"]) == ("Error rate: a", "Error rate: b")
    assert len(chart["shapes"][1]["points"]) == 5
    alone = replace(result, first=error(0.16, 0.1, 0.22))
    assert len(ComparisonPresenter().chapter(alone).sections) == 1


def test_a_posterior_is_a_bar_of_three_parts(result):
    chances = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    bayesian = BayesianComparison(**fields(result) | {"p_value": None}, probabilities=chances)
    section = ComparisonPresenter().chapter(bayesian).sections[1]
    assert section.kind == "probabilities"
    widths = [part["width"] for part in section.data["rows"][0]["parts"]]
    assert widths == pytest.approx([3, 7, 90])
    assert "± 0.02" in section.lead


def test_several_measures_are_grouped_under_the_first(result):
    f1 = replace(result, difference=replace(result.difference, measure="f1"), verdict="By F1 too.")
    chapter = ModelComparisonsPresenter().chapter(
        ModelComparisons(comparisons={"error_rate": result, "f1": f1})
    )
    assert chapter.verdict == ("b is better than a.", "By F1 too.")
    assert [group["rows"][0]["title"] for group in chapter.sections[0].data["groups"]] == ["F1"]
    assert "not adjusted" in chapter.notes[-1]
    assert chapter.notes.count("Both on the same folds.") == 1


def test_names_are_texts_on_the_page(result):
    page = report_of(replace(result, names=("a", HOSTILE), verdict=HOSTILE)).html
    assert "<img" not in page
    assert "\u202e" not in page


def test_plain_estimates_need_no_replicates(result):
    plain = Estimate(value=0.1, interval=None, measure="error_rate", method="counts", n=10)
    bare = replace(result, first=plain, second=plain, difference=plain, region=None)
    chapter = ComparisonPresenter().chapter(bare)
    assert chapter.tiles[2].interval == "–"
    assert len(chapter.sections) == 1


HOSTILE_2 = "<b>=1+1\x1b[31m"


def error_2(value, low, high):
    interval = Interval(low, high, 0.95, "corrected_t")
    return Estimate(value=value, interval=interval, measure="error_rate", method="refits", n=100)


@pytest.fixture
def other():
    """Give a comparison whose second learner is better."""
    return Comparison(
        names=("a", "b"),
        first=error_2(0.16, 0.1, 0.22),
        second=error_2(0.10, 0.05, 0.15),
        difference=error_2(-0.06, -0.11, -0.01),
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        notes=("Both on the same folds.",),
    )


def test_the_table_has_a_row_for_each_learner_and_one_for_the_difference(other):
    table = model_comparison_table(other)
    assert table.title == "Learners compared (corrected_t): better"
    assert table.rows == (
        ("a", "0.160", "[0.100, 0.220]", ""),
        ("b", "0.100", "[0.050, 0.150]", ""),
        ("b − a", "-0.060", "[-0.110, -0.010]°", "0.020"),  # of a difference, not measured
    )


@pytest.mark.parametrize(
    ("p_value", "shown"), [(None, "–"), (math.nan, "undefined"), (1e-9, "<0.0001"), (1.0, "1.000")]
)
def test_a_p_value_is_told_as_far_as_it_is_known(other, p_value, shown):
    assert model_comparison_table(replace(other, p_value=p_value)).rows[2][3] == shown


def test_the_terminal_gets_the_verdict_first_and_the_notes_last(other):
    words = io.StringIO()
    print_result(other, Console(file=words, width=80))
    text = words.getvalue()
    assert text.index("b is better") < text.index("Learners") < text.index("same folds")


def test_the_terminal_gets_the_probabilities(other):
    shares = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    words = io.StringIO()
    fields = {one.name: getattr(other, one.name) for one in fields_of(Comparison)}
    one = BayesianComparison(**fields, probabilities=shares)
    print_result(one, Console(file=words, width=80))
    assert "better 0.900" in words.getvalue()


def test_json_holds_every_number_and_csv_a_row_for_each(other):
    plain = json.loads(formatted(other, "json", source={"target": "y"}))
    assert plain["difference"]["interval"]["low"] == -0.11
    assert plain["source"] == {"target": "y"}
    lines = formatted(other, "csv").splitlines()
    assert lines[3].startswith("b,a,error_rate,,-0.06,-0.11,-0.01,0.95,corrected_t,")
    assert ",100,this model,Both on the same folds.,0.02,better," in lines[3]


def test_names_of_learners_are_never_interpreted(other):
    hostile = replace(other, names=("a", HOSTILE_2))
    words = io.StringIO()
    print_result(replace(hostile, verdict=HOSTILE_2), Console(file=words, width=80))
    assert "\x1b[31m" not in words.getvalue()
    for form in ("csv", "markdown", "latex"):
        text = formatted(hostile, form)
        assert "\x1b" not in text
    assert "<b>" not in formatted(hostile, "markdown")
    formula = replace(other, names=("=1+1", "b"))
    assert formatted(formula, "csv").splitlines()[1].startswith("'=1+1")


TRUTH = [1] * 40 + [0] * 60
A = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
B = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6
MODEL = '"><img src=x onerror=alert(1)>\u202e'


@pytest.fixture(scope="module")
def two():
    return compare(TRUTH, A, B, names=["a", "b"], region=0.02)


@pytest.fixture(scope="module")
def three():
    return compare(TRUTH, A, B, A, names=["a", MODEL, "c"], measures=["error_rate", "f1"])


def drawn_of(result):
    return ComparisonsPresenter().chapter(result).sections[0].data


def test_differences_are_drawn_against_zero_and_the_region(two):
    higher = next(one for one in drawn_of(two)["groups"] if one["title"].startswith("Higher"))
    row = next(row for row in higher["rows"] if row["title"] == "Accuracy")
    assert 0 < higher["zero"] < row["strip"]["low"] < row["strip"]["high"] < STRIP
    middle = row["band"]["low"] + row["band"]["width"] / 2
    assert middle == pytest.approx(higher["zero"], abs=0.02)
    assert (higher["band"]["low_words"], higher["band"]["high_words"]) == ("−0.02", "+0.02")
    assert row["seen"] == "a 0.800, b 0.920"
    assert row["p"] == "p = 0.0002"


def test_the_main_difference_stands_first_and_is_drawn_large(two):
    main = drawn_of(two)["main"]
    assert (main["title"], main["value"], main["finding"]) == ("Error rate", "-0.120", "better")
    assert main["drawn"]["sides"] == {"left": "← b better", "right": "a better →"}
    tiles = ComparisonsPresenter().chapter(two).tiles
    assert [tile.title for tile in tiles] == ["Error rate: a", "Error rate: b", "Error rate: b − a"]
    assert tiles[2].note == "▲ better"


def test_measures_of_another_scale_have_an_axis_of_their_own(two):
    alone = [one for one in drawn_of(two)["groups"] if one["title"].endswith("scale of its own")]
    assert {group["rows"][0]["title"] for group in alone} == {
        "Positive likelihood ratio",
        "Negative likelihood ratio",
    }


def test_measures_of_different_regions_share_no_band():
    result = compare(
        TRUTH, A, B, measures=["error_rate", "f1", "recall", "accuracy"], region={"recall": 0.1}
    )
    groups = drawn_of(result)["groups"]
    assert [[row["title"] for row in group["rows"]] for group in groups] == [
        ["F1", "Accuracy"],
        ["Recall"],
    ]
    assert [group["band"] is None for group in groups] == [True, False]


def test_several_models_are_drawn_pair_by_pair_with_the_corrected_best(three):
    chapter = ComparisonsPresenter().chapter(three)
    groups = chapter.sections[0].data["groups"]
    assert [group["title"].split(".")[0] for group in groups] == ["Error rate", "F1"]
    assert [len(group["rows"]) for group in groups] == [3, 3]
    assert groups[0]["sides"]["left"] == "← second better"
    assert chapter.tiles[-1].title.startswith("The best, corrected")


def test_what_only_holds_for_a_pair_alone_is_not_coloured_as_a_finding():
    predicted = [[1] * right + [0] * (20 - right) for right in (11, 17, 16)]
    result = compare([1] * 20, *predicted, names=["a", "b", "c"], measures=["accuracy", "recall"])
    rows = drawn_of(result)["groups"][0]["rows"]
    assert [(row["finding"], row["mark"]) for row in rows][1] == ("better alone", "none")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_page_holds_names_as_texts_and_fetches_nothing(three):
    page = report_of(three).html
    parser = Tags()
    parser.feed(page)
    assert "img" not in {tag for tag, _ in parser.found}
    names = {name for _, attributes in parser.found for name in attributes}
    assert not any(name.startswith("on") or name == "style" for name in names)
    assert "default-src 'none'" in unescape(page)
    assert "\u202e" not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_the_page_tells_who_is_right_where_and_holds_no_rows(two, tmp_path):
    path = report_of(two).save(tmp_path / "page.html")
    text = re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))
    assert "Right on how many examples" in text
    assert re.search(r"a\s+b\s+80\s+0\s+12\s+8", text)


def test_identical_models_are_drawn_at_zero():
    group = drawn_of(compare(TRUTH, A, A))["groups"][0]
    assert group["rows"][0]["strip"]["value"] == group["zero"]


HOSTILE_2 = "<script>alert(1)</script>\x1b[31m|=1+1"


@pytest.fixture(scope="module")
def two_2():
    return compare(TRUTH, A, B, names=["a", "b"], region=0.01, measures=["error_rate", "f1"])


@pytest.fixture(scope="module")
def three_2():
    return compare(TRUTH, A, B, TRUTH, names=["a", "b", HOSTILE_2], measures=["error_rate", "f1"])


def test_two_models_stand_in_one_table(two_2):
    table = next(comparisons_tables(two_2))
    assert [column.heading for column in table.columns] == [
        "Measure", "a", "b", "Change", "95 % interval", "p", "Finding",
    ]  # fmt: skip
    assert table.rows[0][:5] == ("Error rate", "0.200", "0.080", "-0.120", "[-0.198, -0.070]")
    assert table.rows[1][3].startswith("+0.1")


def test_several_models_stand_pair_by_pair_with_the_adjusted_test(three_2):
    titles = [table.title for table in comparisons_tables(three_2)]
    assert titles[:3] == ["Error rate, every pair", "Values", "F1, every pair"]
    first = next(comparisons_tables(three_2))
    assert "p (Holm)" in [column.heading for column in first.columns]
    assert len(first.rows) == 3


def test_what_only_holds_for_a_pair_alone_is_not_shown_as_a_finding_among_all():
    predicted = [[1] * right + [0] * (20 - right) for right in (11, 17, 16)]
    result = compare([1] * 20, *predicted, names=["a", "b", "c"], measures=["accuracy", "recall"])
    assert result["accuracy", "a", "c"].finding == "better"
    assert next(comparisons_tables(result)).rows[1][-1] == "better alone"
    assert not any("c is better" in sentence for sentence in result.verdict)


def test_tests_beside_are_listed_with_their_p_values(two_2):
    table = list(comparisons_tables(two_2))[-1]
    assert table.title == "Other tests"
    assert ("Error rate", "mcnemar exact", "0.0005") in table.rows


def test_the_terminal_shows_names_as_texts_within_its_width(three_2):
    words = io.StringIO()
    print_result(three_2, Console(file=words, width=80))
    assert "\x1b" not in words.getvalue()
    assert max(map(len, words.getvalue().splitlines())) <= 80


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_makes_hostile_names_inert(three_2, form):
    text = formatted(three_2, form)
    assert "\x1b" not in text
    if form == "markdown":
        assert "<script>" not in text
    if form == "json":
        assert json.loads(text)["names"][2] == HOSTILE_2


def test_notes_and_facts_are_told_once(two_2):
    remarks = ComparisonsPresenter().notes(two_2)
    assert "not adjusted for being several" in remarks[-1]
    assert len(set(remarks)) == len(remarks)
    facts = dict(ComparisonsPresenter().facts(two_2))
    assert facts["models"] == "a, b"
    assert facts["region"] == "0.01"
    assert facts["seed"] == "0"


def estimate(value, interval=None, measure="error_rate"):
    return Estimate(value=value, interval=interval, measure=measure, method="counts", n=100)


def compared(finding, *, measure="error_rate", region=None, settled_by=None):
    ends = Interval(-0.02, 0.01, 0.95, "tango")
    return Comparison(
        names=("old", "new"),
        first=estimate(0.16, measure=measure),
        second=estimate(0.15, measure=measure),
        difference=estimate(-0.01, ends, measure),
        p_value=0.2,
        method="mcnemar_mid_p",
        finding=finding,
        verdict="",
        region=region,
        settled_by=settled_by,
    )


@pytest.mark.parametrize(
    ("one", "starts"),
    [
        (compared("better"), ["Take new rather than old"]),
        (compared("worse"), ["Take old rather than new"]),
        (compared("equivalent", region=0.02), ["Choose old or new by what else counts"]),
        (
            compared("no evidence", settled_by=900),
            ["Collect about 800 more examples: 900 in all", "Say which difference of Error rate"],
        ),
        (compared("no evidence", settled_by=900, region=0.01), ["Collect about 800 more examples"]),
        (compared("no evidence"), ["Say which difference of Error rate"]),
        (compared("no evidence", region=0.01), ["Stay with the cheaper of old and new"]),
    ],
)
def test_each_finding_has_its_steps(one, starts):
    steps = next_steps(one)
    assert len(steps) == len(starts)
    assert all(step.startswith(start) for step, start in zip(steps, starts, strict=True))


def test_the_command_is_that_of_the_comparison():
    learners = next_steps(compared("no evidence", settled_by=900))
    assert "`truerisk estimate --against …` again" in learners[0]
    assert "`truerisk estimate --against … --region`" in learners[1]
    features = replace(
        compared("no evidence", settled_by=900), names=("without age", "all columns")
    )
    assert "`truerisk perturb --without … --region`" in next_steps(features)[1]


def test_a_small_difference_is_not_told_as_none():
    one = compared("no evidence")
    ends = Interval(-0.0004, 0.0009, 0.95, "tango")
    [step] = next_steps(replace(one, difference=estimate(0.0003, ends)))
    assert "0.0003 [-0.0004, 0.0009] is seen" in step


def test_a_difference_without_a_value_asks_for_another_measure():
    one = compared("no evidence")
    undefined = replace(one, difference=replace(one.difference, value=float("nan")))
    [step] = next_steps(undefined)
    assert step.startswith("Compare by another measure: Error rate has no value for both on these")


def test_measures_that_disagree_are_to_be_decided_between():
    comparisons = {
        "error_rate": compared("better"),
        "recall": compared("worse", measure="recall"),
        "f1": compared("better", measure="f1"),
    }
    [step] = next_steps(tr.ModelComparisons(comparisons=comparisons))
    assert step.startswith(
        "Decide which measure counts before choosing: new is better than old by Error rate "
        "(-0.010 [-0.020, 0.010]) but worse by Recall:"
    )
    agreeing = {name: one for name, one in comparisons.items() if name != "recall"}
    [step] = next_steps(tr.ModelComparisons(comparisons=agreeing))
    assert step.startswith("Take new rather than old")


def test_predictions_of_two_models_are_told_as_their_verdict_is():
    truth = [0, 1] * 100
    [step] = next_steps(tr.compare(truth, [0] * 200, truth, measures=["error_rate"]))
    assert step.startswith("Take second rather than first, if this measure decides (Error rate of ")
    assert "second 0.000, of first 0.500" in step
    result = tr.compare(truth, [*truth[:-1], 0], truth, measures=["error_rate"])
    assert result["error_rate"].settled_by is not None
    assert f"{result['error_rate'].settled_by:,} in all" in next_steps(result)[0]


def test_the_best_of_several_is_judged_without_its_luck():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 100)
    models = [np.where(rng.random(100) < 0.2, 1 - truth, truth) for _ in range(3)]
    steps = next_steps(tr.compare(truth, *models, measures=["error_rate"]))
    assert steps[-1].startswith("Judge ")
    assert "it looks best of 3 here" in steps[-1]
    assert steps[0].startswith("Collect about ")


def test_data_sets_are_asked_for_where_the_best_is_open():
    scores = [[0.8, 0.9], [0.7, 0.9], [0.6, 0.5], [0.7, 0.8]]
    result = tr.compare_over_datasets(scores, names=["a", "b"])
    first, second = next_steps(result)
    assert first.startswith("Try them on more data sets: about 25 in all, 4 now, would tell b from")
    assert any("About 25 data sets" in sentence for sentence in result.verdict)
    assert second.startswith("Say which difference matters: 1 of 1 pairs are open")


def test_the_equivalent_are_chosen_between_by_what_else_counts():
    rng = np.random.default_rng(0)
    base = rng.random((12, 1)) * 0.1
    scores = np.add(base, [0.2, 0.8, 0.8]) + rng.normal(0, 0.001, (12, 3))
    result = tr.compare_over_datasets(scores, names=["a", "b", "c"], region=0.01)
    assert any(sentence.startswith("Equivalent within") for sentence in result.verdict)
    [step] = next_steps(result)
    assert step.startswith(f"Choose between {result.in_order[0]} and {result.in_order[1]} by what")


def test_data_sets_out_of_reach_are_not_asked_for():
    rng = np.random.default_rng(3)
    scores = rng.random((20, 1)) * 0.1 + 0.8 + rng.normal(0, 0.004, (20, 2))
    scores[:, 1] += scores[:, 0].mean() - scores[:, 1].mean() + 1e-5
    steps = next_steps(tr.compare_over_datasets(scores, names=["a", "b"]))
    assert steps
    assert not any(step.startswith("Try them on more data sets") for step in steps)


def test_the_one_that_wins_over_all_is_preferred():
    rng = np.random.default_rng(0)
    scores = rng.random((12, 3)) * 0.1 + [0.2, 0.5, 0.8]
    [step] = next_steps(tr.compare_over_datasets(scores, names=["a", "b", "c"]))
    assert step.startswith("Prefer c on data sets like these 12")
    errors = tr.compare_over_datasets(scores, names=["a", "b", "c"], higher_is_better=False)
    assert next_steps(errors)[0].startswith("Prefer a ")


@pytest.mark.parametrize("models", [2, 3])
def test_no_interval_is_broken_over_lines_at_80_columns(models):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    made = [np.where(rng.random(500) < 0.8, truth, 1 - truth) for _ in range(models)]
    names = ["baseline", "candidate_model", "third_of_them"][:models]
    result = compare(truth, *made, names=names, random_state=1)
    page = io.StringIO()
    print_result(result, Console(file=page, width=80, markup=False, highlight=False))
    lines = page.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    table = lines[lines.index(next(one for one in lines if "──" in one)) :]
    assert all(line.count("[") == line.count("]") for line in table)


def test_the_sentence_and_the_table_write_an_interval_alike():
    truth = [0] * 400
    first, second = [0] * 390 + [1] * 10, [0] * 398 + [1] * 2
    result = compare(truth, first, second, pos_label=1, measures=["accuracy"], random_state=1)
    _, interval = signed_words(result["accuracy"].difference)
    assert interval in result["accuracy"].verdict


def test_a_pair_can_be_better_alone_and_not_among_all():
    a, b, c = [1] * 11 + [0] * 9, [1] * 17 + [0] * 3, [1] * 16 + [0] * 4
    pair = compare([1] * 20, a, b, c, measures=["accuracy"]).pairs[1]
    result = compare([1] * 20, a, b, c, measures=["accuracy"])
    assert (pair.finding, finding_among(result, pair)) == ("better", "better alone")
