"""Run benchmarks and keep the last run of each: python -m benchmarks [--quick] [NAME…]."""

import importlib
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

RESULTS = Path(__file__).with_name("results.md")
NAMES = (
    "start_up",
    "counts_at_scale",
    "intervals_at_once",
    "ranks_at_scale",
    "files_at_scale",
    "text_vectors",
    "svm_on_text",
    "svm_on_tables",
    "svm_leave_one_out",
    "leave_one_out_sets",
    "leave_one_out_reuters",
    "svm_selection",
    "xi_alpha",
    "reuters_in_one_command",
    "svm_folds",
    "estimation",
    "perturbation",
    "jiang_table2",
    "comparison",
    "page",
)
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


def kept() -> dict[str, str]:
    """Give the sections that the last runs left, by their titles."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    parts = [part for part in text.split("\n## ")[1:] if part]
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}


def main() -> None:
    quick = "--quick" in sys.argv
    asked = [name for name in sys.argv[1:] if not name.startswith("--")]
    modules = {name: importlib.import_module(f"benchmarks.{name}") for name in NAMES}
    for name in asked or NAMES:
        module = modules[name]
        print(f"{module.TITLE} …", flush=True)
        made = table(module, quick=quick)
        if not quick:
            sections = kept() | {module.TITLE: made}
            titles = [one.TITLE for one in modules.values() if one.TITLE in sections]
            write([sections[title] for title in titles])


def write(parts: list[str]) -> None:
    """Keep the tables; those not run this time stay as they were."""
    versions = ", ".join(f"{name} {version(name)}" for name in PEERS)
    head = (
        "# Speed, beside the peers\n\n"
        "Every figure is a ratio, both sides in one run on the same machine, best of several, "
        "interleaved.\n\n"
        f"Python {platform.python_version()} on {platform.machine()}, 2 cores; {versions}.\n"
    )
    RESULTS.write_text("\n".join([head, *parts]), encoding="utf-8")


if __name__ == "__main__":
    main()
