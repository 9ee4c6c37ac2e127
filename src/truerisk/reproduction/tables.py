"""The tables that can be recomputed, by the name the command line knows them under."""

from collections.abc import Callable

from truerisk.reproduction import shah_shanian
from truerisk.reproduction.reproduced import Reproduction

TABLES: dict[str, Callable[[], Reproduction]] = {
    "shah-shanian-table2": shah_shanian.reproduce,
}
