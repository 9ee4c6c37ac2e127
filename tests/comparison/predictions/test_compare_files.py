import numpy as np
import pytest

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.compare_files import compare_files
from truerisk.errors import InputError
from truerisk.evaluation.request import Request


def test_files_are_compared_as_their_columns_are(tmp_path):
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=50)
    called = [np.where(rng.random(50) < 0.8, truth, 1 - truth) for _ in range(2)]
    scores = [np.round(one + rng.normal(size=50), 6) for one in called]
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, one, score in zip(paths, called, scores, strict=True):
        rows = zip(truth, one, score, strict=True)
        text = "".join(f"{y},{p},{s}\n" for y, p, s in rows)
        path.write_text("y_true,y_pred,score\n" + text)
    found = compare_files(paths, request=Request(random_state=4), region=0.1)
    expected = compare(truth, *called, scores=scores, names=["a", "b"], region=0.1, random_state=4)
    assert found.pairs == expected.pairs
    assert found.beside == expected.beside


def test_an_example_that_is_refused_an_answer_is_not_compared(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y_true,a,b\n1,1,?\n")
    with pytest.raises(InputError, match="`reject` must not be given"):
        compare_files([path], predictions=["a", "b"], request=Request(reject="?"))
