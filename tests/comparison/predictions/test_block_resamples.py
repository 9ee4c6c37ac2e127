import numpy as np
import pytest

from truerisk.comparison.predictions.block_resamples import BlockDraw
from truerisk.comparison.predictions.compare import compare
from truerisk.measures.registry import find_measure
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_replicates import cluster_replicates

RANKED = ("average_precision", "breakeven_point", "eleven_point_precision", "ks", "best_f1")


def two_rankings(n, seed=0, decimals=9):
    rng = np.random.default_rng(seed)
    pos_label, shared = rng.random(n) < 0.3, rng.normal(size=n)
    scores = [1.5 * pos_label + 0.7 * shared + 0.7 * rng.normal(size=n) for _ in range(2)]
    return pos_label, [score.round(decimals) for score in scores]


def test_a_resample_is_the_blocks_it_draws_as_often_as_it_draws_them():
    pos_label, (score, _) = two_rankings(40, decimals=1)
    block = np.arange(40) % 8
    times = np.array([[1.0] * 8, [2.0, 0, 0, 3.0, 1.0, 0, 2.0, 0]])
    found = BlockDraw(block, times).replicates(score, pos_label, RANKED)
    for row, drawn in enumerate(times):
        rows = np.repeat(np.arange(40), drawn[block].astype(int))
        for name in RANKED:
            expected = find_measure(name).value(rank(score[rows], pos_label[rows]))
            assert found[name][row] == pytest.approx(expected)


def test_weights_stay_with_their_examples():
    pos_label, (score, _) = two_rankings(30, decimals=1)
    draw = BlockDraw(np.arange(30) % 5, np.array([[1.0, 0, 2.0, 1.0, 1.0]]))
    weight = np.random.default_rng(1).integers(1, 4, size=30)
    rows = np.repeat(np.arange(30), weight)
    twice = BlockDraw(draw.block[rows], draw.times)
    found = draw.replicates(score, pos_label, RANKED, weight.astype(float))
    expected = twice.replicates(score[rows], pos_label[rows], RANKED)
    for name in RANKED:
        assert found[name] == pytest.approx(expected[name])


def test_standard_errors_are_those_of_resampled_rows():
    n, many = 3000, 4  # classes, of which the more the fewer blocks are drawn
    pos_label, scores = two_rankings(n)
    draw = BlockDraw.of(np.arange(n), many, np.random.default_rng(2))
    assert draw.times.shape == (500, 1000)
    blocks = [draw.replicates(score, pos_label, RANKED) for score in scores]
    rows = [
        cluster_replicates(
            score, pos_label, np.arange(n), RANKED, replicates=300, rng=np.random.default_rng(3)
        )
        for score in scores
    ]
    for name in RANKED:
        by_block, by_row = (np.std(two[1][name] - two[0][name]) for two in (blocks, rows))
        assert by_block == pytest.approx(by_row, rel=0.2)


def test_a_comparison_of_very_many_examples_says_what_was_drawn(monkeypatch):
    monkeypatch.setattr("truerisk.comparison.predictions.model_scores.MANY_ROWS", 999)
    monkeypatch.setattr("truerisk.comparison.predictions.block_resamples.RESAMPLES", 500)
    pos_label, scores = two_rankings(1000, decimals=1)
    options = {"measures": ["ks"], "replicates": 100}
    result = compare(pos_label, None, None, scores=scores, **options)
    assert result["ks"].notes == ("from 500 resamples of 1,000 blocks of examples",)
    other = compare(pos_label, None, None, scores=scores[::-1], **options)
    assert other["ks"].p_value == pytest.approx(result["ks"].p_value)
