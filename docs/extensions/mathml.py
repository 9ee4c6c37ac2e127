"""Formulas as MathML, which browsers draw themselves: no script, no font, no network.

docutils brings the translation; the few commands it does not know are written in its words.
"""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

WRITTEN_OTHERWISE = {
    r"\iff": r"\Longleftrightarrow",
    r"\dots": r"\ldots",
    "½": r"\frac{1}{2}",
}
# LaTeX takes one digit or letter as a whole argument; docutils would read 12 in \frac12 as one.
BARE_FRACTION = re.compile(r"(\\[dt]?frac) *(\w) *(\w)")


def mathml(formula: str, *, as_block: bool) -> str:
    """Translate a formula of LaTeX."""
    for ours, theirs in WRITTEN_OTHERWISE.items():
        formula = formula.replace(ours, theirs)
    formula = BARE_FRACTION.sub(r"\1{\2}{\3}", formula)
    return tex2mathml(formula, as_block=as_block)


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
