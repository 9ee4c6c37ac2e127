"""Refits gathered: tables, sheets, costs, failures, and the baseline beside them."""

import numpy as np
import pytest

from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.divisions import each_left_out, repeated_folds
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.judging import Costs, Judging, majority_votes
from truerisk.estimation.refits.plans import Draws, Folds, HeldOut, NestedFolds, TrainingSet

EXAMPLES = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
TWICE = Folds(np.array([[0, 1, 0, 1], [0, 0, 1, 1]]))


def answer(predicted, score=None, **more):
    found = {"predicted": np.array(predicted, dtype=np.int32), "seconds": np.array([2.0, 0.01])}
    if score is not None:
        found |= {"score": np.array(score), "probabilities": np.bool_(1)}
    return found | {name: np.array(value) for name, value in more.items()}


def test_what_each_refit_says_goes_to_its_examples():
    # Fold 1 of the first repetition judges examples 0 and 2, of the second 0 and 1.
    judging = Judging(EXAMPLES, TWICE).gather(
        [answer([0, 1]), answer([1, 1]), answer([0, 0]), answer([1, 0])]
    )
    assert judging.called.tolist() == [[0, 1, 1, 1], [0, 0, 1, 0]]
    assert judging.votes.counts.tolist() == [[2, 0], [1, 1], [0, 2], [1, 1]]
    assert judging.tables.tolist() == [
        [[1, 0], [0, 1]],
        [[0, 1], [0, 1]],
        [[2, 0], [0, 0]],
        [[0, 0], [1, 1]],
    ]
    assert judging.sheets == ()


def test_the_scores_of_a_repetition_are_one_sheet():
    scores = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]
    judging = Judging(EXAMPLES, TWICE).gather(answer([0, 0], score) for score in scores)
    assert [sheet.examples.tolist() for sheet in judging.sheets] == [[0, 2, 1, 3], [0, 1, 2, 3]]
    assert [sheet.score.tolist() for sheet in judging.sheets] == [
        [0.1, 0.2, 0.3, 0.4],
        [0.5, 0.6, 0.7, 0.8],
    ]
    assert judging.are_probabilities


def test_where_one_refit_has_no_scores_there_are_none():
    answers = [answer([0, 0], [0.1, 0.2])] * 3 + [answer([0, 0])]
    assert Judging(EXAMPLES, TWICE).gather(answers).sheets == ()


def test_costs_are_those_of_a_model_and_of_a_thousand_examples():
    judging = Judging(EXAMPLES, TWICE).gather([answer([0, 0])] * 4)
    assert judging.costs.to_induce == (2.0,) * 4
    assert judging.costs.to_classify == pytest.approx((5.0,) * 4)  # 0.01 s for two of them
    assert Costs((1.0, 3.0), (0.5, 0.5)).seconds == (2.0, 0.5)


def test_a_failing_fold_is_named():
    failed = {"failed": np.array("ValueError: singular")}
    judging = Judging(EXAMPLES, TWICE).gather([answer([0, 0]), failed, answer([0, 0]), failed])
    with pytest.raises(RefitError) as caught:
        judging.refuse_failures(allowed=False)
    assert str(caught.value) == (
        "`model` must be trained and judge in every refit; it failed in 2 of 4: fold 2 of "
        "repetition 1: ValueError: singular; fold 2 of repetition 2: ValueError: singular. Mend "
        "the model, or leave them out (allow_failed=True, --allow-failed)."
    )
    assert isinstance(caught.value, InputError)
    judging.refuse_failures(allowed=True)
    assert judging.notes() == [
        "fold 2 of repetition 1 failed and is left out: ValueError: singular",
        "fold 2 of repetition 2 failed and is left out: ValueError: singular",
    ]
    assert judging.called.tolist() == [[0, -1, 0, -1], [0, 0, -1, -1]]


def test_not_all_refits_may_fail():
    judging = Judging(EXAMPLES, TWICE).gather([{"failed": np.array("OSError: gone")}] * 4)
    with pytest.raises(RefitError, match="failed in 4 of 4"):
        judging.refuse_failures(allowed=True)


def test_only_three_failures_are_quoted():
    examples = Examples.of(np.zeros((6, 1)), [0, 1] * 3)
    judging = Judging(examples, each_left_out(6)).gather([{"failed": np.array("E: e")}] * 6)
    with pytest.raises(RefitError) as caught:
        judging.refuse_failures(allowed=False)
    assert str(caught.value).count("E: e") == 3


def test_warnings_are_counted_and_told_once():
    answers = [answer([0, 0], warned="UserWarning: slow")] * 3 + [answer([0, 0])]
    assert Judging(EXAMPLES, TWICE).gather(answers).notes() == [
        "3 of 4 refits warned, the first of them fold 1 of repetition 1: UserWarning: slow"
    ]


def test_a_bootstrap_refit_votes_on_what_it_did_not_draw():
    plan = Draws(4, 10, 5)
    judging = Judging(EXAMPLES, plan).gather([answer([0, 1, 1, 0])] * 10)
    left_out = np.zeros(4, dtype=int)
    for at in range(10):
        left_out += ~np.isin(np.arange(4), plan.train_and_test(at)[0])
    assert judging.votes.counts.sum(axis=1).tolist() == left_out.tolist()
    assert judging.correction.judged.tolist() == left_out.tolist()
    assert judging.tables.sum() == left_out.sum()
    assert judging.called is None


def test_refits_that_serve_an_interval_only_have_no_vote():
    plan = NestedFolds(np.array([[0, 1, 2, 0]]))
    judging = Judging(EXAMPLES, plan).gather(
        answer(np.zeros(len(plan.train_and_test(at)[1]), dtype=int)) for at in range(len(plan))
    )
    assert judging.votes.counts.tolist() == [[1, 0]] * 4
    # Row k has the losses of the models that lack fold k: examples 2 and 3 are called wrong.
    assert judging.nested.shape == (1, 3, 4)
    assert judging.nested[0].tolist() == [[False, False, True, True]] * 3


def test_the_baseline_answers_with_the_commonest_class_of_what_it_was_trained_on():
    examples = Examples.of(np.zeros((5, 1)), [0, 0, 0, 1, 1])
    held = HeldOut(np.array([[True, True, False, False, False]]))
    assert majority_votes(examples, held).counts.tolist() == [[0, 1]] * 2 + [[0, 0]] * 3
    assert majority_votes(examples, TrainingSet(5)).counts.tolist() == [[1, 0]] * 5


def test_the_baseline_is_judged_as_often_as_the_model():
    y = np.arange(20) % 4 % 3
    examples = Examples.of(np.zeros((20, 1)), y, groups=np.arange(20) // 2)
    plan = repeated_folds(examples.codes, 4, 3, np.random.default_rng(0), groups=examples.groups)
    votes = majority_votes(examples, plan)
    assert votes.counts.tolist() == [[3, 0, 0]] * 20
    assert (votes.sheets == 0).all()
