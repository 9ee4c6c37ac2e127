"""The figures of tables 2 to 5 of Jiang, Zhang and Cai as they are printed."""

import csv
from collections.abc import Mapping
from importlib.resources import files

SOURCE = (
    'B. Jiang, X. Zhang and T. Cai, "Estimating the Confidence Interval for Prediction Errors of '
    'Support Vector Machine Classifiers", JMLR 9, 521-540, 2008'
)
DATASETS = 1000  # in every simulation of the paper


def printed_rows(table: int) -> tuple[Mapping[str, str], ...]:
    """Read the rows of a table, each figure by the name of its column.

    Examples
    --------
    >>> printed_rows(2)[0]["percentile_ca"], len(printed_rows(3))
    ('94.7', 10)
    """
    name = f"jiang_table{table}.csv"
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
