"""Which form of the kernels is loaded, and what is said when none is there."""

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import truerisk.kernels as package
from truerisk.kernels import FAMILIES, form

SOURCES = {path.stem for path in Path(package.__file__).parent.glob("[a-z]*.py")}


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_source_is_a_family():
    assert set(FAMILIES) == SOURCES


@pytest.mark.parametrize("name", FAMILIES)
def test_the_compiled_module_is_loaded(name):
    if form() == "python":
        pytest.skip("TRUERISK_KERNELS=python")
    assert getattr(package, name).__file__.endswith(tuple(EXTENSION_SUFFIXES))
    assert f"_{form()}" in getattr(package, name).__file__


def test_a_form_can_be_forced():
    code = "from truerisk.kernels import counts; print(counts.__file__)"
    assert "_v1" in run(code, TRUERISK_KERNELS="v1").stdout
    assert run(code, TRUERISK_KERNELS="python").stdout.strip().endswith("counts.py")


def test_an_unknown_form_is_refused():
    failed = run("from truerisk.kernels import counts", TRUERISK_KERNELS="v9")
    assert "`TRUERISK_KERNELS` must be one of v1, v3, python; got 'v9'." in failed.stderr


def test_a_package_without_compiled_files_says_what_to_do(tmp_path):
    (tmp_path / "truerisk" / "kernels").mkdir(parents=True)
    source = Path(package.__file__).read_text(encoding="utf-8")
    (tmp_path / "truerisk" / "kernels" / "__init__.py").write_text(source, encoding="utf-8")
    (tmp_path / "truerisk" / "__init__.py").touch()
    # Neither the finder of an editable installation nor the installed package comes first.
    plain = "[one for one in sys.meta_path if 'editable' not in type(one).__module__]"
    code = (
        f"import sys; sys.meta_path[:] = {plain}; sys.path.insert(0, {str(tmp_path)!r}); "
        "from truerisk.kernels import counts"
    )
    failed = run(code)
    assert "compiled loops of truerisk (counts, form" in failed.stderr
    assert "needs a C compiler" in failed.stderr


def test_no_module_imports_a_source_past_the_choice():
    root = Path(package.__file__).parent.parent
    direct = [
        path
        for path in root.rglob("*.py")
        if "import truerisk.kernels." in (text := path.read_text(encoding="utf-8"))
        or "from truerisk.kernels." in text
    ]
    assert not direct


def test_the_names_of_the_package_are_its_own():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing
