"""The pictures of learning curves: what is drawn, on which axes."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.estimation.curves.plot import COST_LABELS, plot_costs

MARKS = (
    "95 % interval of the mean",
    "sd of one repeat",
    "what the training part alone says",
)


@pytest.fixture(scope="module")
def curve():
    y = np.arange(120) % 2
    X = np.random.default_rng(0).normal(size=(120, 3)) + y[:, None]
    models = {"bayes": GaussianNB(), "coin": DummyClassifier(strategy="uniform")}
    return learning_curve(models, X, y, sizes=[10, 20, 40, 80], repeats=2, random_state=1)


def test_the_picture_has_a_line_a_band_and_a_dashed_line_for_each_learner(curve):
    ax = curve.plot(Figure().subplots())
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("training examples", "Error rate")
    assert len(ax.collections) == 4  # bands and whiskers
    assert sum(line.get_linestyle() == "--" for line in ax.lines) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["bayes", "coin", *MARKS]


def test_one_learner_has_a_legend_for_what_is_drawn(curve):
    alone = replace(curve, curves={"bayes": curve["bayes"]})
    ax = alone.plot(Figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["bayes", *MARKS]


def test_dashes_that_are_not_drawn_are_not_in_the_legend(curve):
    points = tuple(replace(point, estimate_mean=None) for point in curve["bayes"].points)
    alone = replace(curve, curves={"bayes": replace(curve["bayes"], points=points)})
    ax = alone.plot(Figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["bayes", *MARKS[:-1]]


@pytest.mark.parametrize("cost", COST_LABELS)
def test_each_cost_has_a_picture(curve, cost):
    ax = plot_costs(curve, cost, Figure().subplots())
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_ylabel() == COST_LABELS[cost]
