import numpy as np
import pytest

from truerisk.measures.document_precision import (
    document_precision,
    eleven_point_documents,
    summarise_documents,
)
from truerisk.tallies.documents import DocumentTally

SCORES = [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.9, 0.8, 0.7]]
TRUTH = [[True, False, True], [False, True, False], [False, False, False]]


def test_two_documents_worked_by_hand():
    # first: precision 1 at recall ½, ⅔ at 1; second: ½ at recall 1; third: no correct category
    found = document_precision(SCORES, TRUTH)
    low, high = (1 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2
    assert found.by_recall == pytest.approx([low] * 6 + [high] * 5, abs=1e-15)
    assert found.value == pytest.approx((6 * low + 5 * high) / 11, abs=1e-15)
    assert (found.documents, found.undefined) == (2, 1)
    own = [(6 + 5 * 2 / 3) / 11, 1 / 2]
    assert found.standard_error == pytest.approx(np.std(own, ddof=1) / np.sqrt(2), rel=1e-12)


def test_the_measure_of_a_tally_is_the_value():
    tally = DocumentTally().add(SCORES, TRUTH)
    assert eleven_point_documents(tally) == document_precision(SCORES, TRUTH).value


def test_it_is_undefined_when_no_document_has_a_correct_category():
    found = document_precision(SCORES[2:], TRUTH[2:])
    assert np.isnan(found.value)
    assert np.isnan(found.by_recall).all()
    assert (found.documents, found.undefined) == (0, 1)


def test_one_document_has_no_standard_error():
    assert np.isnan(document_precision(SCORES[:1], TRUTH[:1]).standard_error)


def test_weights_worked_by_hand():
    own, weight = np.array([(6 + 5 * 2 / 3) / 11, 1 / 2]), np.array([3.0, 1.0])
    found = summarise_documents(DocumentTally().add(SCORES, TRUTH, [3, 1, 7]))
    mean = weight @ own / 4
    assert found.value == pytest.approx(mean, rel=1e-12)
    # √(n/(n − 1) Σ w² (x − mean)²) / Σ w
    error = np.sqrt(2 * np.sum((weight * (own - mean)) ** 2)) / 4
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert (found.documents, found.undefined) == (2, 1)


def test_a_document_of_no_weight_is_left_out():
    assert DocumentTally().add(SCORES, TRUTH, [1, 0, 0]) == DocumentTally().add(
        SCORES[:1], TRUTH[:1]
    )
