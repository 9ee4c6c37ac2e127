"""A template and plain values → one page: no script, no request, nothing that is not in it."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

import jinja2
from markupsafe import Markup


def rendered(template: str, styles: Sequence[str], data: dict[str, Any]) -> str:
    """Draw a page from a template of ours and its style sheets.

    Its policy names the hash of the styles and forbids everything else, so that even a text that
    slipped through the escaping could neither run nor fetch anything.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("truerisk.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = "\n".join(templates.get_template(name).render() for name in styles)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    # The style sheets are ours and hold no data: they may stand as they are.
    return templates.get_template(template).render(**data, style=Markup(style), policy=policy)  # noqa: S704
