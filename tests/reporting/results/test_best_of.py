import numpy as np
import pytest

from truerisk.estimation.refits.best_of import best_of
from truerisk.reporting.page import report_of
from truerisk.reporting.results.best_of import best_of_chapter

HOSTILE = "<i>tree</i>"


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    models = {"majority": "majority", "naive_bayes": "naive_bayes", HOSTILE: "tree"}
    return best_of(models, X, y, folds=5, repeats=1, random_state=1, replicates=100)


def test_learners_are_ranked_and_the_corrected_value_comes_last(found):
    forest = best_of_chapter(found).sections[0]
    rows = forest.data["groups"][0]["rows"]
    assert [row["title"] for row in rows] == [*found.ranking, "Best of 3"]
    assert rows[-1]["value"] == f"{found.corrected.value:.3f}"
    assert rows[-1]["summary"] == "corrected for having been chosen"


def test_the_first_tile_is_the_corrected_value(found):
    chapter = best_of_chapter(found)
    assert chapter.tiles[0].title == "Error rate, corrected for the choice"
    assert chapter.tiles[0].value == f"{found.corrected.value:.3f}"
    assert chapter.tiles[1].title == f"Error rate of {found.winner}"
    assert chapter.tiles[2].value == "0.500"


def test_the_verdict_names_the_winner_its_luck_and_who_is_not_told_apart(found):
    first, second, third = best_of_chapter(found).verdict[:3]
    assert first.startswith(f"{found.winner} is the best of 3 learners: Error rate ")
    assert f"too good by {abs(found.optimism):.3f}" in second
    assert third.startswith(f"The intervals of {found.winner} and {found.ranking[1]} overlap")


def test_the_winner_follows_with_its_own_sections(found):
    titles = [section.title for section in best_of_chapter(found).sections]
    assert titles[1] == "What each learner costs (means)"
    assert titles[2] == f"{found.winner}: Every measure, and how sure it is"
    assert all(title.startswith(f"{found.winner}: ") for title in titles[2:])


def test_names_stay_inert_on_the_page(found):
    page = report_of(found).html
    assert HOSTILE not in page
    assert "&lt;i&gt;tree" in page
