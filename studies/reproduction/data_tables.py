"""The tables of examples that experiments are made on: X and a target of 0 and 1."""

from pathlib import Path
from typing import Any

import numpy as np

from truerisk.aliases import Indices
from truerisk.errors import InputError
from truerisk.inputs.tables import read_table


def table_of(folder: Path, stem: str) -> tuple[Any, Indices]:
    """Read a table, in the folder itself or in its folder `tabular`."""
    for path in (folder / f"{stem}.csv.gz", folder / "tabular" / f"{stem}.csv.gz"):
        if path.is_file():
            table = read_table(path, target="target")
            return table.X, (np.asarray(table.y) == "1").astype(np.intp)
    raise InputError(
        f"`data` must hold {stem}.csv.gz, in it or in its folder tabular; got {folder}."
    )
