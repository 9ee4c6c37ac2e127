"""A program that uses truerisk from outside; mypy checks it, and nobody runs it."""

from pathlib import Path

import numpy as np

import truerisk as tr


def evaluate(y_true: list[str], y_pred: list[str], scores: list[float]) -> float:
    """Use an evaluation and its estimates as a user would."""
    evaluation: tr.Evaluation = tr.evaluate(y_true, y_pred, y_score=scores, pos_label="spam")
    recall: tr.Estimate = evaluation["recall"]
    interval: tr.Interval | None = recall.interval
    low: float = interval.low if interval is not None else float("nan")
    verdict: tuple[str, ...] = tuple(evaluation.verdict)
    evaluation.report().save(Path("report.html"))
    return low + len(verdict) + recall.value


def compare(y_true: list[int], first: list[int], second: list[int]) -> float | None:
    """Use a comparison."""
    comparisons: tr.Comparisons = tr.compare(y_true, first, second, measures=["error_rate"])
    one: tr.Comparison = comparisons.pairs[0]
    return one.p_value


def train(rows: int) -> tr.LeaveOneOut:
    """Use an SVM."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, 2)), rng.integers(2, size=rows)
    svm = tr.LinearSVM(C=1.0).fit(X, y)
    found: tr.LeaveOneOut = tr.leave_one_out(svm, X, y)
    return found


VERSION: str = tr.__version__
