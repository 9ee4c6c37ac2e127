import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.auc import delong_interval
from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.intervals.group_jackknife import group_jackknife
from truerisk.results import has_code
from truerisk.tallies.group_values import ratio_values
from truerisk.tallies.ranking import rank

GROUP_RNG = np.random.default_rng(4)
GROUPS = np.arange(200) // 5
HARD = GROUP_RNG.normal(size=40)[GROUPS]
POSITIVE = GROUP_RNG.random(200) < 0.4
CHANCE = 1 / (1 + np.exp(-(3 * POSITIVE - 1.5 + HARD + GROUP_RNG.normal(size=200))))
PRED = CHANCE > 0.5
CLASS_OF_ROW = GROUP_RNG.integers(0, 3, 200)
CHANCES = GROUP_RNG.dirichlet([1, 1, 1], 200) * 0.6 + 0.4 * np.eye(3)[CLASS_OF_ROW]
WEIGHT = GROUP_RNG.uniform(0.5, 2.0, 200)
SETS = GROUP_RNG.random((200, 3)) < 0.4
CALLED = SETS ^ (GROUP_RNG.random((200, 3)) < 0.15)

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3 == 0
SCORE = Y + RNG.normal(size=60)
CLASSES = np.arange(90) % 3
TABLE = np.eye(3)[CLASSES] + RNG.normal(size=(90, 3))


def ends(estimate):
    return estimate.interval.low, estimate.interval.high


def test_the_area_has_delongs_interval():
    found = tr.evaluate(Y, y_score=SCORE, random_state=1)["roc_auc"]
    ranking = rank(SCORE, Y)
    # Student's t of 19 degrees of freedom, 2.093024, for the normal's 1.959964: 20 positives.
    widened = ranking.delong_variance * (2.093024054408263 / 1.959963984540054) ** 2
    expected = delong_interval(ranking.auc, widened, 20, 40)
    assert ends(found) == pytest.approx((expected.low, expected.high))
    assert found.interval.method == "delong_logit"


def test_a_perfect_area_of_groups_counts_the_groups_that_hold_a_class():
    # 12 positives in 3 groups, 40 negatives in 10 others: as 3 of 3.
    truth, groups = np.arange(52) < 12, np.arange(52) // 4
    found = tr.evaluate(truth, y_score=truth * 1.0, groups=groups, random_state=1)["roc_auc"]
    assert ends(found) == pytest.approx(ends_of(binomial_interval(3, 3)), rel=1e-12)
    assert found.interval.method == "binomial_of_groups"


def ends_of(interval):
    return interval.low, interval.high


def test_an_interpolated_breakeven_says_so():
    tied = tr.evaluate([1, 1, 0, 0], y_score=[3, 2, 2, 2], random_state=1)["breakeven_point"]
    assert tied.notes == (
        "interpolated: precision 1.000 and recall 0.500 are as near as any threshold brings them",
    )
    assert tr.evaluate(Y, y_score=SCORE, random_state=1)["breakeven_point"].notes == ()


def test_averages_over_classes_are_those_of_the_classes():
    evaluation = tr.evaluate(CLASSES, y_score=TABLE, random_state=1)
    each = [evaluation.by_class[str(k)]["roc_auc"] for k in range(3)]
    macro = evaluation["roc_auc_macro"]
    assert macro.value == pytest.approx(np.mean([one.value for one in each]))
    # No wider than if all classes erred together, no narrower than a single class over √3.
    widths = [one.interval.width for one in each]
    assert min(widths) / np.sqrt(3) * 0.9 < macro.interval.width <= np.mean(widths) + 1e-12


def test_micro_averages_count_examples_and_not_pairs():
    evaluation = tr.evaluate(CLASSES, y_score=TABLE, random_state=1)
    micro = evaluation["roc_auc_micro"]
    assert ends(micro) == pytest.approx(ends_of(fractional_interval(micro.value * 90, 90)))
    assert micro.interval.method == "binomial_of_examples"


def test_only_the_micro_average_asked_for_is_there():
    names = ("roc_auc_micro",)
    assert list(tr.evaluate(CLASSES, y_score=TABLE, measures=names, random_state=1)) == [*names]


def test_ranks_of_which_one_example_outweighs_all_have_an_interval():
    # Worth one example: no resample of one has both classes.
    found = tr.evaluate(
        [1, 0, 1, 0], y_score=[0.9, 0.1, 0.3, 0.6], sample_weight=[1, 1, 1e9, 1], random_state=1
    )
    for name in ("ks", "average_precision"):
        assert found[name].interval.covers(found[name].value)
        assert found[name].interval.width > 0.9


@pytest.mark.parametrize(("share", "size"), [(0.9, 50), (0.05, None)])
def test_micro_averages_of_sets_count_examples_or_fewer_positives(share, size):
    rng = np.random.default_rng(3)
    sets = rng.random((50, 4)) < share
    micro = tr.evaluate(
        sets, y_score=sets + rng.normal(size=(50, 4)), multilabel=True, random_state=1
    )["average_precision_micro"]
    size = size or int(sets.sum())
    assert ends(micro) == pytest.approx(ends_of(fractional_interval(micro.value * size, size)))


def test_the_average_of_nearly_perfect_classes_stays_in_range():
    score = np.eye(3)[CLASSES] + 0.4 * RNG.normal(size=(90, 3))
    macro = tr.evaluate(CLASSES, y_score=score, random_state=1)["average_precision_macro"]
    assert 0.9 < macro.value < 1
    assert macro.interval.high <= 1


SOURCE = np.random.default_rng(0)
TRUTH = np.arange(90) % 3
PROBABILITIES = np.eye(3)[TRUTH] + SOURCE.normal(size=(90, 3))


def test_weights_reach_the_average_over_documents():
    heavy = np.where(TRUTH == 0, 5.0, 1.0)
    plain = tr.evaluate(TRUTH, y_score=PROBABILITIES, random_state=1)["eleven_point_documents"]
    weighted = tr.evaluate(TRUTH, y_score=PROBABILITIES, sample_weight=heavy, random_state=1)
    copied = np.repeat(np.arange(90), heavy.astype(int))
    expected = tr.evaluate(TRUTH[copied], y_score=PROBABILITIES[copied], random_state=1)
    found = weighted["eleven_point_documents"]
    assert found.value == pytest.approx(expected["eleven_point_documents"].value, rel=1e-12)
    assert found.value != pytest.approx(plain.value, rel=1e-6)
    assert found.interval.width > expected["eleven_point_documents"].interval.width


def test_an_impossible_class_makes_the_log_loss_infinite_and_says_so():
    found = tr.evaluate([1, 0], y_score=[0.0, 0.25], probabilities=True, random_state=1)["log_loss"]
    assert found.value == np.inf
    assert ends(found) == (0, np.inf)
    assert "1 true classes were given the probability 0" in found.notes


def test_the_brier_score_of_two_classes_ends_at_one_and_that_of_more_at_two():
    two = tr.evaluate([1, 0], y_score=[0.5, 0.75], probabilities=True)
    assert two["brier_score"].interval.high == 1
    wrong = np.eye(3)[[1, 2, 0]] * 0.9 + 0.1 / 3
    several = tr.evaluate([0, 1, 2], y_score=wrong, probabilities=True)
    assert several["brier_score"].value > 1
    assert several["brier_score"].interval.high == 2
    assert several["log_loss"].interval.high < np.inf


def every_estimate(evaluation):
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()


def evaluations(**options):
    yield tr.evaluate(
        POSITIVE, PRED, y_score=CHANCE, probabilities=True, costs={"fp": 1, "fn": 3}, **options
    )
    yield tr.evaluate(
        CLASS_OF_ROW, CHANCES.argmax(1), y_score=CHANCES, probabilities=True, **options
    )
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
    there = tr.evaluate(POSITIVE, PRED, y_score=CHANCE, groups=GROUPS, probabilities=True)
    here = tr.evaluate(
        POSITIVE[order],
        PRED[order],
        y_score=CHANCE[order],
        groups=names[GROUPS][order],
        probabilities=True,
    )
    for name in there:
        assert there[name].interval == here[name].interval, name


def test_groups_of_one_row_each_are_rows():
    options = {"y_score": CHANCE, "probabilities": True, "random_state": 1}
    alone = tr.evaluate(POSITIVE, PRED, **options)
    single = tr.evaluate(POSITIVE, PRED, groups=GROUP_RNG.permutation(200), **options)
    assert dict(alone) == dict(single)
    scores = [
        tr.evaluate(CLASS_OF_ROW, y_score=CHANCES, groups=g, random_state=1)
        for g in (None, range(200))
    ]
    assert dict(scores[0]) == dict(scores[1])


def test_a_recall_is_about_the_groups_that_hold_positives():
    truth = POSITIVE & (GROUPS < 10)
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
    for arguments in ({"y_pred": PRED}, {"y_score": CHANCE}):
        with pytest.raises(InputError, match=r"`groups` must name 2 groups at least; got 1\."):
            tr.evaluate(POSITIVE, **arguments, groups=np.zeros(200, int))


@pytest.mark.parametrize("option", [{"binomial": "wilson"}, {"cell_interval": "bca"}])
def test_an_interval_that_does_not_know_of_groups_is_refused(option):
    with pytest.raises(InputError, match=f"`{next(iter(option))}` must be left out with groups"):
        tr.evaluate(POSITIVE, PRED, groups=GROUPS, **option)


def test_two_groups_leave_everything_open():
    found = tr.evaluate(POSITIVE, PRED, y_score=CHANCE, groups=np.arange(200) % 2)
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
    notes = tr.evaluate(POSITIVE, y_score=CHANCE, groups=groups).notes
    for code in ("few_groups", "unequal_groups"):
        assert has_code(notes, code) == (code in codes), code
    assert has_code(notes, "grouped")


@pytest.mark.parametrize(("size", "promised"), [(3, True), (5, False)])
def test_losses_and_precisions_of_few_groups_make_no_promise(size, promised):
    found = tr.evaluate(POSITIVE, y_score=CHANCE, groups=np.arange(200) // size, probabilities=True)
    for name in ("log_loss", "brier_score", "average_precision", "eleven_point_precision"):
        assert has_code(found[name].notes, "not_kept_at_this_size") != promised, name
    assert not has_code(found["roc_auc"].notes, "not_kept_at_this_size")


def test_an_infinite_loss_leaves_its_range_open():
    score = np.where(np.arange(200) == np.argmax(POSITIVE), 0.0, CHANCE)
    found = tr.evaluate(POSITIVE, y_score=score, groups=GROUPS, probabilities=True)
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
