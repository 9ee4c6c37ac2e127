"""Predictions → Evaluation: every measure, with an interval that keeps its promise."""

from truerisk.evaluation.arrays import evaluate
from truerisk.evaluation.files import evaluate_files
from truerisk.evaluation.request import Request
from truerisk.evaluation.tables import evaluate_counts

__all__ = ["Request", "evaluate", "evaluate_counts", "evaluate_files"]
