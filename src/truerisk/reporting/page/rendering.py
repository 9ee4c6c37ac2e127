"""Chapters → the text of one page: no request, nothing that is not in it."""

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import version

import jinja2
from markupsafe import Markup

from truerisk.reporting.page.geometry import STRIP
from truerisk.reporting.page.parts import Chapter

# What a kind of section brings along.
STYLES: dict[str, tuple[str, ...]] = {
    "categories": ("sorting.css", "categories.css"),
    "classes": ("sorting.css",),
    "table": ("sorting.css",),
    "differences": ("differences.css",),
    "explorer": ("explorer.css",),
    "probabilities": ("differences.css",),
    "critical_difference": ("critical_difference.css",),
}
SCRIPTS: dict[str, tuple[str, ...]] = {
    "categories": ("sorting.js",),
    "classes": ("sorting.js",),
    "explorer": (
        "exact_intervals.js",
        "interval_numbers.js",
        "explorer_pictures.js",
        "explorer_address.js",
        "explorer.js",
    ),
    "table": ("sorting.js",),
}


def rendered(title: str, subtitle: str, chapters: Sequence[Chapter]) -> str:
    """Draw a page.

    Its policy names the hashes of the styles and scripts, which are ours and hold no data, and
    forbids everything else; so even a text that slipped through the escaping could neither run nor
    fetch anything.
    """
    templates = page_templates()
    kinds = {section.kind for chapter in chapters for section in chapter.sections}
    style = _joined(templates, ("page.css", *_brought(STYLES, kinds)))
    script = _joined(templates, _brought(SCRIPTS, kinds))
    policy = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        *([f"script-src '{_digest(script)}'"] if script else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return templates.get_template("page.html").render(
        title=title,
        subtitle=subtitle,
        chapters=chapters,
        style=style,
        script=script,
        policy="; ".join(policy),
        strip=STRIP,
        version=version("truerisk"),
    )


def page_templates() -> jinja2.Environment:
    """Give the templates: what they are handed is escaped, and what they are not is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("truerisk.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _brought(assets: dict[str, tuple[str, ...]], kinds: set[str]) -> tuple[str, ...]:
    """List the files that these kinds bring along, each once, in the order of the table."""
    return tuple(dict.fromkeys(name for kind in assets if kind in kinds for name in assets[kind]))


def _joined(templates: jinja2.Environment, names: Sequence[str]) -> Markup:
    loader = templates.loader
    if loader is None:
        raise TypeError("templates without a loader")
    texts = [loader.get_source(templates, name)[0] for name in names]
    # Ours, and no data in it: it may stand as it is.
    return Markup("\n".join(texts))  # noqa: S704


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
