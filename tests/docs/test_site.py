"""What docs/extensions make of the pages and the public names; `make docs` builds the site."""

import importlib.util
from pathlib import Path

import pytest

import truerisk

DOCS = Path(__file__).parents[2] / "docs"


def _extension(name):
    """Load an extension; those tested here need no Sphinx."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def public_names():
    return _extension("public_names")


def test_every_public_name_is_in_the_reference(public_names):
    listed = [name for names in public_names.families().values() for name in names]
    assert sorted(listed) == sorted(name for name in truerisk.__all__ if name != "__version__")


def test_a_class_a_function_and_a_table_are_documented_as_what_they_are(public_names):
    page = public_names.page("measures", ["MEASURES", "roc"])
    assert ".. autodata:: MEASURES" in page
    assert ".. autofunction:: roc" in page
    assert ".. autoclass:: LinearSVM\n   :members:" in public_names.page("svm", ["LinearSVM"])


def test_every_page_is_in_the_contents_once():
    contents = _extension("contents").toctrees((DOCS / "index.md").read_text(encoding="utf-8"))
    pages = sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")
    listed = sorted(line for line in contents.splitlines() if (DOCS / f"{line}.md").is_file())
    assert listed == pages


def test_the_contents_follow_headings_and_links():
    index = "# T\n\n[no](zero.md)\n\n## One\n\n[a](a.md) and [b](b-c.md)\n\n## Two\n\nnothing\n"
    contents = _extension("contents").toctrees(index)
    assert contents.startswith("```{toctree}\n:hidden:\n:caption: One\n\na\nb-c\n```\n")
    assert "Two" not in contents
    assert "zero" not in contents


def test_nothing_that_a_page_shows_comes_from_the_network():
    parts = [*DOCS.glob("static/*"), *DOCS.glob("templates/*"), *DOCS.glob("extensions/*.py")]
    for path in parts:
        assert "://" not in path.read_text(encoding="utf-8"), path.name
    # Links to the pages of other projects are links, not parts of the page.
    links, conf = 0, (DOCS / "conf.py").read_text(encoding="utf-8")
    for line in conf.splitlines():
        links += (is_link := line.strip().endswith('", None),'))
        assert is_link or "://" not in line, line
    assert links == 3


@pytest.mark.parametrize(
    ("formula", "top", "bottom"),
    [
        (r"\tfrac12 w", "<mn>1</mn>", "<mn>2</mn>"),
        (r"\frac dn", "<mi>d</mi>", "<mi>n</mi>"),
        (r"\frac1J x", "<mn>1</mn>", "<mi>J</mi>"),
        (r"\frac{a}{b} x", "<mi>a</mi>", "<mi>b</mi>"),
        ("½ x", "<mn>1</mn>", "<mn>2</mn>"),
    ],
)
def test_a_fraction_has_the_parts_that_latex_gives_it(formula, top, bottom):
    pytest.importorskip("docutils", reason="`make docs` brings docutils and Sphinx")
    pytest.importorskip("sphinx", reason="`make docs` brings docutils and Sphinx")
    shown = "".join(_extension("mathml").mathml(formula, as_block=False).split())
    assert f"{top}{bottom}</mfrac>" in shown


def test_every_formula_of_a_measure_can_be_drawn():
    pytest.importorskip("docutils", reason="`make docs` brings docutils and Sphinx")
    pytest.importorskip("sphinx", reason="`make docs` brings docutils and Sphinx")
    mathml = _extension("mathml").mathml
    for measure in truerisk.MEASURES.values():
        assert not measure.formula or "<math" in mathml(measure.formula, as_block=True)
