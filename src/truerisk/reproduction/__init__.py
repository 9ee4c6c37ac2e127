"""The documents' tables, recomputed: the paper's figure beside ours."""

from truerisk.reproduction.reproduced import Reproduction
from truerisk.reproduction.tables import TABLES

__all__ = ["TABLES", "Reproduction"]
