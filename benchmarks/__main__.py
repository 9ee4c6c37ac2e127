"""Run benchmarks and write the last run of each: python -m benchmarks [--quick] [NAME…]."""

import importlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from benchmarks.pages import NAMES, markdown_row, write, write_pages

PEERS = ("numpy", "scipy", "scikit-learn", "pyarrow", "polars", "statsmodels")


def main() -> None:
    """Run the benchmarks that are named, or all; a quick run writes nothing."""
    quick = "--quick" in sys.argv
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    for name in names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{module.TITLE} …", flush=True)
        rows = []
        for row in module.rows(quick=quick):
            print(markdown_row(row), flush=True)
            rows.append(row)
        if not quick:
            write(name, [module.COLUMNS, *rows])
            write("versions", versions())
            write_pages()


def versions() -> list[tuple[str, str]]:
    """Say on what was measured; a peer that is not installed is left out."""
    rows = [
        ("name", "version"),
        ("Python", platform.python_version()),
        ("machine", platform.machine()),
        ("cores", str(os.cpu_count())),
    ]
    for name in PEERS:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return rows


if __name__ == "__main__":
    main()
