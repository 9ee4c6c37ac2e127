import json

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


def test_the_main_measure_is_the_first_asked_for_or_the_error_rate(two, three):
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
