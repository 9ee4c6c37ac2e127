"""Which form of the kernels is loaded, and what is said when none is there."""

import io
import os
import subprocess
import sys
import threading
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import truerisk.kernels as package
from truerisk.kernels import FAMILIES, WIDE, form, in_threads

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
    compiled = "v3" if form() == "v4" and name not in WIDE else form()
    assert f"_{compiled}" in getattr(package, name).__file__


def test_a_form_can_be_forced():
    code = "from truerisk.kernels import counts; print(counts.__file__)"
    assert "_v1" in run(code, TRUERISK_KERNELS="v1").stdout
    assert run(code, TRUERISK_KERNELS="python").stdout.strip().endswith("counts.py")


FLAGS = "flags\t\t: fpu fma avx2 bmi1 bmi2 f16c movbe abm"
WIDER = "avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.mark.skipif(sys.platform != "linux", reason="flags of the processor are read on Linux")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("flags\t\t: fpu sse2", "v1"),
        (FLAGS, "v3"),
        (FLAGS.replace(" fma", ""), "v1"),
        (f"{FLAGS} {WIDER}", "v3"),  # it would lower its clock
        (f"{FLAGS} {WIDER} avx512_vbmi2", "v4"),
        ("", "v1"),
    ],
)
def test_the_form_is_chosen_by_the_processor(flags, expected, monkeypatch):
    monkeypatch.delenv("TRUERISK_KERNELS", raising=False)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("builtins.open", lambda *_, **__: io.StringIO(f"processor: 0\n{flags}\n"))
    assert form.__wrapped__() == expected


def test_an_unknown_form_is_refused():
    failed = run("from truerisk.kernels import counts", TRUERISK_KERNELS="v9")
    assert "`TRUERISK_KERNELS` must be one of v1, v3, v4, python; got 'v9'." in failed.stderr


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


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_threads_keep_the_order(threads):
    assert in_threads(pow, [3, 2, 5], [1, 3, 2], threads=threads) == [3, 8, 25]


def test_one_thread_is_that_of_the_caller():
    def here(_):
        return threading.get_ident() == threading.main_thread().ident

    assert all(in_threads(here, range(3), threads=1))
    assert not any(in_threads(here, range(3), threads=2))
