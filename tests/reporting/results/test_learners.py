import numpy as np
import pytest

from truerisk.estimation.refits.best_of import best_of
from truerisk.estimation.refits.estimate import estimate
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.results.learners import BestOfPresenter, LearnerEvaluationPresenter


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    return rng.normal(size=(60, 2)) + 1.5 * y[:, None], y.astype(int)


@pytest.fixture(scope="module")
def evaluation(problem):
    return estimate("tree", *problem, folds=5, repeats=2, random_state=1)


def _titled(chapter, title):
    return next(section for section in chapter.sections if section.title == title)


def test_it_says_how_it_was_judged(evaluation):
    chapter = LearnerEvaluationPresenter().chapter(evaluation)
    assert chapter.title == "How good will this learner be?"
    assert chapter.subtitle.startswith("Cross-validation, 10 refits · 60 examples")
    facts = dict(facts_of(evaluation))
    assert facts["refits"] == "10"
    assert facts["learner"].startswith("Pipeline")
    assert facts["one training took"].endswith("s")
    assert facts["classifying 1,000 examples took"].endswith("s")


def test_the_error_rate_is_held_against_always_the_same_answer(evaluation):
    chapter = LearnerEvaluationPresenter().chapter(evaluation)
    assert chapter.tiles[0].note == "always the commonest class: 0.333"
    forest = _titled(chapter, "The error rate, and what it is to be held against")
    titles = [row["title"] for row in forest.data["groups"][0]["rows"]]
    assert titles == ["Cross-validation", "Always the commonest class"]


def test_every_refit_is_drawn_at_its_value(evaluation):
    section = _titled(
        LearnerEvaluationPresenter().chapter(evaluation), "How much the refits differ"
    )
    charts = list(map(svg_of, section.data["charts"]))
    error = charts[0]
    (dots,) = [shape for shape in error["shapes"] if shape["kind"] == "dots"]
    assert len(dots["points"]) == len(evaluation["error_rate"].replicates) == 10
    heights = [float(point["y"]) for point in dots["points"]]
    order = np.argsort(heights, kind="stable")
    assert (
        order.tolist()
        == np.argsort(
            [-value for value in evaluation["error_rate"].replicates], kind="stable"
        ).tolist()
    )
    assert error["caption"].startswith("10 refits, standard deviation ")


def test_a_bootstrap_shows_its_other_estimates(problem):
    evaluation = estimate("majority", *problem, method="bootstrap", repeats=40, random_state=1)
    forest = _titled(
        LearnerEvaluationPresenter().chapter(evaluation),
        "The error rate, and what it is to be held against",
    )
    titles = [row["title"] for row in forest.data["groups"][0]["rows"]]
    assert titles[0] == "Bootstrap"
    assert len(titles) == len(evaluation.variants) + 2


def test_one_refit_has_no_spread(problem):
    evaluation = estimate("majority", *problem, method="holdout", random_state=1)
    chapter = LearnerEvaluationPresenter().chapter(evaluation)
    assert chapter.subtitle.startswith("Hold-out, 1 refit ·")
    assert "How much the refits differ" not in [section.title for section in chapter.sections]


def test_the_page_is_made(evaluation):
    assert "How much the refits differ" in report_of(evaluation).html


HOSTILE = "<i>tree</i>"


@pytest.fixture(scope="module")
def choice():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    models = {"majority": "majority", "naive_bayes": "naive_bayes", HOSTILE: "tree"}
    return best_of(models, X, y, folds=5, repeats=1, random_state=1, replicates=100)


def test_learners_are_ranked_and_the_corrected_value_comes_last(choice):
    forest = BestOfPresenter().chapter(choice).sections[0]
    rows = forest.data["groups"][0]["rows"]
    assert [row["title"] for row in rows] == [*choice.ranking, "Best of 3"]
    assert rows[-1]["value"] == f"{choice.corrected.value:.3f}"
    assert rows[-1]["summary"] == "corrected for having been chosen"


def test_the_first_tile_is_the_corrected_value(choice):
    chapter = BestOfPresenter().chapter(choice)
    assert chapter.tiles[0].title == "Error rate, corrected for the choice"
    assert chapter.tiles[0].value == f"{choice.corrected.value:.3f}"
    assert chapter.tiles[1].title == f"Error rate of {choice.winner}"
    assert chapter.tiles[2].value == "0.500"


def test_the_verdict_names_the_winner_its_luck_and_who_is_not_told_apart(choice):
    first, second, third = BestOfPresenter().chapter(choice).verdict[:3]
    assert first.startswith(f"{choice.winner} is the best of 3 learners: Error rate ")
    assert f"too good by {abs(choice.optimism):.3f}" in second
    assert third.startswith(f"The intervals of {choice.winner} and {choice.ranking[1]} overlap")


def test_the_winner_follows_with_its_own_sections(choice):
    titles = [section.title for section in BestOfPresenter().chapter(choice).sections]
    assert titles[1] == "What each learner costs (means)"
    assert titles[2] == f"{choice.winner}: Every measure, and how sure it is"
    assert all(title.startswith(f"{choice.winner}: ") for title in titles[2:])


def test_names_stay_inert_on_the_page(choice):
    page = report_of(choice).html
    assert HOSTILE not in page
    assert "&lt;i&gt;tree" in page


def test_a_terminal_names_no_interval_that_refits_do_not_have():
    result = estimate("majority", np.eye(20), [0, 1] * 10, repeats=1, random_state=1)
    *_, facts = (
        block for block in LearnerEvaluationPresenter().blocks(result) if hasattr(block, "facts")
    )
    said = dict(facts.facts)
    assert said["interval"] == "variance_components"
    assert not {"interval of k of n", "interval of other measures"} & set(said)
