import json

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.multiplicity import holm

A = [1] * 60 + [0] * 40
B = [1] * 55 + [0] * 5 + [1] * 25 + [0] * 15


def test_right_answers_are_compared_as_predictions_are():
    # A model is right where it predicts 1 of a truth of ones.
    values = tr.compare_values(A, B)
    labels = tr.compare(np.ones(100, int), A, B, measures=["accuracy"], pos_label=1)
    assert values["accuracy"].difference == labels["accuracy"].difference
    assert values["accuracy"].p_value == labels["accuracy"].p_value
    assert values.tables == labels.tables


def test_scores_are_compared_by_the_paired_t():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 50)) * 10
    result = tr.compare_values(first, second, value_range=(0, 10))["mean_value"]
    expected = ttest_rel(second, first)
    ends = expected.confidence_interval(0.95)
    assert result.p_value == pytest.approx(expected.pvalue)
    assert (result.difference.interval.low, result.difference.interval.high) == (
        pytest.approx(ends.low),
        pytest.approx(ends.high),
    )


def test_few_differences_have_few_degrees_of_freedom():
    # 4 of 40 questions differ, by +1, +1, +1 and −1: mean .05, Σ(d − .05)² = 3.9 and
    # Σ(d − .05)⁴ = 3·.95⁴ + 1.05⁴ + 36·.05⁴.
    first, second = np.zeros(40), np.zeros(40)
    second[:3], first[3] = 1, 1
    second[4:8] = first[4:8] = 0.5  # no counts of right and wrong
    result = tr.compare_values(first, second, value_range=(0, 1))["mean_value"]
    degrees = 2 / ((3 * 0.95**4 + 1.05**4 + 36 * 0.05**4) / 3.9**2 - 1 / 40)
    assert degrees == pytest.approx(9.28, abs=0.01)
    half = student.isf(0.025, degrees) * np.sqrt(3.9 / 40 / 39)
    assert result.difference.interval.high == pytest.approx(0.05 + half)
    assert result.p_value == pytest.approx(2 * student.sf(0.05 / np.sqrt(3.9 / 40 / 39), degrees))


def test_models_that_agree_have_an_interval_around_0():
    result = tr.compare_values([0.5] * 20, [0.5] * 20, value_range=(0, 1))["mean_value"]
    assert result.p_value == 1
    assert result.difference.interval.low < 0 < result.difference.interval.high


def test_groups_are_the_units_of_a_difference():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(12), 5)
    first = rng.random(60)
    second = np.clip(first + rng.normal(0, 0.3, 12)[groups], 0, 1)
    by_groups, alone = (
        tr.compare_values(first, second, value_range=(0, 1), groups=one)["mean_value"]
        for one in (groups, None)
    )
    assert by_groups.method == "group_jackknife"
    assert by_groups.difference.interval.width > 1.5 * alone.difference.interval.width


def models(*shares, n=300, seed=0):
    rng = np.random.default_rng(seed)
    easy = rng.random(n)
    return [((easy + rng.random(n)) / 2 < share).astype(int) for share in shares]


def test_the_first_tier_holds_what_cannot_be_told_from_the_best():
    result = tr.compare_values(*models(0.8, 0.79, 0.5, 0.48, 0.2), names=list("abcde"))
    assert result.tiers == (("a", "b"), ("c", "d"), ("e",))
    assert result.verdict[-1] == "The best is one of a, b, with 95 % confidence."
    assert result.to_dict()["tiers"] == [["a", "b"], ["c", "d"], ["e"]]


def test_tiers_follow_the_measure_and_the_number_of_models():
    # p = 0.04 tells two models apart, and is not enough for one of five.
    truth = [1] * 100
    first, second = [1] * 80 + [0] * 20, [1] * 90 + [0] * 10
    two = tr.compare(truth, first, second, measures=["error_rate"], pos_label=1)
    assert two.tiers == (("second",), ("first",))
    result = tr.compare(
        truth, first, second, first, first, second, measures=["error_rate"], pos_label=1
    )
    limit = 2 * 0.05 / 4
    p_value = result["error_rate", "first", "second"].p_value
    assert (len(result.tiers) == 1) == (p_value > limit)


@pytest.fixture
def logs(tmp_path):
    def write(name, rows):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_logs_are_joined_by_question(logs):
    first = logs("a", [{"id": at, "m": {"acc": one}} for at, one in enumerate(A)])
    second = logs("b", [{"id": at, "m": {"acc": one}} for at, one in enumerate(B)][::-1])
    roles = tr.Roles(correct="m.acc")
    result = tr.compare_files([first, second], roles=roles)
    assert result.names == ("a", "b")
    assert result["accuracy"] == tr.compare_values(A, B, names=["a", "b"])["accuracy"]
    assert result.source["joined_by"] == "id"


def test_several_samples_of_a_question_are_joined_as_their_mean(logs):
    first = logs("a", [{"id": at // 2, "ok": one} for at, one in enumerate(A)])
    second = logs("b", [{"id": at // 2, "ok": one} for at, one in enumerate(B)])
    result = tr.compare_files([first, second], roles=tr.Roles(correct="ok"))
    asked = np.arange(100) // 2
    expected = tr.compare_values(A, B, questions=asked, names=["a", "b"])
    assert result["accuracy"] == expected["accuracy"]
    with_pass = tr.compare_files([first, second], roles=tr.Roles(correct="ok"), pass_at=2)
    assert with_pass["mean_value"].first.value == 0.6


def test_questions_that_one_log_lacks_are_refused(logs):
    first = logs("a", [{"id": at, "ok": one} for at, one in enumerate(A)])
    second = logs("b", [{"id": at, "ok": one} for at, one in enumerate(B[:90])])
    with pytest.raises(InputError, match="--join inner"):
        tr.compare_files([first, second], roles=tr.Roles(correct="ok"))
    result = tr.compare_files([first, second], roles=tr.Roles(correct="ok"), join="inner")
    assert result.n == 90


def test_slices_are_compared_by_the_same_test_and_adjusted_together():
    rng = np.random.default_rng(5)
    subject = rng.choice(["algebra", "law", "physics"], 600)
    first = (rng.random(600) < 0.7).astype(int)
    second = np.where(subject == "law", rng.random(600) < 0.95, first == 1).astype(int)
    result = tr.compare_values(first, second, names=["a", "b"], by={"subject": subject})
    alone = {
        name: tr.compare_values(first[subject == name], second[subject == name], names=["a", "b"])[
            "accuracy"
        ]
        for name in ("algebra", "law", "physics")
    }
    assert [one.comparison for one in result.slices] == list(alone.values())
    adjusted = holm([one.p_value for one in alone.values()])
    assert [one.adjusted for one in result.slices] == adjusted.tolist()
    assert [one.finding for one in result.slices] == ["no evidence", "better", "no evidence"]
    assert any(one.startswith("In subject=law b is better than a") for one in result.verdict)
    assert "subject=law" in result.report().html


def test_logs_are_compared_by_slices_of_questions(tmp_path):
    rng = np.random.default_rng(6)
    subject = rng.choice(["algebra", "law"], 300)
    right = [(rng.random(300) < 0.7).astype(int) for _ in range(2)]
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for at, path in enumerate(paths):
        order = rng.permutation(300)
        lines = [f"q{one},{right[at][one]},{subject[one]}" for one in order]
        path.write_text("\n".join(["id,ok,subject", *lines]), encoding="utf-8")
    result = tr.compare_files(paths, roles=tr.Roles(correct="ok"), by="subject")
    expected = tr.compare_values(*right, names=["a", "b"], by={"subject": subject})
    for one, other in zip(result.slices, expected.slices, strict=True):
        assert one.comparison.difference == other.comparison.difference
        assert (one.slice, one.n, one.adjusted) == (other.slice, other.n, other.adjusted)


def test_files_have_their_groups(write):
    group = np.arange(100) % 7
    paths = []
    for name, right in (("a.csv", A), ("b.csv", B)):
        rows = [f"{at},{ok},{own}" for at, (ok, own) in enumerate(zip(right, group, strict=True))]
        paths.append(write("\n".join(["id,ok,group", *rows]), name))
    result = tr.compare_files(paths, roles=tr.Roles(correct="ok", group="group"))
    expected = tr.compare_values(A, B, groups=group, names=["a", "b"])
    assert result["accuracy"] == expected["accuracy"]
    assert result["accuracy"] != tr.compare_values(A, B, names=["a", "b"])["accuracy"]
