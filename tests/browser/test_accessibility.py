"""No kind of page keeps people out: axe-core looks at each, in light and dark, large and small.

axe-core is not ours and not kept here: `make test` fetches it where npm is.
"""

import os
from pathlib import Path

import pytest

FETCHED = Path(__file__).parents[2] / ".venv" / "axe" / "axe.min.js"
# Rules whose answer depends on how wide the screen is.
OF_LAYOUT = ("scrollable-region-focusable", "target-size", "meta-viewport")

RUN = """
const [only, done] = arguments;
const options = { resultTypes: ["violations"] };
if (only.length) options.runOnly = only;
axe.run(document, options).then(
  (found) => done(found.violations.map((one) =>
    `${one.impact} ${one.id}: ` + one.nodes.slice(0, 3).map((node) =>
      `${node.target} ${node.any.concat(node.all, node.none).map((check) => check.message)}`))),
  (error) => done([String(error)]),
);
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
    show(dark=True)
    assert not faults("color-contrast")
    show(width=390)
    assert not faults("color-contrast", *OF_LAYOUT)
    show(width=390, dark=True)
    assert not faults("color-contrast")
