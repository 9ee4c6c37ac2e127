"""Estimates by refits made by hand, so that it is plain what their intervals promise."""

import pytest

import truerisk as tr
from truerisk.results import Estimate, Interval


def learner_of(
    method="cross_validation", name="agreement_binomial", target="this model", **settings
):
    estimate = Estimate(
        value=0.2,
        interval=Interval(0.1, 0.3, 0.95, name),
        measure="error_rate",
        method=method,
        n=100,
        target=target,
    )
    return tr.LearnerEvaluation(
        estimates={"error_rate": estimate},
        n=100,
        level=0.95,
        labels=("0", "1"),
        pos_label="1",
        settings={"method": method, "folds": 10, **settings},
    )


@pytest.fixture
def make_learner():
    return learner_of
