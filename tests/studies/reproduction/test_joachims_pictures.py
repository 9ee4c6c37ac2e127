import numpy as np
from matplotlib.figure import Figure

from studies.reproduction.joachims_pictures import AveragesPicture
from studies.reproduction.joachims_trials import Compared


def test_the_two_averages_of_a_category_stand_side_by_side():
    rows = (
        Compared("earn", 1.0, "error_rate", 10, (2.0, 4.0), (1.0, 2.0)),
        Compared("acq", 1.0, "error_rate", 10, (5.0, 5.0), (4.0, 4.0)),
    )
    ax = AveragesPicture(rows).plot(Figure().subplots())
    estimate, holdout = (container.lines[0] for container in ax.containers)
    assert list(estimate.get_ydata()) == [3.0, 5.0]
    assert list(holdout.get_ydata()) == [1.5, 4.0]
    assert np.all(np.asarray(estimate.get_xdata()) < np.asarray(holdout.get_xdata()))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["earn", "acq"]
    assert ax.get_ylabel() == "error, %"


def test_a_single_split_is_drawn_without_a_bar():
    ax = AveragesPicture((Compared("earn", 1.0, "f1", 10, (2.0,), (1.0,)),)).plot(
        Figure().subplots()
    )
    assert len(ax.containers) == 2
