import math
from dataclasses import replace

import numpy as np
import pytest

from truerisk.comparison.predictions.joined import join_arrays
from truerisk.comparison.predictions.paired_cells import JointCells, PairedCells, of_features
from truerisk.measures.averages import count_function

TRUTH = [1] * 10 + [0] * 10
FIRST = [1] * 6 + [0] * 4 + [0] * 8 + [1] * 2
SECOND = [1] * 8 + [0] * 2 + [0] * 7 + [1] * 3


def cells_of(truth, first, second, **options):
    joined = join_arrays(truth, [first, second], [None, None], **options)
    return replace(PairedCells.of(joined, (0, 1), joined.labels), pos_label="1")


def unsmoothed(cells):
    return replace(cells, prior=np.zeros(len(cells.prior)))


def test_joint_cells_are_counted_once_each():
    joined = join_arrays([0, 0, 1, 1], [[0, 1, 1, 1], [0, 0, 1, 1]], [None, None])
    joint = JointCells.of(joined, (0, 1))
    assert joint.codes.T.tolist() == [[0, 0, 0], [0, 1, 0], [1, 1, 1]]
    assert joint.counts.tolist() == [1, 1, 2]
    assert joint.places.tolist() == [0, 1, 2, 2]


def test_the_error_of_an_accuracy_is_that_of_paired_shares_worked_by_hand():
    # Only the first is right on 1 negative, only the second on 2 positives.
    spread = unsmoothed(cells_of(TRUTH, FIRST, SECOND)).difference("accuracy", None, np.nan)
    discordant, apart, n = 3, 1, 20
    assert spread.error == pytest.approx(math.sqrt(discordant - apart**2 / n) / n)


def test_the_error_of_a_recall_is_that_of_the_positives_alone():
    spread = unsmoothed(cells_of(TRUTH, FIRST, SECOND)).difference("recall", None, np.nan)
    discordant, apart, n = 2, 2, 10
    assert spread.error == pytest.approx(math.sqrt(discordant - apart**2 / n) / n)


def test_smoothing_adds_half_an_example_to_each_kind_of_discord():
    spread = cells_of(TRUTH, FIRST, SECOND).difference("recall", None, np.nan)
    # Among 10 + 2 · ½ positives, ½ + 2 only the second and ½ only the first gets right.
    gain, loss, n = 2.5, 0.5, 11
    assert spread.error == pytest.approx(math.sqrt(gain + loss - (gain - loss) ** 2 / n) / n)


@pytest.mark.parametrize("measure", ["accuracy", "f1", "matthews_correlation", "f1_macro"])
def test_models_that_agree_everywhere_are_not_taken_to_agree_for_ever(measure):
    spread = cells_of(TRUTH, FIRST, FIRST).difference(measure, None, np.nan)
    assert 0 < spread.error < 0.2


def test_the_error_of_an_f1_is_what_resampling_the_examples_gives():
    rng = np.random.default_rng(0)
    truth = (rng.random(400) < 0.4).astype(int)
    first, second = (np.where(rng.random(400) < 0.8, truth, 1 - truth) for _ in range(2))
    spread = unsmoothed(cells_of(truth, first, second)).difference("f1", None, np.nan)
    drawn = []
    for _ in range(2000):
        rows = rng.integers(400, size=400)
        sums = [2 * (truth[rows] & called[rows]).sum() for called in (first, second)]
        sizes = [truth[rows].sum() + called[rows].sum() for called in (first, second)]
        drawn.append(sums[1] / sizes[1] - sums[0] / sizes[0])
    assert spread.error == pytest.approx(np.std(drawn), rel=0.06)


def test_rows_that_are_each_written_twice_say_no_more_when_they_are_grouped():
    alone = unsmoothed(cells_of(TRUTH, FIRST, SECOND)).difference("f1", None, np.nan)
    twice = [[*column, *column] for column in (TRUTH, FIRST, SECOND)]
    groups = [*range(20), *range(20)]
    grouped = unsmoothed(cells_of(*twice, groups=groups)).difference("f1", None, np.nan)
    assert grouped.error == pytest.approx(alone.error * math.sqrt(20 / 19), rel=0.05)
    assert 1 < grouped.degrees <= 19


def test_weights_of_one_size_change_nothing():
    alone = cells_of(TRUTH, FIRST, SECOND).difference("cohen_kappa", None, np.nan)
    weighted = cells_of(TRUTH, FIRST, SECOND, sample_weight=[7.0] * 20)
    assert weighted.difference("cohen_kappa", None, np.nan).error == pytest.approx(alone.error)


def test_the_average_over_examples_varies_as_a_mean_of_differences():
    truth = [{"a"}, {"b"}, {"a", "b"}, {"c"}]
    first = [{"a"}, {"a"}, {"a"}, {"c"}]
    second = [{"a"}, {"b"}, {"a"}, {"a", "c"}]
    cells = unsmoothed(cells_of(truth, first, second, multilabel=True))
    spread = cells.difference("precision_samples", None, np.nan)
    apart = np.array([0, 1, 0, -0.5])
    assert spread.error == pytest.approx(np.std(apart) / 2)


def test_a_measure_of_scores_is_no_function_of_counts():
    assert count_function("roc_auc", 1) is None
    assert count_function("precision", None) is None


@pytest.mark.parametrize("classes", [3, 12])
def test_every_class_that_occurs_is_given_one_discordant_example_in_all(classes):
    truth = [str(label) for label in range(classes)]
    cells = cells_of(truth, truth, truth[::-1])
    assert cells.prior.sum() == pytest.approx(classes)


def test_equally_good_models_are_seldom_told_apart():
    rng = np.random.default_rng(11)
    rejected = []
    for _ in range(200):
        truth = (rng.random(300) < 0.2).astype(int)
        called = [np.where(rng.random(300) < 0.8, truth, 1 - truth) for _ in range(2)]
        cells = cells_of(truth, *called)
        halves = np.split(cells.sample.features, 2)
        function = of_features(count_function("f1", 1))
        value = float(function(halves[1]) - function(halves[0]))
        rejected.append(cells.difference("f1", None, np.nan).p_value(value) <= 0.05)
    assert np.mean(rejected) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
