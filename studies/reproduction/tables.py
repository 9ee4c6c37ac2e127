"""What can be recomputed, by the name the command line knows it under."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from studies.reproduction import shah_shanian
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings

Experiment = Callable[[Settings], Reproduction]


def _table_of_joachims(name: str, settings: Settings) -> Reproduction:
    from studies.reproduction import joachims

    return joachims.reproduce(joachims.TABLES[name], settings)


def _figures_of_joachims(settings: Settings) -> Reproduction:
    from studies.reproduction import joachims_figures

    return joachims_figures.reproduce(settings)


def _table_of_jiang(number: int, settings: JiangSettings) -> Reproduction:
    module = import_module(f"studies.reproduction.jiang_table{number}")  # loads as above
    table: Reproduction = module.reproduce(settings)
    return table


def _trained_by_shah(settings: JiangSettings) -> Reproduction:
    from studies.reproduction import shah_shanian_trained

    return shah_shanian_trained.reproduce(settings)


def _xi_alpha_refined(settings: Settings) -> Reproduction:
    from studies.reproduction import xi_alpha_refined

    return xi_alpha_refined.reproduce(settings)


def _webkb_with_markup(settings: Settings) -> Reproduction:
    from studies.reproduction import webkb_markup

    return webkb_markup.reproduce(settings)


def _readings_of_jiang(settings: JiangSettings) -> Reproduction:
    from studies.reproduction import jiang_readings

    return jiang_readings.reproduce(settings)


@dataclass(frozen=True)
class Simulation:
    """An experiment with parameters of its own; `uses` are those that matter to it."""

    run: Callable[[JiangSettings], Reproduction]
    uses: tuple[str, ...]


# From the figures of the document alone.
TABLES: dict[str, Callable[[], Reproduction]] = {"shah-shanian-table2": shah_shanian.reproduce}
# From documents, which are not part of this package.
EXPERIMENTS: dict[str, Experiment] = {
    **{
        name: partial(_table_of_joachims, name)
        for name in ("joachims-table1", "joachims-table2", "joachims-table3")
    },
    "joachims-figures4-6": _figures_of_joachims,
    "joachims-table2-markup": _webkb_with_markup,
    "xi-alpha-refined": _xi_alpha_refined,
}
# From data that are drawn, or from tables, which are not part of this package.
SIMULATIONS: dict[str, Simulation] = {
    "shah-shanian-table2-trained": Simulation(
        _trained_by_shah, ("data", "partitions", "resume", "n_jobs", "random_state")
    ),
    **{
        f"jiang-table{number}": Simulation(
            partial(_table_of_jiang, number), (*uses, "replicates", "n_jobs", "random_state")
        )
        for number, uses in (
            (2, ("datasets", "losses", "sigmas")),
            (3, ("data", "partitions")),
            (4, ("datasets", "losses", "noises")),
            (5, ("data", "losses", "cutoff", "sites", "encoding")),
        )
    },
    "jiang-readings": Simulation(_readings_of_jiang, ("data", "losses", "n_jobs", "random_state")),
}
