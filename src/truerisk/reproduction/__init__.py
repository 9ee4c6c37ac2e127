"""The documents' tables, recomputed: the paper's figure beside ours."""

from truerisk.reproduction.reproduced import Reproduction
from truerisk.reproduction.settings import Settings
from truerisk.reproduction.tables import EXPERIMENTS, TABLES

__all__ = ["EXPERIMENTS", "TABLES", "Reproduction", "Settings"]
