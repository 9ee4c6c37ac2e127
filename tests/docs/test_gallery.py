"""The examples of docs/gallery, cheaply: `make docs` runs them."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs" / "gallery").glob("plot_*.py"))
NAMES = ROOT / "src" / "truerisk" / "__init__.pyi"
PUBLIC = {
    name.asname or name.name
    for line in ast.parse(NAMES.read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
USED = {"matplotlib", "mlflow", "numpy", "os", "sklearn", "tempfile", "truerisk", "wandb"}
named = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def _parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def test_there_are_examples():
    assert len(EXAMPLES) >= 10


@named
def test_an_example_compiles(path):
    compile(path.read_text(encoding="utf-8"), str(path), "exec")


@named
def test_an_example_names_only_public_names(path):
    used = {
        node.attr
        for node in ast.walk(_parsed(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "tr"
    }
    assert used
    assert used <= PUBLIC


@named
def test_an_example_imports_only_what_users_have(path):
    modules = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name)
        for node in ast.walk(_parsed(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {module.split(".")[0] for module in modules} <= USED
    assert not any(module.startswith("truerisk.") for module in modules)


@named
def test_an_example_has_a_title(path):
    title, line, *_ = ast.get_docstring(_parsed(path)).splitlines()
    assert line == "=" * len(title)
