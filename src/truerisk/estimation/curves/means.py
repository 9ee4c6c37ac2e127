"""Means over repeats of a learning curve: their intervals, and how they vary together."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from truerisk.aliases import Array
from truerisk.estimation.refits.interval_rules import mean_of_refits
from truerisk.evaluation.evaluate import evaluate_counts
from truerisk.learners.scoring import is_of_counts, range_of
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_measure
from truerisk.results import Finding, Interval

Counts = NDArray[np.int64]


def confusion_values(measure: str, confusions: Counts, pos_label: int) -> Array:
    """Apply a measure of counts to many confusion tables, rows truth, on the last two axes."""
    values = value_of_tables(measure, confusions.astype(np.float64), pos_label)
    return np.full(confusions.shape[:-2], np.nan) if values is None else values


def mean_interval(
    measure: str, values: Array, confusions: Counts, *, ratio: float, pos_label: int, level: float
) -> tuple[Interval, tuple[Finding, ...]]:
    """Give the interval of the mean over repeats, and what is to be said of it.

    Where all repeats have one value their variance says nothing; then the interval is that of the
    hold-out of a single repeat, which is wider than needed.  An undefined mean may be anything.
    """
    whole = Interval(*range_of(measure), level, "whole_range")
    if np.isnan(values).any():
        missing = int(np.isnan(values).sum())
        note = f"undefined in {missing} of {len(values)} repeats, and so is the mean"
        undefined = Finding(note, code="undefined_in_repeats")
        return whole, (undefined,)
    mean = mean_of_refits(tuple(values.tolist()), measure, ratio, level)
    if mean.interval is not None:
        return mean.interval, ()
    note = "all repeats have one value, and nothing says how far it may be off"
    no_spread = Finding(note, code="no_spread")
    if not is_of_counts(measure):
        return whole, (no_spread,)
    labels = [str(at) for at in range(confusions.shape[-1])]
    beta = base_measure(measure).parameters.get("beta")
    single = evaluate_counts(
        confusions[0],
        labels=labels,
        pos_label=labels[pos_label],
        betas=() if beta is None else (beta,),
        measures=(measure,),
        level=level,
        random_state=0,
    ).get(measure)
    if single is None or single.interval is None:
        return whole, (no_spread,)
    note = "all repeats have one value: the interval is that of the hold-out of one of them"
    return single.interval, (Finding(note, code="interval_of_one_holdout"),)


def resampled_means(
    values: Array,
    *,
    ratio: float,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> Array:
    """Draw means over repeats as they would vary with other examples; the first axis is repeats.

    Whole repeats are drawn.  They share examples: deviations are stretched as by the corrected
    resampled t, by √(J/(J − 1) · (1 + J·ratio)) · t/z.
    """
    repeats = len(values)
    mean = values.mean(axis=0)
    tail = (1 + level) / 2
    students = float(stdtrit(repeats - 1, tail) / ndtri(tail))
    stretch = math.sqrt(repeats / (repeats - 1) * (1 + repeats * ratio)) * students
    drawn = rng.multinomial(repeats, np.full(repeats, 1 / repeats), size=replicates) / repeats
    return np.asarray(mean + stretch * np.tensordot(drawn, values - mean, axes=1))
