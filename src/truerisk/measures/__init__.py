"""Tallies → numbers: one registry, one small function per measure."""

from truerisk.measures import from_counts, from_scores
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import MEASURES, Measure, find_measure

__all__ = ["AVERAGES", "MEASURES", "Measure", "find_measure", "from_counts", "from_scores"]
