import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.right_answers import by_groups, cochran_q, mcnemar
from truerisk.errors import InputError
from truerisk.evaluation import evaluate
from truerisk.intervals.auc import delong_paired
from truerisk.intervals.multiplicity import holm
from truerisk.intervals.planning import sample_size
from truerisk.results import has_code

# 40 positives and 60 negatives; b is right on 12 examples that a gets wrong, never the reverse.
TRUTH = [1] * 40 + [0] * 60
A = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
B = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6


MEASURED = ("error_rate", "f1", "roc_auc", "brier_score", "average_precision", "ks")


def scored(n=120, seed=1, models=2):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    scores = [np.clip(0.3 * truth + 0.7 * rng.random(n), 0, 1) for _ in range(models)]
    return truth, [score > 0.5 for score in scores], scores


def test_two_error_rates_are_compared_by_mcnemars_test_worked_by_hand():
    found = compare(TRUTH, A, B, names=["a", "b"])["error_rate"]
    assert (found.first.value, found.second.value) == (0.2, 0.08)
    assert found.difference.value == pytest.approx(-0.12)
    # Twelve of twelve discordant examples: 2 · ½¹² less half of the point itself, twice.
    assert found.p_value == pytest.approx(2 * (0.5**12 - 0.5 * 0.5**12))
    assert found.finding == "better"
    assert found.difference.interval.method == "tango"


def test_each_models_own_estimates_are_those_of_an_evaluation():
    truth, called, scores = scored()
    result = compare(truth, *called, scores=scores)
    for name, one, score in zip(result.names, called, scores, strict=True):
        alone = evaluate(truth, one, y_score=score, random_state=0)
        assert dict(result.evaluations[name]) == dict(alone)


def test_every_measure_that_both_models_have_is_compared():
    truth, called, scores = scored()
    result = compare(truth, *called, scores=scores, probabilities=True, costs={"fp": 1, "fn": 3})
    assert set(result) == set(result.evaluations["first"])
    assert {"cost", "f1", "roc_auc", "log_loss", "ks"} <= set(result)
    assert all(0 <= one.p_value <= 1 for one in result.values())
    assert all(one.difference.interval.covers(one.difference.value) for one in result.values())


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), grouped=st.booleans())
def test_swapping_the_models_negates_the_difference_and_keeps_the_test(seed, grouped):
    truth, called, scores = scored(40, seed)
    options = {
        "measures": ["error_rate", "f1", "roc_auc", "average_precision", "brier_score"],
        "probabilities": True,
        "replicates": 200,
        "groups": np.arange(40) // 4 if grouped else None,
    }
    there = compare(truth, *called, scores=scores, **options)
    back = compare(truth, *called[::-1], scores=scores[::-1], **options)
    for measure, found in there.items():
        other, ends = back[measure], found.difference.interval
        assert other.difference.value == pytest.approx(-found.difference.value, nan_ok=True)
        assert other.p_value == pytest.approx(found.p_value, nan_ok=True)
        assert other.difference.interval.low == pytest.approx(-ends.high)
        mirrored = {"better": "worse", "worse": "better"}
        assert other.finding == mirrored.get(found.finding, found.finding)


@pytest.mark.parametrize("groups", [None, np.arange(120) // 3], ids=["alone", "grouped"])
def test_models_that_say_the_same_have_a_p_value_of_one_by_every_measure(groups):
    truth, called, scores = scored()
    options = {"probabilities": True, "costs": {"fp": 1, "fn": 2}, "groups": groups}
    result = compare(truth, called[0], called[0], scores=[scores[0]] * 2, **options)
    for found in result.values():
        assert found.p_value == 1
        assert found.difference.interval.covers(0)
        assert found.finding == "no evidence"


def test_models_that_say_the_same_and_the_impossible_have_a_p_value_of_one():
    result = compare([1, 0], None, None, scores=[[0.0, 0.5]] * 2, probabilities=True)
    assert math.isnan(result["log_loss"].difference.value)
    assert result["log_loss"].p_value == 1


def test_classes_and_sets_of_labels_have_a_p_value_of_one_where_models_agree():
    called = ["a", "b", "c", "a", "b", "b"]
    truth = ["a", "b", "c", "a", "c", "a"]
    assert {one.p_value for one in compare(truth, called, called).values()} == {1.0}
    sets = [{"a"}, {"a", "b"}, set(), {"c"}]
    other = [{"a"}, {"b"}, {"c"}, {"c"}]
    found = compare(sets, other, other, multilabel=True)
    assert {one.p_value for one in found.values()} == {1.0}
    assert "f1_samples" in found


def test_areas_are_compared_by_delong_with_degrees_of_freedom_of_both_classes():
    truth, called, scores = scored()
    found = compare(truth, *called, scores=scores)["roc_auc"]
    table = np.column_stack(scores[::-1])
    expected = delong_paired(table[truth], table[~truth])
    assert found.difference.value == pytest.approx(expected.difference)
    assert found.method == "delong_paired"
    assert expected.p_value <= found.p_value < expected.p_value + 0.02


@pytest.fixture
def asah():
    """Read pROC's example data, which may not be copied into the project."""
    folder = os.environ.get("TRUERISK_DATA")
    path = Path(folder) / ".." / "vectors" / "auc_aSAH_data.json" if folder else None
    if path is None or not path.exists():
        pytest.skip("the aSAH rows (GPL) stand outside of the project, beside TRUERISK_DATA")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.data
def test_the_areas_of_proc_differ_as_published(asah):
    scores = [asah["ndka"], asah["wfns"]]
    result = compare(asah["outcome"], None, None, scores=scores, measures=["roc_auc"])
    # pROC 1.18: wfns − ndka lies in [0.0634011709339876, 0.3600405634833566], p = 0.005145...
    middle = (0.0634011709339876 + 0.3600405634833566) / 2
    assert result["roc_auc"].difference.value == pytest.approx(middle)
    beside = {one.method: one.p_value for one in result.beside["roc_auc", "first", "second"]}
    assert beside["delong_normal"] == pytest.approx(0.00514557970691098)


def test_groups_are_the_units_of_the_test():
    truth, called, scores = scored()
    groups = np.arange(120) // 6
    result = compare(truth, *called, scores=scores, groups=groups, probabilities=True)
    differences = (called[1] == truth).astype(float) - (called[0] == truth)
    assert result["accuracy"].p_value == pytest.approx(by_groups(differences, groups).p_value)
    right, wrong = (result[name].difference.interval for name in ("accuracy", "error_rate"))
    assert (wrong.low, wrong.high) == pytest.approx((-right.high, -right.low))
    for measure in ("f1", "roc_auc", "average_precision", "log_loss"):
        assert result[measure].method == "group_jackknife"


def test_micro_averages_of_single_labels_are_judged_as_the_accuracy_they_are():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=50)
    called = [np.where(rng.random(50) < 0.7, truth, (truth + 1) % 3) for _ in range(2)]
    result = compare(truth, *called)
    assert result["f1_micro"].p_value == result["accuracy"].p_value
    assert result["f1_micro"].difference.interval == result["accuracy"].difference.interval


def test_weights_make_the_delta_method_speak_for_error_rates():
    found = compare(TRUTH, A, B, sample_weight=[1.0, 2.0] * 50)["error_rate"]
    assert found.method == "paired_delta"
    assert found.finding == "better"


def test_more_than_two_models_are_compared_in_every_pair():
    truth, called, _ = scored(models=3)
    result = compare(truth, *called, names=["x", "y", "z"], measures=["error_rate", "f1"])
    assert len(result) == 6
    assert result["f1", "x", "z"].names == ("x", "z")
    right = [one == truth for one in called]
    assert result.omnibus == cochran_q(np.column_stack(right))
    raw = [result["error_rate", *pair].p_value for pair in result.name_pairs]
    assert list(result.adjusted.values()) == pytest.approx(holm(raw).tolist())


def test_a_region_makes_equivalence_a_finding():
    found = compare([1, 0] * 500, [1, 0] * 500, [1, 0] * 499 + [0, 0], region=0.02)
    assert found["error_rate"].finding == "equivalent"
    tests = {one.method for one in found.beside["error_rate", "first", "second"]}
    assert {"equivalence", "non_inferiority", "mcnemar_exact"} <= tests
    only = compare(TRUTH, A, B, region={"f1": 0.5})
    assert (only["f1"].finding, only["error_rate"].finding) == ("equivalent", "better")


def test_an_open_question_says_how_many_examples_would_settle_it():
    found = compare([1] * 50, [1] * 40 + [0] * 10, [1] * 43 + [0] * 7)["error_rate"]
    assert found.finding == "no evidence"
    assert found.settled_by > 50
    assert mcnemar(0, 3) == found.p_value


def test_a_model_without_scores_is_compared_by_what_it_has():
    truth, called, scores = scored()
    result = compare(truth, *called, first_score=scores[0])
    assert "roc_auc" not in result
    assert any("No scores of second" in note for note in result.notes)
    with pytest.raises(InputError, match="must be ones that two models have here"):
        compare(truth, *called, first_score=scores[0], measures=["roc_auc"])


def test_models_that_share_nothing_cannot_be_compared():
    truth, called, scores = scored()
    with pytest.raises(InputError, match="no two of these do"):
        compare(truth, called[0], None, second_score=scores[1])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"region": 0}, "`region` must be above 0"),
        ({"region": {"roc_auc": 0.1}}, "`region` must name measures compared"),
        ({"level": 95}, "Write 0.95"),
        ({"interval": "exact"}, "`interval` must be one of"),
        ({"measures": ["nonsense"]}, "`measure` must be one of"),
        ({"scores": [None]}, "`scores` must hold 2 entries"),
        ({"scores": [None, None], "first_score": [1]}, "must not be given beside"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_what_cannot_be_meant_is_refused(options, match):
    with pytest.raises(InputError, match=match):
        compare(TRUTH, A, B, **options)


def assert_alike(result, other):
    assert list(result) == list(other)
    for key, found in result.items():
        assert found.method == other[key].method
        assert found.p_value == pytest.approx(other[key].p_value)
        ends, others = found.difference.interval, other[key].difference.interval
        assert (ends.low, ends.high) == pytest.approx((others.low, others.high))


@pytest.mark.parametrize(
    "extra",
    [{"groups": np.arange(60) % 7 * 60 + np.arange(60)}, {"sample_weight": np.full(60, 3.0)}],
    ids=["groups-of-one", "equal-weights"],
)
def test_what_says_nothing_changes_no_difference(extra):
    truth, called, scores = scored(60)
    options = {"scores": scores, "probabilities": True, "replicates": 200}
    assert_alike(compare(truth, *called, **options, **extra), compare(truth, *called, **options))


def test_an_example_of_weight_0_might_as_well_not_be_there():
    truth, called, scores = scored(60)
    kept = np.arange(60) % 3 > 0
    options = {"probabilities": True, "replicates": 200}
    light = compare(truth, *called, scores=scores, sample_weight=kept.astype(float), **options)
    columns = [column[kept] for column in (truth, *called)]
    assert_alike(light, compare(*columns, scores=[score[kept] for score in scores], **options))


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4], ids=["alone", "grouped"])
def test_the_same_seed_gives_the_same_result_and_no_order_matters(groups):
    truth, called, scores = scored(60, models=3)
    scores = [score.round(1) for score in scores]
    options = {"probabilities": True, "replicates": 200, "measures": list(MEASURED)}
    there = compare(truth, *called, scores=scores, groups=groups, names=tuple("abc"), **options)
    rows = np.random.default_rng(3).permutation(60)
    turned = compare(
        truth[rows],
        *(one[rows] for one in called[::-1]),
        scores=[score[rows] for score in scores[::-1]],
        groups=None if groups is None else groups[rows],
        names=tuple("cba"),
        **options,
    )
    for (measure, first, second), found in there.items():
        other = turned[measure, second, first]
        assert other.p_value == pytest.approx(found.p_value)
        assert other.difference.interval.low == pytest.approx(-found.difference.interval.high)
    assert turned.best.corrected.value == pytest.approx(there.best.corrected.value)


def one_class(n=71, seed=18):
    rng = np.random.default_rng(seed)
    first = rng.integers(2, size=n)
    second = np.where(rng.random(n) < 0.8, first, rng.integers(2, size=n))
    return np.ones(n, dtype=int), first, second, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("seed", range(12))
def test_one_class_in_the_truth_with_weights_is_compared(seed):
    truth, first, second, weight = one_class(n=60 + seed, seed=seed)
    for pos_label in (0, 1):
        result = compare(truth, first, second, sample_weight=weight, pos_label=pos_label)
        assert result["error_rate"].p_value > 0
        assert all(one.difference.interval.width > 1e-9 for one in result.values())


def test_kappa_of_one_class_is_no_evidence_of_equivalence():
    # Of one true class κ is 0 whatever is predicted: its difference has no spread but rounding.
    truth, first, second, _ = one_class()
    found = compare(truth, first, second, pos_label=1, measures=["cohen_kappa"], region=0.02)
    kappa = found["cohen_kappa"]
    assert (kappa.difference.value, kappa.p_value) == (0.0, 1.0)
    assert (kappa.difference.interval.low, kappa.difference.interval.high) == (-2.0, 2.0)
    assert kappa.finding == "no evidence"
    assert has_code(kappa.notes, "no_variation")
    assert kappa.settled_by is None


def test_weighted_scores_of_one_class_are_compared():
    rng = np.random.default_rng(2)
    scores = [rng.dirichlet([1, 1, 1], 67) for _ in range(2)]
    result = compare(
        ["a"] * 67, None, None, scores=scores, sample_weight=rng.uniform(0.5, 2, 67),
        labels=["a", "b", "c"],
    )  # fmt: skip
    assert "error_rate" in result


def test_an_open_question_with_a_region_is_planned_for_the_region():
    # 0.007 seen, 15 % discordant: to tell 0.007 takes some 24,000 examples, 0.02 some 3,000.
    truth = np.ones(1000, dtype=int)
    first, second = truth.copy(), truth.copy()
    first[:71], second[71:149] = 0, 0
    settings = {"pos_label": 1, "measures": ["error_rate"]}
    seen = compare(truth, first, second, **settings)["error_rate"]
    planned = compare(truth, first, second, region=0.02, **settings)["error_rate"]
    assert seen.difference.value == pytest.approx(0.007)
    assert seen.settled_by > 20_000
    assert planned.finding == "no evidence"
    assert planned.settled_by == sample_size(difference=0.02, discordant=0.149).n
    assert "a difference of 0.02, the smallest that matters" in planned.verdict
    wide = compare(truth, first, second, region=0.004, **settings)["error_rate"]
    assert wide.settled_by == seen.settled_by


def test_the_verdict_carries_codes():
    two = compare(TRUTH, A, B, measures=["error_rate"])
    assert has_code(two.verdict, "better")
    three = compare(TRUTH, A, B, TRUTH, measures=["error_rate"])
    for code in ("models_differ", "pairs_differ", "winner_corrected"):
        assert has_code(three.verdict, code)
    assert has_code(compare(TRUTH, A, A)["error_rate"].notes, "no_discordant_pairs")


def test_scores_in_the_place_of_predictions_are_refused_with_the_argument_for_scores():
    score = np.linspace(0, 1, 20)
    truth = (score > 0.4).astype(int)
    with pytest.raises(InputError, match=r"'second'` must hold .*Hand scores to `scores`\."):
        compare(truth, truth, score)
    with pytest.raises(InputError, match=r"'second': The predictions must .*\(scores= in Python\)"):
        compare(truth.astype(str), truth.astype(str), score.astype(str))
