"""Run every benchmark in one go and keep the last run: python -m benchmarks [--quick] [NAME…]."""

import importlib
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
NAMES = ("start_up", "counts_at_scale", "intervals_at_once", "ranks_at_scale", "files_at_scale")
PEERS = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "polars", "statsmodels")


def table(module: ModuleType, *, quick: bool) -> str:
    columns = module.COLUMNS
    lines = [
        f"## {module.TITLE}",
        "",
        "| " + " | ".join(columns) + " |",
        "|---" * len(columns) + "|",
    ]
    for row in module.rows(quick=quick):
        line = "| " + " | ".join(row) + " |"
        print(line, flush=True)
        lines.append(line)
    return "\n".join([*lines, ""])


def main() -> None:
    quick = "--quick" in sys.argv
    asked = [name for name in sys.argv[1:] if not name.startswith("--")]
    parts = []
    for name in asked or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{module.TITLE} …", flush=True)
        parts.append(table(module, quick=quick))
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    head = (
        "# Speed, beside the peers\n\n"
        "Every figure is a ratio, both sides in one run on the same machine, best of several, "
        "interleaved.\n\n"
        f"Python {platform.python_version()} on {platform.machine()}, 2 cores; {versions}.\n"
    )
    if not asked and not quick:
        (HERE / "results.md").write_text("\n".join([head, *parts]), encoding="utf-8")


if __name__ == "__main__":
    main()
