"""Which examples are trained on and which are judged, by plans and by the names of methods."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneOut, TimeSeriesSplit

from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import (
    METHODS,
    NAMED,
    Design,
    Draws,
    Folds,
    HeldOut,
    NestedFolds,
    TrainingSet,
    design_of,
    each_left_out,
    find_method,
    forward_blocks,
    random_divisions,
    repeated_folds,
)

Y = np.repeat([0, 1, 2], [20, 12, 8])


EXAMPLES = Examples.of(np.zeros((60, 1)), np.arange(60) % 2)
GROUPED = Examples.of(np.zeros((60, 1)), np.arange(60) % 2, groups=np.arange(60) // 4)


def rng(seed=0):
    return np.random.default_rng(seed)


def plan_of(name, examples=EXAMPLES, **design):
    method = METHODS[name]
    settings = Design(**{"repeats": method.repeats} | design)
    return method.plan(examples, settings, np.random.default_rng(1))


def plans():
    return {
        "folds": repeated_folds(Y, 4, 3, rng()),
        "grouped folds": repeated_folds(Y, 4, 2, rng(), groups=np.arange(40) % 9),
        "halves": plan_of("five_by_two", Examples.of(np.zeros((40, 1)), Y)),
        "leave-one-out": each_left_out(40),
        "divisions": random_divisions(Y, 0.3, 5, rng()),
        "grouped divisions": random_divisions(Y, 0.3, 5, rng(), groups=np.arange(40) % 9),
        "forward": forward_blocks(40, 4),
        "nested": NestedFolds(repeated_folds(Y, 4, 2, rng()).parts),
    }


@pytest.fixture(params=sorted(plans()))
def plan(request):
    return plans()[request.param]


def test_no_refit_judges_what_it_trained_on(plan):
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        assert len(train) > 0
        assert len(test) > 0
        assert not set(train) & set(test)


def test_no_repetition_judges_an_example_twice(plan):
    judged = {}
    for at in range(len(plan)):
        if plan.auxiliary(at):
            continue
        judged.setdefault(plan.repetition(at), []).extend(plan.train_and_test(at)[1])
    assert max(judged) < plan.repetitions
    for examples in judged.values():
        assert len(examples) == len(set(examples))


def test_every_refit_has_a_name_of_its_own(plan):
    assert len({plan.name(at) for at in range(len(plan))}) == len(plan)


def test_a_plan_says_the_same_after_it_was_sent_to_a_worker(plan):
    sent = pickle.loads(pickle.dumps(plan))  # noqa: S301  (made in the line itself)
    for at in range(len(plan)):
        for one, other in zip(plan.train_and_test(at), sent.train_and_test(at), strict=True):
            assert np.array_equal(one, other)


def test_names_are_as_people_count():
    assert Folds(np.array([[0, 1]])).name(1) == "fold 2"
    assert Folds(np.array([[0, 1], [1, 0]])).name(3) == "fold 2 of repetition 2"
    assert HeldOut(np.array([[True, False]])).name(0) == "the hold-out"
    assert HeldOut(np.array([[True, False]] * 2)).name(1) == "division 2"
    assert forward_blocks(6, 2).name(1) == "division 2"
    assert Draws(3, 10, 1).name(0) == "bootstrap sample 1"


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(5, 30), min_size=2, max_size=4),
    folds=st.integers(2, 5),
    seed=st.integers(0, 1000),
)
def test_folds_are_of_one_size_and_so_are_the_classes_in_them(sizes, folds, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    plan = repeated_folds(y, folds, 2, rng(seed))
    assert len(plan) == 2 * folds
    for parts in plan.parts:
        assert np.ptp(np.bincount(parts, minlength=folds)) <= 1
        for label in range(len(sizes)):
            assert np.ptp(np.bincount(parts[y == label], minlength=folds)) <= 1


def test_repetitions_differ_and_a_seed_gives_them_again():
    one, again, other = (repeated_folds(Y, 4, 2, rng(seed)).parts for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one[0], one[1])


@settings(max_examples=30)
@given(
    groups=st.lists(st.integers(0, 9), min_size=12, max_size=60),
    folds=st.integers(2, 5),
    stratified=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_groups_stay_together_and_fill_every_fold(groups, folds, stratified, seed):
    numbers = np.unique(groups, return_inverse=True)[1]
    y = np.unique(rng(seed).integers(3, size=len(groups)), return_inverse=True)[1]
    if numbers.max() + 1 < folds:
        with pytest.raises(InputError, match=r"must not exceed the \d groups"):
            repeated_folds(y, folds, 1, rng(), groups=numbers)
        return
    parts = repeated_folds(y, folds, 1, rng(seed), stratified=stratified, groups=numbers).parts[0]
    assert set(parts) == set(range(folds))
    for group in range(numbers.max() + 1):
        assert len(set(parts[numbers == group])) == 1


def test_groups_of_one_are_stratified_as_examples_are():
    y = np.repeat([0, 1], [30, 10])
    parts = repeated_folds(y, 5, 1, rng(), groups=np.arange(40)).parts[0]
    assert np.bincount(parts[y == 1]).tolist() == [2] * 5
    assert np.bincount(parts).tolist() == [8] * 5


def test_one_huge_group_has_a_fold_of_its_own():
    groups = np.r_[np.zeros(80, dtype=int), np.arange(1, 21)]
    parts = repeated_folds(np.arange(100) % 2, 5, 1, rng(), groups=groups).parts[0]
    assert set(parts[:80]).isdisjoint(parts[80:])


def test_halves_are_five_times_two():
    plan = plan_of("five_by_two", Examples.of(np.zeros((40, 1)), Y))
    assert (len(plan), plan.repetitions, plan.folds) == (10, 5, 2)
    for row in plan.parts:
        assert np.bincount(Y[row == 0]).tolist() == [10, 6, 4]


def test_leave_one_out_is_that_of_scikit_learn():
    plan = each_left_out(7)
    for at, (train, test) in enumerate(LeaveOneOut().split(np.zeros((7, 1)))):
        assert [one.tolist() for one in plan.train_and_test(at)] == [train.tolist(), test.tolist()]


@pytest.mark.parametrize(("n", "folds"), [(12, 3), (40, 4), (11, 10)])
def test_blocks_forward_in_time_are_those_of_scikit_learn(n, folds):
    plan = forward_blocks(n, folds)
    expected = list(TimeSeriesSplit(folds).split(np.zeros((n, 1))))
    assert len(plan) == folds
    for at, (train, test) in enumerate(expected):
        assert [one.tolist() for one in plan.train_and_test(at)] == [train.tolist(), test.tolist()]


@given(n=st.integers(3, 200), folds=st.integers(1, 20))
def test_blocks_are_in_order_and_of_about_one_size(n, folds):
    if folds + 1 > n:
        with pytest.raises(InputError, match="`folds` must be less than"):
            forward_blocks(n, folds)
        return
    plan = forward_blocks(n, folds)
    sizes = plan.judged.sum(axis=1)
    assert np.ptp([*sizes, n - sizes.sum()]) <= 1
    assert plan.repetitions == 1
    for at in range(folds):
        train, test = plan.train_and_test(at)
        assert train.max() < test.min()


@pytest.mark.parametrize("stratified", [True, False])
def test_a_division_holds_out_the_share_asked_for(stratified):
    plan = random_divisions(Y, 0.25, 8, rng(), stratified=stratified)
    assert plan.judged.sum(axis=1).tolist() == [10] * 8
    assert len({row.tobytes() for row in plan.judged}) == 8


def test_a_stratified_division_holds_out_of_every_class_its_share():
    for row in random_divisions(Y, 0.25, 20, rng()).judged:
        held = np.bincount(Y[row], minlength=3)
        assert (np.abs(held - np.array([5, 3, 2])) < 1).all()


def test_a_division_of_groups_keeps_them_together():
    groups = np.arange(40) % 9
    for row in random_divisions(Y, 0.3, 10, rng(), groups=groups).judged:
        assert set(groups[row]).isdisjoint(groups[~row])
        assert len(set(groups[row])) == 3


@pytest.mark.parametrize("share", [0.0, 1.0, 0.001])
def test_a_division_must_have_two_sides(share):
    with pytest.raises(InputError, match="`test_size` must leave something on both sides"):
        random_divisions(Y, share, 1, rng())


def test_a_bootstrap_sample_has_n_examples_drawn_with_replacement():
    plan = Draws(1000, 20, 7)
    train, test = plan.train_and_test(3)
    assert (len(train), test.tolist()) == (1000, list(range(1000)))
    left_out = [1000 - len(set(plan.train_and_test(at)[0])) for at in range(20)]
    assert np.mean(left_out) == pytest.approx(1000 * np.exp(-1), abs=12)  # standard error 2.2
    assert np.array_equal(train, Draws(1000, 20, 7).train_and_test(3)[0])
    assert not np.array_equal(train, plan.train_and_test(4)[0])


@settings(max_examples=50)
@given(y=st.lists(st.integers(0, 3), min_size=1, max_size=40), seed=st.integers(0, 1000))
def test_a_stratified_bootstrap_sample_has_as_many_of_each_class(y, seed):
    codes = np.unique(y, return_inverse=True)[1]
    plan = Draws(len(y), 3, seed, codes)
    for at in range(3):
        train, test = plan.train_and_test(at)
        assert np.array_equal(np.bincount(codes[train]), np.bincount(codes))
        assert test.tolist() == list(range(len(y)))


def test_within_its_class_each_example_is_drawn_as_often_as_another():
    codes = np.array([0, 1, 1, 0, 1, 0, 0, 1])  # four of each: every example once on average
    plan = Draws(8, 2000, 3, codes)
    drawn = np.bincount(np.concatenate([plan.train_and_test(at)[0] for at in range(2000)]))
    assert drawn / 2000 == pytest.approx(1.0, abs=0.08)  # standard error .019
    rare = Draws(3, 5, 1, np.array([0, 1, 0]))
    assert all(1 in rare.train_and_test(at)[0] for at in range(5))  # the only one of its class


def test_the_training_set_judges_itself():
    train, test = TrainingSet(4).train_and_test(0)
    assert train.tolist() == test.tolist() == [0, 1, 2, 3]
    assert (len(TrainingSet(4)), TrainingSet(4).repetitions) == (1, 1)
    assert TrainingSet(4).name(0) == "the training on all examples"


def test_nested_folds_leave_out_every_fold_and_every_pair():
    plan = NestedFolds(repeated_folds(Y, 4, 2, rng()).parts)
    runs = [plan.left_out(at) for at in range(len(plan))]
    assert len(set(runs)) == 2 * (4 + 6)
    for at, (repetition, run) in enumerate(runs):
        assert set(plan.parts[repetition][plan.train_and_test(at)[1]]) == set(run)
        assert plan.auxiliary(at) == (len(run) == 2)


@pytest.mark.parametrize(
    ("name", "design", "refits"),
    [
        ("cross_validation", {}, 50),
        ("cross_validation", {"folds": 3, "repeats": 2}, 6),
        ("holdout", {}, 1),
        ("subsampling", {}, 15),
        ("five_by_two", {}, 10),
        ("leave_one_out", {}, 60),
        ("time_ordered", {"folds": 4}, 4),
        ("bootstrap", {}, 200),
        ("stratified_bootstrap", {}, 200),
        ("nested_cross_validation", {"folds": 4, "repeats": 3}, 30),
        ("training_error", {}, 1),
    ],
)
def test_a_method_makes_so_many_refits(name, design, refits):
    assert len(plan_of(name, **design)) == refits


def test_every_method_says_what_it_is_called_and_what_to_think_of_it():
    for name, method in METHODS.items():
        assert method.name == name
        assert method.title
        assert method.remark
        assert set(method.uses) <= {"folds", "repeats", "test_size", "stratified"}


@pytest.mark.parametrize("name", sorted(name for name in NAMED if METHODS[name].grouped))
def test_a_method_that_knows_groups_keeps_them_together(name):
    plan = plan_of(name, GROUPED)
    if name == "training_error":
        return
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        assert set(GROUPED.groups[train]).isdisjoint(GROUPED.groups[test])


@pytest.mark.parametrize("name", sorted(name for name, one in METHODS.items() if not one.grouped))
def test_a_method_that_does_not_know_groups_refuses_them(name):
    assert find_method(name, EXAMPLES).name == name
    with pytest.raises(InputError, match="`method` must keep groups together, and"):
        find_method(name, GROUPED)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be one of cross_validation, "):
        find_method("crossvalidation", EXAMPLES)


def test_a_bootstrap_has_ten_refits_at_least():
    with pytest.raises(InputError, match="`repeats` must lie in"):
        plan_of("bootstrap", repeats=9)


def test_the_holdout_has_the_size_asked_for():
    assert plan_of("holdout").judged.sum() == 20
    assert plan_of("holdout", test_size=0.5).judged.sum() == 30


def test_what_is_absent_is_left_to_the_method():
    design = design_of(METHODS["subsampling"], {"test_size": 0.2})
    assert (design.folds, design.repeats, design.test_size, design.stratified) == (
        10,
        15,
        0.2,
        True,
    )
