"""Every kind of result is drawn into the axes that it is given, and touches nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from truerisk.comparison.learners.model_comparisons import ModelComparisons
from truerisk.comparison.predictions.compare import compare
from truerisk.errors import InputError
from truerisk.estimation.corpus.categories import Category
from truerisk.estimation.corpus.corpus import CorpusEvaluation
from truerisk.estimation.refits.best_of import BestOf
from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.reporting.figures.figure_files import pictures_of
from truerisk.reporting.figures.of_results import DRAWINGS, drawn
from truerisk.results import Interval, Reportable, Resampled

HOSTILE = "_<b>$x_1$ \x1b[31m漢\u202e\ud800" + "w" * 60


def _category(name):
    return Category(name=name, documents=9, test_documents=None, stable=True, gap=0.0, reason=None)


@pytest.fixture(scope="module")
def comparisons():
    truth = np.arange(40) % 2
    first, second = truth.copy(), truth.copy()
    first[:9] = 1 - first[:9]
    second[:3] = 1 - second[:3]
    return compare(truth, first, second, names=["old", HOSTILE], region=0.05, random_state=1)


@pytest.fixture
def results(make_evaluation, make_estimate, comparisons):
    error = make_estimate("error_rate", 0.1, 0.05, 0.2)
    interval = Interval(0.05, 0.2, 0.95, "percentile")
    refits = {**vars(error), "replicates": tuple(np.linspace(0.05, 0.2, 30))}
    several = make_evaluation(["a", HOSTILE, "c"], counts=[[5, 1, 0], [2, 6, 1], [0, 0, 9]])
    best = BestOf(
        evaluations={"tree": make_evaluation(), HOSTILE: make_evaluation()},
        measure="error_rate",
        winner="tree",
        optimism=0.01,
        corrected=error,
    )
    return {
        "Estimate": error,
        "Resampled": Resampled(**refits),
        "Perturbed": Perturbed(
            **refits, losses="training", training_error=0.1, forms={"percentile": interval}
        ),
        "Evaluation": several,
        "CorpusEvaluation": CorpusEvaluation(
            **several.fields(), categories=(_category("c"), _category(HOSTILE))
        ),
        "Comparison": comparisons["error_rate"],
        "Comparisons": comparisons,
        "ModelComparisons": ModelComparisons(comparisons={"f1": comparisons["f1"]}),
        "BestOf": best,
        "SideBySide": SideBySide(
            estimates=(error, replace(error, method=HOSTILE)), seconds=(0, 0), training_seconds=0
        ),
    }


def _kinds(of=Reportable):
    for kind in of.__subclasses__():
        if kind.__module__.startswith("truerisk"):
            yield kind
            yield from _kinds(kind)


def test_every_result_there_is_can_be_drawn():
    kinds = {kind.__name__: kind for kind in _kinds()}
    assert set(DRAWINGS) <= set(kinds)
    for kind in kinds.values():
        draws_itself = kind.plot is not Reportable.plot
        assert draws_itself or any(one.__name__ in DRAWINGS for one in kind.__mro__), kind


@pytest.mark.parametrize("kind", DRAWINGS)
def test_a_result_is_drawn_into_the_axes_given_whatever_its_names(results, kind):
    result = results[kind]
    assert type(result).__name__ == kind
    style, figure = dict(mpl.rcParams), Figure(figsize=(3, 2))
    ax = figure.subplots()
    assert result.plot(ax) is ax
    assert dict(mpl.rcParams) == style
    assert ax.has_data() or ax.get_yticklabels()
    figure.canvas.draw()  # which warns of what the font lacks, and fails on broken mathematics
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert all("\x1b" not in text and "\u202e" not in text for text in texts)
    if any(name in kind for name in ("Evaluation", "Comp", "BestOf")) and kind != "Evaluation":
        assert any(r"<b>\$x_1\$" in text for text in texts)


@pytest.mark.parametrize("kind", DRAWINGS)
def test_every_picture_of_a_result_is_drawn_whatever_its_names(results, kind):
    pictures = pictures_of(results[kind])
    assert pictures
    for name, picture in pictures.items():
        assert name == name.lower().replace("_", "-")
        ax = Figure(figsize=(picture.width, picture.height), layout="constrained").subplots()
        picture.draw(ax)
        ax.figure.canvas.draw()


def test_what_is_no_axes_and_what_is_no_result_is_refused(results):
    with pytest.raises(InputError, match="`ax` must be axes of matplotlib; got None"):
        results["Estimate"].plot(None)
    with pytest.raises(InputError, match="`result` must be a result of truerisk"):
        drawn(SimpleNamespace(), Figure().subplots())
