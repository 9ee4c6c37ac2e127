"""Models compared by files of their predictions, which are joined one to one: by id, or by row."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.checks import check_choice, shown
from truerisk.comparison.predictions.compare import compare_joined
from truerisk.comparison.predictions.compare_values import compare_held
from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.comparison.predictions.joined import JoinedPredictions, checked_names
from truerisk.comparison.predictions.right_answers import PairedMethod, Region
from truerisk.errors import InputError
from truerisk.evaluation.request import Request
from truerisk.evaluation.values import values_of_predictions
from truerisk.inputs import PredictionFiles, Predictions, ReadingOptions, Roles, open_predictions
from truerisk.inputs.arrays import code_groups
from truerisk.inputs.files import log_of
from truerisk.inputs.records.places import local_path, shown_path
from truerisk.inputs.roles import ROLES, is_usual
from truerisk.labels import remedy_of_spelling
from truerisk.tallies.cells import MAX_CLASSES
from truerisk.tallies.question_values import QuestionValues

Join = Literal["auto", "id", "row", "inner"]
JOINS = ("auto", "id", "row", "inner")
Progress = Callable[[int], None]


@dataclass(frozen=True)
class ModelFile:
    """The predictions of one model, all of them in memory, and the file that they come from."""

    path: Path
    rows: Predictions
    files: PredictionFiles
    values: QuestionValues | None = None  # what the scores of the rows are, without labels

    @property
    def dropped(self) -> int:
        """How many rows were dropped for a missing value."""
        return sum(fact.dropped for fact in self.files.files)

    def taken(self, rows: Indices) -> "ModelFile":
        """Take some rows, in this order."""
        return replace(self, rows=self.rows.taken(rows))

    def column(self, name: str) -> NDArray[Any] | None:
        """Return a column that files may have to agree about; groups by their names."""
        column: NDArray[Any] | None = getattr(self.rows, name)
        if name == "group" and column is not None:
            return np.asarray(np.array(self.files.groups.texts, dtype=object)[column])
        return column


def compare_files(
    paths: Sequence[Path | str],
    *,
    predictions: Sequence[str] = (),
    names: Sequence[str] | None = None,
    join: Join = "auto",
    region: Region = None,
    interval: PairedMethod = "tango",
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    measures: Sequence[str] | None = None,
    pos_label: Any = None,
    level: float = 0.95,
    replicates: int = 1000,
    random_state: int | None = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    max_classes: int = MAX_CLASSES,
    by: str | Sequence[str] = (),
    pass_at: int | None = None,
    progress: Callable[..., None] | None = None,
) -> Comparisons:
    r"""Compare models by files of their predictions: CSV, Parquet or JSON lines, one per model.

    The files must be about the same examples: they are joined one to one, and refused where ids or
    true labels disagree.  What is then estimated, and promised, is what `compare` says.

    Parameters
    ----------
    paths
        One file per model; or one file, with `predictions`.
    predictions
        Columns of the one file, each the predictions of a model; `roles.score` may name as many
        columns of scores.
    names
        What the models are called; their files, or columns, if absent.
    join
        "id": the same ids, in any order.  "row": as many rows, in one order.  "inner": the ids that
        all files have; a note says how many were left out.  "auto": by id where every file has
        ids, and by row elsewhere.
    region, interval
        As for `compare`.
    roles, options
        Which column is what, and how strictly to read; as for `evaluate_files`.
    measures, pos_label, level, replicates, random_state, betas, costs, binomial, cell_interval
        As for `compare`.
    zero_division, average_over, probabilities, threshold, max_classes
        As for `compare`.
    by
        Names of columns of the first file to slice by, as for `compare`.
    pass_at
        Of samples that are right or wrong (``Roles(correct=…)``), as for `evaluate_values`.
    progress
        Called with the number of rows read, or of comparisons made, so far.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     a, b = Path(folder) / "a.csv", Path(folder) / "b.csv"
    ...     _ = a.write_text("id,y_true,y_pred\n1,1,1\n2,1,0\n3,0,0\n4,0,1\n")
    ...     _ = b.write_text("id,y_true,y_pred\n4,0,0\n3,0,0\n2,1,1\n1,1,1\n")
    ...     result = compare_files([a, b])
    >>> result.names, result["error_rate"].difference.value, round(result["error_rate"].p_value, 9)
    (('a', 'b'), -0.5, 0.25)
    """
    request = Request.of(locals())
    columns = (by,) if isinstance(by, str) else tuple(by)
    sliced = replace(roles or Roles(), by=columns)
    models = read_models(paths, predictions, sliced, options, progress, pass_at=pass_at)
    joined = join_models(models, names=names, join=join, predictions=predictions)
    if models[0].files.roles.of_values:
        return _compare_values(models, joined, request, region)
    return compare_joined(
        joined,
        request,
        region=region,
        interval=interval,
        progress=progress,
        by=joined.shared.by or None,
    )


def join_models(
    models: list[ModelFile],
    *,
    names: Sequence[str] | None = None,
    join: Join = "auto",
    predictions: Sequence[str] = (),
) -> JoinedPredictions:
    """Join models one to one, and code them alike.

    By "id" in any order; by "row" in one order; "inner" keeps the ids that all files have; "auto"
    is "id" where every file has ids.  Files whose true labels disagree are refused.
    """
    check_choice(join, JOINS, "join")
    titles = list(predictions) or _titles(models)
    if names is None:
        _check_different(titles, "predictions" if predictions else "paths")
    model_names = checked_names(titles if names is None else names, len(models))
    how = _how(join, models)
    aligned, left_out = _by_row(models) if how == "row" else _by_id(models, how)
    _check_truth(aligned)
    notes = [
        f"{name}: {note}"
        for name, model in zip(model_names, models, strict=True)
        for note in model.files.notes
    ]
    notes += _by_row_after_all(model_names, models) if how == "row" and join == "auto" else ()
    if left_out:
        listed = ", ".join(
            f"{lost} of {name}" for name, lost in zip(model_names, left_out, strict=True)
        )
        notes.append(f"Examples that are not in every file were left out: {listed}.")
    joined = JoinedPredictions.of(
        model_names,
        [model.rows for model in aligned],
        notes=tuple(dict.fromkeys(notes)),
        source=_source(models, how, left_out),
    )
    weight, group = _agreed("weight", aligned), _agreed("group", aligned)
    return joined.sharing(weight=weight, group=None if group is None else code_groups(group))


def _compare_values(
    models: list[ModelFile], joined: JoinedPredictions, request: Request, region: Region
) -> Comparisons:
    """Compare models of which each row has a value, and no label."""
    held = {
        name: replace(model.values, values=rows.score, groups=joined.shared.group)
        for name, model, rows in zip(joined.names, models, joined.models, strict=True)
        if model.values is not None and rows.score is not None
    }
    by = joined.shared.by
    return compare_held(
        held, request, region=region, notes=joined.notes, source=joined.source, by=by
    )


def read_models(
    given: Sequence[Path | str],
    predictions: Sequence[str],
    roles: Roles | None,
    options: ReadingOptions | None,
    progress: Progress | None,
    *,
    pass_at: int | None = None,
) -> list[ModelFile]:
    """Read one file per model, or the columns of one file; only the first must have the truth."""
    paths = [local_path(path) for path in given]
    roles, options = roles or Roles(), options or ReadingOptions()
    if predictions:
        columns = _roles_of_columns(paths, predictions, roles)
        return [_read(paths[0], one, options, progress) for one in columns]
    if len(paths) < 2:
        raise InputError(
            f"`paths` must name two files or more, one per model; got {len(paths)}. For one file "
            "with one column per model, name the columns: --prediction a --prediction b."
        )
    further = replace(roles, by=())
    if roles.group is None and any(is_usual("group", name) for name in roles.by):
        further = replace(further, group="")  # what one slices by is no group in any of the files
    own = [roles, *[further] * (len(paths) - 1)]
    models = [
        _read(path, one, options, progress, needs_truth=at == 0)
        for at, (path, one) in enumerate(zip(paths, own, strict=True))
    ]
    return [_with_values(model, pass_at) for model in models]


def _with_values(model: ModelFile, pass_at: int | None) -> ModelFile:
    """Put the rows of each question together, where rows have values and no labels."""
    if not model.files.roles.of_values:
        return model
    held, ids, by = values_of_predictions(model.rows, model.files.roles, pass_at)
    rows = Predictions(None, (), score=held.values, group=held.groups, ids=ids, by=by)
    return replace(model, rows=rows, values=held)


def _roles_of_columns(
    paths: list[Path], predictions: Sequence[str], roles: Roles
) -> Iterator[Roles]:
    if len(paths) != 1 or len(predictions) < 2 or roles.pred is not None:
        raise InputError(
            "`predictions` must name two columns or more of one file, and `pred` none; got "
            f"{len(predictions)} columns and {len(paths)} files."
        )
    scores = roles.score_columns or ("",) * len(predictions)
    if len(scores) != len(predictions):
        raise InputError(
            f"`score` must name one column for each of the {len(predictions)} `predictions`, or "
            f"none; got {len(scores)}."
        )
    for pred, score in zip(predictions, scores, strict=True):
        yield replace(roles, pred=pred, score=score)


def _read(
    path: Path,
    roles: Roles,
    options: ReadingOptions,
    progress: Progress | None,
    *,
    needs_truth: bool = True,
) -> ModelFile:
    files = open_predictions([path], roles=roles, options=options, needs_truth=needs_truth)
    return ModelFile(path, files.read(progress), files)


def _titles(models: list[ModelFile]) -> list[str]:
    """Name each model as its log does, if all do and differ; else after its file, or its path."""
    logs = [log_of(model.files.sources[0].reader) for model in models]
    named = [log.model for log in logs if log is not None and log.model]
    if len(set(named)) == len(models):
        return named
    paths = [model.path for model in models]
    stems = [path.name.split(".")[0] or path.name for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _check_different(titles: Sequence[str], argument: str) -> None:
    for title in titles:
        if titles.count(title) > 1:
            what = "columns" if argument == "predictions" else "files"
            raise InputError(
                f"`{argument}` must be different {what}; got {shown(title)} {titles.count(title)} "
                "times."
            )


def _how(join: Join, models: list[ModelFile]) -> Join:
    without = [model for model in models if model.rows.ids is None]
    if join == "auto":
        return "row" if without else "id"
    if join in {"id", "inner"} and without:
        raise InputError(
            f"{shown_path(without[0].path)}: must have a column of ids to be joined by. Name it "
            "with --id, or use --join row where the rows stand in one order."
        )
    return join


def _by_row_after_all(names: tuple[str, ...], models: list[ModelFile]) -> Iterator[str]:
    """Say that ids were not joined by, where only some of the files have them."""
    without = [name for name, model in zip(names, models, strict=True) if model.rows.ids is None]
    if len(without) < len(models):
        yield f"Joined row by row: {', '.join(without)} without ids; their order was trusted."


def _by_row(models: list[ModelFile]) -> tuple[list[ModelFile], list[int]]:
    for model in models:
        if model.dropped:
            raise InputError(
                f"{shown_path(model.path)}: must be complete to be joined row by row; "
                f"{model.dropped} rows were dropped. Name a column of ids with --id."
            )
        if model.rows.n != models[0].rows.n:
            raise InputError(
                f"The files must hold the same examples; {shown_path(models[0].path)} has "
                f"{models[0].rows.n} rows, {shown_path(model.path)} has {model.rows.n}. Name a "
                "column of ids with --id to join by."
            )
    return models, []


def _by_id(models: list[ModelFile], how: Join) -> tuple[list[ModelFile], list[int]]:
    places = [
        {
            one: row
            for row, one in enumerate(() if model.rows.ids is None else model.rows.ids.tolist())
        }
        for model in models
    ]
    common = [one for one in places[0] if all(one in others for others in places[1:])]
    if how == "id":
        for model, others in zip(models[1:], places[1:], strict=True):
            _refuse_mismatch(models[0], model, places[0], others)
    if not common:
        raise InputError("The files must share some examples; no id is in all of them.")
    aligned = [
        model.taken(np.array([place[one] for one in common], dtype=np.intp))
        for model, place in zip(models, places, strict=True)
    ]
    left_out = [len(place) - len(common) for place in places]
    return aligned, left_out if any(left_out) else []


def _refuse_mismatch(
    first: ModelFile, other: ModelFile, ids: dict[str, int], others: dict[str, int]
) -> None:
    only_first = [one for one in ids if one not in others]
    only_other = [one for one in others if one not in ids]
    if not only_first and not only_other:
        return
    shared = len(ids) - len(only_first)
    remedy = (
        f"Use --join inner to compare on the {shared} that are in both."
        if shared
        else "Write the ids alike, to the letter, or use --join row where rows stand in one order."
    )
    raise InputError(
        f"The files must hold the same examples; {_some(only_first)} only in "
        f"{shown_path(first.path)}, {_some(only_other)} only in {shown_path(other.path)}. {remedy}"
    )


def _some(ids: list[str]) -> str:
    if not ids:
        return "0 ids are"
    if len(ids) == 1:
        return f"1 id ({shown(ids[0])}) is"
    return f"{len(ids)} ids ({shown(ids[0])}, …) are"


def _check_truth(models: list[ModelFile]) -> None:
    book: dict[tuple[str, ...], int] = {}
    coded = [(model, model.rows.recoded(book).truth) for model in models]
    first, truth = coded[0]
    members = tuple(book)
    for model, other in coded[1:]:
        wrong = np.flatnonzero(other != truth) if other is not None else np.empty(0, np.intp)
        if len(wrong):
            row = int(wrong[0])
            labels = ["|".join(members[int(codes[row])]) for codes in (truth, other)]
            got = list(map(shown, labels))
            remedy = remedy_of_spelling(*labels)
            raise InputError(
                f"The files must have the same true labels; they differ for {len(wrong)} of "
                f"{len(truth)} examples, first at {_place(first, row)}: {got[0]} in "
                f"{shown_path(first.path)}, {got[1]} in {shown_path(model.path)}."
                f"{remedy}"
            )


def _place(model: ModelFile, row: int) -> str:
    return f"row {row + 1}" if model.rows.ids is None else f"id {shown(model.rows.ids[row])}"


def _agreed(name: str, models: list[ModelFile]) -> Any:
    """Return a column that any file may have; refuse files that have it and disagree."""
    columns = [(model, model.column(name)) for model in models]
    having = [(model, column) for model, column in columns if column is not None]
    if not having:
        return None
    owner, first = having[0]
    for model, column in having[1:]:
        wrong = np.flatnonzero(column != first)
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"The files must agree about each example's {name}; they differ for {len(wrong)}, "
                f"first at {_place(owner, row)}: {shown(first[row])} in "
                f"{shown_path(owner.path)}, {shown(column[row])} in "
                f"{shown_path(model.path)}. Choose one with --{name}, or --{name} '' for none."
            )
    return first


def _columns_of(role: str, models: list[ModelFile]) -> Any:
    """Return the column of a role, or all of them where models have columns of their own."""
    columns = dict.fromkeys(getattr(model.files.roles, role) for model in models)
    names = [column for column in columns if column]
    return tuple(names) if len(names) > 1 else next(iter(names), None)


def _source(models: list[ModelFile], how: Join, left_out: list[int]) -> dict[str, Any]:
    roles = models[0].files.roles
    columns = {name: _columns_of(name, models) for name in ROLES}
    facts = dict.fromkeys(fact for model in models for fact in model.files.files)
    source: dict[str, Any] = {
        "files": tuple(facts),
        "roles": {role: name for role, name in columns.items() if name},
        "guessed": roles.guessed,
        "joined_by": "id" if how == "inner" else how,
    }
    if left_out:
        source["left_out"] = tuple(left_out)
    return source
