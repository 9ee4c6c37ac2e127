"""Curves, thresholds and displays take what `evaluate` takes, and refuse what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import truerisk as tr
from truerisk.errors import InputError

RNG = np.random.default_rng(7)
N = 80
TRUTH = RNG.integers(0, 2, N)
SCORE = np.round(np.clip(TRUTH * 0.3 + RNG.random(N) * 0.7, 0.01, 0.99), 3)
PAIR = np.c_[np.round(1 - SCORE, 3), SCORE]
NAMED = pd.DataFrame(PAIR[:, ::-1], columns=["1", "0"])
WEIGHT = 1 + np.arange(N) % 3 / 2

WAYS = {
    "lists": (TRUTH.tolist(), SCORE.tolist()),
    "pandas": (pd.Series(TRUTH), pd.Series(SCORE)),
    "pandas, nullable": (pd.Series(TRUTH, dtype="Int64"), pd.Series(SCORE, dtype="Float64")),
    "categories": (pd.Series(TRUTH).astype("category"), SCORE),
    "polars": (pl.Series(TRUTH), pl.Series(SCORE)),
    "arrow": (pa.array(TRUTH), pa.array(SCORE)),
    "floats": (TRUTH.astype(float), SCORE),
    "texts": (TRUTH.astype(str), SCORE),
    "objects": (TRUTH.astype(object), SCORE),
    "other rows": (pd.Series(TRUTH), pd.Series(SCORE, index=np.arange(N) + N)),
    "two columns": (TRUTH, PAIR),
    "two columns, frame": (pd.Series(TRUTH), pd.DataFrame(PAIR)),
    "two columns, named": (TRUTH, NAMED),
}
CURVES = {
    "roc": tr.roc,
    "precision_recall": tr.precision_recall,
    "det": tr.det,
    "cost": lambda y, s, **o: tr.cost(y, s, {"fp": 1, "fn": 5}, **o),
    "calibration": tr.calibration,
    "score_distribution": tr.score_distribution,
    "best_threshold": tr.best_threshold,
    "rejection": tr.rejection,
}
REFUSED = {
    "other order": (pd.Series(TRUTH), pd.Series(SCORE).sample(frac=1, random_state=1)),
    "lengths": (TRUTH, SCORE[1:]),
    "missing label": (np.where(np.arange(N) == 3, np.nan, TRUTH), SCORE),
    "missing score": (TRUTH, np.where(np.arange(N) == 3, np.nan, SCORE)),
    "texts as scores": (TRUTH, SCORE.astype(str)),
    "words": (np.where(TRUTH, "ill", "well"), SCORE),
    "a column of a frame": (pd.DataFrame({"y": TRUTH}), SCORE),
    "empty": ([], []),
}


def plain(curve):
    return curve.to_dict()


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_gives_the_same_curve(name, way):
    if name == "rejection" and way.startswith("two columns"):
        pytest.skip("best minus second of rounded columns is |2p - 1| only up to rounding")
    assert plain(CURVES[name](*WAYS[way])) == plain(CURVES[name](TRUTH, SCORE))


@pytest.mark.parametrize("name", CURVES)
def test_a_positive_word_and_class_scores_give_the_same_curve(name):
    words = np.where(TRUTH == 1, "ill", "well")
    one = plain(CURVES[name](words, SCORE, pos_label="ill"))
    assert one == plain(CURVES[name](TRUTH, SCORE))
    if name != "rejection":
        assert plain(CURVES[name](words, PAIR[:, ::-1], pos_label="ill")) == one


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("fault", REFUSED)
def test_what_evaluate_refuses_is_refused_in_the_same_words(name, fault):
    with pytest.raises(InputError) as of_evaluate:
        tr.evaluate(REFUSED[fault][0], y_score=REFUSED[fault][1])
    with pytest.raises(InputError) as of_curve:
        CURVES[name](*REFUSED[fault])
    assert str(of_curve.value) == str(of_evaluate.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHT}])
def test_areas_are_those_of_an_evaluation(way, options):
    evaluation = tr.evaluate(WAYS[way][0], y_score=WAYS[way][1], **options)
    assert tr.roc(*WAYS[way], **options).auc == evaluation["roc_auc"].value
    area = tr.precision_recall(*WAYS[way], **options).average_precision
    assert area == evaluation["average_precision"].value


def test_one_of_three_classes_is_drawn_against_the_rest():
    classes = RNG.integers(0, 3, N)
    table = np.eye(3)[classes] + RNG.random((N, 3))
    for at in range(3):
        curve = tr.roc(classes, table, pos_label=at)
        alone = tr.roc(classes == at, table[:, at])
        assert curve.to_dict() == alone.to_dict()
