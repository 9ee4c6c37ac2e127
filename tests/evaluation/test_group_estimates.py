import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.group_jackknife import group_jackknife
from truerisk.results import has_code
from truerisk.tallies.group_values import ratio_values

RNG = np.random.default_rng(4)
GROUPS = np.arange(200) // 5
HARD = RNG.normal(size=40)[GROUPS]
Y = RNG.random(200) < 0.4
SCORE = 1 / (1 + np.exp(-(3 * Y - 1.5 + HARD + RNG.normal(size=200))))
PRED = SCORE > 0.5
CLASSES = RNG.integers(0, 3, 200)
TABLE = RNG.dirichlet([1, 1, 1], 200) * 0.6 + 0.4 * np.eye(3)[CLASSES]
WEIGHT = RNG.uniform(0.5, 2.0, 200)
SETS = RNG.random((200, 3)) < 0.4
CALLED = SETS ^ (RNG.random((200, 3)) < 0.15)


def every_estimate(evaluation):
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()


def evaluations(**options):
    yield tr.evaluate(
        Y, PRED, y_score=SCORE, probabilities=True, costs={"fp": 1, "fn": 3}, **options
    )
    yield tr.evaluate(CLASSES, TABLE.argmax(1), y_score=TABLE, probabilities=True, **options)
    yield tr.evaluate(SETS, CALLED, multilabel=True, **options)


def test_every_measure_of_rows_in_groups_has_the_jackknife():
    for evaluation in evaluations(groups=GROUPS):
        for estimate in every_estimate(evaluation):
            assert estimate.interval.method == "group_jackknife", estimate.measure
            assert estimate.interval.covers(estimate.value), estimate.measure
            assert estimate.interval.width > 0, estimate.measure


def test_every_measure_of_weighted_rows_in_groups_has_the_jackknife():
    for evaluation in evaluations(groups=GROUPS, sample_weight=WEIGHT):
        for estimate in every_estimate(evaluation):
            assert estimate.interval.method == "group_jackknife", estimate.measure


def test_the_scale_of_the_weights_changes_nothing():
    one, other = (
        list(evaluations(groups=GROUPS, sample_weight=times * WEIGHT)) for times in (1.0, 1000.0)
    )
    for first, second in zip(one, other, strict=True):
        for name in first:
            ends = [(e[name].interval.low, e[name].interval.high) for e in (first, second)]
            assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_and_names_of_the_groups_change_nothing(seed):
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(200), rng.permutation(40)
    there = tr.evaluate(Y, PRED, y_score=SCORE, groups=GROUPS, probabilities=True)
    here = tr.evaluate(
        Y[order], PRED[order], y_score=SCORE[order], groups=names[GROUPS][order], probabilities=True
    )
    for name in there:
        assert there[name].interval == here[name].interval, name


def test_groups_of_one_row_each_are_rows():
    options = {"y_score": SCORE, "probabilities": True, "random_state": 1}
    alone = tr.evaluate(Y, PRED, **options)
    single = tr.evaluate(Y, PRED, groups=RNG.permutation(200), **options)
    assert dict(alone) == dict(single)
    scores = [
        tr.evaluate(CLASSES, y_score=TABLE, groups=g, random_state=1) for g in (None, range(200))
    ]
    assert dict(scores[0]) == dict(scores[1])


def test_a_recall_is_about_the_groups_that_hold_positives():
    truth = Y & (GROUPS < 10)
    found = tr.evaluate(truth, PRED, groups=GROUPS, pos_label=True)["recall"]
    tops, bottoms = (
        np.bincount(GROUPS, weights=part.astype(float)) for part in (truth & PRED, truth)
    )
    expected = group_jackknife(ratio_values(tops, bottoms))
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert np.count_nonzero(bottoms) <= 10


def test_a_perfect_model_of_a_class_in_few_groups_is_not_sure_of_it():
    # 30 groups, a rare class in four of them: all right says little of the rare class.
    truth, groups = np.arange(300) % 75 == 0, np.arange(300) // 10
    found = tr.evaluate(truth, truth, groups=groups)
    assert found["balanced_accuracy"].interval.low < 0.75
    assert found["accuracy"].interval.low > 0.85


def test_one_group_is_refused():
    for arguments in ({"y_pred": PRED}, {"y_score": SCORE}):
        with pytest.raises(InputError, match=r"`groups` must name 2 groups at least; got 1\."):
            tr.evaluate(Y, **arguments, groups=np.zeros(200, int))


@pytest.mark.parametrize("option", [{"binomial": "wilson"}, {"cell_interval": "bca"}])
def test_an_interval_that_does_not_know_of_groups_is_refused(option):
    with pytest.raises(InputError, match=f"`{next(iter(option))}` must be left out with groups"):
        tr.evaluate(Y, PRED, groups=GROUPS, **option)


def test_two_groups_leave_everything_open():
    found = tr.evaluate(Y, PRED, y_score=SCORE, groups=np.arange(200) % 2)
    assert has_code(found.notes, "two_groups")
    for estimate in found.values():
        assert estimate.interval.method == "whole_range", estimate.measure


@pytest.mark.parametrize(
    ("groups", "codes"),
    [
        (np.arange(200) // 5, set()),
        (np.arange(200) // 20, {"few_groups"}),
        (np.where(np.arange(200) < 80, 0, np.arange(200) // 5), {"unequal_groups"}),
    ],
    ids=["many", "few", "unequal"],
)
def test_few_and_unequal_groups_are_named(groups, codes):
    notes = tr.evaluate(Y, y_score=SCORE, groups=groups).notes
    for code in ("few_groups", "unequal_groups"):
        assert has_code(notes, code) == (code in codes), code
    assert has_code(notes, "grouped")


@pytest.mark.parametrize(("size", "promised"), [(3, True), (5, False)])
def test_losses_and_precisions_of_few_groups_make_no_promise(size, promised):
    found = tr.evaluate(Y, y_score=SCORE, groups=np.arange(200) // size, probabilities=True)
    for name in ("log_loss", "brier_score", "average_precision", "eleven_point_precision"):
        assert has_code(found[name].notes, "not_kept_at_this_size") != promised, name
    assert not has_code(found["roc_auc"].notes, "not_kept_at_this_size")


def test_an_infinite_loss_leaves_its_range_open():
    score = np.where(np.arange(200) == np.argmax(Y), 0.0, SCORE)
    found = tr.evaluate(Y, y_score=score, groups=GROUPS, probabilities=True)
    assert found["log_loss"].interval.method == "whole_range"
    assert found["brier_score"].interval.method == "group_jackknife"


def test_good_models_of_few_groups_are_covered():
    # Eight groups of five, a good model: half a group of smoothing per cell would move the centre.
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(120):
        truth = rng.random(40) < 0.5
        called = truth ^ (rng.random(40) < 0.02)
        if truth.all() or not truth.any() or called.all() or not called.any():
            continue
        found = tr.evaluate(
            truth, called, groups=np.arange(40) // 5, measures=("matthews_correlation", "youden")
        )
        hits.append([one.interval.covers(0.96) for one in found.values()])
    assert np.mean(hits, axis=0).min() > 0.9
