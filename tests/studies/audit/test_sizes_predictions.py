import numpy as np
import pytest
from scipy.special import ndtr

from studies.audit.sizes_predictions import (
    BINARY,
    CLASSES,
    COUNTED,
    GROUPS,
    OF_CLASSES,
    RANKED,
    Alike,
    by_classes,
    by_counts,
    by_rankings,
    called,
    compared,
    scored,
    two_outlooks,
)
from truerisk import compare

LARGE = 100_000


def of_compare(drawn, measures, **options):
    found = compare(
        drawn["y_true"],
        *drawn["predictions"],
        scores=drawn["scores"],
        groups=drawn["groups"],
        measures=measures,
        replicates=1000,
        **options,
    )
    return {
        one.measure: (
            one.p_value,
            one.method,
            one.difference.interval.low,
            one.difference.interval.high,
        )
        for one in found.pairs
    }


@pytest.mark.parametrize("alike", [Alike(0.5), Alike(0.5, grouped=True)], ids=["rows", "groups"])
def test_predictions_are_judged_as_users_judge_them(alike):
    drawn = scored(60, alike, np.random.default_rng(3))
    measures, options = ["error_rate", "f1", "roc_auc", "log_loss"], {"pos_label": 1}
    found = compared(drawn, measures, probabilities=True, **options)
    for name, expected in of_compare(drawn, measures, probabilities=True, **options).items():
        own = found[name]
        assert (own.p_value, own.method, own.low, own.high) == expected


@pytest.mark.parametrize("grouped", [False, True])
def test_outlooks_are_standard_normal_and_as_much_alike_as_told(grouped):
    alike = Alike(0.6, grouped=grouped)
    first, second = two_outlooks(LARGE, alike, np.random.default_rng(1))
    assert [first.mean(), second.mean()] == pytest.approx([0, 0], abs=0.03)
    assert [first.std(), second.std()] == pytest.approx([1, 1], abs=0.02)
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.6, abs=0.02)
    neighbours = np.corrcoef(first[0::5], first[1::5])[0, 1]
    assert neighbours == pytest.approx(0.5 if grouped else 0.0, abs=0.03)


def test_both_models_err_as_often_as_the_formula_says():
    drawn = scored(LARGE, Alike(0.5), np.random.default_rng(2))
    # Scores are N(0, 1) or N(1.5, 1), calls are above 1, three in ten are positive.
    expected = 0.7 * ndtr(-1.0) + 0.3 * ndtr(1.0 - 1.5)
    for calls in drawn["predictions"]:
        assert np.mean(calls != drawn["y_true"]) == pytest.approx(expected, abs=0.005)


def test_scores_are_probabilities_that_hold():
    drawn = scored(LARGE, Alike(0.5, pos_label=0.2), np.random.default_rng(4))
    for score in drawn["scores"]:
        likely = (score > 0.4) & (score < 0.5)
        assert drawn["y_true"][likely].mean() == pytest.approx(score[likely].mean(), abs=0.025)


def test_a_quarter_of_the_calls_of_three_classes_is_wrong():
    drawn = called(LARGE, Alike(0.2), np.random.default_rng(5))
    for calls in drawn["predictions"]:
        assert np.mean(calls != drawn["y_true"]) == pytest.approx(0.25, abs=0.005)
        assert set(np.unique(calls)) == {0, 1, 2}


@pytest.mark.parametrize(
    ("run", "settings", "measures"),
    [
        (by_counts, BINARY, COUNTED),
        (by_counts, GROUPS, COUNTED),
        (by_classes, CLASSES, OF_CLASSES),
        (by_rankings, BINARY, RANKED),
    ],
    ids=["calls", "groups", "classes", "rankings"],
)
def test_every_measure_of_every_setting_is_tried(run, settings, measures):
    for setting in settings:
        found = run(setting, 80, np.random.default_rng(6))
        assert tuple(found) == measures
        assert all(0 <= one.p_value <= 1 for one in found.values())
