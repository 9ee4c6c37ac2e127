"""The result of a comparison over data sets: its words, its numbers, and how many more it takes."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import truerisk as tr
from truerisk.comparison.datasets.over_datasets import (
    compare_over_datasets,
    datasets_to_settle,
)
from truerisk.comparison.datasets.rank_tests import signed_rank
from truerisk.errors import InputError

TOGETHER = (
    "The classifiers differ over these 8 data sets (Iman-Davenport F = infinite, p = 3.57e-06)."
)

RISING = [[0.5 + 0.01 * row, 0.6 + 0.02 * row, 0.7 + 0.03 * row] for row in range(8)]


def test_one_order_everywhere_in_words():
    found = compare_over_datasets(RISING, names=["low", "mid", "top"])
    assert found.verdict == (
        TOGETHER,
        "top has the best average rank, 1.00 of 3.",
        "top is better than mid, low (Wilcoxon, Holm).",
        "mid is better than low (Wilcoxon, Holm).",
    )
    assert str(found).startswith("average ranks: top 1.00, mid 2.00, low 3.00 (8 data sets)\nThe")


def test_a_control_in_words():
    found = compare_over_datasets(RISING, names=["low", "mid", "top"], control="mid")
    assert found.verdict[1:] == (
        "The control mid has the average rank 2.00.",
        "mid is better than low (Wilcoxon, Holm).",
        "mid is worse than top (Wilcoxon, Holm).",
        # √(3·4 / (6·8)) = ½: z = ±2, p = .0455; twice that is no finding.
    )
    assert [round(one.z, 9) for one in found.against_control] == [-2, 2]


def test_plain_values_are_json_and_hold_the_verdict():
    found = compare_over_datasets(RISING, names=["<b>", "mid", "top"])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["verdict"] == list(found.verdict)
    assert plain["friedman"]["f"] == "Infinity"
    assert plain["pairs"][0]["finding"] == "better"
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert str(found.pairs[0]).endswith("p = 0.0234 (wilcoxon, holm): better")


def test_how_many_data_sets_would_settle_it():
    test = signed_rank([0.03, -0.01, 0.04, 0.02])
    needed = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) / test.z
    assert datasets_to_settle(test, 4, 0.95) == math.ceil(4 * needed**2)
    assert datasets_to_settle(signed_rank([0.0, 0.0]), 2, 0.95) is None
    clear = signed_rank(np.arange(1, 40))
    assert datasets_to_settle(clear, 39, 0.95) == 40


NAMES = ("a", "b", "c", "d")


def _scores(n, gains, noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.6, 0.9, (n, 1)) + gains + rng.normal(0, noise, (n, len(gains)))


def test_it_puts_the_tests_together():
    scores = _scores(14, [0, 0.01, 0.03, 0.031])
    found = compare_over_datasets(scores, names=NAMES)
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    assert found.friedman.chi2 == pytest.approx(statistic, rel=1e-12)
    assert found.friedman.chi2_p_value == pytest.approx(p_value, rel=1e-9)
    assert [pair.names for pair in found.pairs] == list(combinations(NAMES, 2))
    for pair in found.pairs:
        first, second = (scores[:, NAMES.index(name)] for name in pair.names)
        expected = stats.wilcoxon(second, first, method="exact").pvalue
        assert pair.wilcoxon.p_value == pytest.approx(expected, rel=1e-9)
        assert pair.wins == (second > first).sum()
        assert pair.p_value >= pair.wilcoxon.p_value
    assert min(pair.p_value for pair in found.pairs) == pytest.approx(
        6 * min(pair.wilcoxon.p_value for pair in found.pairs)
    )
    assert found.pair("a", "d").finding == "better"
    assert found.pair("a", "d").difference == pytest.approx(0.031, abs=0.01)
    assert found.against_control == ()
    assert found.n == 14


def test_a_lower_score_may_be_the_better_one():
    errors = 1 - _scores(14, [0, 0.01, 0.05])
    found = compare_over_datasets(errors, names=list("abc"), higher_is_better=False)
    pair = found.pair("a", "c")
    assert (pair.finding, pair.difference < 0) == ("better", True)
    assert pair.wins == 14
    assert pair.posterior.better > 0.99
    assert found.in_order[0] == "c"
    wrong_way = compare_over_datasets(errors, names=list("abc")).pair("a", "c")
    assert wrong_way.finding == "worse"


def test_a_control_is_the_first_of_every_pair_and_fewer_pairs_are_adjusted_for():
    scores = _scores(14, [0, 0.01, 0.03, 0.031])
    found = compare_over_datasets(scores, names=NAMES, control="c")
    assert [pair.names for pair in found.pairs] == [("c", "a"), ("c", "b"), ("c", "d")]
    assert [one.name for one in found.against_control] == ["a", "b", "d"]
    raw = [one.p_value for one in found.against_control]
    for one in found.against_control:
        assert one.bonferroni_dunn == pytest.approx(min(1, 3 * one.p_value))
        assert one.p_value <= one.hochberg <= one.holm <= one.bonferroni_dunn
    z = (found.rank_of("c") - found.rank_of("a")) / math.sqrt(4 * 5 / (6 * 14))
    assert found.against_control[0].z == pytest.approx(z)
    assert raw[0] == pytest.approx(2 * stats.norm.sf(abs(z)))
    everyone = compare_over_datasets(scores, names=NAMES)
    assert found.pair("c", "a").p_value <= everyone.pair("a", "c").p_value
    assert "a is worse than c" not in " ".join(found.verdict)
    assert "c is better than" in " ".join(found.verdict)
    with pytest.raises(InputError, match="two of a, b, c, d that are compared"):
        found.pair("a", "c")


def test_two_classifiers_have_no_test_of_ranks():
    found = compare_over_datasets(_scores(12, [0, 0.03]), names=["old", "new"])
    assert (found.friedman, found.critical_difference, found.cliques) == (None, None, ())
    pair = found.pairs[0]
    assert pair.nemenyi_p_value is None
    assert pair.p_value == pair.wilcoxon.p_value
    (sentence,) = found.verdict
    assert sentence == (
        f"new is better than old over data sets like these 12, typically by "
        f"{pair.difference:.4f} [{pair.interval.low:.4f}, {pair.interval.high:.4f}]: "
        f"{pair.wins} wins, 0 ties, {pair.losses} losses of new, p = {pair.p_value:.3g}."
    )
    alone = compare_over_datasets(_scores(12, [0, 0.03]), names=["old", "new"], control="new")
    assert alone.against_control == ()
    assert alone.pairs[0].names == ("new", "old")
    assert alone.verdict[0].startswith("old is worse than new")


def test_identical_classifiers_do_not_differ():
    column = np.random.default_rng(0).uniform(size=(8, 1))
    found = compare_over_datasets(np.repeat(column, 3, axis=1))
    assert found.friedman.p_value == 1
    for pair in found.pairs:
        assert (pair.p_value, pair.sign_p_value, pair.nemenyi_p_value) == (1, 1, 1)
        assert pair.posterior.equivalent == 1
        assert pair.finding == "no evidence"
    assert found.cliques == (found.names,)
    two = compare_over_datasets(np.repeat(column, 2, axis=1))
    assert two.pairs[0].p_value == 1
    assert "About" not in two.verdict[0]


def test_within_the_region_is_equivalent():
    scores = _scores(20, [0, 0.001, 0.05], noise=0.002)
    found = compare_over_datasets(scores, names=list("abc"), region=0.01)
    assert found.pair("a", "b").finding == "equivalent"
    assert found.pair("a", "b").posterior.equivalent > 0.99
    assert found.pair("a", "c").finding == "better"
    assert found.pair("a", "c").equivalence_p_value == 1
    assert "Equivalent within ± 0.01: a and b." in found.verdict
    two = compare_over_datasets(scores[:, :2], names=list("ab"), region=0.01)
    assert two.verdict[0].startswith("b and a are equivalent over data sets like these 20")


def test_folds_add_the_hierarchical_model_and_order_of_folds_is_a_tie():
    rng = np.random.default_rng(1)
    folds = rng.uniform(0.6, 0.9, (6, 1, 1)) + rng.normal(0, 0.02, (6, 2, 5))
    found = compare_over_datasets(folds, test_share=0.2, region=0.01)
    model = found.pairs[0].hierarchical
    assert model.worse + model.equivalent + model.better == pytest.approx(1)
    assert found.mean_scores == pytest.approx(folds.mean(axis=(0, 2)).tolist())
    same = np.stack([folds[:, 0], folds[:, 0, ::-1]], axis=1)
    assert compare_over_datasets(same, test_share=0.2).pairs[0].p_value == 1


def test_differences_that_are_equal_on_paper_are_ties():
    # 0.9 − 0.8 and 0.7 − 0.8 are not opposite in binary; as ties the p-value is 1.
    scores = [[0.8, 0.9], [0.8, 0.7], [0.7, 0.8], [0.6, 0.5]]
    assert compare_over_datasets(scores).pairs[0].wilcoxon.p_value == 1


def test_a_data_frame_brings_its_names():
    frame = pd.DataFrame({"svm": [0.9, 0.8], "tree": [0.7, 0.9]}, index=["iris", "wine"])
    found = compare_over_datasets(frame)
    assert (found.names, found.datasets) == (("svm", "tree"), ("iris", "wine"))


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_neither_the_order_of_data_sets_nor_of_classifiers_matters(seed, random):
    scores = np.round(_scores(7, [0, 0.01, 0.02], seed=seed), 2)
    rows, columns = list(range(7)), list(range(3))
    random.shuffle(rows)
    random.shuffle(columns)
    names = [NAMES[at] for at in columns]
    found = compare_over_datasets(scores, names=NAMES[:3])
    mixed = compare_over_datasets(scores[np.ix_(rows, columns)], names=names)
    assert mixed.friedman.chi2 == pytest.approx(found.friedman.chi2, abs=1e-9)
    for pair in mixed.pairs:
        turned = pair.names not in {one.names for one in found.pairs}
        other = found.pair(*(pair.names[::-1] if turned else pair.names))
        assert mixed.rank_of(pair.names[0]) == pytest.approx(found.rank_of(pair.names[0]))
        assert pair.p_value == pytest.approx(other.p_value)
        posterior = other.posterior
        if turned:
            posterior = replace(posterior, worse=posterior.better, better=posterior.worse)
        assert pair.posterior == posterior
        assert pair.difference == pytest.approx(-other.difference if turned else other.difference)


def test_the_seed_is_recorded_and_may_be_a_generator():
    scores = _scores(6, [0, 0.01])
    assert compare_over_datasets(scores, random_state=7).random_state == 7
    drawn = compare_over_datasets(scores, random_state=np.random.default_rng(3))
    again = compare_over_datasets(scores, random_state=drawn.random_state)
    assert again == drawn


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([0.5, 0.6], {}, "data sets × classifiers, or × folds as well; got 2"),
        ([[0.5, 0.6]], {}, "two data sets and classifiers or more; got 1 × 2"),
        ([[0.5], [0.6]], {}, "two data sets and classifiers or more; got 2 × 1"),
        ([[0.5, 0.6], [0.5]], {}, "must be numbers, as many for each data set"),
        ([[0.5, math.nan], [0.5, 1]], {}, "got nan for classifier 2 on data set 1"),
        ([[0.5, 0.6], [0.5, 1]], {"names": ["a"]}, "`names` must be 2, one for each classifier"),
        ([[0.5, 0.6], [0.5, 1]], {"names": ["a", "a"]}, "`names` must differ; got 'a' twice"),
        ([[0.5, 0.6], [0.5, 1]], {"names": "ab"}, "`names` must be a list of names"),
        ([[0.5, 0.6], [0.5, 1]], {"control": "z"}, "`control` must be one of classifier 1, cla"),
        ([[0.5, 0.6], [0.5, 1]], {"region": -0.1}, "`region` must lie in"),
        ([[0.5, 0.6], [0.5, 1]], {"level": 95}, "Write 0.95 for 95 %"),
        ([[0.5, 0.6], [0.5, 1]], {"test_share": 0.1}, "`test_share` must be given with folds"),
        (np.ones((3, 2, 4)), {}, "`test_share` must be given with folds"),
    ],
)
def test_what_cannot_be_compared_is_refused(scores, options, message):
    with pytest.raises(InputError, match=message):
        tr.compare_over_datasets(scores, **options)


def test_a_level_at_which_anything_is_equivalent_is_refused_with_a_region():
    scores = [[0.1, 0.2], [0.3, 0.5], [0.2, 0.1]]
    with pytest.raises(InputError, match="`level` must be more than"):
        compare_over_datasets(scores, level=0.3, region=0.1)
