import numpy as np
import pytest

import truerisk as tr
from truerisk.results import has_code


def said(*arguments, **options):
    return " ".join(tr.evaluate(*arguments, random_state=1, **options).verdict)


def counted(table, **options):
    return " ".join(tr.evaluate_counts(table, random_state=1, **options).verdict)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        # Of the 100 the constant is wrong on, 90 won; of the 100 it is right on, 10 lost.
        ([[90, 10], [10, 90]], "Sure: that is better than always answering"),
        ([[10, 90], [90, 10]], "Sure: that is worse than always answering '0'"),
        # 5 won, 1 lost: an exact sign test at 5 % needs 6 of 6.
        ([[5, 5], [1, 89]], "Not sure: that cannot be told from always answering '0'"),
        # 6 won, none lost: 2 · ½⁶ = .031.
        (
            [[6, 4], [0, 90]],
            "Sure: that is better than always answering '0', which is right on 90.0 %.",
        ),
        # 5 won, none lost: 2 · ½⁵ = .0625.
        ([[5, 5], [0, 90]], "Not sure: that cannot be told from always answering '0'"),
        ([[0, 10], [0, 90]], "On these it always answers '0', as a constant would."),
    ],
)
def test_accuracy_is_compared_with_the_commonest_answer_by_a_sign_test(table, sentence):
    assert sentence in counted(table)


def test_ends_that_nearly_agree_are_told_apart():
    # 1000 errors in 10⁹: [9.39e-7, 1.064e-6].
    found = counted([[10**9 - 1000, 1000], [0, 10**9]])
    assert "finds 99.99990 % (99.99989 to 99.99991 % at 95 % confidence)" in found


def test_sets_of_labels_are_right_when_every_label_is():
    found = said([["a", "b"], ["a"]], [["a", "b"], ["b"]], multilabel=True)
    assert found.startswith("It has every label right on 50.0 %")


def test_accuracy_misleads_where_a_class_is_rare_and_only_there():
    assert "mislead here: 99.0 % of the examples" in counted([[7, 3], [5, 985]])
    assert "mislead" not in counted([[70, 30], [50, 850]])


def test_predictions_that_may_be_unrelated_are_called_so():
    assert "may be unrelated" in counted([[10, 10], [10, 10]])
    assert "worse than chance" in counted([[10, 90], [90, 10]])
    assert "unrelated" not in counted([[90, 10], [10, 90]])


@pytest.mark.parametrize(
    ("distance", "sentence"),
    [
        (2.0, "A positive outranks a negative with probability 0.9"),
        (-2.0, "is below chance: the scores may belong to the other class"),
        (0.0, "Not sure: the"),
    ],
)
def test_the_area_is_put_into_words(distance, sentence):
    rng = np.random.default_rng(2)
    truth = np.arange(200) % 2
    assert sentence in said(truth, y_score=rng.normal(size=200) + distance * truth)


def test_what_is_open_says_how_much_would_do():
    # Recall 5/10 = [.187, .813]: ±.313, and 10 · (.313/.05)² = 392 examples.
    found = counted([[5, 5], [0, 990]])
    assert "Open: recall is known only to ±0.31, from 10 positive examples; about 400 w" in found
    assert "Open: accuracy" not in found
    assert "from 1 example;" in counted([[1, 0], [0, 0]])


def test_the_weakest_class_and_the_undefined_are_named():
    found = counted([[9, 1, 0], [5, 5, 0], [0, 0, 10]], labels="abc")
    assert "The weakest class is 'b': it finds 50.0 %" in found
    assert "Undefined, because no example is called positive: precision" in counted(
        [[0, 5], [0, 9]]
    )


def test_small_classes_that_do_worse_are_told():
    table = np.diag([900, 1, 1]) + np.array([[0, 0, 0], [9, 0, 0], [9, 0, 0]])
    assert "Small classes do worse: F1 is 0.980 over all" in counted(table)
    assert "Small classes" not in counted(np.diag([9, 9, 9]))


def test_what_was_rejected_is_told():
    found = said([1, 0, 1, 0], [1, 0, 9, 9], reject="9", pos_label="1")
    assert "It refuses to answer on 50.0 %" in found


@pytest.mark.parametrize(
    ("table", "codes"),
    [
        ([[90, 10], [10, 90]], ["right_share", "better_than_constant"]),
        ([[10, 90], [90, 10]], ["right_share", "worse_than_constant", "worse_than_chance"]),
        ([[5, 5], [1, 89]], ["right_share", "not_told_from_constant", "too_open"]),
        ([[0, 10], [0, 90]], ["right_share", "always_one_answer", "undefined"]),
        ([[7, 3], [5, 985]], ["accuracy_misleads", "positive_class"]),
        ([[10, 10], [10, 10]], ["maybe_unrelated"]),
        ([[30, 0, 0], [0, 5, 5], [0, 3, 900]], ["small_classes_worse", "weakest_class"]),
    ],
)
def test_every_sentence_has_a_code(table, codes):
    verdict = tr.evaluate_counts(table, random_state=1).verdict
    assert all(finding.code for finding in verdict)
    for code in codes:
        assert has_code(verdict, code), code


@pytest.mark.parametrize(
    ("won", "lost", "code"),
    [
        # The sign test of 4 and 14 has p = 0.031: sure against one class, not against any of three.
        (4, 14, "not_told_from_constant"),
        (3, 15, "worse_than_constant"),  # p = 0.0075 < 0.05 / 3
    ],
)
def test_a_constant_that_was_chosen_among_the_classes_takes_more_to_be_better(won, lost, code):
    table = [[10, lost, 0], [0, won, 6], [0, 5, 0]]
    assert has_code(tr.evaluate_counts(table, random_state=1).verdict, code)


@pytest.mark.parametrize(
    ("distance", "code"), [(2.0, "ranking"), (-2.0, "scores_reversed")], ids=["up", "down"]
)
def test_scores_have_codes(distance, code):
    truth = np.arange(200) % 2
    score = np.random.default_rng(2).normal(size=200) + distance * truth
    evaluation = tr.evaluate(truth, y_score=score, random_state=1)
    assert has_code(evaluation.verdict, code)
    assert has_code(evaluation.notes, "no_predicted_labels")
    inside = tr.evaluate(truth, y_score=1 / (1 + np.exp(-score)), random_state=1)
    assert has_code(inside.notes, "scores_look_like_probabilities")


def test_what_matters_leads_where_accuracy_misleads():
    rare = tr.evaluate_counts([[20, 10], [9, 961]])
    codes = [finding.code for finding in rare.verdict]
    assert codes[:3] == ["accuracy_misleads", "positive_class", "positive_class"]
    assert codes[3] == "right_share"
    common = tr.evaluate_counts([[50, 50], [40, 850]])
    assert common.verdict[0].code == "right_share"
