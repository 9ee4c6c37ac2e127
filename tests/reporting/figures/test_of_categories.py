import pytest
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.estimation.corpus.categories import Category
from truerisk.estimation.corpus.corpus import CorpusEvaluation
from truerisk.reporting.figures.marks import VERMILION
from truerisk.reporting.figures.of_categories import MAX_ROWS, categories, class_sizes, classes


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def make_corpus(make_evaluation, make_estimate):
    def make(sizes, *, holdout=None):
        by_class = {
            name: {"f1": make_estimate("f1", 1 / (at + 2), 0.1, 0.9)}
            for at, name in enumerate(sizes)
        }
        facts = [
            Category(
                name=name, documents=size, test_documents=None, stable=True, gap=0.0, reason=None
            )
            for name, size in sizes.items()
        ]
        fields = make_evaluation(by_class=by_class).fields()
        return CorpusEvaluation(**fields, categories=tuple(facts), holdout=holdout)

    return make


def _rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_categories_stand_in_their_order_with_their_documents(ax, make_corpus):
    categories(make_corpus({"earn": 2877, "acq": 1650}), ax)
    assert _rows(ax) == ["earn (2,877)", "acq (1,650)"]
    assert [line.get_xdata()[0] for line in ax.lines] == [1 / 2, 1 / 3]
    assert ax.get_xlabel() == "F1"
    assert ax.get_xlim() == (-0.02, 1.02)


def test_only_the_most_frequent_are_drawn_and_the_others_counted(ax, make_corpus):
    categories(make_corpus({f"topic {at}": 1000 - at for at in range(MAX_ROWS + 7)}), ax)
    assert len(_rows(ax)) == MAX_ROWS
    assert ax.get_xlabel() == "F1; 7 rarer ones are not drawn"


def test_what_the_documents_held_out_say_stands_beside(
    ax, make_corpus, make_evaluation, make_estimate
):
    held_out = make_evaluation(by_class={"acq": {"f1": make_estimate("f1", 0.25, 0.1, 0.5)}})
    categories(make_corpus({"earn": 20, "acq": 10}, holdout=held_out), ax)
    beside = ax.lines[-1]
    assert (list(beside.get_xdata()), list(beside.get_ydata())) == ([0.25], [1])
    assert beside.get_color() == VERMILION
    assert ax.get_legend().get_texts()[0].get_text() == "on the documents held out"


def test_a_corpus_without_categories_shows_its_averages(ax, make_corpus):
    categories(make_corpus({}), ax)
    assert "Error rate" in _rows(ax)


def test_a_long_name_leaves_room_for_the_number_of_documents(ax, make_corpus):
    categories(make_corpus({"w" * 90: 12}), ax)
    assert _rows(ax) == ["w" * 29 + "… (12)"]


def test_classes_stand_with_the_most_frequent_first(ax, make_evaluation):
    found = make_evaluation(["a", "b", "c"], counts=[[1, 0, 0], [0, 5, 2], [0, 0, 3]])
    assert class_sizes(found) == {"b": 7, "c": 3, "a": 1}
    classes(found, ax)
    assert _rows(ax) == ["b (7)", "c (3)", "a (1)"]


def test_classes_that_nobody_counted_keep_their_order(ax, make_evaluation):
    classes(make_evaluation(["a", "b", "c"], counts=[[1]], tallies=None), ax)
    assert _rows(ax) == ["a", "b", "c"]


def test_two_classes_have_no_rows_of_their_own(ax, evaluation):
    with pytest.raises(InputError, match="must have estimates of single classes"):
        classes(evaluation, ax)
