import numpy as np
import pytest

from truerisk.estimation.refits.estimate import estimate
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.results.learner_evaluation import learner_chapter


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    return rng.normal(size=(60, 2)) + 1.5 * y[:, None], y.astype(int)


@pytest.fixture(scope="module")
def found(problem):
    return estimate("tree", *problem, folds=5, repeats=2, random_state=1)


def _titled(chapter, title):
    return next(section for section in chapter.sections if section.title == title)


def test_it_says_how_it_was_judged(found):
    chapter = learner_chapter(found)
    assert chapter.title == "How good will this learner be?"
    assert chapter.subtitle.startswith("Cross-validation, 10 refits · 60 examples")
    facts = dict(facts_of(found))
    assert facts["refits"] == "10"
    assert facts["learner"].startswith("Pipeline")
    assert facts["one training took"].endswith("s")
    assert facts["classifying 1,000 examples took"].endswith("s")


def test_the_error_rate_is_held_against_always_the_same_answer(found):
    chapter = learner_chapter(found)
    assert chapter.tiles[0].note == "always the commonest class: 0.333"
    forest = _titled(chapter, "The error rate, and what it is to be held against")
    titles = [row["title"] for row in forest.data["groups"][0]["rows"]]
    assert titles == ["Cross-validation", "Always the commonest class"]


def test_every_refit_is_drawn_at_its_value(found):
    section = _titled(learner_chapter(found), "How much the refits differ")
    charts = list(map(svg_of, section.data["charts"]))
    error = charts[0]
    (dots,) = [shape for shape in error["shapes"] if shape["kind"] == "dots"]
    assert len(dots["points"]) == len(found["error_rate"].replicates) == 10
    heights = [float(point["y"]) for point in dots["points"]]
    order = np.argsort(heights, kind="stable")
    assert (
        order.tolist()
        == np.argsort([-value for value in found["error_rate"].replicates], kind="stable").tolist()
    )
    assert error["caption"].startswith("10 refits, standard deviation ")


def test_a_bootstrap_shows_its_other_estimates(problem):
    found = estimate("majority", *problem, method="bootstrap", repeats=40, random_state=1)
    forest = _titled(learner_chapter(found), "The error rate, and what it is to be held against")
    titles = [row["title"] for row in forest.data["groups"][0]["rows"]]
    assert titles[0] == "Bootstrap"
    assert len(titles) == len(found.variants) + 2


def test_one_refit_has_no_spread(problem):
    found = estimate("majority", *problem, method="holdout", random_state=1)
    chapter = learner_chapter(found)
    assert chapter.subtitle.startswith("Hold-out, 1 refit ·")
    assert "How much the refits differ" not in [section.title for section in chapter.sections]


def test_the_page_is_made(found):
    assert "How much the refits differ" in report_of(found).html
