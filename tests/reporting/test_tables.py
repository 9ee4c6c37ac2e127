import numpy as np

from truerisk.reporting.tables import (
    class_table,
    confusion_table,
    measure_table,
    mistake_table,
    provenance,
    remarks,
)


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
    told = remarks(make_evaluation(estimates=shared))
    assert told == ("The positive class is rare.", "F1; Recall: same")


def test_the_reason_of_an_undefined_measure_is_told(evaluation):
    assert "Specificity is undefined: no example is negative" in remarks(evaluation)


def test_a_note_of_many_measures_names_the_first_and_the_last(make_evaluation, make_estimate):
    names = ("precision", "recall", "f1", "jaccard", "gmean")
    shared = {name: make_estimate(name, 0.5, 0, 1, notes=("same",)) for name in names}
    told = remarks(make_evaluation(estimates=shared))
    assert told[-1] == "Precision; … G-mean (5 measures): same"


def test_what_was_guessed_and_the_seed_are_always_told(evaluation):
    facts = dict(provenance(evaluation))
    assert facts["truth"] == "column y_true (guessed)"
    assert facts["score"] == "column a, b (guessed)"
    assert facts["pred"] == "column answer"
    assert facts["seed"] == "7"
    assert facts["positive label"] == "spam"
    assert facts["confidence level"] == "95 %"
    assert facts["the numbers are about"] == "this model"
    assert facts["file"] == f"predictions.csv: rows 990, sha256 {'ab' * 32}"


def test_what_else_a_source_says_is_told_too(make_evaluation):
    facts = dict(provenance(make_evaluation(source={"drawn_by": "hand"})))
    assert facts["drawn by"] == "hand"


def test_a_setting_is_told_once(make_evaluation):
    pairs = list(provenance(make_evaluation(settings={"level": 0.95, "target": "this model"})))
    assert len({name for name, _ in pairs}) == len(pairs)
