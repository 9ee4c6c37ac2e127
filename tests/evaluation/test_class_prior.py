"""Another prior: values against rows that were repeated, refusals, and every way in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.errors import InputError
from truerisk.measures.registry import find_measure

RNG = np.random.default_rng(4)
TRUTH = np.repeat(["ham", "spam"], [60, 40])
SCORE = RNG.normal(size=100) + 1.2 * (TRUTH == "spam")
PRED = np.where(SCORE > 0.6, "spam", "ham")
THREE = RNG.integers(0, 3, 120).astype(str)
CALLED = np.where(RNG.random(120) < 0.7, THREE, RNG.integers(0, 3, 120).astype(str))


def repeated(column, times):
    return np.repeat(column, times, axis=0)


def test_values_are_those_of_rows_repeated_to_the_prior():
    # 60 ham and 40 · 3 spam are two thirds spam.
    times = np.where(TRUTH == "spam", 3, 1)
    options = {"pos_label": "spam", "probabilities": True}
    score = 1 / (1 + np.exp(-SCORE))
    found = tr.evaluate(TRUTH, PRED, y_score=score, prior={"spam": 2 / 3}, **options)
    expected = tr.evaluate(
        repeated(TRUTH, times), repeated(PRED, times), y_score=repeated(score, times), **options
    )
    assert set(found.estimates) == set(expected.estimates)
    for name, estimate in expected.estimates.items():
        assert found[name].value == pytest.approx(estimate.value, rel=1e-9), name
        assert found[name].interval.low <= found[name].value <= found[name].interval.high


def test_values_of_several_classes_are_those_of_repeated_rows():
    times = np.where(THREE == "1", 5, 1)
    share = 5 * (THREE == "1").sum() / times.sum()
    expected = tr.evaluate(repeated(THREE, times), repeated(CALLED, times))
    found = tr.evaluate(THREE, CALLED, prior={"1": share})
    for name, estimate in expected.estimates.items():
        assert found[name].value == pytest.approx(estimate.value, rel=1e-9), name
    for label, estimates in expected.by_class.items():
        for name, estimate in estimates.items():
            assert found.by_class[label][name].value == pytest.approx(estimate.value, rel=1e-9)


def test_recall_of_one_of_several_classes_keeps_its_interval():
    plain, other = tr.evaluate(THREE, CALLED), tr.evaluate(THREE, CALLED, prior={"1": 0.8})
    for label in "012":
        before, after = (one.by_class[label]["recall"].interval for one in (plain, other))
        assert after.low == pytest.approx(before.low, abs=1e-9)
        assert after.high == pytest.approx(before.high, abs=1e-9)


def test_what_varies_is_within_the_classes_only():
    # Accuracy at a prior is Σ π recall; its variance is Σ π² p(1 − p)/n.
    table = np.array([[80, 20, 0], [10, 180, 10], [0, 30, 270]])
    prior = {"0": 0.2, "1": 0.3, "2": 0.5}
    found = tr.evaluate_counts(table, prior=prior)["accuracy"]
    recall = np.array([0.8, 0.9, 0.9])
    shares, sizes = np.array([0.2, 0.3, 0.5]), table.sum(axis=1)
    value = float(shares @ recall)
    error = np.sqrt((shares**2 * recall * (1 - recall) / sizes).sum())
    assert found.value == pytest.approx(value, rel=1e-12)
    # The binomial interval at p(1 − p)/se² examples is about as wide as the normal one.
    assert found.interval.width == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_groups_weights_frames_and_files_take_a_prior(tmp_path):
    path = tmp_path / "p.csv"
    rows = zip(TRUTH, PRED, SCORE, strict=True)
    path.write_text("y_true,y_pred,score\n" + "".join(f"{t},{p},{s}\n" for t, p, s in rows))
    options = {"pos_label": "spam", "prior": {"spam": 0.02}, "random_state": 1}
    arrays = tr.evaluate(TRUTH, PRED, y_score=SCORE, **options)
    files = tr.evaluate_files(path, **options)
    for name, estimate in arrays.estimates.items():
        assert files[name].value == pytest.approx(estimate.value, rel=1e-9)
    grouped = tr.evaluate(TRUTH, PRED, groups=np.arange(100) // 2, **options)
    weighted = tr.evaluate(TRUTH, PRED, sample_weight=np.full(100, 2.0), **options)
    for one in (grouped, weighted):
        assert one["precision"].value == pytest.approx(arrays["precision"].value, rel=1e-12)
    assert weighted["precision"].interval.low == pytest.approx(
        arrays["precision"].interval.low, rel=1e-9
    )


def test_scores_alone_take_a_prior():
    found = tr.evaluate(TRUTH, y_score=SCORE, pos_label="spam", prior={"ham": 0.9})
    both = tr.evaluate(TRUTH, PRED, y_score=SCORE, pos_label="spam", prior={"spam": 0.1})
    assert found["average_precision"].value == pytest.approx(
        both["average_precision"].value, rel=1e-12
    )


def test_the_result_says_at_which_prior_it_is():
    found = tr.evaluate(TRUTH, PRED, pos_label="spam", prior={"spam": 0.01})
    assert found.settings["prior"] == {"spam": 0.01}
    assert "prior of spam 0.01 (here 0.4)" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior": {"spm": 0.1}}, "Did you mean 'spam'"),
        ({"prior": {"spam": 1.0}}, "strictly between 0 and 1"),
        ({"prior": {"spam": 0.5, "ham": 0.4}}, "add up to 1"),
        ({"prior": 0.1}, "share of a class"),
        ({"prior": {"spam": 0.1}, "binomial": "wilson"}, "left out with a prior"),
        ({"prior": {"spam": 0.1}, "cell_interval": "bca"}, "left out with a prior"),
        ({"prior": {"spam": 0.1}, "reject": "?"}, "left out with a prior"),
    ],
)
def test_what_is_no_prior_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        tr.evaluate(TRUTH, PRED, pos_label="spam", **options)


def test_label_sets_have_no_prior():
    with pytest.raises(InputError, match="sets of labels"):
        tr.evaluate([["a"], ["b"]], [["a"], ["a"]], multilabel=True, prior={"a": 0.1})


pairs = st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: sum(pair) > 0)
shares = st.floats(0.01, 0.99)


@settings(max_examples=50)
@given(positive=pairs, negative=pairs, share=shares)
def test_at_any_prior_values_follow_from_recall_and_specificity(positive, negative, share):
    (tp, fn), (fp, tn) = positive, negative
    found = tr.evaluate_counts([[tp, fn], [fp, tn]], prior={"1": share})
    here = tr.evaluate_counts([[tp, fn], [fp, tn]])
    recall, specificity = tp / (tp + fn), tn / (fp + tn)
    called = share * recall + (1 - share) * (1 - specificity)
    expected = {
        "recall": recall,
        "specificity": specificity,
        "accuracy": share * recall + (1 - share) * specificity,
        "precision": share * recall / called if called > 0 else np.nan,
        "balanced_accuracy": (recall + specificity) / 2,
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, abs=1e-9, nan_ok=True), name
    for name in ("recall", "specificity", "balanced_accuracy", "youden", "gmean"):
        assert found[name].value == pytest.approx(here[name].value, abs=1e-9)
    for one in found.values():
        low, high = find_measure(one.measure).measure_range
        assert low <= one.interval.low <= one.interval.high <= high
        if not np.isnan(one.value):
            assert one.interval.low - 1e-9 <= one.value <= one.interval.high + 1e-9, one.measure


@settings(max_examples=30)
@given(positive=pairs, negative=pairs)
def test_the_prior_of_the_file_itself_changes_no_value(positive, negative):
    (tp, fn), (fp, tn) = positive, negative
    table = [[tp, fn], [fp, tn]]
    share = (tp + fn) / (tp + fn + fp + tn)
    found, here = tr.evaluate_counts(table, prior={"1": share}), tr.evaluate_counts(table)
    for name, one in found.items():
        assert one.value == pytest.approx(here[name].value, rel=1e-9, abs=1e-9, nan_ok=True), name


@settings(max_examples=30)
@given(positive=pairs, negative=pairs, one=shares, other=shares)
def test_precision_rises_with_the_prior(positive, negative, one, other):
    (tp, fn), (fp, tn) = positive, negative
    low, high = sorted((one, other))
    rare, frequent = (
        tr.evaluate_counts([[tp, fn], [fp, tn]], prior={"1": share}, measures=["precision"])
        for share in (low, high)
    )
    if tp + fp > 0:
        assert rare["precision"].value <= frequent["precision"].value + 1e-12
        assert rare["precision"].interval.low <= frequent["precision"].interval.low + 1e-9
