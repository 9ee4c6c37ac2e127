"""What is drawn into axes → SVG: a file of its own, or a picture of a page."""

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

WIDTH, HEIGHT = 7.2, 4.2  # of a picture, in inches
SALT = "truerisk"  # the same result gives the same picture, to the byte


def svg_text(draw: "Callable[[Axes], Any]", height: float = HEIGHT) -> str:
    """Draw an SVG; letters are shapes, so that it looks the same everywhere."""
    from matplotlib import rc_context  # noqa: PLC0415  (only who draws needs it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    drawn = io.BytesIO()
    with rc_context({"svg.hashsalt": SALT, "svg.fonttype": "path"}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure.subplots())
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue().decode("utf-8")


def svg_address(svg: str) -> str:
    """Give an SVG as an address for an image; as an image it can neither run nor fetch anything."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"
