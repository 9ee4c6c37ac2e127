"""The figures as printed: a few read off the paper again, the rest by what must hold among them."""

import math

import pytest

from studies.reproduction.joachims_printed import MEASURES, Spread, printed_table

TABLES = {"joachims_table1.csv": 10, "joachims_table2.csv": 4, "joachims_table3.csv": 5}
LINES = {(name, line.category, line.rho): line for name in TABLES for line in printed_table(name)}


@pytest.mark.parametrize(("name", "categories"), TABLES.items())
def test_every_category_has_a_line_for_both_values_of_rho(name, categories):
    lines = printed_table(name)
    assert [line.rho for line in lines] == [1.0] * categories + [2.0] * categories
    assert len({line.category for line in lines}) == categories


@pytest.mark.parametrize(
    ("key", "measure", "estimate", "holdout"),
    [
        (("joachims_table1.csv", "acq", 1.0), "error_rate", (3.54, 0.16), (2.53, 0.20)),
        (("joachims_table1.csv", "corn", 2.0), "f1", (37.6, 2.2), (76.1, 1.3)),
        (("joachims_table2.csv", "project", 2.0), "precision", (8.2, 3.0), (95.9, 1.2)),
        (("joachims_table3.csv", "Nervous System", 1.0), "recall", (29.0, 2.3), (38.3, 1.3)),
    ],
)
def test_figures_read_off_the_paper_again(key, measure, estimate, holdout):
    line = LINES[key]
    assert (line.estimate[measure].mean, line.estimate[measure].deviation) == estimate
    assert (line.holdout[measure].mean, line.holdout[measure].deviation) == holdout


@pytest.mark.parametrize("key", [key for key in LINES if key[2] == 1.0], ids=str)
def test_the_hold_out_figures_do_not_depend_on_rho(key):
    assert LINES[key].holdout == LINES[*key[:2], 2.0].holdout


@pytest.mark.parametrize("key", LINES, ids=str)
@pytest.mark.parametrize("kind", ["estimate", "holdout"])
def test_f1_is_the_harmonic_mean_of_recall_and_precision(key, kind):
    figures = {name: spread.mean for name, spread in getattr(LINES[key], kind).items()}
    harmonic = 2 / (1 / figures["recall"] + 1 / figures["precision"])
    # Averages of ten ratios, rounded: not the ratio of the averages.
    assert figures["f1"] == pytest.approx(harmonic, abs=0.35)


@pytest.mark.parametrize("key", [key for key in LINES if key[2] == 1.0], ids=str)
def test_estimates_imply_the_share_of_the_category_that_the_hold_out_sets_imply(key):
    line = LINES[key]
    error, recall, precision = (line.estimate[name].mean / 100 for name in MEASURES[:3])
    share = 100 * error / (1 - recall + recall * (1 / precision - 1))
    # The two halves of a split share the documents: what one has more, the other has less.
    assert share == pytest.approx(line.implied_share, rel=0.07)


def test_the_implied_share_worked_by_hand():
    # 100 documents, 20 of the category: 15 found, 5 missed, 5 false ones.
    # Error 10 %, recall 75 %, precision 75 %.
    line = printed_table("joachims_table1.csv")[0]
    made = {"error_rate": 10.0, "recall": 75.0, "precision": 75.0, "f1": 75.0}
    spreads = {name: Spread(value, 1.0, 10, 10) for name, value in made.items()}
    share = type(line)(line.category, line.rho, line.estimate, spreads).implied_share
    assert share == pytest.approx(20.0, rel=1e-12)


def test_a_spread_has_the_deviation_with_n_less_one():
    spread = Spread.of([1.0, 2.0, 6.0])
    assert spread.mean == 3.0
    assert spread.deviation == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
    assert spread.written(2) == "3.00 ± 2.65"


def test_undefined_values_are_left_out_and_told():
    assert Spread.of([math.nan, math.nan]).written(1) == "undefined"
    assert Spread.of([50.0, math.nan]).written(1) == "50.0 (1 of 2)"
