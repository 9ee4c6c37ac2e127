"""Tallies → numbers: one registry, one small function a measure."""

from truerisk.measures import document_precision, from_class_counts, from_counts, from_scores
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import MEASURES, Measure, find_measure

__all__ = [
    "AVERAGES",
    "MEASURES",
    "Measure",
    "document_precision",
    "find_measure",
    "from_class_counts",
    "from_counts",
    "from_scores",
]
