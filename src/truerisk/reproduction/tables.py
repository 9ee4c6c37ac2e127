"""What can be recomputed, by the name the command line knows it under."""

from collections.abc import Callable
from functools import partial

from truerisk.reproduction import shah_shanian
from truerisk.reproduction.reproduced import Reproduction
from truerisk.reproduction.settings import Settings

Experiment = Callable[[Settings], Reproduction]


def _table_of_joachims(name: str, settings: Settings) -> Reproduction:
    from truerisk.reproduction import joachims  # noqa: PLC0415  (loads scikit-learn and numba)

    return joachims.reproduce(joachims.TABLES[name], settings)


def _figures_of_joachims(settings: Settings) -> Reproduction:
    from truerisk.reproduction import joachims_figures  # noqa: PLC0415  (as above)

    return joachims_figures.reproduce(settings)


# From the figures of the document alone.
TABLES: dict[str, Callable[[], Reproduction]] = {
    "shah-shanian-table2": shah_shanian.reproduce,
}
# From documents, which are not part of this package.
EXPERIMENTS: dict[str, Experiment] = {
    **{
        name: partial(_table_of_joachims, name)
        for name in ("joachims-table1", "joachims-table2", "joachims-table3")
    },
    "joachims-figures4-6": _figures_of_joachims,
}
