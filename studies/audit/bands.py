"""How often a band holds the whole true curve: ROC, precision and recall, calibration.

Scores are normal, a distance apart between the classes; there the true curves have formulas.  The
calibrated probabilities of such scores are the truth of a calibration curve: the true share of
positives of a bin is the mean probability in it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

import truerisk as tr
from studies.audit.checkpoints import checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from truerisk.aliases import Array

SAMPLES = 500
LEVELS = (0.9, 0.95)
SIZES = (50, 200, 1000)
POPULATIONS = {  # share of positives, distance of the means in standard deviations
    "half positive, 1 sd apart": (0.5, 1.0),
    "half positive, 3 sd apart": (0.5, 3.0),
    "1 in 10 positive, 1.5 sd apart": (0.1, 1.5),
}
PLACES = np.linspace(0.0005, 0.9995, 2000)
BINS = 10


def roc_is_held(y: Array, score: Array, share: float, distance: float, level: float) -> bool:
    """Whether the band holds Φ(d + Φ⁻¹(x)) at every false positive rate x."""
    del share
    band = tr.confidence_band(tr.roc(y, score), level=level)
    truth = ndtr(distance + ndtri(PLACES))
    return _holds(band, truth)


def precision_is_held(y: Array, score: Array, share: float, distance: float, level: float) -> bool:
    """Whether the band holds the true precision at every recall r, π r / (π r + (1 − π) f)."""
    band = tr.confidence_band(tr.precision_recall(y, score), level=level)
    alarms = ndtr(ndtri(PLACES) - distance)
    truth = share * PLACES / (share * PLACES + (1 - share) * alarms)
    return _holds(band, truth)


def calibration_is_held(
    y: Array, score: Array, share: float, distance: float, level: float
) -> bool:
    """Whether every bin's interval holds the mean of its true probabilities."""
    probability = expit(distance * score + logit(share) - distance**2 / 2)
    curve = tr.calibration(y, probability, bins=BINS)
    intervals = tr.calibration_intervals(curve, level=level)
    held = (intervals.low <= curve.mean_score) & (curve.mean_score <= intervals.high)
    return bool(held.all())


def _holds(band: Any, truth: Array) -> bool:
    low, high = np.interp(PLACES, band.x, band.low), np.interp(PLACES, band.x, band.high)
    return bool(((low <= truth) & (truth <= high)).all())


BANDS: Mapping[str, tuple[str, Callable[..., bool]]] = {
    "ROC curve": ("simultaneous_rectangles", roc_is_held),
    "precision and recall": ("simultaneous_rectangles", precision_is_held),
    "calibration in bins": ("clopper_pearson_together", calibration_is_held),
}


def measure(
    *,
    samples: int = SAMPLES,
    sizes: Sequence[int] = SIZES,
    populations: Mapping[str, tuple[float, float]] = POPULATIONS,
    folder: Path | None = None,
) -> Iterator[CoverageCell]:
    """Give one row per curve, population, size and level.

    Samples without positives or without negatives have no curve, and count neither way.
    """
    for problem, (share, distance) in populations.items():
        for n in sizes:
            settings = {"problem": problem, "n": n, "samples": samples}
            name = f"bands-{list(POPULATIONS).index(problem)}-{n}"

            def compute(n: int = n, share: float = share, distance: float = distance) -> Any:
                return {"held": held_samples(n, share, distance, samples)}

            held = checkpointed(folder, name, settings, compute)["held"]
            for at, (curve, (method, _)) in enumerate(BANDS.items()):
                for place, level in enumerate(LEVELS):
                    shares = held[:, at, place]
                    there = shares >= 0
                    yield CoverageCell(
                        study="bands",
                        problem=problem,
                        role=HELD_OUT,
                        design="",
                        n=n,
                        measure=curve,
                        method=method,
                        level=level,
                        target="this model",
                        samples=int(there.sum()),
                        undefined=int((~there).sum()),
                        coverage=float(shares[there].mean()),
                        width=math.nan,
                    )


def held_samples(n: int, share: float, distance: float, samples: int) -> NDArray[np.int8]:
    """Give samples × curves × levels: 1 held, 0 not, −1 no curve."""
    rng = np.random.default_rng([0, n, round(100 * share), round(100 * distance)])
    held = np.full((samples, len(BANDS), len(LEVELS)), -1, dtype=np.int8)
    for sample in held:
        y = (rng.random(n) < share).astype(np.int64)
        score = rng.normal(size=n) + distance * y
        if 0 < y.sum() < n:
            for at, (_, is_held) in enumerate(BANDS.values()):
                sample[at] = [is_held(y, score, share, distance, level) for level in LEVELS]
    return held
