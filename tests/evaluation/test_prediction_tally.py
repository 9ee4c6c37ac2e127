import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truerisk.evaluation.prediction_tally import PredictionTally, merge_recoded
from truerisk.evaluation.request import Request
from truerisk.inputs.predictions import Predictions

LABELS = ("a", "b", "c", "d")


def tallied(truth, predicted, weight, group, labels):
    place = {label: at for at, label in enumerate(labels)}
    columns = Predictions(
        np.array([place[one] for one in truth], dtype=np.int32),
        [(label,) for label in labels],
        np.array([place[one] for one in predicted], dtype=np.int32),
        weight=np.array(weight),
        group=np.array(group),
    )
    return PredictionTally(Request()).add(columns)


rows = st.lists(
    st.tuples(
        st.sampled_from(LABELS), st.sampled_from(LABELS), st.floats(0.1, 9), st.integers(0, 2)
    ),
    min_size=1,
    max_size=12,
)


@given(first=rows, second=rows, order=st.permutations(LABELS), groups=st.permutations(range(3)))
def test_a_part_with_codes_of_its_own_merges_into_what_one_pass_counts(
    first, second, order, groups
):
    back = {new: old for old, new in enumerate(groups)}
    whole = tallied(*zip(*first, strict=True), LABELS)
    truth, predicted, weight, group = zip(*second, strict=True)
    part = tallied(truth, predicted, weight, [back[one] for one in group], order)
    merged = merge_recoded(whole, part, [LABELS.index(one) for one in order], groups)
    expected = tallied(*zip(*first, *second, strict=True), LABELS)
    np.testing.assert_equal(vars(merged.cells), vars(expected.cells))
    assert merged.n == expected.n


def scored(scores):
    columns = Predictions(np.array([0, 1]), [("n",), ("y",)], score=np.array(scores))
    return PredictionTally(Request(pos_label="y", threshold=0.5)).add(columns)


def test_predictions_made_of_scores_keep_their_meaning():
    whole, part = scored([0.1, 0.9]), scored([0.8, 0.9])
    part.made = dict(reversed(part.made.items()))
    counts = merge_recoded(whole, part, [0, 1], []).finish([("n",), ("y",)]).cells.confusion()
    assert counts.tolist() == [[1, 1], [0, 2]]


def test_a_set_that_only_the_part_has_made_gets_a_code_of_its_own():
    whole, part = scored([0.1, 0.9]), scored([0.1, 0.9])
    code = max(part.made.values()) + 1
    part.made["z",] = code
    part.cells.add_pairs(np.array([code]), np.array([5]))  # the pair of code 0 and this one
    merged = merge_recoded(whole, part, [0, 1], [])
    assert merged.made["z",] == max(merged.made.values())
    assert merged.cells.counts[merged.cells.pairs == merged.made["z",]] == 5
