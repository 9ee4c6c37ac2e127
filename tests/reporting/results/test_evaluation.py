import io
import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import truerisk as tr
from truerisk.reporting.presenter import next_steps
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results import evaluation as rules
from truerisk.reporting.results.evaluation import (
    EvaluationPresenter,
    class_table,
    confusion_table,
    measure_table,
    mistake_table,
    remarks,
)
from truerisk.reporting.sections.provenance import source_facts
from truerisk.results import has_code


def sections_of(evaluation):
    return {section.kind: section.data for section in EvaluationPresenter().sections(evaluation)}


def groups_of(evaluation):
    return sections_of(evaluation)["forest"]["groups"]


def test_the_data_of_a_page_are_plain_values(evaluation):
    data = sections_of(evaluation)
    assert json.loads(json.dumps(data)) == data


def test_the_first_numbers_are_error_rate_and_f1(evaluation):
    tiles = EvaluationPresenter().chapter(evaluation).tiles
    assert [(tile.title, tile.value) for tile in tiles] == [
        ("Error rate", "0.090"),
        ("F1", "0.526"),
    ]


def test_a_share_stands_on_the_whole_way_from_0_to_1(evaluation):
    tile = EvaluationPresenter().chapter(evaluation).tiles[0]
    assert [mark["words"] for mark in tile.marks] == ["0", "1"]
    assert tile.strip["value"] == round(6 + 0.09 * 288, 2)


def test_the_chapter_opens_with_the_verdict(evaluation):
    chapter = EvaluationPresenter().chapter(evaluation)
    assert chapter.verdict[0] == "Nine of a hundred examples are misjudged."
    assert chapter.notes[0] == "The positive class is rare."


def test_measures_are_grouped_by_what_is_good(evaluation):
    groups = {group["title"]: group for group in groups_of(evaluation)}
    titles = {title: [row["title"] for row in group["rows"]] for title, group in groups.items()}
    assert titles == {
        "Lower is better, 0 is perfect": ["Error rate"],
        "Higher is better, 1 is perfect": ["Precision", "Recall", "F1", "Specificity"],
        "1 is perfect, 0 is chance": ["Matthews correlation"],
        "On a scale of their own": ["Positive likelihood ratio"],
    }


def test_a_shared_axis_reaches_to_perfect(evaluation):
    higher = groups_of(evaluation)[1]
    assert higher["marks"][-1]["words"] == "1"
    assert groups_of(evaluation)[0]["marks"][0]["words"] == "0"


def test_the_dot_lies_on_its_line(evaluation):
    for group in groups_of(evaluation):
        for row in group["rows"]:
            if row["strip"]:
                assert row["strip"]["low"] <= row["strip"]["value"] <= row["strip"]["high"]


def test_an_undefined_measure_has_a_reason_and_no_picture(evaluation):
    row = groups_of(evaluation)[1]["rows"][-1]
    assert row["strip"] is None
    assert (row["value"], row["defined"]) == ("undefined", False)
    assert row["reason"] == "undefined: no example is negative"


def test_the_matrix_is_coloured_by_the_share_of_the_true_class(evaluation):
    matrix = sections_of(evaluation)["confusion"]
    cells = [cell for row in matrix["rows"] for cell in row["cells"]]
    # ceil(9 × share): 850/890 → 9, 40/890 → 1, 50/100 → 5
    assert [cell["heat"] for cell in cells] == [9, 1, 5, 5]
    assert [cell["right"] for cell in cells] == [True, False, False, True]
    assert matrix["sums"] == ["900", "90"]


def test_many_classes_have_mistakes_instead_of_a_matrix(make_evaluation):
    labels = tuple(f"c{at}" for at in range(31))
    counts = np.eye(31, dtype=int)
    counts[0, 1] = 1
    data = sections_of(make_evaluation(labels, counts=counts))
    assert "confusion" not in data
    assert data["table"]["rows"] == [["c0", "c1", "1", "50.0 %"]]
    assert len(data["classes"]["rows"]) == 31
    assert data["classes"]["rows"][0]["examples"] == "2"


def test_an_infinite_value_stands_on_an_axis_of_its_own(evaluation):
    row = groups_of(evaluation)[3]["rows"][0]
    assert row["value"] == "∞"
    assert row["strip"]["endless"]
    assert all(math.isfinite(mark["x"]) for mark in row["marks"])


def printed(evaluation, width=80):
    page = io.StringIO()
    print_result(evaluation, Console(file=page, width=width, highlight=False))
    return page.getvalue()


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 13, 40])
def test_it_is_readable_at_80_columns(make_evaluation, n_classes):
    labels = tuple(f"class {at}" for at in range(n_classes))
    counts = np.arange(n_classes**2).reshape(n_classes, n_classes)
    text = printed(make_evaluation(labels, counts=counts))
    assert max(map(len, text.splitlines())) <= 80
    assert "class 1" in text


def test_the_verdict_comes_first_and_the_source_last(evaluation):
    text = printed(evaluation)
    places = [text.index(word) for word in ("misjudged", "Error rate", "rare", "predictions.csv")]
    assert places == sorted(places)


def test_every_measure_has_its_value_interval_method_and_n(evaluation):
    assert re.search(
        r"Precision +0\.556 +\[0\.447, 0\.661\] +clopper_pearson +90", printed(evaluation)
    )


def test_undefined_is_shown_with_its_reason(evaluation):
    text = printed(evaluation)
    assert re.search(r"Specificity +undefined", text)
    assert "Specificity is undefined: no example is negative" in text


def test_what_was_guessed_is_printed(evaluation):
    assert re.search(r"truth +column y_true \(guessed\)", printed(evaluation))


def test_classes_beyond_twenty_are_counted_not_shown(make_evaluation):
    labels = tuple(f"class {at}" for at in range(25))
    text = printed(make_evaluation(labels, counts=np.eye(25, dtype=int)))
    assert "5 classes more are not shown: these are the 10 most frequent and the 10" in text
    assert "class 20 " not in text


def test_labels_are_texts_and_no_mark_up(make_evaluation):
    text = printed(make_evaluation(("[bold red]x[/]", "\x1b[31mred"), counts=((1, 2), (3, 4))))
    assert "[bold red]x[/]" in text
    assert "\x1b" not in text
    assert r"\x1b[31mred" in text


def test_a_measure_is_one_row_with_value_interval_method_and_n(evaluation):
    table = measure_table(evaluation)
    assert table.rows[0] == ("Error rate", "0.090", "[0.073, 0.110]", "clopper_pearson", "990")
    assert len(table.rows) == len(evaluation)
    assert [column.heading for column in table.columns][2] == "95 % interval"


def test_the_confusion_matrix_has_truth_in_its_rows(evaluation):
    table = confusion_table(evaluation)
    assert [column.heading for column in table.columns][1:] == ["ham", "spam", "n"]
    # 850 of the 890 true ham are called ham; 50 of the 100 true spam are called ham.
    assert table.rows[0] == ("ham", "850 (95.5 %)", "40 (4.5 %)", "890")
    assert table.rows[1] == ("spam", "50 (50.0 %)", "50 (50.0 %)", "100")
    assert table.rows[2] == ("n", "900", "90", "990")


def test_the_narrow_matrix_has_whole_percent_of_the_true_class(make_evaluation):
    narrow = make_evaluation(("a", "b"), counts=((995, 5), (0, 8)))
    assert confusion_table(narrow, narrow=True).rows == (
        ("a", "100", "<1", "1,000"),
        ("b", "·", "100", "8"),
    )


def test_a_class_without_examples_has_no_share(make_evaluation):
    empty = make_evaluation(("a", "b"), counts=((0, 0), (1, 3)))
    assert confusion_table(empty).rows[0][1] == "0 (–)"


def test_of_many_classes_only_the_worst_mistakes_are_listed(make_evaluation):
    labels = tuple(f"c{at}" for at in range(13))
    counts = 10 * np.eye(13, dtype=int)
    counts[3, 7], counts[1, 0] = 6, 2
    many = make_evaluation(labels, counts=counts)
    assert confusion_table(many) is None
    assert mistake_table(many).rows == (("c3", "c7", "6", "37.5 %"), ("c1", "c0", "2", "16.7 %"))
    assert class_table(many).rows[0][0] == "c0"


def test_sets_of_labels_have_no_confusion_matrix(make_evaluation):
    assert confusion_table(make_evaluation(tallies=None)) is None


def test_classes_show_undefined_without_an_interval(make_evaluation):
    row = class_table(make_evaluation(("a", "b", "c"), counts=np.eye(3, dtype=int))).rows[0]
    assert row == ("a", "0.500 [0.400, 0.600]", "0.250 [0.200, 0.300]", "undefined")


def test_two_classes_need_no_table_of_classes(evaluation):
    assert class_table(evaluation) is None


def test_a_note_that_many_measures_share_is_told_once(make_evaluation, make_estimate):
    shared = {name: make_estimate(name, 0.5, 0, 1, notes=("same",)) for name in ("f1", "recall")}
    words = remarks(make_evaluation(estimates=shared))
    assert words == ("The positive class is rare.", "F1; Recall: same")


def test_the_reason_of_an_undefined_measure_is_told(evaluation):
    assert "Specificity is undefined: no example is negative" in remarks(evaluation)


def test_a_note_of_many_measures_names_the_first_and_the_last(make_evaluation, make_estimate):
    names = ("precision", "recall", "f1", "jaccard", "gmean")
    shared = {name: make_estimate(name, 0.5, 0, 1, notes=("same",)) for name in names}
    words = remarks(make_evaluation(estimates=shared))
    assert words[-1] == "Precision; … G-mean (5 measures): same"


def test_what_was_guessed_and_the_seed_are_always_told(evaluation):
    facts = dict([*EvaluationPresenter().facts(evaluation), *source_facts(evaluation.source)])
    assert facts["truth"] == "column y_true (guessed)"
    assert facts["score"] == "column a, b (guessed)"
    assert facts["pred"] == "column answer"
    assert facts["seed"] == "7"
    assert facts["positive label"] == "spam"
    assert facts["confidence level"] == "95 %"
    assert facts["the numbers are about"] == "this model"
    assert facts["file"] == f"predictions.csv: rows 990, sha256 {'ab' * 32}"


def test_what_else_a_source_says_is_told_too():
    facts = dict(source_facts({"drawn_by": "hand"}))
    assert facts["drawn by"] == "hand"


def test_a_setting_is_told_once(make_evaluation):
    pairs = list(
        EvaluationPresenter().facts(
            make_evaluation(settings={"level": 0.95, "target": "this model"})
        )
    )
    assert len({name for name, _ in pairs}) == len(pairs)


EVEN = [0, 1] * 200


def counted(table, **options):
    return tr.evaluate_counts(table, random_state=1, **options)


def scored(truth, score, threshold=None, **options):
    predicted = None if threshold is None else (np.asarray(score) >= threshold).astype(int)
    return tr.evaluate(truth, predicted, y_score=score, random_state=1, replicates=100, **options)


def words(rule, evaluation):
    return " ".join(rule(evaluation))


def test_worse_than_chance_is_about_labels_and_nothing_else():
    [step] = next_steps(counted([[10, 90], [90, 10]]))
    assert step.startswith("Check first whether labels are swapped")
    assert "MCC -0.800 [" in step
    [step] = next_steps(scored(EVEN, [1.0, 0.0] * 200))
    assert step.startswith("Check first to which class the scores belong")
    assert not words(rules.swapped_labels, counted([[90, 10], [10, 90]]))


def test_one_class_alone_asks_for_the_others():
    alone = tr.evaluate([1] * 20, [1] * 20, labels=[0, 1], random_state=1)
    [step] = next_steps(alone)
    assert step.startswith("Add examples of the other classes: all 20 are '1'")
    assert not words(rules.a_class_is_missing, counted([[1, 0], [0, 20]]))


def test_a_constant_that_does_as_well_turns_the_eye_to_the_rare_class():
    # 5 won, 1 lost of the examples on which only one of the two is right: not told apart.
    assert words(rules.no_better_than_a_constant, counted([[5, 5], [1, 89]])) == (
        "Judge it by Recall 0.500 and Precision 0.833, not by accuracy (0.940): always giving the "
        "commonest answer may do as well: `truerisk score --measure recall --measure precision`."
    )
    always = words(rules.no_better_than_a_constant, counted([[0, 10], [0, 90]]))
    assert "it always gives one answer" in always
    assert not words(rules.no_better_than_a_constant, counted([[90, 10], [10, 90]]))


def test_where_no_class_is_common_it_is_not_to_be_relied_on():
    result = words(rules.no_better_than_a_constant, counted([[11, 9], [9, 11]]))
    assert result.startswith("Do not rely on it yet: it is right on 0.550 [")


def test_what_is_most_open_is_collected_for_as_the_verdict_says():
    # Recall 6 of 10: [.262, .878], so ±.308 and 10 · (.308 / .05)² = 379.2; precision 6 of 9:
    # [.299, .925], so ±.313 and 9 · (.313 / .05)² = 352.5, of which 9 are there.
    evaluation = counted([[6, 4], [3, 87]])
    result = words(rules.too_open, evaluation)
    assert result == (
        "Collect about 350 more examples called positive: precision is known only to ±0.31, and "
        "about 360 in all would give ±0.05: `truerisk plan --half-width 0.05 --expected 0.67`."
    )
    assert any("about 360 would give ±0.05" in sentence for sentence in evaluation.verdict)
    assert not words(rules.too_open, counted([[600, 400], [300, 8700]]))
    at_90 = tr.evaluate_counts([[6, 4], [3, 87]], level=0.9)
    assert "--level 0.9`" in words(rules.too_open, at_90)


def test_scores_without_labels_need_a_threshold():
    assert words(rules.no_labels_yet, scored(EVEN, [0.1, 0.9] * 200)).startswith(
        "Choose a threshold: 400 examples"
    )
    assert not words(rules.no_labels_yet, scored(EVEN, [0.1, 0.9] * 200, 0.5))


def test_a_threshold_is_offered_only_outside_the_interval_of_what_is():
    truth, score = [0] * 50 + [1] * 50, np.linspace(0, 1, 100)
    result = words(rules.a_better_threshold, scored(truth, score, 0.8))
    # The fifty positives are the fifty highest: from 50/99 on, F1 is 1.
    assert result.startswith("Try the threshold 0.5051: F1 is 1.000 there, now 0.571 [")
    assert "other examples than those it is judged on" in result
    # Where it is chosen already, none is better.
    assert not words(rules.a_better_threshold, scored(truth, score, 50 / 99))


def test_false_alarms_count_when_thresholds_are_weighed():
    # At 0.9: 50 found, 2 missed, F1 = 100/102; at 0.5: 200 false alarms, F1 = 100/302.
    truth, score = [1] * 50 + [0] * 200 + [1] * 2, [0.9] * 50 + [0.5] * 200 + [0.1] * 2
    result = words(rules.a_better_threshold, scored(truth, score, 0.5))
    assert result.startswith("Try the threshold 0.9: F1 is 0.980 there, now 0.331 [")


def test_a_gain_that_is_sure_but_small_is_not_worth_a_threshold():
    # F1 = 2·5000 / (2·5000 + 100) = .990 at 0.5; without the 100 in the middle it is 1.
    truth, score = [0] * 4900 + [0] * 100 + [1] * 5000, [0.1] * 4900 + [0.5] * 100 + [0.9] * 5000
    assert not words(rules.a_better_threshold, scored(truth, score, 0.5))


def test_where_costs_are_told_the_threshold_is_chosen_by_them():
    truth, score = [0] * 50 + [1] * 50, np.linspace(0, 1, 100)
    result = words(rules.a_better_threshold, scored(truth, score, 0.8, costs={"fp": 1, "fn": 5}))
    assert result.startswith("Try the threshold 0.5051: Cost per example is 0.000 there, now 1.500")
    assert "`truerisk threshold --best cost" in result
    table = [[0, 1], [5, 0]]
    assert not words(rules.a_better_threshold, scored(truth, score, 0.8, costs=table))


def test_probabilities_that_do_not_come_true_are_to_be_recalibrated():
    truth = ([1] * 4 + [0]) * 40 + ([0] * 4 + [1]) * 40
    bold = [0.99] * 200 + [0.01] * 200
    result = words(rules.badly_calibrated, scored(truth, bold, 0.5, probabilities=True))
    assert re.match(r"Recalibrate .*: of the 200 scored 0\.(99|01) on average, [82]0\.0 % ", result)
    # Only one side is wrong, either way: 80 % of those scored .99, 20 % of those scored .01.
    for scores in ([0.99] * 200 + [0.2] * 200, [0.8] * 200 + [0.01] * 200):
        assert words(rules.badly_calibrated, scored(truth, scores, 0.5, probabilities=True))
    honest = [0.8] * 200 + [0.2] * 200
    assert not words(rules.badly_calibrated, scored(truth, honest, 0.5, probabilities=True))
    assert not words(rules.badly_calibrated, scored(truth, bold, 0.5))
    groups = np.arange(400) // 2
    grouped = scored(truth, bold, 0.5, probabilities=True, groups=groups)
    assert not words(rules.badly_calibrated, grouped)


def test_two_classes_that_make_most_mistakes_are_named():
    result = words(rules.one_pair_of_classes, counted([[90, 20, 1], [22, 80, 2], [1, 0, 90]]))
    assert result.startswith("Look at the examples of '0' and '1': taking one for the other makes")
    assert "makes 42 of 46 mistakes" in result
    assert not words(rules.one_pair_of_classes, counted([[90, 9, 9], [9, 90, 9], [9, 9, 90]]))
    assert not words(rules.one_pair_of_classes, counted([[90, 9, 0], [0, 90, 0], [0, 0, 90]]))


def test_classes_with_few_examples_are_collected_for_the_rarest_first():
    table = np.diag([29, 30, 5, 7, 6])
    result = words(rules.classes_with_few_examples, counted(table, labels=list("abcde")))
    assert result.startswith("Collect examples of 'c' (5), 'e' (6), 'd' (7) and 1 more classes: ")
    assert not words(rules.classes_with_few_examples, counted(np.diag([30, 30, 30])))
    assert not words(rules.classes_with_few_examples, counted([[5, 1], [1, 5]]))


def test_scores_that_look_like_probabilities_are_asked_about_last():
    steps = next_steps(scored(EVEN, [0.25, 0.75] * 200, 0.5))
    assert steps[-1].startswith("Say so if the scores, from 0.25 to 0.75, are probabilities")
    assert steps[0].startswith("Compare it with the model in use")
    assert not words(rules.perhaps_probabilities, scored(EVEN, [-1.0, 1.0] * 200, 0))


def test_hostile_labels_are_quoted():
    table = np.diag([50, 50, 5])
    result = next_steps(counted(table, labels=["<b>", "\x1b[31m", "a\nb"]))
    assert "'a\\nb' (5)" in result[0]


@pytest.mark.parametrize("weights", [None, "drawn"])
def test_weights_do_not_stop_the_rules(weights):
    rng = np.random.default_rng(0)
    score = rng.random(200)
    truth = (rng.random(200) < score).astype(int)
    given = None if weights is None else rng.random(200)
    assert next_steps(scored(truth, score, 0.5, sample_weight=given, probabilities=True))


cells = st.lists(st.integers(0, 60), min_size=4, max_size=4).filter(any)


@settings(max_examples=25, deadline=None)
@given(cells)
def test_no_step_contradicts_the_verdict(four):
    evaluation = counted(np.reshape(four, (2, 2)))
    verdict = " ".join(evaluation.verdict)
    steps = " ".join(next_steps(evaluation))
    assert steps
    if "Compare it with the model in use" in steps:
        assert "Open: " not in verdict
        assert "that is worse than" not in verdict
        assert "cannot be told from" not in verdict
    if "Collect about" in steps:
        assert re.search(r"about (\d+) in all", steps).group(1) in verdict
    if "swapped" in steps:
        assert "swapped" in verdict


def test_where_accuracy_misleads_recall_and_precision_lead():
    truth, predicted = [1] * 10 + [0] * 490, [1] * 7 + [0] * 488 + [1] * 5
    evaluation = tr.evaluate(truth, predicted, pos_label=1, random_state=1)
    assert has_code(evaluation.verdict, "accuracy_misleads")
    titles = [tile.title for tile in EvaluationPresenter().chapter(evaluation).tiles]
    assert titles[:2] == ["Recall", "Precision"]
    assert not {"Accuracy", "Error rate"} & set(titles)
    balanced = tr.evaluate([1, 0] * 50, [1, 1] * 50, pos_label=1, random_state=1)
    assert EvaluationPresenter().chapter(balanced).tiles[0].title == "Error rate"


def test_of_many_classes_the_frequent_and_the_worst_are_shown(make_evaluation):
    labels = tuple(f"class {at:02d}" for at in range(30))
    counts = np.eye(30, dtype=int) * np.arange(60, 30, -1)
    counts[29, 0] += 5
    evaluation = make_evaluation(labels, counts=counts)
    assert rules.chosen_classes(evaluation, 40) == list(evaluation.by_class)
    chosen = rules.chosen_classes(evaluation, 6)
    assert chosen[:3] == ["class 00", "class 01", "class 02"]
    assert len(chosen) == 6
    assert "24 classes more" in rules.left_out(evaluation, 6)
    assert not rules.left_out(evaluation, 30)


def test_a_page_of_thousands_of_classes_is_small_and_says_what_it_leaves_out():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3000, 9000)
    predicted = np.where(rng.random(9000) < 0.8, truth, rng.integers(0, 3000, 9000))
    html = tr.evaluate(truth, predicted).report().html
    assert "classes more are not shown" in html
    assert "Most frequent mistakes" in html
    assert len(html) < 10**6
