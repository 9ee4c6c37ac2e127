import numpy as np
import pytest

from truerisk.comparison.predictions.joined import join_arrays
from truerisk.errors import InputError
from truerisk.evaluation.request import Request

NONE = (None, None)


def test_all_models_share_one_list_of_labels():
    joined = join_arrays(["b", "a"], [["b", "b"], ["c", "a"]], NONE)
    members = [[joined.shared.members[code][0] for code in one.predicted] for one in joined.models]
    assert members == [["b", "b"], ["c", "a"]]
    assert joined.labels == ("a", "b", "c")


def test_models_are_named_by_their_place_or_as_told():
    columns = [[1, 0]] * 6
    assert join_arrays([1, 0], columns, [None] * 6).names[4:] == ("fifth", "model 6")
    assert join_arrays([1, 0], columns[:2], NONE, names=["x", "y"]).names == ("x", "y")


@pytest.mark.parametrize("names", [["x"], ["x", "x"], "ab", ["x", " "]], ids=str)
def test_names_that_do_not_tell_the_models_apart_are_refused(names):
    with pytest.raises(InputError, match="`names` must"):
        join_arrays([1, 0], [[1, 0]] * 2, NONE, names=names)


def test_a_message_names_the_model_whose_labels_are_of_another_type():
    with pytest.raises(InputError, match="`predictions of 'new'` holds"):
        join_arrays([1, 0], [[1, 0], ["1", "0"]], NONE, names=["old", "new"])


def test_columns_of_different_lengths_are_refused_by_name():
    with pytest.raises(InputError, match="`predictions of 'second'` has 3"):
        join_arrays([1, 0], [[1, 0], [1, 0, 1]], NONE)


def test_a_model_needs_predictions_or_scores():
    with pytest.raises(InputError, match="'second' must have predictions or scores"):
        join_arrays([1, 0], [[1, 0], None], NONE)


def test_scores_must_be_finite_numbers():
    with pytest.raises(InputError, match="`scores of 'first'` must be numbers; 1 is NaN"):
        join_arrays([1, 0], [[1, 0]] * 2, [[0.1, np.nan], None])
    with pytest.raises(InputError, match=r"'first'` must be finite; 1 is infinite, at index 1\.$"):
        join_arrays([1, 0], [[1, 0]] * 2, [[0.1, np.inf], None])


def test_an_empty_label_is_refused():
    with pytest.raises(InputError, match="label everywhere"):
        join_arrays(["a", "b"], [["a", ""], ["a", "b"]], NONE)


def test_weights_must_not_all_be_0():
    with pytest.raises(InputError, match="`sample_weight`"):
        join_arrays([1, 0], [[1, 0]] * 2, NONE, sample_weight=[0, 0])


def test_scores_alone_become_predictions_at_a_threshold():
    joined = join_arrays(["ham", "spam"], [None, ["ham", "ham"]], [[0.2, 0.9], None])
    made = joined.with_made_predictions(Request(threshold=0.5, pos_label="spam"))
    assert [made.shared.members[code] for code in made.shared.predicted] == [("ham",), ("spam",)]
    assert joined.with_made_predictions(Request()).shared.predicted is None


def test_score_matrices_become_predictions_of_the_highest():
    table = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0, 0, 1.0]])
    joined = join_arrays(["a", "b", "c"], [None, None], [table, table])
    made = joined.with_made_predictions(Request())
    assert [made.shared.members[code][0] for code in made.shared.predicted] == ["b", "a", "c"]


def test_columns_of_scores_must_be_the_classes():
    with pytest.raises(InputError, match="`labels` must name the 3 columns"):
        join_arrays([1, 0], [None, None], [np.zeros((2, 3))] * 2)


def test_a_model_of_two_classes_beside_one_of_three_is_tallied_over_three():
    joined = join_arrays(["a", "b", "a"], [["a", "b", "b"], ["a", "c", "b"]], NONE)
    tallies = [joined.tallies(at, Request()) for at in (0, 1)]
    assert [one.labels for one in tallies] == [("a", "b", "c")] * 2
    assert [one.pos_label for one in tallies] == [None, None]
