import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import (
    Draws,
    Folds,
    HeldOut,
    NestedFolds,
    TrainingSet,
    each_left_out,
    repeated_folds,
)
from truerisk.estimation.refits.votes import CollectedVotes, Costs, RefitValues, majority_votes

EXAMPLES = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
TWICE = Folds(np.array([[0, 1, 0, 1], [0, 0, 1, 1]]))


def answer(predicted, score=None, **more):
    found = {"predicted": np.array(predicted, dtype=np.int32), "seconds": np.array([2.0, 0.01])}
    if score is not None:
        found |= {"score": np.array(score), "probabilities": np.bool_(1)}
    return found | {name: np.array(value) for name, value in more.items()}


def test_what_each_refit_says_goes_to_its_examples():
    # Fold 1 of the first repetition judges examples 0 and 2, of the second 0 and 1.
    collected = CollectedVotes(EXAMPLES, TWICE).gather(
        [answer([0, 1]), answer([1, 1]), answer([0, 0]), answer([1, 0])]
    )
    assert collected.called.tolist() == [[0, 1, 1, 1], [0, 0, 1, 0]]
    assert collected.votes.refits.tolist() == [[0, 1, 0, 1], [2, 2, 3, 3]]
    assert collected.tables.tolist() == [
        [[1, 0], [0, 1]],
        [[0, 1], [0, 1]],
        [[2, 0], [0, 0]],
        [[0, 0], [1, 1]],
    ]
    assert collected.sheets == ()


def test_the_scores_of_a_repetition_are_one_sheet():
    scores = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]
    collected = CollectedVotes(EXAMPLES, TWICE).gather(answer([0, 0], score) for score in scores)
    assert [sheet.examples.tolist() for sheet in collected.sheets] == [[0, 2, 1, 3], [0, 1, 2, 3]]
    assert [sheet.score.tolist() for sheet in collected.sheets] == [
        [0.1, 0.2, 0.3, 0.4],
        [0.5, 0.6, 0.7, 0.8],
    ]
    assert collected.are_probabilities


def test_where_one_refit_has_no_scores_there_are_none():
    answers = [answer([0, 0], [0.1, 0.2])] * 3 + [answer([0, 0])]
    assert CollectedVotes(EXAMPLES, TWICE).gather(answers).sheets == ()


def test_costs_are_those_of_a_model_and_of_a_thousand_examples():
    collected = CollectedVotes(EXAMPLES, TWICE).gather([answer([0, 0])] * 4)
    assert collected.costs.to_induce == (2.0,) * 4
    assert collected.costs.to_classify == pytest.approx((5.0,) * 4)  # 0.01 s for two of them
    assert Costs((1.0, 3.0), (0.5, 0.5)).seconds == (2.0, 0.5)


def test_a_failing_fold_is_named():
    failed = {"failed": np.array("ValueError: singular")}
    collected = CollectedVotes(EXAMPLES, TWICE).gather(
        [answer([0, 0]), failed, answer([0, 0]), failed]
    )
    with pytest.raises(RefitError) as caught:
        collected.refuse_failures(allowed=False)
    assert str(caught.value) == (
        "`model` must be trained and judge in every refit; it failed in 2 of 4: fold 2 of "
        "repetition 1: ValueError: singular; fold 2 of repetition 2: ValueError: singular. Mend "
        "the model, or leave them out (allow_failed=True, --allow-failed)."
    )
    assert isinstance(caught.value, InputError)
    collected.refuse_failures(allowed=True)
    assert list(collected.notes()) == [
        "fold 2 of repetition 1 failed and is left out: ValueError: singular",
        "fold 2 of repetition 2 failed and is left out: ValueError: singular",
    ]
    assert collected.called.tolist() == [[0, -1, 0, -1], [0, 0, -1, -1]]


def test_not_all_refits_may_fail():
    collected = CollectedVotes(EXAMPLES, TWICE).gather([{"failed": np.array("OSError: gone")}] * 4)
    with pytest.raises(RefitError, match="failed in 4 of 4"):
        collected.refuse_failures(allowed=True)


def test_only_three_failures_are_quoted():
    examples = Examples.of(np.zeros((6, 1)), [0, 1] * 3)
    collected = CollectedVotes(examples, each_left_out(6)).gather(
        [{"failed": np.array("E: e")}] * 6
    )
    with pytest.raises(RefitError) as caught:
        collected.refuse_failures(allowed=False)
    assert str(caught.value).count("E: e") == 3


def test_warnings_are_counted_and_told_once():
    answers = [answer([0, 0], warned=["UserWarning: slow"])] * 3 + [answer([0, 0])]
    assert list(CollectedVotes(EXAMPLES, TWICE).gather(answers).notes()) == [
        "3 of 4 refits warned, the first of them fold 1 of repetition 1: UserWarning: slow"
    ]


def test_a_bootstrap_refit_votes_on_what_it_did_not_draw():
    plan = Draws(4, 10, 5)
    collected = CollectedVotes(EXAMPLES, plan).gather([answer([0, 1, 1, 0])] * 10)
    left_out = np.zeros(4, dtype=int)
    for at in range(10):
        left_out += ~np.isin(np.arange(4), plan.train_and_test(at)[0])
    assert (collected.votes.called >= 0).sum(axis=0).tolist() == left_out.tolist()
    assert collected.correction.judged.tolist() == left_out.tolist()
    assert collected.tables.sum() == left_out.sum()
    assert collected.called is None


def test_refits_that_serve_an_interval_only_have_no_vote():
    plan = NestedFolds(np.array([[0, 1, 2, 0]]))
    collected = CollectedVotes(EXAMPLES, plan).gather(
        answer(np.zeros(len(plan.train_and_test(at)[1]), dtype=int)) for at in range(len(plan))
    )
    assert collected.votes.called.tolist() == [[0] * 4]
    # Row k has the losses of the models that lack fold k: examples 2 and 3 are called wrong.
    assert collected.nested.shape == (1, 3, 4)
    assert collected.nested[0].tolist() == [[False, False, True, True]] * 3


def test_the_baseline_answers_with_the_commonest_class_of_what_it_was_trained_on():
    examples = Examples.of(np.zeros((5, 1)), [0, 0, 0, 1, 1])
    held = HeldOut(np.array([[True, True, False, False, False]]))
    assert majority_votes(examples, held).called.tolist() == [[1, 1, -1, -1, -1]]
    assert majority_votes(examples, TrainingSet(5)).called.tolist() == [[0] * 5]


def test_the_baseline_is_judged_as_often_as_the_model():
    y = np.arange(20) % 4 % 3
    examples = Examples.of(np.zeros((20, 1)), y, groups=np.arange(20) // 2)
    plan = repeated_folds(examples.codes, 4, 3, np.random.default_rng(0), groups=examples.groups)
    votes = majority_votes(examples, plan)
    assert votes.called.tolist() == [[0] * 20] * 3


N = 45
PARTS = np.stack([np.random.default_rng(at).permutation(N) % 3 for at in range(2)])
TWO = np.random.default_rng(2).integers(2, size=N)
THREE = np.random.default_rng(3).permutation(N) % 3


def judged(y, pos_label=None, *, scored=False):
    rng = np.random.default_rng(5)
    examples = Examples.of(np.zeros((N, 1)), y, pos_label=pos_label)
    plan, k = Folds(PARTS), len(examples.labels)
    answers = []
    for at in range(len(plan)):
        test = plan.train_and_test(at)[1]
        guess = np.where(rng.random(len(test)) < 0.4, rng.integers(k, size=len(test)), 0)
        predicted = np.where(guess, guess, examples.codes[test]).astype(np.int32)
        found = {"predicted": predicted, "seconds": np.zeros(2)}
        if scored:
            score = 0.3 * examples.codes[test] + rng.random(len(test))
            found |= {"score": score, "probabilities": np.bool_(0)}
        answers.append(found)
    collected = CollectedVotes(examples, plan).gather(answers)
    refits = [
        (examples.codes[plan.train_and_test(at)[1]], one["predicted"], one.get("score"))
        for at, one in enumerate(answers)
    ]
    return RefitValues(collected), refits


@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f1", "cohen_kappa"])
def test_measures_of_two_classes(name, pos_label):
    scorer = {
        "accuracy": lambda y, p, _: accuracy_score(y, p),
        "precision": lambda y, p, at: precision_score(y, p, pos_label=at),
        "recall": lambda y, p, at: recall_score(y, p, pos_label=at),
        "f1": lambda y, p, at: f1_score(y, p, pos_label=at),
        "cohen_kappa": lambda y, p, _: cohen_kappa_score(y, p),
    }[name]
    values, refits = judged(np.array(["no", "yes"])[TWO], pos_label)
    at = ["no", "yes"].index(pos_label)
    assert values.of(name) == pytest.approx([scorer(y, p, at) for y, p, _ in refits])


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_averages_over_three_classes(average):
    values, refits = judged(THREE)
    expected = [f1_score(y, p, average=average) for y, p, _ in refits]
    assert values.of(f"f1_{average}") == pytest.approx(expected)


def test_measures_of_all_classes_at_once():
    values, refits = judged(THREE)
    for name, scorer in (
        ("balanced_accuracy", balanced_accuracy_score),
        ("matthews_correlation", matthews_corrcoef),
    ):
        assert values.of(name) == pytest.approx([scorer(y, p) for y, p, _ in refits])


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_rankings_are_of_the_positive_label_wherever_it_stands(pos_label):
    values, refits = judged(np.repeat(["no", "yes"], [25, 20]), pos_label, scored=True)
    sign = 1 if pos_label == "yes" else -1
    is_positive = [(y == 1) if pos_label == "yes" else (y == 0) for y, *_ in refits]
    for name, scorer in (
        ("roc_auc", roc_auc_score),
        ("average_precision", average_precision_score),
    ):
        expected = [
            scorer(right, sign * score)
            for right, (*_, score) in zip(is_positive, refits, strict=True)
        ]
        assert values.of(name) == pytest.approx(expected)


def test_without_scores_nothing_is_ranked():
    values, _ = judged(np.arange(N) % 2)
    assert values.of("roc_auc") == ()
    assert values.of("log_loss") == ()
    assert values.of("roc_auc_macro") == ()


def test_a_refit_in_which_a_measure_is_undefined_has_no_value():
    examples = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
    answers = [
        {"predicted": np.array(p, dtype=np.int32), "seconds": np.zeros(2)} for p in ((0, 0),) * 2
    ]
    collected = CollectedVotes(examples, Folds(np.array([[0, 0, 1, 1]]))).gather(answers)
    recalls = RefitValues(collected).of("recall")
    assert np.isnan(recalls[0])
    assert recalls[1] == 0.0


def test_a_refit_that_failed_has_no_value():
    examples = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
    right = {"predicted": np.array([0, 1], dtype=np.int32), "seconds": np.zeros(2)}
    collected = CollectedVotes(examples, Folds(np.array([[0, 1, 0, 1]])))
    collected.gather([{"failed": np.array("E: e")}, right])
    assert RefitValues(collected).of("accuracy") == (1.0,)
