from dataclasses import replace

import numpy as np
import pytest

from truerisk.estimation.corpus.categories import CategorySVMs, Trained
from truerisk.estimation.corpus.verdict import Findings, verdict_of

N = 200


@pytest.fixture
def make():
    """Make findings on two categories, of 80 and 4 of 200 documents, from what went wrong."""

    def make(*, rho=1.0, method="xi_alpha", wrong=None, decision=None, **fields):
        truth = np.zeros((2, N), dtype=bool)
        truth[0, :80], truth[1, 80:84] = True, True
        given = {
            "flagged": np.zeros((1, 2, N), dtype=bool),
            "left_out": np.zeros((2, 0), dtype=bool),
            "decision": np.zeros((2, 0)) if decision is None else decision,
            "stable": np.ones(2, dtype=bool),
            "gap": np.zeros(2),
            "refits": np.array([30, 4]),
            "ties": np.zeros(2, dtype=int),
            "squared_radius": 1.0,
            "radius_rule": "unit length",
        }
        trained = Trained(
            names=("large", "small"),
            truth=truth,
            test_truth=None if decision is None else truth,
            svms=CategorySVMs(**{**given, **fields}),
        )
        flags = np.zeros((2, N), dtype=bool) if wrong is None else wrong
        main = trained.estimates(flags, method, 0.95)
        return Findings(main=main, holdout=trained.held_out(0.95), trained=trained, rho=rho)

    return make


def told(findings, start):
    found = [sentence for sentence in verdict_of(findings) if sentence.startswith(start)]
    assert len(found) == 1, list(verdict_of(findings))
    return found[0]


def test_the_first_sentences_are_the_averages(make):
    wrong = np.zeros((2, N), dtype=bool)
    wrong[0, 70:90] = True  # 10 positives and 10 negatives of the large one
    first, second, *_ = verdict_of(make(wrong=wrong))
    assert first.startswith("Of the decisions whether a document carries a category, 5.00 % (")
    assert first.endswith("by the 200 training documents alone.")
    # micro: TP 74, FP 10, FN 10; macro: (140 / 160 + 1) / 2
    assert second.startswith("Over 2 categories: micro F1 88.1 % (")
    assert ", macro F1 93.8 % (" in second


@pytest.mark.parametrize(
    ("rho", "start"), [(1.0, "They lean to the pessimistic side. ρ = 1 is"), (2.0, "Proven, with")]
)
def test_what_is_proven_depends_on_rho(make, rho, start):
    assert "R² = 1 (unit length)" in told(make(rho=rho), start)


def test_leave_one_out_tells_its_refits_and_ties(make):
    findings = make(method="leave_one_out", ties=np.array([2, 1]))
    assert "34 documents were left out" in told(findings, "These count the errors of exact")
    told(findings, "3 of these calls are ties")


def test_the_hold_out_is_counted_category_by_category(make):
    decision = np.full((2, N), -1.0)
    decision[0, :60] = 1.0  # misses 20 of 80: recall .75, precision 1
    decision[1, 80:84] = 1.0
    wrong = np.zeros((2, N), dtype=bool)
    wrong[0, :70] = True  # recall 1/8
    findings = make(wrong=wrong, decision=decision)
    sentence = told(findings, "Beside the 200 documents held out")
    assert "error 1 (and 0) of 2; recall 1 (and 0) of 2; precision 0 (and 0) of 2" in sentence
    assert not [one for one in verdict_of(findings) if one.code == "holdout_apart"]


def test_a_bound_that_the_hold_out_breaks_is_named(make):
    decision = np.full((2, N), -1.0)
    decision[0, :10] = 1.0  # finds 10 of 80: F1 .22, where no training document is at risk
    findings = make(wrong=np.zeros((2, N), dtype=bool), decision=decision)
    assert told(findings, "F1 is below its bound").startswith("F1 is below its bound in 'large'")
    assert "of another kind" in told(findings, "F1 is below its bound")
    drawn = replace(findings, drawn=True)
    assert told(drawn, "F1 is below its bound").endswith("it is chance, or the estimate is off.")


def test_few_documents_are_said_to_be_too_few(make):
    wrong = np.zeros((2, N), dtype=bool)
    wrong[1, 80:82] = True
    sentence = told(make(wrong=wrong), "Too few documents")
    assert sentence.endswith("1 category with at most 4 training documents, such as 'small'.")


def test_unstable_and_unsolved_machines_are_named(make):
    findings = make(stable=np.array([True, False]), gap=np.array([1e-3, 0.0]))
    assert "'small'" in told(findings, "Unstable")
    assert "in 1 of 2 categories, with a gap of up to 0.001" in told(findings, "The solver stopped")


def test_nothing_to_tell_is_told():
    nothing = Trained(
        names=("all",),
        truth=np.ones((1, 5), dtype=bool),
        test_truth=None,
        svms=CategorySVMs(
            flagged=np.zeros((1, 1, 5), dtype=bool),
            left_out=np.zeros((1, 0), dtype=bool),
            decision=np.zeros((1, 0)),
            stable=np.ones(1, dtype=bool),
            gap=np.zeros(1),
            refits=np.zeros(1, dtype=int),
            ties=np.zeros(1, dtype=int),
            squared_radius=1.0,
            radius_rule="unit length",
        ),
    )
    main = nothing.estimates(np.zeros((1, 5), dtype=bool), "xi_alpha", 0.95)
    findings = Findings(main=main, holdout=None, trained=nothing, rho=1.0)
    assert next(verdict_of(findings)) == "There is no category that can be told from the rest."
    assert told(findings, "1 category has no estimate")
