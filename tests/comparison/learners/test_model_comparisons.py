import math

import pytest

from truerisk.comparison.learners.model_comparisons import (
    BayesianComparison,
    ModelComparisons,
    Probabilities,
)
from truerisk.results import Comparison, Estimate, Interval, as_plain


def made(kind=Comparison, **more):
    def error(value):
        return Estimate(value=value, interval=None, measure="error_rate", method="refits", n=100)

    difference = Estimate(
        value=-0.06,
        interval=Interval(-0.11, -0.01, 0.95, "corrected_t"),
        measure="error_rate",
        method="corrected_t",
        n=100,
    )
    return kind(
        names=("a", "b"),
        first=error(0.16),
        second=error(0.10),
        difference=difference,
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        **more,
    )


def test_probabilities_are_said_with_the_verdict():
    shares = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    found = made(BayesianComparison, probabilities=shares)
    assert str(found).splitlines()[-1] == (
        "Probability that b is: better 0.900, equivalent 0.070, worse 0.030."
    )
    assert found.to_dict()["probabilities"] == {"better": 0.9, "equivalent": 0.07, "worse": 0.03}


def test_undefined_probabilities_are_no_numbers():
    shares = Probabilities(better=math.nan, equivalent=math.nan, worse=math.nan)
    assert str(shares) == "better undefined, equivalent undefined, worse undefined"
    assert made(BayesianComparison, probabilities=shares).to_dict()["probabilities"] == {
        "better": None,
        "equivalent": None,
        "worse": None,
    }


def test_several_comparisons_are_a_mapping_that_cannot_be_changed():
    one = made()
    given = {"error_rate": one}
    found = ModelComparisons(comparisons=given)
    given.clear()
    assert list(found) == ["error_rate"]
    assert len(found) == 1
    assert found["error_rate"] is one
    assert str(found) == str(one)
    assert found.to_dict()["comparisons"] == {"error_rate": as_plain(one)}
    with pytest.raises(TypeError):
        found.comparisons["accuracy"] = one
