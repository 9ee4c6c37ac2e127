import numpy as np
import pytest

from studies.audit.sizes_datasets import DIGITS, by_datasets, draw_scores
from truerisk import compare_over_datasets


@pytest.mark.parametrize("setting", DIGITS)
def test_data_sets_are_judged_as_users_judge_them(setting):
    found = by_datasets(setting, 12, np.random.default_rng(8))
    scores = draw_scores(12, DIGITS[setting], np.random.default_rng(8))
    two = compare_over_datasets(scores[:, :2]).pairs[0]
    assert found["two classifiers"].p_value == pytest.approx(two.wilcoxon.p_value)
    assert found["two classifiers"].low == pytest.approx(two.interval.low)
    assert found["two classifiers"].high == pytest.approx(two.interval.high)
    assert found["two classifiers, wins"].p_value == two.sign_p_value
    five = compare_over_datasets(scores)
    assert found["five, do any differ"].p_value == five.friedman.p_value
    least = min(pair.p_value for pair in five.pairs)
    assert found["five, any pair"].p_value == pytest.approx(least)
    least = min(pair.nemenyi_p_value for pair in five.pairs)
    assert found["five, any pair (ranks)"].p_value == pytest.approx(least)
    against = compare_over_datasets(scores, names=list("abcde"), control="a").against_control
    for test, way in (
        ("a control and four", "bonferroni_dunn"),
        ("a control and four, step down", "holm"),
        ("a control and four, step up", "hochberg"),
    ):
        assert found[test].p_value == pytest.approx(min(getattr(one, way) for one in against))


def test_scores_in_hundredths_have_ties():
    fine, coarse = (draw_scores(200, digits, np.random.default_rng(1)) for digits in (12, 2))
    assert len({*fine[0]}) == 5
    assert any(len({*row}) < 5 for row in coarse)
