import pytest
from matplotlib.figure import Figure

from studies.reproduction import EXPERIMENTS, Settings
from studies.reproduction.joachims_corpora import REUTERS
from studies.reproduction.joachims_figures import CATEGORIES, COLUMNS, same_sizes
from truerisk.errors import InputError

NAME = "joachims-figures4-6"


@pytest.fixture
def curves(tmp_path, write_collection):
    write_collection(REUTERS.stem, list(CATEGORIES), 400)
    return EXPERIMENTS[NAME](Settings(data=tmp_path, splits=3))


def test_each_size_has_a_row_for_every_category_and_measure(curves):
    # 400 documents hold two sets of 64 and of 194, and not of 645.
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in curves.rows]
    assert len(rows) == len(CATEGORIES) * 2 * 2
    assert [row["documents"] for row in rows[:2]] == ["64", "194"]
    assert {row["estimate in Table 1"] for row in rows} == {"–"}
    for row in rows:
        estimate, holdout = (float(row[kind].split(" ±")[0]) for kind in ("estimate", "hold-out"))
        assert float(row["difference"]) == pytest.approx(estimate - holdout, abs=0.11)


def test_a_category_is_learnt_better_from_more_documents(curves):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in curves.rows]
    errors = [
        float(row["hold-out"].split(" ±")[0])
        for row in rows
        if (row["category"], row["measure"]) == ("earn", "error")
    ]
    assert errors[0] > errors[1]


def test_the_conclusion_has_bias_and_deviations_of_every_curve(curves):
    assert sum("estimate less hold-out" in sentence for sentence in curves.conclusion) == 6
    assert "Averages over 3 random splits from seed 0" in curves.conclusion[-1]


def test_a_test_set_is_as_large_as_its_training_set_and_shares_no_document_with_it(tmp_path):
    splits = list(same_sizes(50, (5, 20), Settings(data=tmp_path, splits=2)))
    assert [(len(train), len(test)) for train, test in splits] == [(5, 5), (20, 20)] * 2
    assert all(not set(train) & set(test) for train, test in splits)


def test_a_collection_too_small_for_the_smallest_set_is_refused(tmp_path, write_collection):
    write_collection(REUTERS.stem, list(CATEGORIES), 100)
    with pytest.raises(InputError, match="must have at least 128 documents; got 100"):
        EXPERIMENTS[NAME](Settings(data=tmp_path))


def test_a_curve_is_drawn_over_a_log_axis_with_both_averages_and_both_deviations(curves):
    assert len(curves.pictures) == 6
    ax = curves.pictures[0].plot(Figure().subplots())
    assert ax.get_xscale() == "log"
    assert [line.get_label() for line in ax.get_lines()] == [
        "ξα-estimate",
        "ξα-estimate, sd",
        "hold-out set",
        "hold-out set, sd",
    ]
    assert list(ax.get_lines()[0].get_xdata()) == [64, 194]
