"""Learner + data → estimates: how examples are split, and what the replicates say together."""

from truerisk.estimation.splits import five_by_two, k_fold, split_file, split_table
from truerisk.estimation.summary import summarise

__all__ = ["five_by_two", "k_fold", "split_file", "split_table", "summarise"]
