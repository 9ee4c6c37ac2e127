import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import truerisk as tr
from truerisk.errors import InputError
from truerisk.results import has_code

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.3
SCORE = Y + RNG.normal(size=300)
PRED = SCORE > 0.5
SETS = RNG.random((150, 4)) < 0.4
SET_SCORES = SETS + RNG.normal(size=(150, 4))
CLASSES = RNG.integers(0, 3, 200)
CLASS_SCORES = np.eye(3)[CLASSES] + RNG.normal(size=(200, 3))


def every_estimate(evaluation):
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()


def evaluations():
    weight, groups = RNG.random(300) + 0.1, np.arange(300) // 4
    yield "binary", tr.evaluate(Y, PRED, y_score=SCORE, betas=(0.5, 2), random_state=1)
    yield "weighted", tr.evaluate(Y, PRED, y_score=SCORE, sample_weight=weight, random_state=1)
    yield "grouped", tr.evaluate(Y, PRED, y_score=SCORE, groups=groups, random_state=1)
    both = {"sample_weight": weight, "groups": groups}
    yield "weighted groups", tr.evaluate(Y, PRED, y_score=SCORE, **both, random_state=1)
    yield "perfect", tr.evaluate(Y, Y, y_score=Y.astype(float), random_state=1)
    yield "always wrong", tr.evaluate(Y, ~Y, y_score=-Y.astype(float), random_state=1)
    yield "constant", tr.evaluate(Y, np.zeros(300, bool), y_score=np.ones(300), random_state=1)
    yield "one class", tr.evaluate(np.ones(9, int), np.ones(9, int), random_state=1)
    yield "one row", tr.evaluate([1], [1], random_state=1)
    yield "costs", tr.evaluate(Y, PRED, costs={"fp": 1, "fn": 9}, random_state=1)
    yield "sets", tr.evaluate(SETS, SET_SCORES > 0.5, y_score=SET_SCORES, multilabel=True)
    yield "perfect sets", tr.evaluate(SETS, SETS, multilabel=True, random_state=1)
    yield "classes", tr.evaluate(CLASSES, y_score=CLASS_SCORES, random_state=1)
    yield "perfect classes", tr.evaluate(CLASSES, CLASSES, random_state=1)
    for method in ("percentile", "basic", "bca", "dirichlet"):
        yield method, tr.evaluate(Y, PRED, cell_interval=method, random_state=1)


CASES = dict(evaluations())


@pytest.mark.parametrize("evaluation", CASES.values(), ids=CASES)
def test_every_measure_has_an_interval_in_its_range_with_the_value(evaluation):
    for estimate in every_estimate(evaluation):
        interval = estimate.interval
        low, high = (0, 1)
        if estimate.measure in tr.MEASURES:
            low, high = tr.MEASURES[estimate.measure].measure_range
        assert low <= interval.low <= interval.high <= high, estimate
        assert interval.level == 0.95
        assert interval.method
        assert estimate.target == "this model"
        if estimate.is_defined:
            assert interval.covers(estimate.value), estimate
            assert interval.width > 0, estimate
        else:
            assert (interval.low, interval.high) == (low, high), estimate
            assert estimate.notes[0].startswith("undefined: "), estimate


PEERS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "matthews_correlation": metrics.matthews_corrcoef,
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}


@pytest.mark.parametrize("weighted", [False, True])
def test_values_agree_with_scikit_learn(weighted):
    weight = RNG.random(300) if weighted else None
    evaluation = tr.evaluate(Y, PRED, y_score=SCORE, sample_weight=weight, random_state=1)
    for name, peer in PEERS.items():
        expected = peer(Y, PRED, sample_weight=weight)
        assert evaluation[name].value == pytest.approx(expected, abs=1e-12), name
    auc = metrics.roc_auc_score(Y, SCORE, sample_weight=weight)
    assert evaluation["roc_auc"].value == pytest.approx(auc, abs=1e-12)
    precision = metrics.average_precision_score(Y, SCORE, sample_weight=weight)
    assert evaluation["average_precision"].value == pytest.approx(precision, abs=1e-12)


def test_score_matrices_agree_with_scikit_learn():
    probabilities = np.exp(CLASS_SCORES) / np.exp(CLASS_SCORES).sum(axis=1, keepdims=True)
    evaluation = tr.evaluate(CLASSES, y_score=probabilities, probabilities=True, random_state=1)
    assert evaluation["accuracy"].value == np.mean(probabilities.argmax(axis=1) == CLASSES)
    auc = metrics.roc_auc_score(CLASSES, probabilities, multi_class="ovr")
    assert evaluation["roc_auc_macro"].value == pytest.approx(auc, abs=1e-12)
    assert evaluation["log_loss"].value == pytest.approx(metrics.log_loss(CLASSES, probabilities))
    micro = metrics.roc_auc_score(np.eye(3)[CLASSES], probabilities, average="micro")
    assert evaluation["roc_auc_micro"].value == pytest.approx(micro, abs=1e-12)


def test_sets_of_labels_agree_with_scikit_learn():
    predicted = SET_SCORES > 0.5
    evaluation = tr.evaluate(SETS, predicted, y_score=SET_SCORES, multilabel=True, random_state=1)
    for average in ("micro", "macro", "weighted"):
        for name, peer in (("f1", metrics.f1_score), ("precision", metrics.precision_score)):
            expected = peer(SETS, predicted, average=average)
            assert evaluation[f"{name}_{average}"].value == pytest.approx(expected, abs=1e-12)
        auc = metrics.roc_auc_score(SETS, SET_SCORES, average=average)
        assert evaluation[f"roc_auc_{average}"].value == pytest.approx(auc, abs=1e-12)
    assert evaluation["hamming_loss"].value == pytest.approx(metrics.hamming_loss(SETS, predicted))
    assert evaluation["accuracy"].value == metrics.accuracy_score(SETS, predicted)


def test_a_threshold_makes_predictions_of_scores():
    by_threshold = tr.evaluate(Y, y_score=SCORE, threshold=0.5, random_state=1)
    given = tr.evaluate(Y, SCORE >= 0.5, y_score=SCORE, random_state=1)
    assert by_threshold.to_dict()["estimates"] == given.to_dict()["estimates"]


def test_a_threshold_makes_sets_of_scores():
    by_threshold = tr.evaluate(SETS, y_score=SET_SCORES, threshold=0.5, multilabel=True)
    given = tr.evaluate(SETS, SET_SCORES >= 0.5, multilabel=True)
    assert by_threshold["f1_macro"].value == given["f1_macro"].value


def test_rejected_examples_are_counted_apart():
    pred = np.where(np.abs(SCORE - 0.5) < 0.2, "?", np.where(PRED, "yes", "no"))
    truth = np.where(Y, "yes", "no")
    evaluation = tr.evaluate(truth, pred, pos_label="yes", reject="?", random_state=1)
    accepted = pred != "?"
    assert evaluation["rejection_rate"].value == np.mean(~accepted)
    assert evaluation["error_rate"].value == np.mean(truth[accepted] != pred[accepted])


def test_all_rejected_leaves_only_the_rejection_rate():
    evaluation = tr.evaluate([1, 0], [9, 9], reject="9", pos_label="1")
    assert list(evaluation) == ["rejection_rate"]
    assert evaluation["rejection_rate"].value == 1.0


def test_costs_by_hand():
    evaluation = tr.evaluate([1, 1, 0, 0], [1, 0, 1, 0], costs={"fp": 1, "fn": 5})
    assert evaluation["cost"].value == 6 / 4
    assert evaluation["cost"].interval.high <= 5


def test_groups_widen_what_repeats_itself():
    # Every example four times over: as rows they look like four times the evidence.
    four = np.arange(1200) % 300
    rows = tr.evaluate(Y[four], PRED[four], random_state=1)
    groups = tr.evaluate(Y[four], PRED[four], groups=four, random_state=1)
    once = tr.evaluate(Y, PRED, random_state=1)
    for name in ("accuracy", "recall", "f1", "gmean", "matthews_correlation"):
        honest = groups[name].interval.width / once[name].interval.width
        assert 0.9 < honest < 1.15, name
        assert rows[name].interval.width < 0.6 * groups[name].interval.width, name


def test_equal_weights_change_nothing_and_unequal_ones_widen():
    plain = tr.evaluate(Y, PRED, random_state=1)
    equal = tr.evaluate(Y, PRED, sample_weight=np.full(300, 3.0), random_state=1)
    unequal = tr.evaluate(Y, PRED, sample_weight=RNG.exponential(size=300) ** 2, random_state=1)
    for name in ("accuracy", "recall", "f1", "gmean"):
        assert equal[name].value == pytest.approx(plain[name].value, rel=1e-12)
        assert equal[name].interval.low == pytest.approx(plain[name].interval.low, rel=1e-9)
        assert unequal[name].interval.width > 1.2 * plain[name].interval.width


@given(st.permutations(range(40)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_examples_does_not_matter(order):
    order, groups = np.array(order), np.arange(40) // 3
    weight = 1 + np.arange(40) / 7
    options = {"random_state": 3, "replicates": 100}
    first = tr.evaluate(
        Y[:40], PRED[:40], y_score=SCORE[:40], sample_weight=weight, groups=groups, **options
    )
    second = tr.evaluate(
        Y[:40][order],
        PRED[:40][order],
        y_score=SCORE[:40][order],
        sample_weight=weight[order],
        groups=groups[order],
        **options,
    )
    for name, estimate in first.items():
        assert second[name].value == pytest.approx(estimate.value, rel=1e-12), name


def test_a_seed_is_a_setting_only_where_something_is_drawn():
    drawn = tr.evaluate(Y, PRED, cell_interval="bca")
    seed = drawn.settings["random_state"]
    assert tr.evaluate(Y, PRED, cell_interval="bca", random_state=seed).to_dict() == drawn.to_dict()
    once, again = tr.evaluate(Y, PRED, y_score=SCORE), tr.evaluate(Y, PRED, y_score=SCORE)
    assert "random_state" not in once.settings
    assert once.to_dict() == again.to_dict()


def test_leaving_a_measure_out_changes_no_other():
    everything = tr.evaluate(Y, PRED, cell_interval="bca", random_state=5)
    one = tr.evaluate(Y, PRED, cell_interval="bca", random_state=5, measures=("gmean",))
    assert list(one) == ["gmean"]
    assert one["gmean"] == everything["gmean"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1],), {}, "`y_pred` or `y_score` must be given"),
        (([0, 1], [0]), {}, "`y_true` has 2, `y_pred` has 1"),
        (([], []), {}, "at least one example"),
        ((["a", "b"], ["a", "b"]), {}, "`pos_label` must be given: the labels are 'a', 'b'"),
        ((["a", "b"], ["a", "b"]), {"pos_label": "c"}, "one of the labels 'a', 'b'; got 'c'"),
        (([0, 1], [0, 1]), {"level": 95}, r"Write 0\.95 for 95 %"),
        (([0, 1], [0, 1]), {"binomial": "beta"}, "`binomial` must be one of clopper_pearson"),
        (([0, 1], [0, 1]), {"sample_weight": [1, -1]}, r"not negative; got -1 \(1 is wrong"),
        (([0, 1], [0, 1]), {"sample_weight": [0, 0]}, "must not be 0 for every example"),
        (([0, 1], [0, 1]), {"sample_weight": [1, 1e-300]}, "between 1e-100 and 1e.100; got 1e-300"),
        (([0, 1], [0, 1]), {"y_score": [0.1, np.nan]}, "`y_score` must be numbers; 1 is NaN"),
        (([0, 1], [0, 1]), {"y_score": ["a", "b"]}, "`y_score` must be numbers, n of them"),
        (([0, 1, 2], [0, 1, 2]), {"y_score": [0.1, 0.2, 0.3]}, "which of the 3 classes"),
        (([0, 1, 2],), {"y_score": np.ones((3, 2))}, "must name the 2 columns of `y_score`; got 3"),
        (([0, 1], [0, 1]), {"measures": ("f1", "acc")}, "`measure` must be one of"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        tr.evaluate(*arguments, **options)


CHANCE = 1 / (1 + np.exp(-SCORE))
BOTH = np.column_stack([1 - CHANCE, CHANCE])


@pytest.mark.parametrize("options", [{}, {"pos_label": "False"}], ids=["plain", "told"])
def test_of_two_columns_of_probabilities_that_of_the_positive_label_is_taken(options):
    options |= {"probabilities": True, "random_state": 1}
    column = CHANCE if "pos_label" not in options else 1 - CHANCE
    assert tr.evaluate(Y, PRED, y_score=BOTH, **options) == tr.evaluate(
        Y, PRED, y_score=column, **options
    )


def test_the_loss_is_the_same_by_one_column_and_by_two():
    found = tr.evaluate(Y, PRED, y_score=BOTH, probabilities=True)
    assert found["log_loss"].value == pytest.approx(metrics.log_loss(Y, BOTH), abs=1e-12)
    assert found["brier_score"].value == pytest.approx(metrics.brier_score_loss(Y, CHANCE))


def test_two_columns_may_stand_in_another_order():
    turned = tr.evaluate(Y, PRED, y_score=BOTH[:, ::-1], labels=[True, False], random_state=1)
    assert turned["roc_auc"].value == pytest.approx(metrics.roc_auc_score(Y, CHANCE))


def test_of_two_columns_the_higher_is_called_unless_a_threshold_is_told():
    highest = tr.evaluate(Y, y_score=BOTH)
    assert highest["recall"].value == metrics.recall_score(Y, CHANCE > 0.5)
    strict = tr.evaluate(Y, y_score=BOTH, threshold=0.9)
    assert strict["recall"].value == metrics.recall_score(Y, CHANCE >= 0.9)
    assert set(highest.curves) == set(strict.curves) == {"roc", "precision_recall", "thresholds"}


def test_two_columns_that_are_no_probabilities_are_refused_though_one_would_do():
    with pytest.raises(InputError, match="must add up to 1"):
        tr.evaluate(Y, y_score=np.column_stack([CHANCE, CHANCE]), probabilities=True)


def test_two_columns_are_two_rankings_where_nobody_knows_which_is_positive():
    named = np.where(Y, "spam", "ham")
    assert tr.evaluate(named, y_score=BOTH).pos_label is None
    assert tr.evaluate(named, y_score=BOTH, pos_label="spam").pos_label == "spam"


def test_a_list_of_scores_that_names_no_class_is_refused(tmp_path):
    path = tmp_path / "predictions.jsonl"
    rows = [{"truth": "a", "pred": "a", "score": [0.7, 0.3]}] * 2
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="Each of the 2 scores of a row must say which class"):
        tr.evaluate_files([path], pos_label="a")


def test_a_table_is_worth_the_examples_it_counts():
    table = np.array([[50, 50], [40, 850]])
    truth, predicted = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], table.ravel(), axis=0).T
    by_table = tr.evaluate_counts(table, random_state=1)
    by_rows = tr.evaluate(truth, predicted, random_state=1)
    assert by_table.to_dict() == by_rows.to_dict()


def test_a_trillion_examples_are_counted_like_ten():
    evaluation = tr.evaluate_counts([[10**12 - 5, 5], [1, 10**12]], random_state=1)
    assert evaluation["recall"].value == 1 - 5e-12
    assert evaluation["recall"].interval.high < 1
    assert evaluation["gmean"].interval.width < 1e-10


def test_three_classes_have_names():
    evaluation = tr.evaluate_counts([[5, 1, 0], [0, 4, 2], [1, 0, 3]], labels=["a", "b", "c"])
    assert evaluation.by_class["b"]["recall"].value == pytest.approx(4 / 6)
    assert evaluation.tallies.confusion().tolist() == [[5, 1, 0], [0, 4, 2], [1, 0, 3]]


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        ([[1, 2]], None, r"must be K × K with K ≥ 2; got shape \(1, 2\)"),
        ([[1, -2], [3, 4]], None, "whole numbers"),
        ([[1.5, 2], [3, 4]], None, "whole numbers"),
        ([[2**53, 2], [3, 4]], None, r"at most 2\*\*53 examples"),
        ([[0, 0], [0, 0]], None, "at least one example"),
        ([[1, 2], [3, 4]], ["a", "a"], "must be 2 different names"),
    ],
)
def test_a_table_that_counts_nothing_is_refused(table, labels, message):
    with pytest.raises(InputError, match=message):
        tr.evaluate_counts(table, labels=labels)


def test_classes_of_which_nothing_was_asked_are_not_listed():
    table = [[5, 1, 0], [0, 4, 2], [1, 0, 3]]
    assert tr.evaluate_counts(table, measures=("cohen_kappa",)).by_class == {}
    assert list(tr.evaluate_counts(table, measures=("f1_macro",)).by_class) == ["0", "1", "2"]


INDEX = list("abcd")


def test_series_with_the_same_index_in_another_order_are_refused():
    truth, called = pd.Series([1, 0, 1, 0], INDEX), pd.Series([1, 1, 0, 0], INDEX[::-1])
    with pytest.raises(
        InputError, match=r"`y_true` and `y_pred` must have their rows in one order"
    ):
        tr.evaluate(truth, called)
    with pytest.raises(InputError, match=r"`y_true` and `scores of 'first'` must have their rows"):
        tr.compare(truth, None, [1, 0, 1, 0], scores=[called, None], threshold=1)
    aligned = tr.evaluate(truth, called.loc[truth.index])
    by_position = tr.evaluate(truth, called.to_numpy())
    assert aligned["accuracy"].value == 0.5
    assert by_position["accuracy"].value == 0.5


def test_series_with_other_index_labels_are_paired_by_position():
    truth = pd.Series([1, 0, 1, 0], [7, 3, 5, 1])
    assert tr.evaluate(truth, pd.Series([1, 0, 1, 1]))["accuracy"].value == 0.75


@pytest.mark.parametrize(
    ("y_true", "message"),
    [
        ([["a", "b"], ["a"]], r"one label for each example; got \['a', 'b'\]. Use multilabel=True"),
        ([["a", "b"], ["a", "c"]], r"got \['a', 'b'\]. Use multilabel=True"),
        ([{"a"}, {"b"}], r"got \{'a'\}. Use multilabel=True"),
        (np.eye(2, dtype=int), r"got shape \(2, 2\). Use multilabel=True"),
        (sp.csr_matrix(np.eye(2)), "got a sparse matrix. Use multilabel=True"),
        ({"a", "b"}, "must have an order; got a set"),
    ],
    ids=["lists", "lists of one length", "sets", "matrix", "sparse", "a set"],
)
def test_sets_of_labels_need_their_option(y_true, message):
    with pytest.raises(InputError, match=message):
        tr.evaluate(y_true, y_true)


def test_sparse_scores_are_refused_in_words():
    with pytest.raises(
        InputError, match=r"`y_score` must be dense; got a sparse matrix. Use .toarr"
    ):
        tr.evaluate([0, 1], y_score=sp.csr_matrix(np.eye(2)))


def test_measures_are_names():
    with pytest.raises(InputError, match=r"got <function f1_score.*Functions are not accepted"):
        tr.evaluate([0, 1], [0, 1], measures=[metrics.f1_score])
    assert list(tr.evaluate([0, 1], [0, 1], measures="f1")) == ["f1"]


def test_a_frame_is_no_path():
    frame = pd.DataFrame({"y_true": [1, 0], "y_pred": [1, 0]})
    with pytest.raises(InputError, match=r"got a DataFrame\. Use evaluate_frame for a frame"):
        tr.evaluate_files(frame)
    with pytest.raises(InputError, match="`paths` must be files or folders; got int"):
        tr.evaluate_files([1])
    with pytest.raises(InputError, match=r"must be a frame of pandas, polars.*; got list"):
        tr.evaluate_frame([frame])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2], "b": [3, 4]},
         "names is a usual one. The columns are 'a', 'b'. Say which with roles=tr.Roles(truth=…)."),
        ({"y_true": [1, 2]},
         "(or scores: score=); none of the names is a usual one. The columns are 'y_true'. Say"),
        ({}, "none of the names is a usual one. There are no columns."),
        ({"y_true": [], "y_pred": []}, "frame: must hold predictions; it has 0 data rows."),
        ({"y_true": ["1.0", "0"], "y_pred": ["1", "0"]},
         "frame, columns 'y_true' and 'y_pred': The labels must be spelt in one way"),
    ],
)  # fmt: skip
def test_refusals_of_a_frame_speak_of_a_frame(columns, message):
    with pytest.raises(InputError) as refusal:
        tr.evaluate_frame(pd.DataFrame(columns))
    assert message in str(refusal.value)
    assert "file" not in str(refusal.value)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table], ids=["pandas", "arrow"])
def test_columns_of_one_name_are_refused_by_their_name(make):
    frame = pa.table([["a"], ["a"]], names=["y_true", "y_true"])
    if make is pd.DataFrame:
        frame = pd.DataFrame([["a", "a"]], columns=["y_true", "y_true"])
    words = r"`frame` must have different column names; got 'y_true' several times\. Rename or drop"
    with pytest.raises(InputError, match=words):
        tr.evaluate_frame(frame)


def test_labels_of_files_are_refused_with_their_file_and_columns(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("truth,guess\nYes,yes\nNo,no\n")
    roles = tr.Roles(truth="truth", pred="guess")
    words = r"a\.csv, columns 'truth' and 'guess': The labels must be spelt in one way"
    with pytest.raises(InputError, match=words):
        tr.evaluate_files(tmp_path / "a.csv", roles=roles)
    with pytest.raises(InputError, match=r"a\.csv and 1 more, columns 'truth' and 'guess': The"):
        tr.evaluate_files([tmp_path / "a.csv", tmp_path / "b.csv"], roles=roles)


def test_columns_of_a_frame_of_scores_go_by_their_names():
    scores = pd.DataFrame({"spam": [0.9, 0.2, 0.7], "ham": [0.1, 0.8, 0.3]})
    truth = ["spam", "ham", "ham"]
    by_name = tr.evaluate(truth, y_score=scores, pos_label="spam", random_state=1)
    one = tr.evaluate(truth, y_score=scores["spam"], threshold=0.5, pos_label="spam")
    assert by_name["recall"].value == one["recall"].value == 1
    assert by_name["roc_auc"].value == one["roc_auc"].value


def test_an_array_of_another_library_is_taken_as_it_is():
    class Exported:
        def __init__(self, values):
            self.values = np.asarray(values)

        def __len__(self):
            return len(self.values)

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    found = tr.evaluate(Exported([1, 0, 1]), Exported([1, 0, 0]), random_state=1)
    assert found == tr.evaluate([1, 0, 1], [1, 0, 0], random_state=1)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_probabilities_as_everybody_saves_them_have_all_binary_measures(tmp_path, suffix):
    frame = pd.DataFrame({"y_true": Y.astype(int), "proba_0": 1 - CHANCE, "proba_1": CHANCE})
    path = tmp_path / f"p.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        frame.to_parquet(path)
    found = tr.evaluate_files(path, random_state=1)
    assert found.pos_label == "1"
    assert {"recall", "f1", "roc_auc"} <= set(found)
    assert set(found.curves) == {"roc", "precision_recall", "thresholds"}
    assert found["recall"].value == metrics.recall_score(Y, CHANCE > 0.5)
    both = frame[["proba_0", "proba_1"]].to_numpy()
    compared = tr.compare(Y.astype(int), None, None, scores=[both, both[::-1]])
    assert {"f1", "roc_auc"} <= {pair.measure for pair in compared.pairs}


def test_an_answer_that_is_refused_needs_no_score_column():
    called = np.where(np.abs(CHANCE - 0.5) < 0.1, "?", np.where(PRED, "1", "0"))
    truth = np.where(Y, "1", "0")
    found = tr.evaluate(truth, called, y_score=BOTH, labels=["0", "1"], reject="?", random_state=1)
    assert found["rejection_rate"].value == np.mean(called == "?")
    assert found["roc_auc"].value == pytest.approx(metrics.roc_auc_score(Y, CHANCE))


def test_a_likelihood_ratio_of_few_positives_makes_no_promise():
    names = ["negative_likelihood_ratio", "recall"]
    for positives, silent in ((4, True), (5, False)):
        truth = np.repeat([1, 0], [positives, 40])
        found = tr.evaluate(truth, np.roll(truth, 1), measures=names)
        assert has_code(found["negative_likelihood_ratio"].notes, "not_kept_at_this_size") is silent
        assert not has_code(found["recall"].notes, "not_kept_at_this_size")


@pytest.mark.parametrize("kind", [int, bool, str])
def test_a_cross_table_of_pandas_is_the_table_of_its_labels(kind):
    truth = pd.Series([0] * 30 + [1] * 10).astype(kind)
    called = pd.Series([0] * 25 + [1] * 12 + [0] * 3).astype(kind)
    by_rows = tr.evaluate(truth, called)
    by_counts = tr.evaluate_counts(pd.crosstab(truth, called))
    assert by_counts["recall"].value == by_rows["recall"].value == 0.7
    assert by_counts.labels == by_rows.labels


def test_a_cross_table_with_other_classes_in_its_columns_is_refused():
    table = pd.DataFrame([[50, 10], [5, 100]], index=["a", "b"], columns=["b", "a"])
    with pytest.raises(InputError, match=r"in one order; got 'a', 'b' and 'b', 'a'\. Put them"):
        tr.evaluate_counts(table, pos_label="a")
    assert tr.evaluate_counts(pd.DataFrame([[50, 10], [5, 100]])).labels == ("0", "1")


def test_the_count_that_is_no_count_is_shown():
    with pytest.raises(InputError, match=r"whole numbers from 0 on; got 1\.5"):
        tr.evaluate_counts([[50, 1.5], [5, 100]])


def test_a_threshold_that_would_change_nothing_is_refused():
    with pytest.raises(InputError, match=r"without predicted labels; got 0\.9 .* --pred ''"):
        tr.evaluate([0, 1], [0, 1], y_score=[0.1, 0.5], threshold=0.9)
    with pytest.raises(InputError, match=r"without predicted labels"):
        tr.compare([0, 1], [0, 1], [1, 1], scores=[[0.1, 0.5], [0.2, 0.3]], threshold=0.9)
    with pytest.raises(InputError, match=r"one score per row, .* there are 3 score columns"):
        tr.evaluate([0, 1, 2], y_score=np.eye(3), threshold=0.9)


def test_one_threshold_serves_a_model_without_predictions():
    scores = [[0.1, 0.5], [0.2, 0.3]]
    compared = tr.compare([0, 1], [0, 1], None, scores=scores, threshold=0.4)
    assert compared.evaluations["second"]["recall"].value == 0.0


def test_label_sets_without_any_label_have_no_wrong_example():
    nothing = tr.evaluate([[], []], [[], []], multilabel=True, measures=["accuracy", "f1_macro"])
    assert nothing["accuracy"].value == 1.0
    assert np.isnan(nothing["f1_macro"].value)


def test_paths_that_are_none_are_refused():
    with pytest.raises(InputError, match=r"`paths` must be files or folders; got 3\."):
        tr.evaluate_files(3)
