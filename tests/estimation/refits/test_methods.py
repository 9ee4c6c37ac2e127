"""The methods by name: each makes its plan, and refuses what it cannot do."""

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.methods import METHODS, NAMED, Design, design_of, find_method

EXAMPLES = Examples.of(np.zeros((60, 1)), np.arange(60) % 2)
GROUPED = Examples.of(np.zeros((60, 1)), np.arange(60) % 2, groups=np.arange(60) // 4)


def plan_of(name, examples=EXAMPLES, **design):
    method = METHODS[name]
    settings = Design(**{"repeats": method.repeats} | design)
    return method.plan(examples, settings, np.random.default_rng(1))


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
