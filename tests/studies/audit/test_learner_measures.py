import dataclasses

import numpy as np
import pytest

from studies.audit.learner_coverage import ends_from
from studies.audit.learner_measures import MEASURES, measure_ends, measure_truth
from studies.audit.learner_refits import Cell, run_cell
from truerisk.intervals.agreement import agreement_interval

CELL = Cell(problem="overlapping", n=60, learner="naive Bayes", repetitions=3, fresh=1000)


@pytest.fixture(scope="module")
def refits():
    return run_cell(CELL)


def test_the_error_rate_gets_the_interval_that_is_audited(refits):
    # The audit reads it off the losses, the product off the votes: the same rule.
    product = measure_ends(refits, ("error_rate",))["error_rate"]
    assert product == pytest.approx(ends_from(refits)["agreement"], rel=1e-9)


def test_recall_gets_the_rule_of_agreement_among_the_positives(refits):
    found = measure_ends(refits, ("recall",))["recall"]
    for ends, losses, pos_label in zip(found, refits.losses, refits.pos_label, strict=True):
        among = agreement_interval(losses[:, pos_label])
        assert ends == pytest.approx([1 - among.high, 1 - among.low], rel=1e-6)


def test_the_truth_is_that_of_the_table_of_fresh_examples(refits):
    # Of 1000: 400 positive, 100 missed, 150 false alarms.
    one = dataclasses.replace(refits, truth=np.array([[0.1, 0.15]]), prevalence=0.4)
    truth = measure_truth(one)
    assert list(truth) == list(MEASURES)
    assert truth["recall"] == pytest.approx([300 / 400])
    assert truth["specificity"] == pytest.approx([450 / 600])
    assert truth["precision"] == pytest.approx([300 / 450])
    assert truth["f1"] == pytest.approx([2 * 300 / (400 + 450)])


def test_what_is_undefined_has_no_interval(refits):
    # All positives are missed and no negative is called positive: no precision.
    none = dataclasses.replace(refits, losses=np.repeat(refits.pos_label[:, np.newaxis], 5, axis=1))
    assert np.isnan(measure_ends(none, ("precision",))["precision"]).all()
