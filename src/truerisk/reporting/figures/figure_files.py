"""Results → files of pictures, each named by what it shows; the same result, the same bytes."""

import io
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from truerisk.checks import check_choice, shown
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path
from truerisk.reporting.figures.marks import short_label
from truerisk.reporting.figures.of_categories import MAX_ROWS
from truerisk.reporting.figures.of_estimates import (
    MAX_CONFUSED,
    intervals,
    measures,
    stand_upright,
)
from truerisk.reporting.figures.of_results import classes, confusion, drawn
from truerisk.reporting.figures.of_scores import curve_drawings, score_drawings
from truerisk.reporting.tables import confusion_of
from truerisk.results import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What each format would write that changes from run to run, or from release to release.
FORMATS: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Letters of an SVG are shapes, so that it looks the same everywhere.
STYLE: dict[Any, str] = {"svg.hashsalt": "truerisk", "svg.fonttype": "path"}
WIDTH, HEIGHT = 7.2, 4.2  # inches
LEVEL = 0.95  # of the bands of curves that come with no level
DOTS = 150  # of a PNG, an inch
ROW = 0.24  # inches that a row of a forest takes
LETTER = 0.1  # inches that a letter of a name takes at most
AROUND_ROWS = 0.9  # inches for the axis and its words


@dataclass(frozen=True)
class Picture:
    """How something is drawn, and the size it needs, in inches."""

    draw: "Callable[[Axes], Any]"
    height: float = HEIGHT
    width: float = WIDTH


Pictures = Iterator[tuple[str, Picture]]


def save_figures(
    result: Any,  # noqa: ANN401
    folder: Path | str,
    formats: Sequence[str] = ("svg",),
    progress: Callable[[int, int, int], None] | None = None,
) -> list[Path]:
    """Draw all that there is to see of a result into files, and give their paths.

    Files of the same names are replaced; others are left alone.  All are drawn before the first is
    put in its place: either all are there or, if the disk is full, none.

    Parameters
    ----------
    result
        Any result of truerisk; a curve, or a dict of them by name.
    folder
        Where the files are put; made if it does not exist.
    formats
        Of "svg", "png" and "pdf", one or several.
    progress
        Called with the number of pictures drawn, again with it, and with the number of all.

    Raises
    ------
    ResourceError
        If the folder cannot be made or written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from truerisk import evaluate_counts
    >>> with TemporaryDirectory() as folder:
    ...     files = save_figures(evaluate_counts([[50, 50], [40, 850]]), folder)
    ...     [file.name for file in files]
    ['measures.svg', 'confusion.svg']
    """
    if isinstance(formats, str) or not formats:
        raise InputError(f"`formats` must be a list such as ['svg', 'pdf']; got {shown(formats)}.")
    chosen = list(dict.fromkeys(check_choice(one, FORMATS, "formats") for one in formats))
    contents: dict[str, bytes] = {}
    wanted = [(name, one, form) for name, one in pictures_of(result).items() for form in chosen]
    for name, picture, form in wanted:
        contents[f"{name}.{form}"] = figure_bytes(picture, form)
        if progress is not None:
            progress(len(contents), len(contents), len(wanted))
    return _put(contents, Path(folder))


def check_folder(folder: Path, inputs: Sequence[Path] = ()) -> None:
    """Refuse a folder that figures cannot be put into, before anything is computed for them.

    `inputs` are the files and folders that are read: figures must not come among them.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ResourceError(f"The figures need a folder; {shown_path(there)} is a file.")
    for one in inputs:
        among = one if one.is_dir() else one.parent
        is_picture = one.is_dir() or one.suffix.lower().lstrip(".") in FORMATS
        if is_picture and folder.exists() and folder.samefile(among):
            raise InputError(f"The figures must not come among inputs; {shown_path(one)} is read.")
    try:
        TemporaryDirectory(dir=there, prefix=".truerisk-", suffix=".part").cleanup()
    except OSError as error:
        raise _cannot_write(folder, error) from error


def figure_bytes(picture: Picture, form: str) -> bytes:
    """Draw a picture as the content of a file."""
    from matplotlib import rc_context  # noqa: PLC0415  (only who draws needs it)
    from matplotlib.figure import Figure  # noqa: PLC0415

    content = io.BytesIO()
    with rc_context(STYLE), warnings.catch_warnings():
        # A character that the font lacks is drawn as a box: a name may hold any.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(picture.width, picture.height), layout="constrained")
        picture.draw(figure.subplots())
        figure.savefig(content, format=form, metadata=FORMATS[form], dpi=DOTS)
    return content.getvalue()


def pictures_of(result: Any) -> dict[str, Picture]:  # noqa: ANN401
    """List the pictures of a result, by the names that their files get."""
    for kind in type(result).__mro__:
        if kind.__name__ in PICTURES:
            return dict(PICTURES[kind.__name__](result))
    if callable(getattr(result, "plot", None)):
        return {_hyphened(type(result).__name__): Picture(result.plot)}
    raise InputError(
        f"`result` must be a result of truerisk that can be drawn; got {shown(result)}."
    )


def _put(contents: dict[str, bytes], folder: Path) -> list[Path]:
    """Write all files beside their places, then move them there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".truerisk-", suffix=".part") as beside:
            for name, content in contents.items():
                with (Path(beside) / name).open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            return [(Path(beside) / name).replace(folder / name) for name in contents]
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _cannot_write(folder: Path, error: OSError) -> ResourceError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return ResourceError(f"{shown_path(folder)} cannot be written: {reason}.")


def _forest(result: Any, rows: int) -> Picture:  # noqa: ANN401
    return Picture(lambda ax: drawn(result, ax), AROUND_ROWS + ROW * rows)


def _of_evaluation(evaluation: Evaluation) -> Pictures:
    headings = 6  # at most: two directions and four averages
    rows = len(evaluation) + headings
    yield "measures", Picture(lambda ax: measures(evaluation, ax), AROUND_ROWS + ROW * rows)
    found = confusion_of(evaluation)
    if found is not None and len(found[0]) <= MAX_CONFUSED:
        names = [short_label(label) for label in found[0]]
        side, beside = min(3.0 + 0.35 * len(names), 10.0), LETTER * max(map(len, names))
        below = beside if stand_upright(names) else 0.0
        yield (
            "confusion",
            Picture(lambda ax: confusion(evaluation, ax), side + below, side + 0.6 + beside),
        )
    if evaluation.by_class:
        rows = min(len(evaluation.by_class), MAX_ROWS)
        yield "classes", Picture(lambda ax: classes(evaluation, ax), AROUND_ROWS + ROW * rows)
    for name, draw in score_drawings(evaluation):
        yield name, Picture(draw)


def _of_curves(curves: dict[str, Any]) -> Pictures:
    for name, draw in curve_drawings(curves, LEVEL):
        yield name, Picture(draw)


def _of_corpus(found: Any) -> Pictures:  # noqa: ANN401
    rows = min(len(found.categories), MAX_ROWS)
    yield "categories", _forest(found, rows)
    yield from ((name, one) for name, one in _of_evaluation(found) if name != "classes")


def _of_best(found: Any) -> Pictures:  # noqa: ANN401
    yield "learners", _forest(found, len(found.evaluations) + 1)
    for name, picture in _of_evaluation(found.evaluations[found.winner]):
        yield f"best-{name}", picture


def _of_comparisons(found: Any) -> Pictures:  # noqa: ANN401
    rows = len(found)
    if len(getattr(found, "names", ())) > 2:
        rows = len(found.name_pairs)
    yield "differences", _forest(found, rows)


def _of_perturbed(found: Any) -> Pictures:  # noqa: ANN401
    yield "weightings", Picture(lambda ax: drawn(found, ax))
    yield (
        "intervals",
        Picture(lambda ax: intervals(found, ax), AROUND_ROWS + ROW * len(found.forms)),
    )


def _of_learning_curve(found: Any) -> Pictures:  # noqa: ANN401
    from truerisk.estimation.curves.plot import COST_LABELS, plot_costs  # noqa: PLC0415  (few draw it)

    yield "learning-curve", Picture(found.plot)
    for cost in COST_LABELS:
        yield cost.replace("_", "-"), Picture(partial(plot_costs, found, cost))


PICTURES: dict[str, Callable[[Any], Pictures]] = {
    "CorpusEvaluation": _of_corpus,
    "Evaluation": _of_evaluation,
    "dict": _of_curves,
    "Perturbed": _of_perturbed,
    "Resampled": lambda found: iter([("replicates", Picture(lambda ax: drawn(found, ax)))]),
    "Estimate": lambda found: iter([("estimate", _forest(found, 1))]),
    "Comparison": lambda found: iter([("difference", _forest(found, 1))]),
    "Comparisons": _of_comparisons,
    "ModelComparisons": _of_comparisons,
    "BestOf": _of_best,
    "SideBySide": lambda found: iter([("estimates", _forest(found, len(found.estimates)))]),
    "OverDatasets": lambda found: iter(
        [("ranks", Picture(found.plot, 1.6 + ROW * len(found.names)))]
    ),
    "LearningCurve": _of_learning_curve,
}


def _hyphened(name: str) -> str:
    """Turn the name of a class into that of a file: `RocCurve` → "roc-curve"."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
