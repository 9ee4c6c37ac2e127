import json

import numpy as np
import pytest

from truerisk.comparison.predictions.compare import compare

TRUTH = [1, 1, 1, 0, 0, 0] * 5

FIRST = [1, 1, 0, 0, 1, 0] * 5

SECOND = [1, 1, 1, 0, 0, 0] * 5

THIRD = [0, 1, 1, 0, 0, 0] * 5


@pytest.fixture(scope="module")
def two():
    return compare(TRUTH, FIRST, SECOND, names=["<a>", "b"])


@pytest.fixture(scope="module")
def three():
    return compare(TRUTH, FIRST, SECOND, THIRD, names=["a", "b", "c"], measures=["f1", "recall"])


def test_two_models_are_looked_up_by_measure_and_more_by_names_too(two, three):
    assert two["f1"] is two["f1", "<a>", "b"]
    assert list(three) == [
        (measure, *pair)
        for measure in ("f1", "recall")
        for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    for key in ("f1", ("f1", "b", "a"), ("accuracy", "a", "b")):
        with pytest.raises(KeyError):
            _ = three[key]


def test_what_is_found_cannot_be_changed(two):
    with pytest.raises(TypeError):
        two.adjusted["x"] = 0.0
    with pytest.raises(AttributeError):
        two.names = ()


def test_plain_values_are_ready_for_json(two, three):
    for result in (two, three):
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert plain["names"] == list(result.names)
        assert len(plain["pairs"]) == len(result)
        assert plain["pairs"][0]["measure"] == next(iter(result.pairs)).measure
    adjusted = [pair.get("adjusted_p_value") for pair in three.to_dict()["pairs"]]
    assert adjusted == [*three.adjusted.values(), None, None, None]


def test_the_main_measure_is_the_first_requested_or_the_error_rate(two, three):
    assert two.measure == "error_rate"
    assert three.measure == "f1"
    assert two.measures[0] == "error_rate"


def test_text_tells_the_verdict_first(two):
    lines = str(two).splitlines()
    assert lines[0] == two.verdict[0]
    assert len(lines) == len(two.verdict) + len(two)


def test_html_shows_names_as_texts(two):
    page = two._repr_html_()
    assert "<a>" not in page
    assert "&lt;a&gt;" in page


def test_an_undefined_difference_is_listed():
    result = compare([0, 0, 0], [0, 0, 1], [0, 0, 0])
    assert "recall" in result.undefined
    assert "undefined" in result["recall"].verdict


LABELS = [1] * 40 + [0] * 60

WORSE = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10

BETTER = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6


def test_the_main_finding_comes_first_in_words():
    result = compare(LABELS, WORSE, BETTER, names=["a", "b"], measures=["error_rate"])
    assert result.verdict == (
        "b is better than a: its error rate is lower by 0.120 [0.070, 0.198].",
    )


def test_measures_with_another_finding_are_named():
    turned = [1] * 40 + [0] * 40 + [1] * 20
    result = compare(
        LABELS,
        WORSE,
        turned,
        names=["a", "b"],
        measures=["error_rate", "recall"],
    )
    assert result.verdict[0].startswith("No evidence either way")
    assert "b is better than a by recall" in result.verdict[1]


def test_of_several_models_only_those_told_apart_over_all_pairs_are_named():
    result = compare(
        LABELS,
        WORSE,
        BETTER,
        LABELS,
        names=["a", "b", "c"],
        measures=["error_rate"],
    )
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
