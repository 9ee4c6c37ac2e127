from dataclasses import replace

import numpy as np
import pytest

import truerisk as tr
from truerisk.reporting.next_steps.steps import next_steps
from truerisk.results import Comparison, Estimate, Interval


def estimate(value, interval=None, measure="error_rate"):
    return Estimate(value=value, interval=interval, measure=measure, method="counts", n=100)


def compared(finding, *, measure="error_rate", region=None, settled_by=None):
    ends = Interval(-0.02, 0.01, 0.95, "tango")
    return Comparison(
        names=("old", "new"),
        first=estimate(0.16, measure=measure),
        second=estimate(0.15, measure=measure),
        difference=estimate(-0.01, ends, measure),
        p_value=0.2,
        method="mcnemar_mid_p",
        finding=finding,
        verdict="",
        region=region,
        settled_by=settled_by,
    )


@pytest.mark.parametrize(
    ("one", "starts"),
    [
        (compared("better"), ["Take new rather than old"]),
        (compared("worse"), ["Take old rather than new"]),
        (compared("equivalent", region=0.02), ["Choose old or new by what else counts"]),
        (
            compared("no evidence", settled_by=900),
            ["Collect about 800 more examples: 900 in all", "Say which difference of Error rate"],
        ),
        (compared("no evidence", settled_by=900, region=0.01), ["Collect about 800 more examples"]),
        (compared("no evidence"), ["Say which difference of Error rate"]),
        (compared("no evidence", region=0.01), ["Stay with the cheaper of old and new"]),
    ],
)
def test_each_finding_has_its_steps(one, starts):
    steps = next_steps(one)
    assert len(steps) == len(starts)
    assert all(step.startswith(start) for step, start in zip(steps, starts, strict=True))


def test_the_command_is_that_of_the_comparison():
    learners = next_steps(compared("no evidence", settled_by=900))
    assert "`truerisk estimate --against …` again" in learners[0]
    assert "`truerisk estimate --against … --region`" in learners[1]
    features = replace(
        compared("no evidence", settled_by=900), names=("without age", "all columns")
    )
    assert "`truerisk perturb --without … --region`" in next_steps(features)[1]


def test_a_small_difference_is_not_told_as_none():
    one = compared("no evidence")
    ends = Interval(-0.0004, 0.0009, 0.95, "tango")
    [step] = next_steps(replace(one, difference=estimate(0.0003, ends)))
    assert "0.0003 [-0.0004, 0.0009] is seen" in step


def test_a_difference_without_a_value_asks_for_another_measure():
    one = compared("no evidence")
    undefined = replace(one, difference=replace(one.difference, value=float("nan")))
    [step] = next_steps(undefined)
    assert step.startswith("Compare by another measure: Error rate has no value for both on these")


def test_measures_that_disagree_are_to_be_decided_between():
    comparisons = {
        "error_rate": compared("better"),
        "recall": compared("worse", measure="recall"),
        "f1": compared("better", measure="f1"),
    }
    [step] = next_steps(tr.ModelComparisons(comparisons=comparisons))
    assert step.startswith(
        "Decide which measure counts before choosing: new is better than old by Error rate "
        "(-0.010 [-0.020, 0.010]) but worse by Recall:"
    )
    agreeing = {name: one for name, one in comparisons.items() if name != "recall"}
    [step] = next_steps(tr.ModelComparisons(comparisons=agreeing))
    assert step.startswith("Take new rather than old")


def test_predictions_of_two_models_are_told_as_their_verdict_is():
    truth = [0, 1] * 100
    [step] = next_steps(tr.compare(truth, [0] * 200, truth, measures=["error_rate"]))
    assert step.startswith("Take second rather than first, if this measure decides (Error rate of ")
    assert "second 0.000, of first 0.500" in step
    result = tr.compare(truth, [*truth[:-1], 0], truth, measures=["error_rate"])
    assert result["error_rate"].settled_by is not None
    assert f"{result['error_rate'].settled_by:,} in all" in next_steps(result)[0]


def test_the_best_of_several_is_judged_without_its_luck():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 100)
    models = [np.where(rng.random(100) < 0.2, 1 - truth, truth) for _ in range(3)]
    steps = next_steps(tr.compare(truth, *models, measures=["error_rate"]))
    assert steps[-1].startswith("Judge ")
    assert "it looks best of 3 here" in steps[-1]
    assert steps[0].startswith("Collect about ")


def test_data_sets_are_asked_for_where_the_best_is_open():
    scores = [[0.8, 0.9], [0.7, 0.9], [0.6, 0.5], [0.7, 0.8]]
    found = tr.compare_over_datasets(scores, names=["a", "b"])
    first, second = next_steps(found)
    assert first.startswith("Try them on more data sets: about 25 in all, 4 now, would tell b from")
    assert any("About 25 data sets" in sentence for sentence in found.verdict)
    assert second.startswith("Say which difference matters: 1 of 1 pairs are open")


def test_the_equivalent_are_chosen_between_by_what_else_counts():
    rng = np.random.default_rng(0)
    base = rng.random((12, 1)) * 0.1
    scores = np.add(base, [0.2, 0.8, 0.8]) + rng.normal(0, 0.001, (12, 3))
    found = tr.compare_over_datasets(scores, names=["a", "b", "c"], region=0.01)
    assert any(sentence.startswith("Equivalent within") for sentence in found.verdict)
    [step] = next_steps(found)
    assert step.startswith(f"Choose between {found.in_order[0]} and {found.in_order[1]} by what")


def test_data_sets_out_of_reach_are_not_asked_for():
    rng = np.random.default_rng(3)
    scores = rng.random((20, 1)) * 0.1 + 0.8 + rng.normal(0, 0.004, (20, 2))
    scores[:, 1] += scores[:, 0].mean() - scores[:, 1].mean() + 1e-5
    steps = next_steps(tr.compare_over_datasets(scores, names=["a", "b"]))
    assert steps
    assert not any(step.startswith("Try them on more data sets") for step in steps)


def test_the_one_that_wins_over_all_is_preferred():
    rng = np.random.default_rng(0)
    scores = rng.random((12, 3)) * 0.1 + [0.2, 0.5, 0.8]
    [step] = next_steps(tr.compare_over_datasets(scores, names=["a", "b", "c"]))
    assert step.startswith("Prefer c on data sets like these 12")
    errors = tr.compare_over_datasets(scores, names=["a", "b", "c"], higher_is_better=False)
    assert next_steps(errors)[0].startswith("Prefer a ")
