import json
import math

import numpy as np
import pandas as pd
import pytest

import truerisk as tr
from studies.audit.ledger import DOCS, read_ledger
from studies.audit.slices import (
    DESIGNS,
    SliceShare,
    answers,
    judged,
    outcomes_of,
    quick_tests,
    rarely_right,
)
from truerisk.errors import InputError
from truerisk.intervals.differences import fisher_mid_p
from truerisk.intervals.distributions import student_cdf
from truerisk.intervals.group_jackknife import difference_spread
from truerisk.intervals.measured_coverage import coverage_of
from truerisk.results import has_code

N = 2000


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(7)
    region = rng.choice(["east", "north", "south", "west"], N)
    age = rng.integers(18, 90, N).astype(float)
    truth = rng.integers(0, 2, N)
    score = 1.5 * truth + rng.normal(size=N) - 1.0 * ((region == "north") & (truth == 1))
    return {
        "y_true": truth,
        "y_pred": (score > 0.75).astype(int),
        "y_score": score,
        "by": {"region": region, "age": age},
    }


@pytest.fixture(scope="module")
def evaluation(drawn):
    return tr.evaluate(**drawn, random_state=0)


def test_a_slice_is_the_evaluation_of_its_rows(drawn, evaluation):
    inside = drawn["by"]["region"] == "north"
    alone = tr.evaluate(
        drawn["y_true"][inside], drawn["y_pred"][inside], y_score=drawn["y_score"][inside]
    )
    one = evaluation.slices["region=north"]
    assert one.n == inside.sum()
    assert list(one) == list(alone)
    for name, estimate in alone.items():
        assert one[name].value == pytest.approx(estimate.value, nan_ok=True)
        assert one[name].interval.low == pytest.approx(estimate.interval.low)
        assert one[name].interval.method == estimate.interval.method


def test_by_hand():
    # 40 of 50 right in a, 45 of 50 in b: the test of either is Fisher's of both.
    truth = np.ones(100, int)
    called = np.r_[[1] * 40, [0] * 10, [1] * 45, [0] * 5]
    result = tr.evaluate(truth, called, by=["a"] * 50 + ["b"] * 50, measures=["accuracy"])
    test = result.slices["by=a"].tests["accuracy"]
    assert test.p_value == pytest.approx(fisher_mid_p(40, 50, 45, 50))
    assert test.difference.value == pytest.approx(-0.1)
    assert test.rest.value == 0.9
    assert test.adjusted == pytest.approx(min(1, 2 * test.p_value))
    a, b = result.slices["by=a"]["accuracy"].interval, test.rest.interval
    low = -0.1 - math.hypot(0.8 - a.low, b.high - 0.9)
    assert test.difference.interval.low == pytest.approx(low)


def test_the_worse_slice_is_named_in_words(evaluation):
    assert has_code(evaluation.verdict, "slice_worse")
    words = " ".join(evaluation.verdict)
    assert "Sure: recall is worse in region=north: 0." in words
    assert "adjusted for 8 slices and 4 measures" in words
    assert evaluation.slices["region=north"].tests["recall"].finding == "worse"
    assert evaluation.slices["region=east"].tests["precision"].finding == "no evidence"
    assert any("cut at its quartiles" in note for note in evaluation.notes)


def test_equal_slices_are_called_nothing():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 600)
    called = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    result = tr.evaluate(truth, called, by=rng.choice(list("abcd"), 600))
    assert has_code(result.verdict, "no_slice_worse")


def test_groups_that_are_in_both_move_both():
    # Without weights: the accuracy of a less that of b, without each of the groups.
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    group = np.repeat(np.arange(40), 10)
    called = np.where(rng.random(400) < 0.7 + 0.2 * rng.random(40)[group], truth, 1 - truth)
    side = rng.choice(["a", "b"], 400)
    result = tr.evaluate(truth, called, by=side, groups=group, measures=["accuracy"])
    right, a = truth == called, side == "a"

    def apart(rows):
        return right[rows & a].mean() - right[rows & ~a].mean()

    without = np.array([apart(group != one) for one in range(40)])
    sizes = [np.bincount(group[part]) for part in (a, ~a)]
    units = min(s.sum() ** 2 / (s**2).sum() for s in sizes)
    value = apart(np.ones(400, bool))
    error, degrees = difference_spread(value, without, units)
    test = result.slices["by=a"].tests["accuracy"]
    assert test.method == "group_jackknife"
    assert test.p_value == pytest.approx(2 * student_cdf(degrees, -abs(value) / error))


def test_areas_of_groups_without_each_group():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    score = truth + rng.normal(size=300)
    group = rng.integers(0, 30, 300)
    side = rng.choice(["a", "b"], 300)
    options = {"y_score": score, "groups": group, "measures": ["roc_auc"]}
    result = tr.evaluate(truth, **options, by=side)
    test = result.slices["by=a"].tests["roc_auc"]

    def area(rows):
        return tr.evaluate(truth[rows], y_score=score[rows], measures=["roc_auc"])["roc_auc"].value

    def apart(rows):
        return area(rows & (side == "a")) - area(rows & (side == "b"))

    value = apart(np.ones(300, bool))
    without = np.array([apart(group != one) for one in range(30)])
    error, _ = difference_spread(value, without, 30.0)
    assert test.difference.value == pytest.approx(value)
    half = test.difference.interval.high - value
    assert 2.0 * error < half < 3.0 * error


@pytest.mark.parametrize(
    "options",
    [
        {"sample_weight": np.r_[np.ones(N // 2), 3 * np.ones(N // 2)]},
        {"groups": np.arange(N) // 4},
        {"groups": np.arange(N) // 4, "sample_weight": np.r_[np.ones(N // 2), np.zeros(N // 2)]},
        {"threshold": 0.2, "y_pred": None},
        {"threshold": 0.2, "y_pred": None, "groups": np.arange(N) // 4},
        {"costs": {"fp": 1, "fn": 5}, "measures": ["cost", "f1", "matthews_correlation"]},
        {"costs": {"fp": 1, "fn": 5}, "measures": ["cost", "f1"], "groups": np.arange(N) // 4},
        {"measures": ["average_precision", "accuracy"], "groups": np.arange(N) // 4},
        {"by_pairs": True},
    ],
    ids=str,
)
def test_with_every_option(drawn, options):
    result = tr.evaluate(**{**drawn, **options}, random_state=0)
    assert result.slices
    for one in result.slices.values():
        for test in one.tests.values():
            assert 0 <= test.p_value <= 1 or math.isnan(test.p_value)
            assert test.difference.interval.covers(test.difference.value)
            assert test.adjusted >= test.p_value or math.isnan(test.p_value)
    defined = [t for one in result.slices.values() for t in one.tests.values() if t.p_value >= 0]
    assert defined


def test_several_classes_some_missing_in_a_slice():
    rng = np.random.default_rng(5)
    truth = rng.choice(list("abc"), 600)
    side = np.where(truth == "c", "v", rng.choice(["u", "v"], 600))
    called = np.where(rng.random(600) < 0.7, truth, "a")
    score = rng.random((600, 3))
    result = tr.evaluate(truth, called, y_score=score, by=side)
    assert list(result.slices["by=u"].tests) == ["accuracy"]
    assert result.slices["by=u"].evaluation.pos_label is None
    assert set(result.slices["by=u"].evaluation.labels) == set("abc")
    grouped = tr.evaluate(truth, called, by=side, groups=np.arange(600) // 3)
    assert grouped.slices["by=v"].tests["accuracy"].p_value >= 0


def test_two_names_of_which_a_slice_has_one():
    truth = np.array(["ham"] * 60 + ["spam"] * 40)
    side = np.array(["a"] * 50 + ["b"] * 50)
    result = tr.evaluate(truth, truth, by=side, pos_label="spam")
    one = result.slices["by=a"]
    assert math.isnan(one["recall"].value)
    assert math.isnan(one.tests["recall"].p_value)
    assert one.tests["accuracy"].p_value == pytest.approx(1.0)


def test_label_sets_and_rejected_examples():
    rng = np.random.default_rng(6)
    truth = rng.random((300, 3)) < 0.4
    called = truth ^ (rng.random((300, 3)) < 0.2)
    side = rng.choice(["a", "b"], 300)
    for extra in ({}, {"groups": np.arange(300) // 3}):
        result = tr.evaluate(
            truth.astype(int), called.astype(int), multilabel=True, by=side, **extra
        )
        assert 0 <= result.slices["by=a"].tests["accuracy"].p_value <= 1
        several = tr.evaluate(
            truth.astype(int), called.astype(int), multilabel=True, by=side,
            measures=["f1_macro", "hamming_loss"], **extra,
        )  # fmt: skip
        assert set(several.slices["by=a"].tests) == {"f1_macro", "hamming_loss"}
    labels = rng.choice(["0", "1"], 300)
    said = np.where(rng.random(300) < 0.1, "?", labels)
    for extra in ({}, {"groups": np.arange(300) // 3}):
        result = tr.evaluate(labels, said, reject="?", by=side, **extra)
        assert result.slices["by=a"]["accuracy"].value == 1.0


def test_files_and_frames_give_the_same(drawn, evaluation, tmp_path):
    frame = pd.DataFrame(
        {
            "y_true": drawn["y_true"],
            "y_pred": drawn["y_pred"],
            "score": drawn["y_score"],
            **drawn["by"],
        }
    )
    frame.iloc[:1000].to_csv(tmp_path / "a.csv", index=False)
    frame.iloc[1000:].to_parquet(tmp_path / "b.parquet", index=False)
    frame.to_json(tmp_path / "c.jsonl", orient="records", lines=True, double_precision=15)
    sources = (
        tr.evaluate_files([tmp_path / "a.csv", tmp_path / "b.parquet"], by=["region", "age"]),
        tr.evaluate_files(tmp_path / "c.jsonl", by=["region", "age"]),
        tr.evaluate_frame(frame, by=["region", "age"]),
    )
    for other in sources:
        assert list(other.slices) == list(evaluation.slices)
        for name, one in other.slices.items():
            assert one.tests["recall"].p_value == pytest.approx(
                evaluation.slices[name].tests["recall"].p_value
            )
    with pytest.raises(InputError, match="`by` must be a column of the frame; got 'regoin'"):
        tr.evaluate_frame(frame, by="regoin")
    by_truth = tr.evaluate_frame(frame, by="y_true")
    assert list(by_truth.slices) == ["y_true=0", "y_true=1"]


def test_rows_dropped_for_a_missing_value_leave_their_slice(tmp_path):
    lines = ["y_true,y_pred,side", *["1,1,a"] * 30, *["0,1,b"] * 30, *[",1,b"] * 30]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    result = tr.evaluate_files(
        tmp_path / "a.csv", options=tr.ReadingOptions(missing="drop"), by="side"
    )
    assert {name: one.n for name, one in result.slices.items()} == {"side=a": 30, "side=b": 30}


def test_what_is_quoted_is_what_was_measured(evaluation):
    rows = [row for row in read_ledger(SliceShare, "slices") if "models" not in row.design]
    drawn_by = {one.words: one.draw for one in DESIGNS}
    values = tr.evaluate_values([0, 1] * 50, by={"half": np.arange(100) // 50})
    for result, of_values in ((evaluation, False), (values, True)):
        shares = [
            row.worse
            for row in rows
            if math.isnan(row.named)
            and (drawn_by[row.design] in {answers, judged, rarely_right}) == of_values
        ]
        quoted = f"{100 * min(shares):.0f} to {100 * max(shares):.1f} %"
        (note,) = (one for one in result.notes if has_code([one], "slices_measured"))
        assert quoted in note
    page = (DOCS / "slices.md").read_text(encoding="utf-8")
    for row in rows:
        if math.isnan(row.named):
            assert f"| {row.samples:,} | {100 * row.worse:.2g} % |" in page or (
                f"| {row.samples:,} | {100 * row.worse:.1f} % |" in page
            )


@pytest.mark.parametrize(
    ("options", "method", "design"),
    [
        ({}, "mover", "slice less rest"),
        ({"sample_weight": np.linspace(1, 3, 300)}, "mover", "slice less rest, weights"),
        ({"groups": np.arange(300) // 5}, "group_jackknife", "slice less rest"),
    ],
)
def test_a_difference_says_what_its_interval_was_measured_to_cover(options, method, design):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    called = np.where(rng.random(300) < 0.8, truth, 1 - truth)
    by = {"side": np.repeat(["a", "b"], [100, 200])}
    found = tr.evaluate(truth, called, by=by, measures=["recall", "f1"], random_state=0, **options)
    recall, f1 = (found.slices["side=a"].tests[name] for name in ("recall", "f1"))
    figure = coverage_of(method, "difference of recall", design=design)
    assert recall.measured == figure.words(0.95)
    assert f1.measured == "not measured"


@pytest.mark.parametrize("design", DESIGNS[:3], ids=lambda one: one.words)
def test_the_study_tests_what_the_library_tests(design):
    drawn = design.draw(design, np.random.default_rng(5))
    quick, own = quick_tests(drawn), outcomes_of(drawn)
    assert [one[0] for one in quick] == [one[0] for one in own]
    assert [one[1] for one in quick] == pytest.approx([one[1] for one in own], nan_ok=True)


def test_rows_metrics_and_json(evaluation):
    rows = evaluation.to_rows()
    assert all(list(row) == list(rows[0]) for row in rows)
    assert {row["slice"] for row in rows} == {"", *evaluation.slices}
    metrics = evaluation.to_metrics()
    assert metrics["region=north/recall"] == evaluation.slices["region=north"]["recall"].value
    assert metrics["recall"] == evaluation["recall"].value
    plain = json.loads(json.dumps(evaluation.to_dict()))
    test = plain["slices"]["region=north"]["tests"]["recall"]
    assert test["finding"] == "worse"
    assert "slices" not in tr.evaluate([0, 1], [0, 1]).to_dict()
    assert len(evaluation.to_frame()) == len(rows)
