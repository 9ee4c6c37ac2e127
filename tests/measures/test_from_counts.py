import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics

import truerisk as tr
from truerisk.errors import InputError
from truerisk.inputs.arrays import code_label_sets, code_labels
from truerisk.measures import MEASURES, find_measure
from truerisk.tallies.cells import BinaryCounts, CellTally, Proportion, Rejections

# Kubat, An Introduction to Machine Learning, chapter 11, exercise 1.
KUBAT = BinaryCounts(tp=50, fp=40, fn=50, tn=850)

table = st.tuples(*[st.integers(0, 40)] * 4)


def binary(name, counts):
    return float(find_measure(name).value(counts))


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("precision", 50 / 90),
        ("recall", 50 / 100),
        ("specificity", 850 / 890),
        ("negative_predictive_value", 850 / 900),
        ("gmean", math.sqrt(0.5 * 850 / 890)),
        ("f1", 2 * 50 / (2 * 50 + 40 + 50)),
        ("f0.5", 1.25 * 50 / (1.25 * 50 + 0.25 * 50 + 40)),
        ("f2", 5 * 50 / (5 * 50 + 4 * 50 + 40)),
        ("e1", (40 + 50) / (2 * 50 + 40 + 50)),
        ("e2", 1 - 5 * 50 / (5 * 50 + 4 * 50 + 40)),
        ("jaccard", 50 / 140),
        ("youden", 0.5 + 850 / 890 - 1),
        ("positive_likelihood_ratio", 0.5 / (40 / 890)),
        ("negative_likelihood_ratio", 0.5 / (850 / 890)),
    ],
)
def test_the_textbook_table_worked_by_hand(name, by_hand):
    assert binary(name, KUBAT) == pytest.approx(by_hand, rel=1e-14)


def test_the_printed_e_measure_is_not_meant():
    # "Evaluation of Text Categorization Systems" §5 prints (FN + TP)/(2TP + FP + FN).
    printed = (50 + 50) / (2 * 50 + 40 + 50)
    assert binary("e1", KUBAT) == pytest.approx(1 - binary("f1", KUBAT))
    assert printed != pytest.approx(1 - binary("f1", KUBAT), abs=0.01)


def test_the_textbook_example_gives_0336_and_not_the_printed_070():
    # Kubat §11.3: P = .40 and R = .29 from TP = 20, FN = 50, FP = 30; F1 is printed as 0.70.
    counts = BinaryCounts(tp=20, fp=30, fn=50, tn=900)
    assert binary("f1", counts) == pytest.approx(0.3333, abs=1e-4)
    assert pytest.approx(0.336, abs=5e-4) == 2 * 0.40 * 0.29 / (0.40 + 0.29)
    assert binary("f0.2", counts) == pytest.approx(0.39, abs=0.005)
    assert binary("f5", counts) == pytest.approx(0.29, abs=0.005)


def test_f1_is_the_harmonic_mean_and_not_the_geometric_one():
    # Joachims (2000) §2.2 calls it geometric.
    precision, recall = binary("precision", KUBAT), binary("recall", KUBAT)
    assert binary("f1", KUBAT) == pytest.approx(2 / (1 / precision + 1 / recall), rel=1e-14)
    assert binary("f1", KUBAT) < math.sqrt(precision * recall) - 5e-4


SCIKIT_LEARN = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "specificity": lambda *a, **k: metrics.recall_score(*a, pos_label=0, **k),
    "negative_predictive_value": lambda *a, **k: metrics.precision_score(*a, pos_label=0, **k),
    "f2": lambda *a, **k: metrics.fbeta_score(*a, beta=2, **k),
    "f0.5": lambda *a, **k: metrics.fbeta_score(*a, beta=0.5, **k),
    "accuracy": metrics.accuracy_score,
    "error_rate": metrics.zero_one_loss,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "matthews_correlation": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
    "positive_likelihood_ratio": lambda *a, **k: metrics.class_likelihood_ratios(*a, **k)[0],
    "negative_likelihood_ratio": lambda *a, **k: metrics.class_likelihood_ratios(*a, **k)[1],
}
NOT_IN_SCIKIT_LEARN = {"f_beta", "e_beta", "gmean", "youden", "hamming_loss", "cost"}


def test_every_measure_of_counts_that_scikit_learn_has_is_compared():
    of_counts = {
        name for name, m in MEASURES.items() if m.needs.endswith("counts") and not m.on_request
    }
    assert of_counts <= set(SCIKIT_LEARN) | NOT_IN_SCIKIT_LEARN


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([0.5, 1.0, 2.0, 7.25])),
        min_size=1,
        max_size=50,
    ),
    st.booleans(),
)
def test_values_agree_with_scikit_learn(rows, weighted):
    rows = [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 2.0), (1, 0, 0.5), *rows]
    y_true, y_pred, weight = (np.array(column) for column in zip(*rows, strict=True))
    coded = code_labels(y_true, y_pred)
    tally = CellTally(weighted=weighted)
    tally.add(coded.truth, coded.predicted, weight=weight if weighted else None)
    counts = tally.cells(coded.members).class_counts()
    each = counts.one_vs_rest
    pos_label = BinaryCounts(each.tp[1], each.fp[1], each.fn[1], each.tn[1])
    for name, peer in SCIKIT_LEARN.items():
        measure = find_measure(name)
        ours = measure.value(pos_label if measure.needs == "binary counts" else counts)
        theirs = peer(y_true, y_pred, sample_weight=weight if weighted else None)
        assert float(ours) == pytest.approx(float(theirs), abs=1e-12), name


@pytest.mark.parametrize("name", [m.name for m in MEASURES.values() if m.needs == "binary counts"])
def test_no_example_is_no_number(name):
    assert np.isnan(find_measure(name).value(BinaryCounts(0, 0, 0, 0)))


@given(table)
def test_f_beta_runs_from_precision_to_recall(cells):
    counts = BinaryCounts(*cells)
    for limit, name in ((0.0, "precision"), (math.inf, "recall")):
        result = find_measure("f_beta").function(counts, beta=limit).value
        assert np.array_equal(result, find_measure(name).value(counts), equal_nan=True)
    large = find_measure("f1000000").value(counts)
    if cells[0]:
        assert large == pytest.approx(float(find_measure("recall").value(counts)), rel=1e-9)


@given(table)
def test_the_mean_of_precision_and_recall_is_never_under_f1(cells):
    counts = BinaryCounts(*cells)
    p, r = binary("precision", counts), binary("recall", counts)
    assume(not math.isnan(p + r))
    assert (p + r) / 2 >= binary("f1", counts) - 1e-15


@given(table)
def test_every_value_lies_in_its_range(cells):
    counts = BinaryCounts(*cells)
    for measure in MEASURES.values():
        if measure.needs == "binary counts":
            value = float(measure.value(counts))
            low, high = measure.measure_range
            assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12, measure.name


@given(table)
def test_a_proportion_is_what_its_counts_say(cells):
    counts = BinaryCounts(*cells)
    for measure in MEASURES.values():
        if measure.needs != "binary counts":
            continue
        result = measure(counts)
        if isinstance(result, Proportion) and result.n:
            assert 0 <= result.k <= result.n
            share = result.k / result.n
            expected = share if result.transform is None else result.transform(share)
            assert float(result.value) == pytest.approx(expected, rel=1e-15)


def test_arrays_of_tables_are_computed_elementwise():
    tables = BinaryCounts(*np.array([[5, 1], [2, 0], [3, 0], [4, 9]]))
    for measure in MEASURES.values():
        if measure.needs == "binary counts":
            each = [
                measure.value(BinaryCounts(5, 2, 3, 4)),
                measure.value(BinaryCounts(1, 0, 0, 9)),
            ]
            assert np.allclose(measure.value(tables), each, equal_nan=True), measure.name


def test_a_negative_beta_is_refused():
    with pytest.raises(InputError, match=r"`beta` must lie in \[0, inf\]; got -1"):
        find_measure("f_beta").function(KUBAT, beta=-1)


def test_e_is_that_of_equal_importance_unless_said_otherwise():
    assert MEASURES["e_beta"].value(KUBAT) == pytest.approx(1 - binary("f1", KUBAT), rel=1e-14)


@pytest.mark.parametrize("name", ["matthews_correlation", "cohen_kappa", "youden"])
def test_correlations_run_from_minus_one_to_one(name):
    assert MEASURES[name].measure_range == (-1.0, 1.0)


OF_CLASSES = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "matthews_correlation": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
}


def counts_of(y_true, y_pred):
    coded = code_labels(y_true, y_pred)
    return CellTally().add(coded.truth, coded.predicted).cells(coded.members).class_counts()


def value_of(name, counts):
    return float(find_measure(name).value(counts))


def test_three_classes_worked_by_hand():
    # Truth a 5, b 3, c 2; predicted a 4, b 4, c 2; right: a 4, b 2, c 1, that is 7 of 10.
    counts = counts_of(list("aaaaabbbcc"), list("aaaabbbccb"))
    assert counts.tp.tolist() == [4, 2, 1]
    assert value_of("accuracy", counts) == 0.7
    assert value_of("error_rate", counts) == 0.3
    assert value_of("balanced_accuracy", counts) == pytest.approx((4 / 5 + 2 / 3 + 1 / 2) / 3)
    by_chance = 5 * 4 + 3 * 4 + 2 * 2  # Σ t·p = 36 of n² = 100
    assert value_of("cohen_kappa", counts) == pytest.approx((70 - by_chance) / (100 - by_chance))
    spread = (100 - (16 + 16 + 4)) * (100 - (25 + 9 + 4))
    correlation = (70 - by_chance) / math.sqrt(spread)
    assert value_of("matthews_correlation", counts) == pytest.approx(correlation)


def test_the_hamming_loss_of_label_sets_by_hand():
    # {a,b} called {a}: 1 wrong; {c} called {b,c}: 1 wrong; {a} called {a}: 0; of 3 × 3 decisions
    coded = code_label_sets([{"a", "b"}, {"c"}, {"a"}], [{"a"}, {"b", "c"}, {"a"}])
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    assert value_of("hamming_loss", cells.class_counts()) == pytest.approx(2 / 9)
    assert value_of("accuracy", cells.class_counts()) == pytest.approx(1 / 3)


def test_the_rejection_rate_is_a_share_of_all_examples():
    assert value_of("rejection_rate", Rejections(3, 12)) == 0.25
    assert math.isnan(value_of("rejection_rate", Rejections(0, 0)))


def test_one_class_alone_has_neither_correlation_nor_kappa():
    counts = counts_of([1, 1], [1, 1])
    assert math.isnan(value_of("matthews_correlation", counts))
    assert math.isnan(value_of("cohen_kappa", counts))
    assert value_of("balanced_accuracy", counts) == 1.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=50))
def test_multiclass_values_agree_with_scikit_learn(rows):
    y_true, y_pred = (np.array(column) for column in zip(*rows, strict=True))
    assume(len(set(y_true)) > 1 and len(set(y_pred)) > 1)
    coded = code_labels(y_true, y_pred)
    counts = CellTally().add(coded.truth, coded.predicted).cells(coded.members).class_counts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a predicted class that never occurs: both leave it out
        for name in ("accuracy", "balanced_accuracy", "matthews_correlation", "cohen_kappa"):
            ours = float(find_measure(name).value(counts))
            assert ours == pytest.approx(OF_CLASSES[name](y_true, y_pred), abs=1e-12), name


# Rows truth, columns predicted: 1 · (2 + 1 + 3 + 1) + 2 · 1 steps off, 9; squares 11.
ORDERED = np.array([[10, 2, 1], [1, 12, 3], [0, 1, 10]])


def test_weighted_kappas_by_hand_and_by_scikit_learn():
    from sklearn.metrics import cohen_kappa_score

    truth, predicted = ORDERED.sum(axis=1), ORDERED.sum(axis=0)
    n = ORDERED.sum()
    steps = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
    rows = np.repeat(np.arange(9), ORDERED.ravel())
    result = tr.evaluate(rows // 3, rows % 3, measures=["linear_kappa", "quadratic_kappa"])
    for name, off, power in (("linear_kappa", 9, 1), ("quadratic_kappa", 11, 2)):
        by_chance = truth @ steps**power @ predicted / n
        assert result[name].value == pytest.approx(1 - off / by_chance, rel=1e-12)
        weights = name.removesuffix("_kappa")
        peer = cohen_kappa_score(rows // 3, rows % 3, weights=weights)
        assert result[name].value == pytest.approx(peer, rel=1e-12)
        assert result[name].interval.low < result[name].value < result[name].interval.high


def test_weighted_kappas_of_two_classes_are_cohens():
    names = ["linear_kappa", "quadratic_kappa", "cohen_kappa"]
    result = tr.evaluate_counts([[50, 50], [40, 850]], measures=names)
    values = {round(result[name].value, 12) for name in names}
    assert len(values) == 1
    widths = [result[name].interval.width for name in names]
    assert widths == pytest.approx([widths[0]] * 3, rel=1e-9)


def test_a_weighted_kappa_is_estimated_only_if_named_and_compared_too():
    rows = np.repeat(np.arange(9), ORDERED.ravel())
    truth, predicted = rows // 3, rows % 3
    assert "linear_kappa" not in tr.evaluate(truth, predicted).estimates
    worse = np.roll(predicted, 5)
    difference = tr.compare(truth, predicted, worse, measures=["linear_kappa"])
    values = [
        tr.evaluate(truth, one, measures=["linear_kappa"])["linear_kappa"].value
        for one in (predicted, worse)
    ]
    one = difference["linear_kappa"].difference
    assert one.value == pytest.approx(values[1] - values[0], rel=1e-12)
    assert one.interval.width < 1


tables_of_four = st.lists(
    st.lists(st.integers(0, 20), min_size=4, max_size=4), min_size=4, max_size=4
).map(np.array)


@given(tables_of_four, st.sampled_from(["linear_kappa", "quadratic_kappa"]))
def test_laws_of_weighted_kappa(counts, name):
    def value(table):
        return tr.evaluate_counts(table, labels="abcd", measures=[name])[name].value

    counts = counts + np.eye(4, dtype=int)  # every class occurs: places are counted of those
    one = tr.evaluate_counts(counts, labels="abcd", measures=[name])[name]
    same = {"nan_ok": True, "rel": 1e-9, "abs": 1e-9}
    assert value(counts.T) == pytest.approx(one.value, **same)  # truth and prediction exchanged
    assert value(counts[::-1, ::-1]) == pytest.approx(one.value, **same)  # the order turned round
    assert value(3 * counts) == pytest.approx(one.value, **same)
    if not math.isnan(one.value):
        assert one.interval.low <= one.value <= one.interval.high
        assert one.interval.low >= -1
        assert one.interval.high <= 1
        apart = np.abs(np.subtract.outer(range(4), range(4))) ** (1 + (name == "quadratic_kappa"))
        chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        expected = 1 - (apart * counts).sum() / (apart * chance).sum()
        assert one.value == pytest.approx(expected, abs=1e-9)
    remaining = np.diag(np.diag(counts) + 1)
    assert value(remaining) == pytest.approx(1.0)
