"""`py.typed` is a promise: a strictly typed program that uses the package passes mypy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import truerisk

CLIENT = Path(__file__).with_name("typed_client.py")


def checked(tmp_path, *paths):
    pytest.importorskip("mypy")
    words = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *paths)
    # In an empty folder, where no settings of ours are found.
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)


def test_the_package_says_that_it_is_typed():
    assert Path(truerisk.__file__).with_name("py.typed").is_file()


@pytest.mark.slow
def test_a_typed_client_passes_and_its_mistakes_are_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import truerisk as tr\n"
        "value: str = tr.evaluate([1], [1])['accuracy'].value\n"
        "tr.evaluate([1], [1], lvel=0.9)\n"
    )
    ended = checked(tmp_path, CLIENT, wrong)
    assert "Found 2 errors in 1 file (checked 2 source files)" in ended.stdout
    assert CLIENT.name not in ended.stdout
    assert 'error: Incompatible types in assignment (expression has type "float"' in ended.stdout
    assert 'error: Unexpected keyword argument "lvel" for "evaluate"' in ended.stdout
