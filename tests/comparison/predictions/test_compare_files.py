import numpy as np

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.compare_files import compare_files


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
    found = compare_files(paths, random_state=4, region=0.1)
    expected = compare(truth, *called, scores=scores, names=["a", "b"], region=0.1, random_state=4)
    assert found.pairs == expected.pairs
    assert found.beside == expected.beside
