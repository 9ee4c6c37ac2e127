"""Predictions from arrays, frames, files or tables of counts → Evaluation."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from truerisk.aliases import ArrayLike
from truerisk.checks import LARGEST_COUNT, listed, shown
from truerisk.errors import InputError
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.evaluation.values import evaluation_of_values, values_of_predictions
from truerisk.inputs import PredictionFiles, ReadingOptions, Roles, open_frame
from truerisk.inputs.arrays import indicator_names
from truerisk.inputs.files import Source, find_sources
from truerisk.inputs.labels import label_notes
from truerisk.inputs.predictions import Predictions
from truerisk.inputs.records.places import shown_path
from truerisk.inputs.roles import ROLES
from truerisk.labels import Spelling, SpellingError, label_among
from truerisk.results import Evaluation
from truerisk.tallies.cells import MAX_CLASSES, CellTally, cell_codes

if TYPE_CHECKING:
    from truerisk.inputs.records.parquet import ParquetFile

Progress = Callable[[int], None]
SHOWN_CLASSES = 10
READ_IN_PIECES = 2**20  # rows of Parquet files; fewer are read in order


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
    allow_inf: bool = False,
    strip: bool = False,
    numeric_labels: bool = False,
    label_map: Mapping[Any, Any] | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    replicates: int = 1000,
    random_state: int | None = None,
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    max_classes: int = MAX_CLASSES,
    prior: Mapping[Any, float] | None = None,
    by: Any = None,
    by_pairs: bool = False,
) -> Evaluation:
    r"""Estimate every measure of a set of predictions, each with its interval.

    The intervals are about *this* trained model: where it would end up on ever more examples drawn
    as these were.  They hold when the examples were not used to train it or to choose it.

    Columns may be lists, NumPy arrays, series and frames of pandas, polars, pyarrow or modin, or
    anything with `__array__` or `__dlpack__`.

    Parameters
    ----------
    y_true, y_pred
        Labels: integers, booleans or texts.  With `multilabel`, a collection of labels for each
        example, or an n × K matrix of 0 and 1, dense or sparse.
    y_score
        Scores, larger meaning more positive: n of them, or an n × K matrix with the columns in the
        order of the sorted labels.  Of two classes only the column of the positive label is used,
        if that label is given or plain: `predict_proba(X)` may be given as it is.
    sample_weight
        Weights; the intervals then hold at the effective number of examples.
    groups
        Which rows belong together (one patient, one user): groups, not rows, are then the units.
    labels
        Names of the K columns of matrices, if not in that order; averages are taken over these.
    allow_inf
        Whether a score may be infinite, where only the order of the scores counts.
    strip, numeric_labels, label_map
        How labels are rewritten before they are counted: without white space around them, with
        numbers in one spelling (1.0, 01 and True are 1), and by other names, `{"Yes": "yes"}`.
    level
        Confidence level of every interval.
    pos_label
        The positive label; needed unless the labels are {0, 1}, {-1, 1} or booleans.
    betas
        Further F_β and E_β to report beside F1.
    costs
        What mistakes cost: `{"fp": 1, "fn": 5}`, `{(true, predicted): cost}` or a K × K table.
    binomial
        Interval of measures that are k of n.
    cell_interval
        Interval of the other measures of counts: `by_measure` gives each its own; one of
        `smoothed_delta`, `delta`, `percentile`, `basic`, `bca` and `dirichlet` is for all of them.
        `stratified_percentile`, `stratified_basic` and `stratified_bca` draw within each class, and
        are about a population in which the classes have the shares that they have here.
    replicates
        Bootstrap replicates, for all but the first three of these.
    random_state
        Seed; drawn when not given, and stated in the result.
    zero_division
        Value that stands in for an undefined one, for compatibility with other tools; NaN says
        that it is undefined, and leaves the class out of averages.
    average_over
        The labels to average over; those that occur in the truth, when not given.
    probabilities
        Whether the scores are probabilities, which have a log loss and a Brier score.
    threshold
        Call an example positive when its score is at least this; refused where predictions are
        given.
    reject
        The predicted label that means "not classified".
    measures
        Only these measures; all when not given.
    max_classes
        Refuse more classes than this: a score or an id was probably taken for a label.
    prior
        The share of a class among the examples that the model will meet, `{"spam": 0.01}`: every
        measure and interval is then at that share.  Classes that are not named divide the rest as
        they do here.  It holds where the examples of each class are like those to come.
    by
        Columns to slice by: a frame, a dict of columns, a series or an array.  `slices` of the
        result then has every measure of each slice, and which slices are worse than the rest.
        Numbers are cut at their quartiles, small slices pooled, missing values a slice.
    by_pairs
        Whether each pair of the columns makes slices, too.

    Examples
    --------
    >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 1])
    >>> print(evaluation["recall"])
    recall = 0.667 [0.094, 0.992] at 95 % (clopper_pearson, n = 3, this model)
    >>> evaluation["f1"].interval.method
    'clopper_pearson'
    """
    request = Request.of(locals())
    if y_pred is None and y_score is None:
        raise InputError("`y_pred` or `y_score` must be given; got neither.")
    spelling = Spelling.of(strip=strip, numeric_labels=numeric_labels, label_map=label_map)
    named = indicator_names(y_true, labels) if multilabel or labels is not None else None
    if named is not None and average_over is None:
        request = replace(request, average_over=tuple(map(spelling, named)))
    predictions = Predictions.from_arrays(
        y_true,
        y_pred,
        y_score=y_score,
        sample_weight=sample_weight,
        groups=groups,
        multilabel=multilabel,
        labels=labels,
        allow_inf=allow_inf,
        spelling=spelling,
    )
    if pos_label is not None:
        request = replace(request, pos_label=label_among(pos_label, predictions.labels))
    whole = evaluate_coded(predictions, request)
    if by is None:
        return whole
    from truerisk.evaluation.slices import with_slices

    return with_slices(whole, predictions, request, by, pairs=by_pairs)


def evaluate_coded(predictions: Predictions, request: Request) -> Evaluation:
    """Estimate every measure of predictions that are coded already."""
    multilabel = predictions.multilabel
    tally = PredictionTally.of_classes(request, predictions.classes, multilabel=multilabel)
    tally.add(predictions)
    notes = label_notes(predictions.members, "" if multilabel else None)
    return assemble(tally.finish(predictions.members), request, notes=notes)


def evaluate_frame(
    frame: Any,
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    replicates: int = 1000,
    random_state: int | None = None,
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    max_classes: int = MAX_CLASSES,
    pass_at: int | None = None,
    prior: Mapping[Any, float] | None = None,
    by: str | Sequence[str] = (),
    by_pairs: bool = False,
) -> Evaluation:
    """Estimate every measure of the predictions in a frame: pandas, polars, pyarrow, modin.

    The columns are found by their usual names, as in a file, and the result is that of the file.

    Parameters
    ----------
    frame
        One row for each example.
    roles
        Which column is what; the usual names are recognised, and `source` states what was guessed.
    options
        What is allowed in the frame, as for files: ``missing``, ``strip``, ``numeric_labels`` …
    level, pos_label, betas, costs, binomial, cell_interval, replicates, random_state, prior
        As for `evaluate`.
    zero_division, average_over, probabilities, threshold, reject, measures, max_classes, by_pairs
        As for `evaluate`.
    pass_at
        Of samples that are right or wrong (``Roles(correct=…)``), as for `evaluate_values`.
    by
        Names of the columns to slice by.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"y_true": [1] * 10 + [0] * 10, "y_pred": [1] * 9 + [0] * 11})
    >>> print(evaluate_frame(frame)["recall"])
    recall = 0.900 [0.555, 0.997] at 95 % (clopper_pearson, n = 10, this model)
    """
    request = Request.of(locals())
    columns = _names_of(by)
    source = open_frame(frame, roles=_with_by(roles, columns), options=options)
    return _of_source(source, request, None, pairs=by_pairs)


def evaluate_files(
    paths: Path | str | Sequence[Path | str],
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    replicates: int = 1000,
    random_state: int | None = None,
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    max_classes: int = MAX_CLASSES,
    pass_at: int | None = None,
    prior: Mapping[Any, float] | None = None,
    by: str | Sequence[str] = (),
    by_pairs: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    r"""Estimate every measure of the predictions in CSV, Parquet or JSON lines files.

    The result does not depend on how the rows are spread over files, formats or batches.  Where a
    cluster is in use (`use_cluster`), its workers read the files, and must see them under the same
    paths; the result is the same to the last bit.

    Parameters
    ----------
    paths
        A file, a folder of files, or several of them.
    roles
        Which column is what; the usual names are recognised, and `source` states what was guessed.
    options
        How strictly to read.
    level, pos_label, betas, costs, binomial, cell_interval, replicates, random_state, prior
        As for `evaluate`.
    zero_division, average_over, probabilities, threshold, reject, measures, max_classes, by_pairs
        As for `evaluate`.
    pass_at
        Of samples that are right or wrong (``Roles(correct=…)``), as for `evaluate_values`.
    by
        Names of the columns to slice by; the rows are then held in memory.
    progress
        Called with the number of rows read so far.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y_true,y_pred\n" + "1,1\n" * 9 + "1,0\n" + "0,0\n" * 10)
    ...     print(evaluate_files(path)["recall"])
    recall = 0.900 [0.555, 0.997] at 95 % (clopper_pearson, n = 10, this model)
    """
    request = Request.of(locals())
    columns = _names_of(by)
    strictness = options or ReadingOptions()
    sources, notes = find_sources(paths, strictness)
    kind = PredictionFiles if columns else _class_for(sources)
    files = kind(sources, _with_by(roles, columns), strictness, notes=notes)
    return _of_source(files, request, progress, pairs=by_pairs)


def _class_for(sources: Sequence[Source]) -> type[PredictionFiles]:
    """Give the class that reads these files: in order, in pieces, or on a cluster."""
    if _a_cluster_is_in_use():
        from truerisk.evaluation.files_on_cluster import FilesOnCluster

        return FilesOnCluster
    in_parquet = all(source.facts.format == "parquet" for source in sources)
    readers = [cast("ParquetFile", source.reader) for source in sources]
    if in_parquet and sum(reader.count for reader in readers) >= READ_IN_PIECES:
        from truerisk.evaluation.files_in_pieces import FilesInPieces

        return FilesInPieces
    return PredictionFiles


def _names_of(by: str | Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(dict.fromkeys(map(str, by)))


def _with_by(roles: Roles | None, columns: tuple[str, ...]) -> Roles:
    return replace(roles or Roles(), by=columns)


def _of_source(
    files: PredictionFiles, request: Request, progress: Progress | None, *, pairs: bool = False
) -> Evaluation:
    if files.roles.of_values:
        held, _, by = values_of_predictions(files.read(progress), files.roles, request.pass_at)
        return evaluation_of_values(
            held, request, notes=files.notes, source=_source(files), by=by, pairs=pairs
        )
    if files.roles.by:
        from truerisk.evaluation.slices import with_slices

        predictions = files.read(progress)
        tally = PredictionTally.of_classes(
            request, predictions.classes, multilabel=files.options.multilabel
        )
        whole = _assembled(files, tally.add(predictions), request)
        return with_slices(whole, predictions, request, predictions.by, pairs=pairs)
    in_pieces = getattr(files, "tally", None)
    if in_pieces is not None:
        return _assembled(files, in_pieces(request, progress), request)
    tally = PredictionTally.of_classes(
        request, files.roles.score_classes, multilabel=files.options.multilabel
    )
    for predictions in files.predictions():
        tally.add(predictions)
        if progress is not None:
            progress(tally.n)
    return _assembled(files, tally, request)


def _assembled(files: PredictionFiles, tally: PredictionTally, request: Request) -> Evaluation:
    try:
        tallies = tally.finish(files.members)
    except SpellingError as error:
        more = f" and {len(files.sources) - 1} more" if len(files.sources) > 1 else ""
        columns = f"columns {shown(files.roles.truth)} and {shown(files.roles.pred)}"
        raise InputError(f"{shown_path(files.sources[0].path)}{more}, {columns}: {error}") from None
    return assemble(tallies, request, notes=files.notes, source=_source(files))


def _source(files: PredictionFiles) -> dict[str, Any]:
    roles = files.roles
    return {
        "files": files.files,
        "roles": {name: getattr(roles, name) for name in ROLES if getattr(roles, name)},
        "guessed": roles.guessed,
    }


def _a_cluster_is_in_use() -> bool:
    # Nobody can have named a cluster while the module that clusters are named to is not loaded.
    clusters = sys.modules.get("truerisk.execution.cluster")
    return clusters is not None and clusters.cluster_in_use() is not None


def evaluate_counts(
    table: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    replicates: int = 1000,
    random_state: int | None = None,
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    max_classes: int = MAX_CLASSES,
    prior: Mapping[Any, float] | None = None,
) -> Evaluation:
    """Estimate every measure from a K × K table of counts, rows truth and columns predicted.

    Parameters
    ----------
    table
        Whole numbers, such as a table of `pandas.crosstab`, whose names are those of the classes.
        Two classes without names are positive ("1") and then negative ("0"), as the textbooks
        print them.
    labels
        Names of the classes, in the order of the rows; those of the frame if absent.
    level, pos_label, betas, costs, binomial, cell_interval, replicates, random_state, prior
        As for `evaluate`.
    zero_division, average_over, reject, measures, max_classes
        As for `evaluate`.

    Examples
    --------
    >>> evaluation = evaluate_counts([[50, 50], [40, 850]])
    >>> print(evaluation["precision"])
    precision = 0.556 [0.447, 0.660] at 95 % (clopper_pearson, n = 90, this model)
    """
    request = Request.of(locals())
    counts = np.asarray(table)
    if labels is None:
        labels = _names_of_frame(table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise InputError(f"`table` must be K × K with K ≥ 2; got shape {counts.shape}.")
    _refuse_what_counts_nothing(counts.ravel().tolist())
    if not counts.any():
        raise InputError("`table` must count at least one example; got 0.")
    names = _class_names(len(counts), labels)
    truth, predicted = np.nonzero(counts)
    occurring = counts[truth, predicted].astype(np.int64)
    cells = CellTally().add_pairs(cell_codes(truth, predicted), occurring)
    tally = PredictionTally(request, n=int(counts.sum()), cells=cells)
    return assemble(tally.finish([(name,) for name in names]), request)


def _refuse_what_counts_nothing(counts: list[Any]) -> None:
    wrong = [count for count in counts if type(count) is not int or count < 0]
    if wrong:
        first = next((count for count in wrong if count % 1), wrong[0])
        raise InputError(f"`table` must hold whole numbers from 0 on; got {shown(first)}.")
    # Python's integers do not overflow, as the sum of an array may.
    if sum(counts) > LARGEST_COUNT:
        raise InputError(f"`table` must count at most 2**53 examples in all; got {sum(counts)}.")


def _names_of_frame(table: Any) -> list[str] | None:
    """Name the classes of a frame of pandas, if its rows and columns have names."""
    if not hasattr(table, "iloc") or type(table.index).__name__ == "RangeIndex":
        return None
    rows, columns = list(map(str, table.index)), list(map(str, table.columns))
    if rows != columns:
        raise InputError(
            f"`table` must have the same classes in its rows and columns, in one order; got "
            f"{listed(rows, SHOWN_CLASSES)} and {listed(columns, SHOWN_CLASSES)}. Put them in one "
            "order: table.reindex(index=classes, columns=classes, fill_value=0)."
        )
    return rows


def _class_names(n_classes: int, labels: Sequence[Any] | None) -> tuple[str, ...]:
    if labels is None:
        return ("1", "0") if n_classes == 2 else tuple(str(at) for at in range(n_classes))
    names = tuple(str(label) for label in labels)
    if len(set(names)) != n_classes:
        raise InputError(f"`labels` must be {n_classes} different names; got {names}.")
    return names
