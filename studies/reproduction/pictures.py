"""The pictures of a reproduced table, saved side by side in one file."""

import io
from pathlib import Path

from studies.reproduction.reproduced import Reproduction
from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path
from truerisk.reporting.files import check_destination

FORMATS = (".png", ".svg", ".pdf")
COLUMNS = 2
WIDTH, HEIGHT = 5.5, 3.6  # of one picture, in inches


def check_picture(path: Path) -> None:
    """Refuse a file that no picture can be saved in, before anything is computed for it."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"`--plot` must end in {', '.join(FORMATS)}; got {shown(path.name)}.")
    check_destination(path)


def save_pictures(table: Reproduction, path: Path) -> Path:
    """Draw all pictures of a table, two in a row, and save them."""
    if not table.pictures:
        raise InputError(f"`--plot` is for tables with pictures; {table.title!r} has none.")
    from matplotlib.figure import Figure

    check_picture(path)
    rows = -(-len(table.pictures) // COLUMNS)
    figure = Figure(figsize=(COLUMNS * WIDTH, rows * HEIGHT), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel in panels[len(table.pictures) :]:
        panel.set_axis_off()
    for picture, panel in zip(table.pictures, panels, strict=False):
        picture.plot(panel)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower())
    try:
        path.write_bytes(drawn.getvalue())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise ResourceError(f"{shown_path(path)} cannot be written: {error.strerror}.") from error
    return path
