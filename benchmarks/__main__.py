"""Run benchmarks and write the last run of each: python -m benchmarks [--quick] [NAME…]."""

import importlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.pages import NAMES, markdown_row, read, write, write_pages
from truerisk.kernels import form

CPU_INFO = Path("/proc/cpuinfo")
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
            processors = {**dict(read("processors")[1:]), name: processor()}
            write("processors", [("benchmark", "processor"), *sorted(processors.items())])
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


def processor() -> str:
    """Name the processor, and the form of the compiled loops that suits it: ratios depend on it."""
    names = (
        line.split(":", 1)[1].strip()
        for line in (CPU_INFO.read_text(encoding="utf-8") if CPU_INFO.exists() else "").splitlines()
        if line.startswith("model name")
    )
    return f"{next(names, platform.processor())}, loops of form {form()}"


if __name__ == "__main__":
    main()
