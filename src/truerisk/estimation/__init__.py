"""Learner + data → estimates: how examples are split, and what the replicates say together."""

from truerisk.estimation.refits.splits import five_by_two, k_fold, split_file, split_table
from truerisk.estimation.refits.summary import summarise

__all__ = ["five_by_two", "k_fold", "split_file", "split_table", "summarise"]
