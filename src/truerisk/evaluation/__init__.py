"""Predictions → Evaluation: every measure, with an interval that keeps its promise."""

from truerisk.evaluation.evaluate import (
    evaluate,
    evaluate_counts,
    evaluate_files,
    evaluate_frame,
)
from truerisk.evaluation.request import Request

__all__ = ["Request", "evaluate", "evaluate_counts", "evaluate_files", "evaluate_frame"]
