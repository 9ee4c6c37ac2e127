"""The one public namespace: what it holds, in order, loadable, and shown at work."""

import inspect
import re
from pathlib import Path

import pytest

import truerisk

LIST = Path(truerisk.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
IMPORTS = re.findall(r"^from \.(\S+) import (\w+) as \2$", LIST, re.MULTILINE)
NAMES = [name for _, name in IMPORTS]


def test_the_list_of_names_is_what_the_package_offers():
    assert sorted(NAMES) == sorted(truerisk.__all__) == sorted(dir(truerisk))
    assert len(set(NAMES)) == len(NAMES)


def test_names_stand_in_the_order_of_their_modules():
    assert sorted(IMPORTS) == IMPORTS


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_can_be_loaded_and_is_documented_where_it_is_written(name):
    found = getattr(truerisk, name)
    if name == "MEASURES":
        return
    assert found.__name__ == name
    assert found.__module__.startswith("truerisk.")
    assert inspect.getdoc(found)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "MEASURES"])
def test_a_public_name_is_shown_at_work(name):
    if not name.endswith(("Error", "Warning")):
        assert ">>> " in inspect.getdoc(getattr(truerisk, name))


FUNCTIONS = [
    name
    for name in NAMES
    if callable(getattr(truerisk, name)) and not inspect.isclass(getattr(truerisk, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_are_typed_keyword_arguments_that_the_docstring_explains(name):
    function = getattr(truerisk, name)
    signature = inspect.signature(function)
    explained = inspect.getdoc(function).partition("Parameters\n----------\n")[2]
    explained = re.split(r"\n(?:Examples|References|Raises|Returns)\n---", explained)[0]
    for parameter in signature.parameters.values():
        assert parameter.kind is not parameter.VAR_KEYWORD
        assert parameter.annotation is not parameter.empty
        assert re.search(rf"\b{parameter.name}\b", explained), parameter.name
    assert signature.return_annotation is not signature.empty


def test_a_name_that_does_not_exist_is_refused():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = truerisk.no_such_name


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_names_its_types(name):
    # NumPy's ArrayLike is a union of twelve types, which help and notebooks would write out.
    found = getattr(truerisk, name)
    if inspect.isfunction(found):
        for one in inspect.signature(found).parameters.values():
            assert len(inspect.formatannotation(one.annotation)) < 120, one
