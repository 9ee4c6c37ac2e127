"""The uncompiled twin of a family of kernels: the same file, run by Python."""

import importlib.util
from pathlib import Path

import pytest

import truerisk.kernels as package


@pytest.fixture(scope="session")
def twin():
    def twin(name):
        path = Path(package.__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(f"twin_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return twin
