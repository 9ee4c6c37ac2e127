"""Scores of several repetitions: the mean of their measures, never a common ranking."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

import truerisk as tr
from truerisk.errors import InputError
from truerisk.evaluation.refit_scores import RefitScores, Sheet
from truerisk.evaluation.request import Request
from truerisk.intervals.auc import hanley_mcneil_standard_error
from truerisk.intervals.variance_components import METHOD, components, rule_of, share_ends
from truerisk.measures.registry import find_measure
from truerisk.results import has_code
from truerisk.tallies.ranking_weights import ranking_influences

N = 60
TWO, THREE = np.arange(N) % 2, np.arange(N) % 3
ALL = np.arange(N)
REQUEST = Request(random_state=1, probabilities=True, pos_label="1").checked()


def of_two(scores, truth=TWO, *, groups=None, request=REQUEST, rule=METHOD, parts=None):
    parts = [None] * len(scores) if parts is None else parts
    sheets = [
        Sheet(np.arange(len(score)), score, part) for score, part in zip(scores, parts, strict=True)
    ]
    return RefitScores(sheets, truth, ("0", "1"), "1", request, groups, rule)


def of_three(scores):
    sheets = [Sheet(ALL, score) for score in scores]
    return RefitScores(sheets, THREE, ("a", "b", "c"), None, replace(REQUEST, pos_label=None))


def scores_of_two(seed, repetitions):
    rng = np.random.default_rng(seed)
    own = rng.normal(size=N) + TWO
    return [1 / (1 + np.exp(-own - rng.normal(size=N))) for _ in range(repetitions)]


def scores_of_three(seed, repetitions):
    rng = np.random.default_rng(seed)
    raw = np.exp(rng.normal(size=(repetitions, N, 3)) + 1.5 * np.eye(3)[THREE])
    return list(raw / raw.sum(axis=2, keepdims=True))


OF_SCORES = replace(REQUEST, measures=("roc_auc", "log_loss"))


def named(estimates):
    return {one.measure: one for one in estimates}


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("roc_auc", roc_auc_score),
        ("average_precision", average_precision_score),
        ("log_loss", log_loss),
        ("brier_score", brier_score_loss),
    ],
)
def test_the_value_is_the_mean_over_the_sheets(name, scorer):
    scores = scores_of_two(1, 4)
    found = named(of_two(scores).overall())[name]
    assert found.value == pytest.approx(np.mean([scorer(TWO, score) for score in scores]))
    assert found.n == N
    assert found.interval.method == METHOD


def test_scores_of_different_repetitions_are_not_ranked_together():
    scores = scores_of_two(1, 1) * 2
    shifted = [scores[0], 0.2 * scores[1]]  # the same order on another scale
    one, other = (named(of_two(each).overall())["roc_auc"] for each in (scores, shifted))
    assert other.value == pytest.approx(one.value)
    assert other.interval.low == pytest.approx(one.interval.low)


def test_macro_averages_are_the_means_of_the_sheets():
    scores = scores_of_three(2, 3)
    found = named(of_three(scores).overall())
    expected = np.mean([roc_auc_score(THREE, score, multi_class="ovr") for score in scores])
    assert found["roc_auc_macro"].value == pytest.approx(expected)
    losses = [log_loss(THREE, score) for score in scores]
    assert found["log_loss"].value == pytest.approx(np.mean(losses))
    each = of_three(scores).by_class()
    assert list(each) == ["a", "b", "c"]
    expected = np.mean([roc_auc_score(THREE == 1, score[:, 1]) for score in scores])
    assert each["b"]["roc_auc"].value == pytest.approx(expected)


def test_one_sheet_says_what_evaluate_says():
    (score,) = scores_of_two(3, 1)
    found = named(of_two([score]).overall())
    plain = tr.evaluate(TWO, y_score=score, probabilities=True, random_state=1)
    for name, one in found.items():
        assert one.value == pytest.approx(plain[name].value)
        ends = (plain[name].interval.low, plain[name].interval.high)
        assert (one.interval.low, one.interval.high) == pytest.approx(ends), name
        assert one.interval.method.startswith("pooled_")


def test_sheets_that_agree_are_as_one():
    (score,) = scores_of_two(4, 1)
    one, several = (named(of_two([score] * times, rule="agreement").overall()) for times in (1, 3))
    for name in one:
        assert several[name].value == pytest.approx(one[name].value)
        ends = (one[name].interval.low, one[name].interval.high)
        assert (several[name].interval.low, several[name].interval.high) == pytest.approx(ends)


def test_sheets_that_have_nothing_in_common_make_the_interval_longer_by_a_root_of_two():
    rng = np.random.default_rng(0)
    truth = np.arange(2000) % 2
    request = replace(REQUEST, measures=("roc_auc",))
    scores = [rng.random(2000) for _ in range(6)]
    single = [
        named(of_two([score], truth, request=request).overall())["roc_auc"] for score in scores
    ]
    every = of_two(scores, truth, request=request, rule="agreement")
    found = named(every.overall())["roc_auc"].interval
    width = np.mean([one.interval.width for one in single])
    assert found.width / width == pytest.approx(np.sqrt(2), rel=0.02)


def placements(score):
    """Give the share of the other class that each example is on the right side of."""
    above = (score[:, None] > score).astype(float) + 0.5 * (score[:, None] == score)
    return np.where(TWO == 1, above[:, TWO == 0].mean(axis=1), 1 - above[:, TWO == 1].mean(axis=1))


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "brier_score"])
def test_the_interval_is_longer_by_the_share_of_disagreement(name):
    scores = scores_of_two(7, 3)
    of_the_true = [np.where(TWO == 1, score, 1 - score) for score in scores]
    moved = {
        "roc_auc": lambda: [placements(score) for score in scores],
        "log_loss": lambda: [-np.log(p) for p in of_the_true],
        "brier_score": lambda: [(1 - p) ** 2 for p in of_the_true],
    }[name]()
    moved = np.array(moved) - np.mean(moved)
    u = moved.var(axis=0, ddof=1).sum() / (moved**2).mean(axis=0).sum()
    assert 0.1 < u < 0.9
    single = [named(of_two([score]).overall())[name] for score in scores]
    found = named(of_two(scores, rule="agreement").overall())[name]
    for side in ("low", "high"):
        distance = np.mean([getattr(one.interval, side) - one.value for one in single])
        assert getattr(found.interval, side) - found.value == pytest.approx(
            distance * np.sqrt(1 + u)
        )


def test_sheets_of_a_part_of_the_examples_make_it_shorter_by_the_root_of_that_part():
    # Two sheets of one half each: no example is on both, and together they are worth all.
    score = np.tile(scores_of_two(5, 1)[0][:30], 2)
    sheets = [Sheet(ALL[:30], score[:30]), Sheet(ALL[30:], score[30:])]
    found = RefitScores(sheets, TWO, ("0", "1"), "1", REQUEST)
    one = named(of_two([score[:30]], TWO[:30]).overall())["roc_auc"]
    whole = named(found.overall())["roc_auc"]
    assert found.n == N
    assert whole.value - whole.interval.low == pytest.approx(
        (one.value - one.interval.low) / np.sqrt(2)
    )


def test_a_sheet_on_which_a_measure_is_undefined_leaves_it_undefined():
    score = scores_of_two(6, 1)[0]
    sheets = [Sheet(ALL, score), Sheet(ALL[::2], score[::2])]  # the second has negatives only
    found = named(RefitScores(sheets, TWO, ("0", "1"), "1", REQUEST).overall())["roc_auc"]
    assert not found.is_defined
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert found.notes


def test_a_truth_that_only_the_second_sheet_calls_impossible_makes_the_loss_infinite():
    scores = scores_of_two(6, 2)
    scores[1][1] = 0.0  # of a positive
    found = named(of_two(scores).overall())
    assert np.isinf(found["log_loss"].value)
    assert "1 true classes were given the probability 0" in found["log_loss"].notes
    losses = [(score - TWO) ** 2 for score in scores]
    assert found["brier_score"].value == pytest.approx(np.mean(losses))


def test_scores_of_the_second_sheet_that_are_no_probabilities_are_refused():
    scores = scores_of_two(6, 2)
    scores[1][1] = 1.5
    with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
        list(of_two(scores).overall())


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), repetitions=st.integers(1, 4), grouped=st.booleans())
def test_intervals_contain_the_value_and_stay_in_the_range(seed, repetitions, grouped):
    groups = np.arange(N) // 4 if grouped else None
    request = replace(REQUEST, replicates=100)
    judged = of_two(scores_of_two(seed, repetitions), groups=groups, request=request)
    for name, one in named(judged.overall()).items():
        low, high = find_measure(name).measure_range
        assert low <= one.interval.low <= one.value <= one.interval.high <= high, name
        assert one.interval.width > 0


@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_neither_the_order_of_the_sheets_nor_that_of_the_examples_matters(seed):
    rng = np.random.default_rng(seed)
    scores = scores_of_two(seed, 3)
    request = replace(REQUEST, measures=("roc_auc", "log_loss"))
    one = named(of_two(scores, request=request).overall())
    order = rng.permutation(N)
    sheets = [Sheet(order, score[order]) for score in scores[::-1]]
    other = named(RefitScores(sheets, TWO, ("0", "1"), "1", request).overall())
    for name in one:
        assert other[name].value == pytest.approx(one[name].value)
        assert other[name].interval.width == pytest.approx(one[name].interval.width)


PARTS = [np.arange(N) // 2 % 5, np.arange(N) // 4 % 5, np.arange(N) // 6 % 5]


def variance_of(name, influence):
    refits = np.array([part + 5 * at for at, part in enumerate(PARTS)])
    return components(influence, refits), rule_of(name)


def test_the_area_has_the_interval_of_its_placements():
    scores = [(score + TWO) / 2 for score in scores_of_two(7, 3)]
    scores[0][1], scores[1][4] = 0.1, 0.6
    found = named(of_two(scores, parts=PARTS).overall())["roc_auc"]
    placed = np.array([placements(score) for score in scores])
    for own in (TWO == 1, TWO == 0):  # centred at the area, in each class and repetition
        placed[:, own] -= placed[:, own].mean(axis=1, keepdims=True)
    parts, rule = variance_of("roc_auc", 2 * placed)
    variance = parts.variance(rule) * 30 / 29
    assert not found.interval.covers(0.5)
    ends = share_ends(found.value, variance, 30, form="careful", level=0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_a_perfect_ranking_counts_between_the_examples_and_the_pairs(name):
    # nine of the rarer class: between 9 and 81, at 9^1.5 = 27
    truth = (np.arange(N) < 9).astype(int)
    for labels in (truth, 1 - truth):
        found = named(of_two([labels / 2 + 0.25] * 3, labels, parts=PARTS).overall())[name]
        assert found.value == 1
        assert found.interval.low == pytest.approx(0.025 ** (1 / 27))


def test_the_brier_score_has_the_interval_of_its_losses():
    scores = scores_of_two(8, 3)
    found = named(of_two(scores, parts=PARTS).overall())["brier_score"]
    losses = (np.array(scores) - TWO) ** 2
    parts, rule = variance_of("brier_score", losses - losses.mean())
    variance = parts.variance(rule) * N / (N - 1)
    ends = share_ends(losses.mean(), variance, N, form="careful", level=0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_average_precision_has_the_interval_of_its_jackknife():
    scores = scores_of_two(9, 3)
    found = named(of_two(scores, parts=PARTS).overall())["average_precision"]
    step = 1e-6
    influence = []
    for score in scores:
        value = average_precision_score(TWO, score)
        moved = [
            average_precision_score(TWO, score, sample_weight=1 + step * (at == ALL)) - value
            for at in range(N)
        ]
        influence.append(N * np.array(moved) / step)
    parts, rule = variance_of("average_precision", np.array(influence))
    variance = parts.variance(rule) * 30 / 29
    low, high = share_ends(found.value, variance, 30, form="exact", level=0.95)
    # An eighth of a negative at the very top: its weight takes `top` from every precision.
    tops = [
        average_precision_score(TWO, score)
        - average_precision_score(
            np.append(TWO, 0), np.append(score, 99.0), sample_weight=[*np.ones(N), step]
        )
        for score in scores
    ]
    top = np.mean(tops) / step
    deeper = share_ends(found.value, variance + top**2 / 8, 30, form="exact", level=0.95)[0]
    ends = (max(deeper, low - min(top, (found.value - low) / 2)), high)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize("name", ["ks", "best_f1", "breakeven_point", "eleven_point_precision"])
def test_a_point_of_the_curve_has_the_interval_of_one_model_stretched_by_its_components(name):
    scores, parts = scores_of_two(5, 3), [np.arange(N) % 5] * 3
    folds = np.stack([parts[at] + 5 * at for at in range(3)])
    influence = N * np.stack([ranking_influences(one, TWO == 1, None, name) for one in scores])
    of = components(influence, folds)
    stretch = np.sqrt(1 + of.disagreement + 1.5 * max(of.together, 0) / of.independent)
    each = [named(of_two([one]).overall())[name] for one in scores]
    below, above = (
        np.mean([one.value - one.interval.low for one in each]),
        np.mean([one.interval.high - one.value for one in each]),
    )
    joint = named(of_two(scores, parts=parts).overall())[name]
    value = np.mean([one.value for one in each])
    expected = (max(0, value - stretch * below), min(1, value + stretch * above))
    assert (joint.interval.low, joint.interval.high) == pytest.approx(expected)
    assert joint.interval.lengthening == pytest.approx(stretch / np.sqrt(1 + of.disagreement))


def test_an_area_that_may_be_chance_has_twice_the_variance_of_one_model():
    rng = np.random.default_rng(1)
    one = named(of_two([rng.random(N)] * 3, parts=PARTS).overall())["roc_auc"]
    found = one.interval
    assert found.covers(0.5)
    ends = share_ends(one.value, 2 * found.independent, 30, form="careful", level=0.95)
    assert (found.low, found.high) == pytest.approx(ends)


def test_with_few_positives_the_area_varies_as_hanley_and_mcneil_say():
    truth = (np.arange(N) < 8).astype(int)
    score = np.linspace(1, 0, N)
    score[3] = 0.7
    found = named(of_two([score] * 3, truth, request=OF_SCORES).overall())["roc_auc"]
    error = hanley_mcneil_standard_error(found.value, 8, N - 8)
    assert error**2 > 8 / 7 * found.interval.independent
    ends = share_ends(found.value, error**2, 8, form="careful", level=0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx(ends)


def test_the_log_loss_does_not_depend_on_which_label_is_positive():
    scores = scores_of_two(3, 3)
    one = named(of_two(scores, parts=PARTS).overall())["log_loss"].interval
    sheets = [Sheet(ALL, 1 - score, part) for score, part in zip(scores, PARTS, strict=True)]
    request = replace(REQUEST, pos_label="0")
    other = named(RefitScores(sheets, TWO, ("0", "1"), "0", request).overall())["log_loss"].interval
    assert (other.low, other.high) == pytest.approx((one.low, one.high))


def test_a_micro_average_is_as_long_as_the_components_of_its_examples_make_it():
    (score,) = scores_of_three(3, 1)
    alone = named(of_three([score]).overall())["average_precision_micro"].interval
    same = named(of_three([score] * 3).overall())["average_precision_micro"].interval
    assert same.method == "variance_components_binomial_of_examples"
    assert (same.low, same.high) == pytest.approx((alone.low, alone.high))
    scores = of_three([0.8 * score + 0.2 * one for one in scores_of_three(4, 3)])
    interval = named(scores.overall())["average_precision_micro"].interval
    pairs = (THREE[:, None] == np.arange(3)).ravel()
    moved = [
        N
        * ranking_influences(one.score.ravel(), pairs, np.ones(3 * N), "average_precision")
        .reshape(N, 3)
        .sum(axis=1)
        for one in scores.sheets
    ]
    parts = components(np.array(moved), np.repeat(np.arange(3), N).reshape(3, N))
    assert interval.disagreement == pytest.approx(parts.disagreement)
    assert interval.together == pytest.approx(parts.together)
    assert 0 < parts.disagreement < 1


def test_rows_in_groups_have_the_intervals_of_one_model_stretched():
    groups = np.arange(N) // 3
    (score,) = scores_of_two(4, 1)
    for name in ("roc_auc", "log_loss", "average_precision"):
        alone = named(of_two([score], groups=groups).overall())[name].interval
        same = named(of_two([score] * 3, groups=groups).overall())[name].interval
        assert same.method == "cluster_variance_components"
        assert (same.low, same.high) == pytest.approx((alone.low, alone.high))
        differ = named(of_two(scores_of_two(4, 3), groups=groups).overall())[name].interval
        assert differ.disagreement > 0


def test_a_log_loss_that_one_call_could_carry_away_is_marked():
    # 60 examples at a loss of ln 2 or less; the first is right, and wrong would cost 23 or 230.
    rng = np.random.default_rng(6)
    scores = [np.where(TWO == 1, 0.6, 0.4) + rng.uniform(-0.1, 0.1, N) for _ in range(3)]
    marks = {}
    for least in (0.4, 1e-10, 1e-100, 0.0):
        sheets = [np.where(ALL == 0, least, one) for one in scores]
        loss = named(of_two(sheets).overall())["log_loss"]
        marks[least] = has_code(loss.notes, "not_kept_at_this_size")
        with np.errstate(divide="ignore"):
            beyond = loss.value - np.log(least) / N > loss.interval.high
        assert marks[least] == beyond
    assert marks == {0.4: False, 1e-10: True, 1e-100: True, 0.0: True}
