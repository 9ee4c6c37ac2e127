"""The documents' tables, recomputed: the paper's figure beside ours."""

from truerisk.reproduction.jiang_settings import JiangSettings
from truerisk.reproduction.reproduced import Reproduction
from truerisk.reproduction.settings import Settings
from truerisk.reproduction.tables import EXPERIMENTS, SIMULATIONS, TABLES

__all__ = [
    "EXPERIMENTS",
    "SIMULATIONS",
    "TABLES",
    "JiangSettings",
    "Reproduction",
    "Settings",
]
