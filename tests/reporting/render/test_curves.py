import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from truerisk.evaluation.curve_bands import Band
from truerisk.measures import calibration, rejection
from truerisk.measures.curves import Curve, roc
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.render.curves import DRAWINGS


def test_every_kind_of_curve_can_be_drawn():
    assert {calibration.Curve, rejection.Curve} == {Curve}
    assert {one.kind for one in Curve.__subclasses__()} == set(DRAWINGS)


def test_the_colours_are_those_of_all_figures():
    ax = roc([0, 1, 1], [0.1, 0.7, 0.4]).plot(Figure().subplots())
    assert [line.get_color() for line in ax.lines] == [FIGURE["soft"], FIGURE["first"]]


def test_a_band_is_an_area_or_upright_lines():
    places = np.array([0.0, 1.0])
    for joined in (True, False):
        ax = Band(places, places - 0.1, places + 0.1, 0.95, "x", joined=joined).plot(
            Figure().subplots()
        )
        assert isinstance(ax.collections[0], LineCollection) != joined
        assert len(ax.collections) == 1
