import numpy as np

from truerisk.comparison.predictions.compare import compare

TRUTH = [1] * 40 + [0] * 60
WORSE = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
BETTER = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6


def test_the_main_finding_comes_first_in_words():
    result = compare(TRUTH, WORSE, BETTER, names=["a", "b"], measures=["error_rate"])
    assert result.verdict == (
        "b is better than a: its error rate is lower by 0.120 [0.070, 0.198].",
    )


def test_measures_with_another_finding_are_named():
    turned = [1] * 40 + [0] * 40 + [1] * 20
    result = compare(TRUTH, WORSE, turned, names=["a", "b"], measures=["error_rate", "recall"])
    assert result.verdict[0].startswith("No evidence either way")
    assert "b is better than a by recall" in result.verdict[1]


def test_of_several_models_only_those_told_apart_over_all_pairs_are_named():
    result = compare(TRUTH, WORSE, BETTER, TRUTH, names=["a", "b", "c"], measures=["error_rate"])
    assert "are not all equally often right" in result.verdict[0]
    assert "b is better than a, c is better than a, c is better than b" in result.verdict[1]
    assert "The best of the 3 here is c" in result.verdict[2]


def test_several_models_that_cannot_be_told_apart_are_said_to_be_that():
    rng = np.random.default_rng(2)
    truth = rng.random(60) < 0.5
    called = [np.where(rng.random(60) < 0.7, truth, ~truth) for _ in range(3)]
    result = compare(truth, *called, measures=["f1"])
    assert "may all be equally good" in result.verdict[0]
    assert "no model is shown to be better" in result.verdict[1]
