import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from truerisk.errors import InputError
from truerisk.tallies.documents import DocumentTally, eleven_precisions

tables = st.integers(1, 6).flatmap(
    lambda width: st.tuples(
        npst.arrays(np.float64, (7, width), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        npst.arrays(np.bool_, (7, width)),
    )
)


def by_the_six_steps(scores, truth):
    """Follow the description of one document word by word, in plain Python."""
    points = []
    for threshold in sorted(set(scores), reverse=True):
        found = [t for s, t in zip(scores, truth, strict=True) if s >= threshold]
        at_rank = [t for s, t in zip(scores, truth, strict=True) if s == threshold]
        if any(at_rank):
            points.append((sum(found) / sum(truth), sum(found) / len(found)))
    representative = []
    for level in range(10):
        inside = [p for r, p in points if level <= round(10 * r, 9) < level + 1]
        representative.append(max(inside, default=0.0))
    representative.append(max(p for r, p in points if r == 1))
    return [max(representative[level:]) for level in range(11)]


def test_a_document_worked_by_hand():
    # ranked: a (correct), b, c (correct), d, e (correct): precision 1, 2/3, 3/5 at recall ⅓, ⅔, 1
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.5]])
    truth = np.array([[True, False, True, False, True]])
    # the points lie in [.3, .4), [.6, .7) and at 1.0; every other interval starts from 0
    expected = [1, 1, 1, 1, 2 / 3, 2 / 3, 2 / 3, 3 / 5, 3 / 5, 3 / 5, 3 / 5]
    assert eleven_precisions(scores, truth)[0].tolist() == pytest.approx(expected, abs=1e-15)


def test_the_thresholds_as_printed_would_say_something_else():
    # printed "0.0, 1.0": one interval for all recalls under 1 would put 1.0 at every threshold
    scores = np.array([[0.9, 0.8, 0.7]])
    found = eleven_precisions(scores, np.array([[True, False, True]]))[0]
    assert found[5] == 1.0  # recall ½ is reached with precision 1
    assert found[6] == pytest.approx(2 / 3)


@given(tables)
def test_each_document_follows_the_six_steps(table):
    scores, truth = table
    found = eleven_precisions(scores, truth)
    for row in range(len(scores)):
        if truth[row].any():
            expected = by_the_six_steps(scores[row].tolist(), truth[row].tolist())
            assert found[row].tolist() == pytest.approx(expected, abs=1e-12)
        else:
            assert np.isnan(found[row]).all()


@given(tables, st.permutations(range(7)), st.integers(0, 7))
def test_any_cut_and_order_gives_the_same_sums(table, order, cut):
    scores, truth = table
    shuffled, labels = scores[list(order)], truth[list(order)]
    merged = DocumentTally().add(shuffled[:cut], labels[:cut])
    merged.merge(DocumentTally().add(shuffled[cut:], labels[cut:]))
    assert merged == DocumentTally().add(scores, truth)


@given(tables)
def test_the_order_of_tied_categories_does_not_matter(table):
    scores, truth = table
    backwards = eleven_precisions(scores[:, ::-1], truth[:, ::-1])
    np.testing.assert_array_equal(eleven_precisions(scores, truth), backwards)


def test_documents_without_a_correct_category_are_counted_and_left_out():
    tally = DocumentTally().add([[1.0, 0.0], [1.0, 0.0]], [[True, False], [False, False]])
    assert (tally.documents, tally.undefined) == (1, 1)


def test_tables_of_another_form_are_refused():
    with pytest.raises(InputError, match="`scores` and `truth` must be tables of one shape"):
        DocumentTally().add([[0.1, 0.2]], [[True]])
    with pytest.raises(InputError, match=r"numbers and booleans; got float64 .* and int64"):
        DocumentTally().add([[0.1]], [[1]])
    with pytest.raises(InputError, match="1 are NaN"):
        DocumentTally().add([[np.nan]], [[True]])
