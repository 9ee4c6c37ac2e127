"""Scores of two classes → figures: curves with the bands that they have, bins, costs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.measures.curves import PrecisionRecallCurve, RocCurve
from truerisk.measures.thresholds import Sweep, working_threshold
from truerisk.results import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from truerisk.evaluation.curve_bands import Band

Drawing = Callable[["Axes"], Any]
MAX_PLACES = 1500  # of a band; more cannot be told apart on paper


def score_drawings(evaluation: Evaluation) -> Iterator[tuple[str, Drawing]]:
    """Name each picture that the scores of an evaluation have, and say how it is drawn."""
    yield from curve_drawings(evaluation.curves, evaluation.level)
    roc = evaluation.curves.get("roc")
    if isinstance(roc, RocCurve) and np.isfinite([roc.fpr, roc.tpr]).all():
        yield "normalised-cost", roc.normalised_cost().plot
    table = evaluation.curves.get("thresholds")
    if isinstance(table, Sweep) and len(table) > 1:
        yield from _from_counts(table, evaluation)


def curve_drawings(curves: Mapping[str, Any], level: float) -> Iterator[tuple[str, Drawing]]:
    """Name each of the curves that can be drawn, and say how."""
    for name, curve in curves.items():
        if hasattr(curve, "plot"):
            yield name.replace("_", "-"), partial(_with_band, curve, level)


def _with_band(curve: Any, level: float, ax: "Axes") -> None:  # noqa: ANN401
    """Draw a curve on its band; those of weighted or grouped examples have none."""
    if isinstance(curve, (RocCurve, PrecisionRecallCurve)):
        if curve.n_positive and curve.n_negative:
            from truerisk.evaluation.curve_bands import confidence_band  # noqa: PLC0415  (rare)

            _thinned(confidence_band(curve, level=level)).plot(ax)
        _from_zero_to_one(ax)
    curve.plot(ax)


def _thinned(band: "Band") -> "Band":
    """Keep places that are evenly spaced along a band; matplotlib thins lines, and no areas."""
    if len(band.x) <= MAX_PLACES:
        return band
    steps = sum(np.abs(np.diff(ends, prepend=ends[0])) for ends in (band.x, band.low, band.high))
    way = np.cumsum(steps)
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], MAX_PLACES)))
    kept = kept.clip(max=len(way) - 1)
    return replace(band, x=band.x[kept], low=band.low[kept], high=band.high[kept])


def _from_counts(table: Sweep, evaluation: Evaluation) -> Iterator[tuple[str, Drawing]]:
    from truerisk.measures.calibration import distribution_of  # noqa: PLC0415
    from truerisk.measures.rejection import rejection_curve  # noqa: PLC0415  (only who draws)

    if np.isfinite(table.threshold[1:]).any():
        yield "scores", partial(_with_legend, distribution_of(table))
    if table.threshold[-1] >= 0 and table.threshold[1] <= 1:
        yield "calibration", partial(_calibration, table, evaluation)
    threshold = working_threshold(evaluation)
    if threshold is not None and np.isfinite(threshold):
        yield "error-reject", rejection_curve(table, threshold).plot


def _with_legend(curve: Any, ax: "Axes") -> None:  # noqa: ANN401
    curve.plot(ax)
    ax.legend(fontsize="small")


def _calibration(table: Sweep, evaluation: Evaluation, ax: "Axes") -> None:
    from truerisk.evaluation.curve_bands import calibration_intervals  # noqa: PLC0415  (who draws)
    from truerisk.measures.calibration import calibration_curve  # noqa: PLC0415

    curve = calibration_curve(table)
    is_independent = getattr(evaluation.curves.get("roc"), "n_positive", None) is not None
    if is_independent:
        calibration_intervals(curve, level=evaluation.level).plot(ax)
    curve.plot(ax)
    _from_zero_to_one(ax)


def _from_zero_to_one(ax: "Axes") -> None:
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
