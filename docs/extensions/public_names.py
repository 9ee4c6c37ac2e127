"""The reference: one page a family of public names, from `__init__.pyi` and the docstrings.

A family is the folder that a name comes from, so a new public name is on its page without being
listed anywhere else; a new folder needs a title here.
"""

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import truerisk

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NAMES = Path(truerisk.__file__).with_suffix(".pyi")
TITLES = {
    "evaluation": "Predictions: how good are they?",
    "measures": "Measures, thresholds, curves",
    "intervals": "Intervals, tests, sample sizes",
    "comparison": "Comparison: is B better?",
    "estimation": "Learners: how well will they do?",
    "learners": "Tuning",
    "svm": "Support vector machines",
    "text": "Text",
    "inputs": "Reading files",
    "tallies": "Rankings",
    "execution": "Clusters",
    "reporting": "The page",
    "results": "Results",
    "errors": "Errors and warnings",
}


def families() -> dict[str, list[str]]:
    """Give the public names of each folder, in the order of the titles."""
    found: dict[str, list[str]] = {family: [] for family in TITLES}
    for line in ast.parse(NAMES.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.ImportFrom) and line.module:
            found[line.module.split(".")[0]].extend(name.asname or name.name for name in line.names)
    return {family: sorted(names, key=str.lower) for family, names in found.items() if names}


def page(family: str, names: list[str]) -> str:
    """Write the page of a family."""
    title = TITLES[family]
    entries = "\n".join(map(_entry, names))
    return f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: truerisk\n\n{entries}"


def _entry(name: str) -> str:
    thing = getattr(truerisk, name)
    if inspect.isclass(thing):
        return f".. autoclass:: {name}\n   :members:\n"
    return f".. autofunction:: {name}\n" if callable(thing) else f".. autodata:: {name}\n"


def write(app: "Sphinx") -> None:
    """Write all pages, and leave those alone that are as they should be."""
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    pages = {f"{family}.rst": page(family, names) for family, names in families().items()}
    listed = "\n".join(f"   {name.removesuffix('.rst')}" for name in pages)
    pages["index.rst"] = f"Reference\n=========\n\n.. toctree::\n\n{listed}\n"
    for stale in {path.name for path in folder.glob("*.rst")} - pages.keys():
        (folder / stale).unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the reference before pages are looked for."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
