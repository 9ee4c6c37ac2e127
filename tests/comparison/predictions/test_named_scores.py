import numpy as np
import pytest

from truerisk.comparison.predictions.named_scores import fold_means, named_scores
from truerisk.errors import InputError


def test_one_score_is_one_fold_and_numbers_stand_for_names():
    folds, names, datasets = named_scores([[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]], None, None)
    assert folds.shape == (3, 2, 1)
    assert names == ("classifier 1", "classifier 2")
    assert datasets[2] == "data set 3"


def test_the_place_of_a_score_that_is_missing_is_told():
    with pytest.raises(InputError, match=r"got inf for tree on wine\. Leave out data sets"):
        named_scores([[1, 2], [3, np.inf]], ["svm", "tree"], ["iris", "wine"])


def test_text_is_refused():
    with pytest.raises(InputError, match="`scores` must be numbers"):
        named_scores([["a", "b"], ["c", "d"]], None, None)


def test_means_do_not_depend_on_the_order_of_folds():
    folds = np.random.default_rng(0).uniform(size=(4, 2, 10))
    assert np.array_equal(fold_means(folds), fold_means(folds[:, :, ::-1]))
    assert fold_means(folds) == pytest.approx(folds.mean(axis=2), rel=1e-14)
