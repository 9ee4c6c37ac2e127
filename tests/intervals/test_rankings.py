import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import truerisk as tr
from truerisk.intervals.distributions import score_ends, two_sided_t
from truerisk.intervals.rankings import (
    RANKINGS,
    precision_bias,
    ranking_interval,
    shortfalls,
)
from truerisk.measures.registry import find_measure
from truerisk.results import has_code
from truerisk.tallies.ranking import precision_spread, rank

REFERENCE = Path(__file__).parents[1] / "reference" / "holdout.json"
VECTORS = [
    pytest.param(one, id=one["id"])
    for one in json.loads(REFERENCE.read_text())["vectors"]
    if one["method"] == "ranking"
]
RNG = np.random.default_rng(0)


def ends(interval):
    return interval.low, interval.high


def ranked(positives, negatives, weight=None):
    places = np.arange(len(positives))[::-1]
    score = np.concatenate([np.repeat(places, positives), np.repeat(places, negatives)])
    truth = np.arange(len(score)) < sum(positives)
    weights = None if weight is None else np.full(len(score), weight)
    return rank(score.astype(float), truth, weights)


def interval_of(name, ranking, level=0.95):
    return ranking_interval(name, float(find_measure(name).value(ranking)), ranking, level=level)


@pytest.mark.parametrize("vector", VECTORS)
def test_the_intervals_are_those_of_the_reference(vector):
    given_, expected = vector["inputs"], vector["expected"]
    ranking = ranked(given_["positives"], given_["negatives"])
    found = interval_of(given_["measure"], ranking, given_["level"])
    assert ends(found) == pytest.approx(tuple(expected["interval"]), rel=1e-9)


def test_average_precision_worked_by_hand():
    # Ranks + − + −: AP 5/6.  V and δ as in `precision_spread`; two positives, two negatives.
    ranking = ranked([1, 0, 1, 0], [0, 1, 0, 1])
    variance, top = 7 / 216, 11 / 18
    assert ranking.summary.precision_spread == pytest.approx((variance, top))
    t = math.tan(math.pi / 2 * 0.95)  # one degree of freedom
    inside = (5 / 6 * 2 + 0.5) / 3
    size = inside * (1 - inside) / (variance + top**2 / 8)
    low = score_ends(5 / 6, max(size, 1.0), t)[0]
    found = interval_of("average_precision", ranking)
    assert found.low == pytest.approx(low)
    plain = score_ends(5 / 6, max(inside * (1 - inside) / variance, 1.0), t)
    assert found.high == pytest.approx(plain[1])
    assert found.low >= plain[0] - top


def test_the_variance_is_that_of_the_influence_function():
    # Leaving one row out moves AP as its influence says, for many rows.
    truth = RNG.random(400) < 0.4
    score = RNG.normal(size=400) + truth
    whole = rank(score, truth).summary
    left_out = [
        rank(np.delete(score, at), np.delete(truth, at)).summary.average_precision
        for at in range(400)
    ]
    jackknife = 399 / 400 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2)
    assert whole.precision_spread[0] == pytest.approx(jackknife, rel=0.03)


def test_the_curve_that_is_kept_of_many_rows_has_the_variance_of_all():
    truth = RNG.random(120_000) < 0.1
    score = RNG.normal(size=120_000) + 1.5 * truth
    order = np.argsort(-score)
    exact = precision_spread(truth[order].astype(int), (~truth[order]).astype(int))
    ranking = rank(score, truth)
    assert not ranking.complete
    assert ranking.summary.precision_spread == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(("positives", "distance"), [(6, 0.5), (12, 1.0), (30, 0.2)])
def test_the_average_precision_of_small_samples_is_too_high_by_its_bias(positives, distance):
    rng = np.random.default_rng(positives)

    def drawn(times, runs):
        n = 8 * positives * times
        is_positive = np.arange(n) < positives * times
        for _ in range(runs):
            yield rank(rng.normal(size=n) + distance * is_positive, is_positive)

    small, large = list(drawn(1, 400)), list(drawn(200, 20))
    mean, limit = (
        np.mean([one.summary.average_precision for one in many]) for many in (small, large)
    )
    bias = np.mean([precision_bias(one) for one in small])
    assert bias == pytest.approx(mean - limit, rel=0.35)


def test_averages_that_bias_and_noise_rule_promise_nothing():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 10, size=60)
    names = ["average_precision_macro", "eleven_point_precision_micro"]

    def notes(distance):
        score = rng.normal(size=(60, 10)) + distance * np.eye(10)[truth]
        labels = [str(at) for at in range(10)]
        evaluation = tr.evaluate(truth, y_score=score, labels=labels, measures=names)
        return [has_code(evaluation[name].notes, "not_kept_at_this_size") for name in names]

    assert notes(0.1) == [True, True]
    assert notes(3.0) == [False, False]


def test_best_f1_worked_by_hand():
    # Three positives above all, one below five negatives: best at tp = 3, fp = 0, J = 3/4.
    ranking = ranked([3, 0, 1], [0, 5, 0])
    value = 6 / 7
    t = two_sided_t(3, 0.95)
    error = 2 / (7 / 4) ** 2 * math.sqrt(3 / 16 / 4)
    moved = value - error / 2
    first, second = (score_ends(one / (2 - one), 4, t) for one in (value, moved))
    low, high = (2 * end / (1 + end) for end in (second[0], first[1]))
    assert ends(interval_of("best_f1", ranking)) == pytest.approx((low, high))


def test_ks_worked_by_hand():
    # Recall 4/5 and false positive rate 1/10 at the best threshold: D = .7.
    ranking = ranked([4, 0, 1], [1, 9, 0])
    recall, rate = 4.5 / 6, 1.5 / 11
    variance = recall * (1 - recall) / 5 + rate * (1 - rate) / 10
    t = stats.t.isf(0.025, 4)
    ends_ = []
    for value in (0.7, 0.7 - math.sqrt(variance) / 2):
        half = (1 + value) / 2
        low, high = score_ends(half, half * (1 - half) / (variance / 4), t)
        ends_.append((2 * low - 1, 2 * high - 1))
    expected = max(min(low for low, _ in ends_), 0), max(high for _, high in ends_)
    assert ends(interval_of("ks", ranking)) == pytest.approx(expected)


def test_a_distance_that_chance_would_reach_does_not_exclude_zero():
    # Eight of 100 positives above all else: D = .08 of standard error .029, but .08 √50 = .57 is
    # far under Smirnov's √(−ln(.05)/2) = 1.22: the threshold was chosen among many.
    assert interval_of("ks", ranked([8, 92], [0, 100])).low == 0
    # Thirty of them: .3 √50 = 2.1.
    assert interval_of("ks", ranked([30, 70], [0, 100])).low > 0.15


def test_breakeven_worked_by_hand():
    # Four positives, at ranks 1, 2, 3 and 6 of 10: three of the first four are positive, B = ¾.
    ranking = ranked([1, 1, 1, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 1, 1, 1, 1])
    assert find_measure("breakeven_point").value(ranking) == 0.75
    inside = 3.5 / 5
    rate = (1 - inside) * 4 / 6
    local = (3 + 1) / (5 + 2)  # ranks 2 to 6 hold three positives, one more of each
    variance = (1 - local) ** 2 * inside * (1 - inside) / 4
    variance += local**2 * (6 / 4) ** 2 * rate * (1 - rate) / 6
    variance += local**2 * (1 - inside) ** 2 * (1 / 4 + 1 / 6)
    size = inside * (1 - inside) / max(variance, inside * (1 - inside) / 5 / 4)
    expected = score_ends(0.75, max(size, 1.0), two_sided_t(3, 0.95))
    assert ends(interval_of("breakeven_point", ranking)) == pytest.approx(expected)


CURVES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12).filter(
    lambda pairs: sum(a for a, _ in pairs) > 0 and sum(z for _, z in pairs) > 0
)


@settings(max_examples=100, deadline=None)
@given(CURVES)
def test_every_interval_lies_in_range_holds_its_value_and_grows_with_the_level(pairs):
    positives, negatives = zip(*pairs, strict=True)
    ranking, heavy = ranked(positives, negatives), ranked(positives, negatives, weight=4.0)
    for name in RANKINGS:
        value = float(find_measure(name).value(ranking))
        narrow, wide = interval_of(name, ranking, 0.9), interval_of(name, ranking, 0.99)
        assert 0 <= wide.low <= narrow.low <= value <= narrow.high <= wide.high <= 1, name
        assert ends(interval_of(name, heavy, 0.9)) == pytest.approx(ends(narrow), abs=1e-9), name


def test_one_class_alone_says_nothing():
    found = tr.evaluate([1, 1, 1], [1, 1, 1], y_score=[0.1, 0.4, 0.5])
    for name in ("average_precision", "best_f1", "breakeven_point", "eleven_point_precision"):
        assert ends(found[name].interval) == (0, 1), name


def test_nothing_is_drawn():
    truth = np.arange(60) % 3 == 0
    score = truth + RNG.normal(size=60)
    first, second = (tr.evaluate(truth, y_score=score, random_state=seed) for seed in (1, 2))
    for name, (_, method) in RANKINGS.items():
        assert first[name].interval == second[name].interval, name
        assert first[name].interval.method == method


def test_weights_that_differ_widen():
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 3 == 0
    weight = np.where(np.arange(90) % 2, 9.0, 1.0)
    samples = [truth + rng.normal(size=90) for _ in range(20)]
    plain, weighted = ([rank(one, truth, w) for one in samples] for w in (None, weight))
    for name in RANKINGS:
        narrow, wide = (
            np.mean([interval_of(name, one).width for one in side]) for side in (plain, weighted)
        )
        assert wide > 1.1 * narrow, name


def test_the_best_f1_of_few_positives_keeps_no_promise():
    few, enough = ranked([2, 2, 0], [0, 3, 9]), ranked([2, 3, 0], [0, 3, 9])
    assert has_code(shortfalls("best_f1", few), "not_kept_at_this_size")
    assert shortfalls("best_f1", enough) == ()
    assert has_code(shortfalls("eleven_point_precision", enough), "target_at_this_size")
