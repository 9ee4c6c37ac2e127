"""Every line of the right column of docs/coming-from.md runs."""

import re
from pathlib import Path

import numpy as np
import pytest

import truerisk as tr

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"
LINES = re.findall(r"^\| .* \| `(tr\..*)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def names():
    from sklearn.naive_bayes import BernoulliNB, GaussianNB

    draw = np.random.default_rng(3)
    y = draw.integers(0, 2, 200)
    score, other_score = (1 / (1 + np.exp(-(draw.normal(size=200) + 2 * y - 1))) for _ in "ab")
    pred, other_pred = (score > 0.5).astype(int), (other_score > 0.5).astype(int)
    X = draw.normal(size=(120, 3)) + y[:120, None]
    return {
        "tr": tr,
        "y": y,
        "score": score,
        "other_score": other_score,
        "pred": pred,
        "other_pred": other_pred,
        "third_pred": np.roll(pred, 1),
        "X_train": X,
        "y_train": y[:120],
        "model": GaussianNB(),  # quick to train
        "fitted": GaussianNB().fit(X, y[:120]),
        "other": BernoulliNB(),
    }


def test_no_line_is_left_out():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if " | `" in line]
    assert len(LINES) == len(rows) > 25


@pytest.mark.parametrize("line", LINES)
def test_a_line_runs(line, names):
    assert eval(line, names) is not None  # noqa: S307 - the page is ours
