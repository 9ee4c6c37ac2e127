"""No kind of page keeps people out: axe-core looks at each, in light and dark, large and small.

axe-core is not ours and not kept here: `make test` fetches it where npm is.
"""

import os
from pathlib import Path

import pytest

FETCHED = Path(__file__).parents[2] / ".venv" / "axe" / "axe.min.js"
OF_LAYOUT = ("scrollable-region-focusable", "target-size")  # they depend on the screen's width

RUN = """
const [rules, done] = arguments;
const contrast = rules[0] === "color-contrast";
const others = { rules: { "color-contrast": { enabled: false } } };
const options = rules.length ? { runOnly: rules } : others;
const told = (node) => node.any.concat(node.all, node.none).map((check) => check.message);
axe.run(contrast ? { include: looks() } : document, { ...options, resultTypes: ["violations"] })
  .then((found) => done(found.violations.map((one) =>
    `${one.impact} ${one.id}: ` +
    one.nodes.slice(0, 3).map((node) => `${node.target} ${told(node)}`).join("; "))))
  .catch((error) => done([String(error)]));

// One text of each look: contrast is slow to judge, and rows of a table are alike.
function looks() {
  const found = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const speaks = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!speaks || !element.checkVisibility()) continue;
    const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
    const behind = [];
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor, opacity } = getComputedStyle(at);
      behind.push(backgroundColor, opacity);
    }
    const look = [element.namespaceURI, color, fill, fontSize, fontWeight, ...behind].join();
    if (!found.has(look)) found.set(look, element);
  }
  return [...found.values()];
}
"""


@pytest.fixture(scope="session")
def axe():
    """Give the text of axe-core."""
    path = Path(os.environ.get("TRUERISK_AXE", FETCHED))
    if not path.is_file():
        pytest.skip("no axe-core: `make test` fetches it where npm is, or TRUERISK_AXE names it")
    return path.read_text(encoding="utf-8")


def test_axe_finds_no_fault(opened, show, page, axe):
    shown = opened(page)
    shown.execute_script(axe)

    def faults(*rules):
        return "\n".join(shown.execute_async_script(RUN, rules))

    assert not faults()
    for width in (1200, 390):
        for dark in (False, True):
            show(width=width, dark=dark)
            assert not faults("color-contrast")
    assert not faults(*OF_LAYOUT)
