"""Predictions → Evaluation: every measure, with an interval that keeps its promise."""
