"""The documents' tables, recomputed: the paper's figure beside ours."""

from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings
from studies.reproduction.tables import EXPERIMENTS, SIMULATIONS, TABLES

__all__ = [
    "EXPERIMENTS",
    "SIMULATIONS",
    "TABLES",
    "JiangSettings",
    "Reproduction",
    "Settings",
]
