import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.reporting.next_steps import of_predictions as rules
from truerisk.reporting.next_steps.steps import next_steps

EVEN = [0, 1] * 200


def counted(table, **options):
    return tr.evaluate_counts(table, random_state=1, **options)


def scored(truth, score, threshold=None, **options):
    called = None if threshold is None else (np.asarray(score) >= threshold).astype(int)
    return tr.evaluate(truth, called, y_score=score, random_state=1, replicates=100, **options)


def told(rule, evaluation):
    return " ".join(rule(evaluation))


def test_worse_than_chance_is_about_labels_and_nothing_else():
    [step] = next_steps(counted([[10, 90], [90, 10]]))
    assert step.startswith("Check first whether labels are swapped")
    assert "MCC -0.800 [" in step
    [step] = next_steps(scored(EVEN, [1.0, 0.0] * 200))
    assert step.startswith("Check first to which class the scores belong")
    assert not told(rules.swapped_labels, counted([[90, 10], [10, 90]]))


def test_one_class_alone_asks_for_the_others():
    alone = tr.evaluate([1] * 20, [1] * 20, labels=[0, 1], random_state=1)
    [step] = next_steps(alone)
    assert step.startswith("Add examples of the other classes: all 20 are '1'")
    assert not told(rules.a_class_is_missing, counted([[1, 0], [0, 20]]))


def test_a_constant_that_does_as_well_turns_the_eye_to_the_rare_class():
    # 5 won, 1 lost of the examples on which only one of the two is right: not told apart.
    assert told(rules.no_better_than_a_constant, counted([[5, 5], [1, 89]])) == (
        "Judge it by Recall 0.500 and Precision 0.833, not by accuracy (0.940): always giving the "
        "commonest answer may do as well: `truerisk score --measure recall --measure precision`."
    )
    always = told(rules.no_better_than_a_constant, counted([[0, 10], [0, 90]]))
    assert "it always gives one answer" in always
    assert not told(rules.no_better_than_a_constant, counted([[90, 10], [10, 90]]))


def test_where_no_class_is_common_it_is_not_to_be_relied_on():
    found = told(rules.no_better_than_a_constant, counted([[11, 9], [9, 11]]))
    assert found.startswith("Do not rely on it yet: it is right on 0.550 [")


def test_what_is_most_open_is_collected_for_as_the_verdict_says():
    # Recall 6 of 10: [.262, .878], so ±.308 and 10 · (.308 / .05)² = 379.2; precision 6 of 9:
    # [.299, .925], so ±.313 and 9 · (.313 / .05)² = 352.5, of which 9 are there.
    evaluation = counted([[6, 4], [3, 87]])
    found = told(rules.too_open, evaluation)
    assert found == (
        "Collect about 350 more examples called positive: precision is known only to ±0.31, and "
        "about 360 in all would give ±0.05: `truerisk plan --half-width 0.05 --expected 0.67`."
    )
    assert any("about 360 would give ±0.05" in sentence for sentence in evaluation.verdict)
    assert not told(rules.too_open, counted([[600, 400], [300, 8700]]))
    at_90 = tr.evaluate_counts([[6, 4], [3, 87]], level=0.9)
    assert "--level 0.9`" in told(rules.too_open, at_90)


def test_scores_without_labels_need_a_threshold():
    assert told(rules.no_labels_yet, scored(EVEN, [0.1, 0.9] * 200)).startswith(
        "Choose a threshold: 400 examples"
    )
    assert not told(rules.no_labels_yet, scored(EVEN, [0.1, 0.9] * 200, 0.5))


def test_a_threshold_is_offered_only_outside_the_interval_of_what_is():
    truth, score = [0] * 50 + [1] * 50, np.linspace(0, 1, 100)
    found = told(rules.a_better_threshold, scored(truth, score, 0.8))
    # The fifty positives are the fifty highest: from 50/99 on, F1 is 1.
    assert found.startswith("Try the threshold 0.5051: F1 is 1.000 there, now 0.571 [")
    assert "other examples than those it is judged on" in found
    # Where it is chosen already, none is better.
    assert not told(rules.a_better_threshold, scored(truth, score, 50 / 99))


def test_false_alarms_count_when_thresholds_are_weighed():
    # At 0.9: 50 found, 2 missed, F1 = 100/102; at 0.5: 200 false alarms, F1 = 100/302.
    truth, score = [1] * 50 + [0] * 200 + [1] * 2, [0.9] * 50 + [0.5] * 200 + [0.1] * 2
    found = told(rules.a_better_threshold, scored(truth, score, 0.5))
    assert found.startswith("Try the threshold 0.9: F1 is 0.980 there, now 0.331 [")


def test_a_gain_that_is_sure_but_small_is_not_worth_a_threshold():
    # F1 = 2·5000 / (2·5000 + 100) = .990 at 0.5; without the 100 in the middle it is 1.
    truth, score = [0] * 4900 + [0] * 100 + [1] * 5000, [0.1] * 4900 + [0.5] * 100 + [0.9] * 5000
    assert not told(rules.a_better_threshold, scored(truth, score, 0.5))


def test_where_costs_are_told_the_threshold_is_chosen_by_them():
    truth, score = [0] * 50 + [1] * 50, np.linspace(0, 1, 100)
    found = told(rules.a_better_threshold, scored(truth, score, 0.8, costs={"fp": 1, "fn": 5}))
    assert found.startswith("Try the threshold 0.5051: Cost per example is 0.000 there, now 1.500")
    assert "`truerisk threshold --best cost" in found
    table = [[0, 1], [5, 0]]
    assert not told(rules.a_better_threshold, scored(truth, score, 0.8, costs=table))


def test_probabilities_that_do_not_come_true_are_to_be_recalibrated():
    truth = ([1] * 4 + [0]) * 40 + ([0] * 4 + [1]) * 40
    bold = [0.99] * 200 + [0.01] * 200
    found = told(rules.badly_calibrated, scored(truth, bold, 0.5, probabilities=True))
    assert re.match(r"Recalibrate .*: of the 200 scored 0\.(99|01) on average, [82]0\.0 % ", found)
    # Only one side is wrong, either way: 80 % of those scored .99, 20 % of those scored .01.
    for scores in ([0.99] * 200 + [0.2] * 200, [0.8] * 200 + [0.01] * 200):
        assert told(rules.badly_calibrated, scored(truth, scores, 0.5, probabilities=True))
    honest = [0.8] * 200 + [0.2] * 200
    assert not told(rules.badly_calibrated, scored(truth, honest, 0.5, probabilities=True))
    assert not told(rules.badly_calibrated, scored(truth, bold, 0.5))
    groups = np.arange(400) // 2
    grouped = scored(truth, bold, 0.5, probabilities=True, groups=groups)
    assert not told(rules.badly_calibrated, grouped)


def test_two_classes_that_make_most_mistakes_are_named():
    found = told(rules.one_pair_of_classes, counted([[90, 20, 1], [22, 80, 2], [1, 0, 90]]))
    assert found.startswith("Look at the examples of '0' and '1': taking one for the other makes")
    assert "makes 42 of 46 mistakes" in found
    assert not told(rules.one_pair_of_classes, counted([[90, 9, 9], [9, 90, 9], [9, 9, 90]]))
    assert not told(rules.one_pair_of_classes, counted([[90, 9, 0], [0, 90, 0], [0, 0, 90]]))


def test_classes_with_few_examples_are_collected_for_the_rarest_first():
    table = np.diag([29, 30, 5, 7, 6])
    found = told(rules.classes_with_few_examples, counted(table, labels=list("abcde")))
    assert found.startswith("Collect examples of 'c' (5), 'e' (6), 'd' (7) and 1 more classes: ")
    assert not told(rules.classes_with_few_examples, counted(np.diag([30, 30, 30])))
    assert not told(rules.classes_with_few_examples, counted([[5, 1], [1, 5]]))


def test_scores_that_look_like_probabilities_are_asked_about_last():
    steps = next_steps(scored(EVEN, [0.25, 0.75] * 200, 0.5))
    assert steps[-1].startswith("Say so if the scores, from 0.25 to 0.75, are probabilities")
    assert steps[0].startswith("Compare it with the model in use")
    assert not told(rules.perhaps_probabilities, scored(EVEN, [-1.0, 1.0] * 200, 0))


def test_hostile_labels_are_quoted():
    table = np.diag([50, 50, 5])
    found = next_steps(counted(table, labels=["<b>", "\x1b[31m", "a\nb"]))
    assert "'a\\nb' (5)" in found[0]


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
