import doctest
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_python_example_does_what_it_says():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted >= 4
    assert result.failed == 0


def test_every_link_leads_somewhere():
    targets = [part.split(")")[0] for part in TEXT.split("](")[1:]]
    assert len(targets) > 8
    for target in targets:
        assert (README.parent / target).exists(), target
