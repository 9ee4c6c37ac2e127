import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.intervals.choose import distance_of_mean
from truerisk.measures.from_scores import document_precision
from truerisk.tallies.losses import LOSSES, ProbabilityTally
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import values_of
from truerisk.tallies.scored_rows import ScoredRows, joined

RNG = np.random.default_rng(0)
Y = RNG.random(120) < 0.4
P = np.clip(0.3 + 0.3 * Y + RNG.normal(size=120) / 8, 0.01, 0.99)
CLASSES = RNG.integers(0, 3, 120)
TABLE = RNG.dirichlet([1, 1, 1], 120)


def rows(group=None, weight=None, score=P, truth=Y):
    return ScoredRows(
        score[:, None], truth[:, None], weight, None if group is None else np.asarray(group)
    )


TRUTH_OF_CLASSES = np.eye(3, dtype=bool)[CLASSES]
OF_CLASSES = ScoredRows(TABLE, TRUTH_OF_CLASSES)
GROUPED = ScoredRows(TABLE, TRUTH_OF_CLASSES, 1 + np.arange(120) % 3 / 2, np.arange(120) // 8)


def test_losses_are_those_of_the_tally():
    of_truth = np.where(Y, P, 1 - P)
    assert rows().losses("log_loss") == pytest.approx(-np.log(of_truth))
    assert rows().losses("brier_score") == pytest.approx((1 - of_truth) ** 2)
    assert rows().losses("roc_auc") is None
    tally = ProbabilityTally().add(TABLE, CLASSES)
    for name in LOSSES:
        assert OF_CLASSES.losses(name).mean() == pytest.approx(tally.mean(name))


def test_averages_of_documents_are_those_of_the_tally():
    expected = document_precision(TABLE, TRUTH_OF_CLASSES)
    assert OF_CLASSES.losses("eleven_point_documents").mean() == pytest.approx(expected.value)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_the_influences_of_an_average_are_its_derivatives(name, average):
    found = OF_CLASSES.influences(name, average)

    def value(weight):
        return tr.evaluate(
            CLASSES, y_score=TABLE, sample_weight=weight, measures=(f"{name}_{average}",)
        )[f"{name}_{average}"].value

    step = 1e-5
    for row in (0, 11, 42):
        moved = np.ones(120)
        moved[row] += step
        slope = (value(moved) - value(np.ones(120))) / step
        assert found[row] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "average"),
    [
        ("log_loss", None),
        ("brier_score", None),
        ("eleven_point_documents", None),
        ("roc_auc", "macro"),
        ("average_precision", "weighted"),
        ("roc_auc", "micro"),
        ("ks", "macro"),
    ],
)
def test_values_of_groups_are_those_of_the_rows(name, average):
    values = GROUPED.group_values(name, average)

    def value(taken, weight):
        some = ScoredRows(TABLE[taken], TRUTH_OF_CLASSES[taken], weight[taken])
        if (losses := some.losses(name)) is not None:
            return np.average(losses, weights=some.weight)
        if average == "micro":
            pairs = some.pairs
            return values_of(rank(pairs.score[:, 0], pairs.truth[:, 0], pairs.weight), name)
        each = [
            values_of(rank(*pair, some.weight), name)
            for pair in zip(some.score.T, some.truth.T, strict=True)
        ]
        support = some.weight @ some.truth
        return np.average(each, weights=support if average == "weighted" else None)

    weight = GROUPED.weight
    assert values.value == pytest.approx(value(np.arange(120), weight))
    for group in (0, 7, 14):
        others = GROUPED.group != group
        assert values.without[group] == pytest.approx(value(others, weight))
        assert values.twice[group] == pytest.approx(value(np.arange(120), weight * (2 - others)))


def test_the_rarest_class_is_counted_in_groups_where_there_are_groups():
    truth = np.array([[True], [True], [False], [False], [False]])
    alone = ScoredRows(np.zeros((5, 1)), truth)
    assert alone.rarest == 2
    assert ScoredRows(np.zeros((5, 1)), truth, None, np.array([0, 0, 1, 1, 2])).rarest == 1
    with pytest.raises(TypeError, match="no values by group"):
        alone.group_values("roc_auc")


def test_rows_of_no_weight_are_left_out():
    weight = np.where(np.arange(120) < 16, 0.0, 1.0)
    some = ScoredRows(TABLE, TRUTH_OF_CLASSES, weight, GROUPED.group)
    assert some.group_values("log_loss").groups == 13


@given(st.permutations(range(24)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_rows_changes_no_bit(order):
    order, group, weight = np.array(order), np.arange(24) // 3, 1 + np.arange(24) / 7
    renamed = np.array([5, 3, 7, 0, 1, 2, 6, 4])[group]
    first = joined([rows(group, weight, P[:24], Y[:24])])
    second = joined([rows(renamed[order], weight[order], P[:24][order], Y[:24][order])])
    for name in (*LOSSES, "roc_auc", "average_precision"):
        one, other = (both.group_values(name) for both in (first, second))
        assert one.without.tolist() == other.without.tolist(), name
        assert one.value == other.value


def test_groups_widen_every_interval_of_scores():
    # Every row four times over, told to belong together: what one row each is worth.
    four = np.arange(480) % 120
    options = {"probabilities": True, "random_state": 1, "replicates": 300}
    for y, score, names in (
        (Y, P, ("log_loss", "brier_score", "roc_auc", "average_precision")),
        (CLASSES, TABLE, ("log_loss", "brier_score", "eleven_point_documents", "roc_auc_micro")),
    ):
        once = tr.evaluate(y, y_score=score, **options)
        rows_only = tr.evaluate(y[four], y_score=score[four], **options)
        grouped = tr.evaluate(y[four], y_score=score[four], groups=four, **options)
        for name in names:
            width = grouped[name].interval.width
            further = 0.8 if name == "roc_auc" else 0.5  # it reaches further down
            assert width == pytest.approx(once[name].interval.width, rel=further), name
            assert rows_only[name].interval.width < 0.75 * width, name
            assert grouped[name].interval.method != rows_only[name].interval.method, name


TRUTH = RNG.random((400, 3)) < 0.4
NOISE = RNG.normal(size=(400, 1))


def test_distances_that_go_together_add_up_and_independent_ones_cancel():
    distances, shares = np.array([0.3, 0.4]), np.array([0.5, 0.5])
    assert distance_of_mean(distances, shares, np.ones((2, 2))) == pytest.approx(0.35)
    assert distance_of_mean(distances, shares, np.eye(2)) == pytest.approx(0.25)  # ½ √(.09 + .16)


def test_copies_of_one_class_err_together_and_unrelated_classes_do_not():
    score = TRUTH[:, :1] + NOISE
    copies = ScoredRows(np.hstack([score, score]), np.hstack([TRUTH[:, :1]] * 2))
    assert copies.correlations(["roc_auc"])["roc_auc"] == pytest.approx(np.ones((2, 2)))
    apart = ScoredRows(TRUTH + RNG.normal(size=TRUTH.shape), TRUTH)
    found = apart.correlations(["roc_auc"])["roc_auc"]
    assert np.abs(found[np.triu_indices(3, 1)]).max() < 0.4


def test_a_class_that_never_varies_errs_on_its_own():
    perfect = ScoredRows(np.hstack([TRUTH[:, :1] * 1.0, TRUTH[:, 1:2] + NOISE]), TRUTH[:, :2])
    assert perfect.correlations(["roc_auc"])["roc_auc"].tolist() == np.eye(2).tolist()


def test_many_classes_average_to_a_narrow_interval():
    truth = RNG.random((300, 12)) < 0.3
    score = truth + RNG.normal(size=truth.shape)
    evaluation = tr.evaluate(truth, y_score=score, multilabel=True, random_state=1)
    macro = evaluation["average_precision_macro"]
    widths = [each["average_precision"].interval.width for each in evaluation.by_class.values()]
    assert macro.interval.method == "mean_of_correlated"
    assert macro.interval.width < 0.5 * np.mean(widths)
    assert evaluation.by_class["3"]["average_precision"].interval.method == "precision_influence"


def test_too_many_entries_leave_the_dependence_unknown(monkeypatch):
    monkeypatch.setattr("truerisk.evaluation.prediction_tally.MAX_ENTRIES", 100)
    evaluation = tr.evaluate(TRUTH, y_score=TRUTH + NOISE, multilabel=True, random_state=1)
    assert evaluation["roc_auc_macro"].interval.method == "mean_of_intervals"
