"""No kind of page keeps people out: axe-core looks at each, on a phone in the dark and on a desk.

Contrast is judged in both, for colours know only light and dark, and letters only large and small.
All else is judged on the phone, where boxes scroll and targets are smallest.

axe-core is not ours and not kept here: `make test` fetches it where npm is.
"""

import os
from pathlib import Path

import pytest

FETCHED = Path(__file__).parents[2] / ".venv" / "axe" / "axe.min.js"
CONTRAST = "color-contrast"

RUN = """
const [contrast, others, done] = arguments;
// The size of targets is asked for by name: axe leaves that rule out otherwise.
const rules = { [contrast]: { enabled: false }, "target-size": { enabled: true } };
const options = others ? { rules } : { runOnly: [contrast] };
const told = (node) => node.any.concat(node.all, node.none).map((check) => check.message);
axe.run(others ? document : { include: looks() }, { ...options, resultTypes: ["violations"] })
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
    shown = opened(page, width=390, dark=True)
    shown.execute_script(axe)

    def faults(*, others=False):
        return "\n".join(shown.execute_async_script(RUN, CONTRAST, others))

    assert not faults(others=True)
    assert not faults()
    show(width=1200)
    assert not faults()
