import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.rankings import RANKINGS
from truerisk.measures import MEASURES, find_measure, registry
from truerisk.measures.registry import (
    BINOMIAL_INTERVALS,
    CELL_INTERVALS,
    base_measure,
    measure_of,
    spoken_title,
    title_of,
)
from truerisk.tallies.cells import BinaryCounts, ClassCounts, Proportion, ratio
from truerisk.tallies.ranking import Ranking

OTHERS = {"delong", "gamma_of_losses", "partial_placements", "pair_placements", "betting",
          "empirical_bernstein"}  # fmt: skip
KNOWN = {
    *BINOMIAL_INTERVALS,
    *CELL_INTERVALS,
    *(method for _, method in RANKINGS.values()),
    *OTHERS,
}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda measure: measure.name)
def test_every_entry_explains_itself(measure):
    assert measure.title
    assert measure.summary.endswith((".", "?"))
    assert measure.formula
    assert measure.undefined
    assert measure.measure_range[0] < measure.measure_range[1]
    assert measure.intervals[0] != "wald"
    assert set(measure.intervals) <= KNOWN


def test_beta_stands_in_the_name():
    assert find_measure("f0.5").title == "F0.5"
    assert find_measure("e2").parameters == {"beta": 2.0}


def test_a_misspelt_name_is_refused():
    with pytest.raises(InputError, match=r"`measure` must be one of .*accuracy.*; got 'acuracy'"):
        find_measure("acuracy")


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_title_that_fits_beside_its_interval(name):
    assert 0 < len(title_of(name)) <= 27


def test_an_average_is_told_from_its_measure():
    measure, average = measure_of("f1_macro")
    assert (measure.name, average) == ("f1", "macro")
    assert title_of("f2_weighted") == "F2, weighted"


def test_a_name_the_registry_does_not_know_is_shown_as_it_is():
    assert measure_of("my_own") == (None, "")
    assert title_of("my_macro") == "my_macro"
    assert spoken_title("my_own") == "my own"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error_rate", "error rate"),
        ("roc_auc", "ROC AUC"),
        ("eleven_point_precision", "11-point precision"),
        ("matthews_correlation", "Matthews correlation"),
        ("gmean", "G-mean"),
        ("f_beta", "Fβ"),
        ("best_f1", "best F1"),
        ("recall_micro", "micro recall"),
        ("f1_samples", "per-example F1"),
    ],
)
def test_within_a_sentence_only_names_and_abbreviations_keep_their_capitals(name, words):
    assert spoken_title(name) == words


def test_a_function_is_no_name_of_a_measure():
    with pytest.raises(InputError, match="Functions are not accepted"):
        find_measure(len)


@pytest.fixture
def _one_more_measure(monkeypatch):
    """Three measures of our own, one of each kind: a formula and its line in the registry."""
    monkeypatch.setattr(registry, "MEASURES", dict(MEASURES))

    @registry.measure(title="Own share", undefined="there is no example")
    def own_share(counts: ClassCounts) -> Proportion:
        """Share of the examples which are right, once more."""
        return Proportion(counts.correct, counts.n)

    @registry.measure(title="Own ratio", undefined="no example is positive")
    def own_ratio(counts: BinaryCounts) -> float:
        """Recall, once more, as a bare number."""
        return ratio(counts.tp, counts.tp + counts.fn)

    @registry.measure(title="Own ranking", undefined="a class is missing")
    def own_ranking(ranking: Ranking) -> float:
        """Area under the ROC curve, once more."""
        return ranking.auc


@pytest.mark.usefixtures("_one_more_measure")
def test_a_measure_is_a_formula_and_one_line():
    y, score = np.arange(40) % 2, np.linspace(0, 1, 40) ** 2
    evaluation = tr.evaluate(y, score > 0.5, y_score=score, random_state=1)
    assert evaluation["own_share"].interval == evaluation["accuracy"].interval
    assert evaluation["own_ratio"].value == evaluation["recall"].value
    assert evaluation["own_ranking"].interval.method == "binomial_of_positives"
    assert "Own ranking" in title_of("own_ranking")
    several = tr.evaluate(np.arange(40) % 3, (np.arange(40) + 1) % 3, random_state=1)
    assert "own_share" in several


@pytest.mark.usefixtures("_one_more_measure")
def test_a_measure_of_our_own_is_compared_too():
    y, score = np.arange(40) % 2, np.linspace(0, 1, 40) ** 2
    comparisons = tr.compare(
        y, score > 0.5, score > 0.4, first_score=score, second_score=np.roll(score, 3)
    )
    assert comparisons["own_ratio"].difference.interval.width < 1
    assert comparisons["own_ranking"].difference.interval.width == 2


def test_the_measure_behind_an_average():
    assert base_measure("f1_macro").name == "f1"
