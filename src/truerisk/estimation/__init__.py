"""Learner + data → estimates: how examples are split, and what the replicates say together."""

from truerisk.estimation.refits.interval_rules import summarise
from truerisk.estimation.refits.splits import five_by_two, k_fold, split_file, split_table

__all__ = ["five_by_two", "k_fold", "split_file", "split_table", "summarise"]
