import numpy as np
import pytest

import truerisk as tr
from truerisk.intervals.auc import delong_interval
from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.tallies.ranking import rank

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
