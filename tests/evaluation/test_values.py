import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.differences import fisher_mid_p, mover_p_value
from truerisk.intervals.distributions import student_cdf
from truerisk.intervals.group_jackknife import difference_spread, group_jackknife
from truerisk.intervals.multiplicity import holm
from truerisk.tallies.group_values import effective_groups, ratio_values
from truerisk.tallies.question_values import pass_at_k


def test_right_and_wrong_have_the_exact_binomial_interval():
    estimate = tr.evaluate_values([True] * 8 + [False] * 2)["accuracy"]
    assert estimate.value == 0.8
    assert estimate.interval == tr.binomial_interval(8, 10)


def test_scores_have_an_interval_in_their_range():
    evaluation = tr.evaluate_values([1, 5, 10, 7] * 5, value_range=(1, 10))
    estimate = evaluation["mean_value"]
    assert estimate.value == 5.75
    assert 1 <= estimate.interval.low < 5.75 < estimate.interval.high <= 10
    assert evaluation.settings["value_range"] == (1.0, 10.0)


def test_several_samples_of_a_question_are_one_unit():
    # Question a: 2 of 3 right, b: 0 of 1.
    evaluation = tr.evaluate_values([1, 1, 0, 0], questions=["a", "a", "a", "b"])
    assert evaluation["accuracy"].value == pytest.approx(1 / 3)
    assert (evaluation.n, evaluation["accuracy"].interval.method) == (2, "betting")
    assert "4 samples of 2 questions" in evaluation.notes[0]


@pytest.mark.parametrize(("n", "c", "k"), [(4, 1, 2), (5, 2, 3), (3, 0, 2), (3, 3, 1), (6, 5, 4)])
def test_pass_at_k_is_the_share_of_draws_with_a_right_sample(n, c, k):
    draws = list(combinations([1] * c + [0] * (n - c), k))
    expected = sum(map(any, draws)) / len(draws)
    assert pass_at_k(np.array([c]), np.array([n]), k)[0] == pytest.approx(expected)


def test_pass_at_k_counts_each_question_once():
    evaluation = tr.evaluate_values(
        [1, 0, 0, 0, 1, 1, 1, 1], questions=[1, 1, 1, 1, 2, 2, 2, 2], pass_at=2
    )
    assert evaluation["mean_value"].value == pytest.approx((0.5 + 1) / 2)


def test_groups_are_the_units():
    values, groups = [1, 1, 0, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 2, 2, 3]
    expected = group_jackknife(ratio_values(np.array([2, 1, 1, 1.0]), np.array([2, 3, 2, 1.0])))
    evaluation = tr.evaluate_values(values, groups=groups)
    assert evaluation["accuracy"].interval == expected
    assert "4 groups, not 8 questions" in evaluation.notes[0]


REFUSED = {
    "a score without a range": ({"values": [0, 0.5]}, "must be 0 or 1, wrong or right; got 0.5"),
    "out of the range": ({"values": [0, 2], "value_range": (0, 1)}, r"must lie in \[0, 1\]; got 2"),
    "not a number": ({"values": [0, np.nan], "value_range": (0, 1)}, "got nan"),
    "texts": ({"values": ["a"]}, "`values` must be numbers"),
    "no range": ({"values": [0, 1], "value_range": (1, 1)}, "`value_range` must be the smallest"),
    "none": ({"values": np.zeros(0)}, "at least one"),
    "pass@k of scores": (
        {"values": [0.5], "value_range": (0, 1), "pass_at": 1, "questions": [1]},
        "right or wrong",
    ),
    "pass@k without questions": ({"values": [1, 0], "pass_at": 2}, "no questions"),
    "too few samples": (
        {"values": [1, 0, 1], "questions": [1, 1, 2], "pass_at": 2},
        "a question with 1",
    ),
    "one group": ({"values": [1, 0], "groups": [1, 1]}, "2 groups at least"),
    "a question in two groups": (
        {"values": [1, 0, 1], "questions": [1, 1, 2], "groups": [1, 2, 1]},
        "each question in one group",
    ),
    "another interval": ({"values": [1], "interval": "t"}, "`interval` must be one of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(case):
    arguments, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        tr.evaluate_values(**arguments)


@pytest.fixture
def log(tmp_path):
    def log(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return log


CSV = "id,topic,ok,mark\n1,a,1,7\n2,b,0,3\n3,a,1,9\n4,b,1,5\n"
NESTED = "".join(
    f'{{"id": {at}, "doc": {{"topic": "{s}"}}, "metrics": {{"ok": {ok}, "mark": {mark}}}}}\n'
    for at, s, ok, mark in [(1, "a", "true", 7), (2, "b", "false", 3), (3, "a", "true", 9),
                            (4, "b", "true", 5)]
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "before"), [("a.csv", CSV, ""), ("a.jsonl", NESTED, "metrics.")]
)
def test_files_give_what_arrays_give(log, name, text, before):
    path = log(name, text)
    right = tr.evaluate_files(path, roles=tr.Roles(correct=f"{before}ok"))
    assert right["accuracy"] == tr.evaluate_values([1, 0, 1, 1])["accuracy"]
    roles = tr.Roles(value=f"{before}mark", value_range=(0, 10))
    marks = tr.evaluate_files(path, roles=roles)
    expected = tr.evaluate_values([7, 3, 9, 5], value_range=(0, 10))
    assert marks["mean_value"] == expected["mean_value"]


def test_a_frame_gives_what_a_file_gives():

    frame = pl.DataFrame({"ok": [True, False, True, True]})
    evaluation = tr.evaluate_frame(frame, roles=tr.Roles(correct="ok"))
    assert evaluation["accuracy"] == tr.evaluate_values([1, 0, 1, 1])["accuracy"]


def test_dotted_names_reach_groups_and_missing_ones_are_named(log):
    path = log("a.jsonl", NESTED)
    roles = tr.Roles(correct="metrics.ok", group="doc.topic")
    assert "2 groups" in tr.evaluate_files(path, roles=roles).notes[0]
    with pytest.raises(InputError, match=r"Did you mean 'metrics.ok'"):
        tr.evaluate_files(path, roles=tr.Roles(correct="metrics.okk"))


def test_rows_are_chosen_by_where(log):
    path = log("a.csv", CSV)
    roles = tr.Roles(correct="ok")
    chosen = tr.evaluate_files(path, roles=roles, options=tr.ReadingOptions(where={"topic": "a"}))
    assert (chosen.n, chosen["accuracy"].value) == (2, 1.0)
    with pytest.raises(InputError, match="in which 'topic' is 'c'; there is none"):
        tr.evaluate_files(path, roles=roles, options=tr.ReadingOptions(where={"topic": "c"}))
    with pytest.raises(InputError, match=r"`where` must name a column; got 'topi'. Did you mean"):
        tr.evaluate_files(path, roles=roles, options=tr.ReadingOptions(where={"topi": "c"}))


@pytest.mark.parametrize(
    ("roles", "settings", "message"),
    [
        ({"correct": "mark"}, {}, "column of 0 and 1, or of true and false; 'mark' has '7'"),
        ({"value": "mark"}, {}, r"must lie in \[0, 1\]; got 7"),
        ({"correct": "ok", "truth": "mark"}, {}, "`correct` must be given without truth"),
        ({"correct": "ok", "value": "mark"}, {}, "without another column of values; got value"),
        ({"correct": "ok"}, {"threshold": 0.5}, "`threshold` must be left out"),
        ({"correct": "ok"}, {"measures": ["f1"]}, "`measures` must be accuracy of these rows"),
    ],
)
def test_files_are_refused_in_words(log, roles, settings, message):
    path = log("a.csv", CSV)
    with pytest.raises(InputError, match=message):
        tr.evaluate_files(path, roles=tr.Roles(**roles), **settings)


SUBJECT = np.repeat(["algebra", "law", "physics"], [200, 150, 250])
RIGHT = (np.random.default_rng(3).random(600) < np.where(SUBJECT == "law", 0.5, 0.8)).astype(int)


def test_a_slice_of_answers_is_the_evaluation_of_them_and_fishers_test():
    evaluation = tr.evaluate_values(RIGHT, by={"subject": SUBJECT})
    assert list(evaluation.slices) == ["subject=algebra", "subject=law", "subject=physics"]
    raw = {}
    for name, one in evaluation.slices.items():
        inside = name == np.char.add("subject=", SUBJECT)
        alone = tr.evaluate_values(RIGHT[inside])["accuracy"]
        assert one["accuracy"] == alone
        parts = [(int(RIGHT[side].sum()), int(side.sum())) for side in (inside, ~inside)]
        raw[name] = fisher_mid_p(*parts[0], *parts[1])
        test = one.tests["accuracy"]
        assert test.p_value == raw[name]
        assert test.rest.value == pytest.approx(parts[1][0] / parts[1][1])
    adjusted = holm(list(raw.values())).tolist()
    assert [one.tests["accuracy"].adjusted for one in evaluation.slices.values()] == adjusted
    assert evaluation.slices["subject=law"].tests["accuracy"].finding == "worse"
    assert any(
        one.startswith("Sure: accuracy is worse in subject=law") for one in evaluation.verdict
    )
    assert any("20 equal slices of values" in one for one in evaluation.notes)


def test_a_slice_of_scores_is_tested_by_the_intervals_of_both_sides():
    scores = 1 + 9 * RIGHT * np.random.default_rng(4).random(600)
    evaluation = tr.evaluate_values(scores, value_range=(1, 10), by={"subject": SUBJECT})
    law = evaluation.slices["subject=law"]
    inside = SUBJECT == "law"
    both = [tr.evaluate_values(scores[side], value_range=(1, 10)) for side in (inside, ~inside)]
    a, b = (one["mean_value"] for one in both)
    test = law.tests["mean_value"]
    expected = mover_p_value(a.value, a.interval, b.value, b.interval, (150, 450))
    assert test.p_value == expected
    assert test.finding == "worse"
    assert test.difference.interval.high < 0
    flat = tr.evaluate_values(
        np.r_[np.zeros(20), np.tile([0.0, 0.0, 0.0, 1.0], 100)],
        value_range=(0, 1),
        by={"part": np.repeat(["small", "large"], [20, 400])},
    )
    # Twenty zeros are no evidence of a mean of 0, where one value in four is 1.
    assert flat.slices["part=small"].tests["mean_value"].finding == "no evidence"


def test_slices_of_values_in_groups_are_tested_by_the_jackknife():
    groups = np.arange(600) // 4
    evaluation = tr.evaluate_values(RIGHT, groups=groups, by={"subject": SUBJECT})
    inside = SUBJECT == "law"
    without = [
        RIGHT[inside & (groups != one)].mean() - RIGHT[~inside & (groups != one)].mean()
        for one in range(150)
    ]
    apart = RIGHT[inside].mean() - RIGHT[~inside].mean()
    units = min(
        effective_groups(np.unique(groups[side], return_counts=True)[1].astype(float))
        for side in (inside, ~inside)
    )
    error, degrees = difference_spread(apart, np.array(without), units)
    test = evaluation.slices["subject=law"].tests["accuracy"]
    assert test.method == "group_jackknife"
    assert test.p_value == pytest.approx(2 * student_cdf(degrees, -abs(apart) / error))


def test_slices_are_of_questions_not_of_samples():
    questions = np.repeat(np.arange(200), 3)
    subject = np.repeat(SUBJECT[::3], 3)
    evaluation = tr.evaluate_values(RIGHT, questions=questions, by={"subject": subject})
    assert sum(one.n for one in evaluation.slices.values()) == 200
    mixed = subject.copy()
    mixed[0] = "law"
    with pytest.raises(InputError, match="`by` must hold each question in one slice; 'subject'"):
        tr.evaluate_values(RIGHT, questions=questions, by={"subject": mixed})


def test_a_file_of_values_is_sliced_by_its_columns(tmp_path):
    rows = [
        json.dumps({"id": at, "ok": int(right), "doc": {"subject": str(subject)}, "size": at})
        for at, (right, subject) in enumerate(zip(RIGHT, SUBJECT, strict=True))
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    roles = tr.Roles(correct="ok")
    result = tr.evaluate_files(path, roles=roles, by=["doc.subject", "size"], by_pairs=True)
    expected = tr.evaluate_values(RIGHT, by={"doc.subject": SUBJECT})
    law = "doc.subject=law"
    assert result.slices[law]["accuracy"] == expected.slices[law]["accuracy"]
    assert {one.columns for one in result.slices.values()} == {
        ("doc.subject",),
        ("size",),
        ("doc.subject", "size"),
    }
    assert law in result.report().html
