"""Files of predictions of the same examples, joined one to one: by id, or row by row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_choice, shown
from truerisk.comparison.predictions.joined import JoinedPredictions, checked_names
from truerisk.comparison.predictions.read_models import LabelSet, Progress, ReadModel, read_models
from truerisk.errors import InputError
from truerisk.inputs import ReadingOptions, Roles
from truerisk.inputs.records.refusals import shown_path
from truerisk.tallies.labels import code_groups

Join = Literal["auto", "id", "row", "inner"]
JOINS = ("auto", "id", "row", "inner")


def join_files(
    paths: Sequence[Path | str],
    *,
    predictions: Sequence[str] = (),
    names: Sequence[str] | None = None,
    join: Join = "auto",
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    progress: Progress | None = None,
) -> JoinedPredictions:
    """Read one file a model, or one file with a column a model, and join them one to one.

    By "id" the files must hold the same ids, in any order; by "row" as many rows, in one order;
    "inner" keeps the ids that all files have and says how many were left out.  "auto" is "id" where
    every file has ids, and "row" elsewhere.  Files whose true labels disagree are refused.
    """
    check_choice(join, JOINS, "join")
    asked, strictness = roles or Roles(), options or ReadingOptions()
    models = read_models([Path(path) for path in paths], predictions, asked, strictness, progress)
    labels = list(predictions) or _stems([model.path for model in models])
    called = checked_names(labels if names is None else names, len(models))
    how = _how(join, models)
    aligned, left_out = _by_row(models) if how == "row" else _by_id(models, how)
    book: dict[LabelSet, int] = {}
    aligned = [_recoded(model, book) for model in aligned]
    truth = _agreed_truth(aligned, tuple(book))
    classes, scores = _agreed_scores(aligned, called)
    notes = [
        f"{name}: {note}"
        for name, model in zip(called, models, strict=True)
        for note in model.files.notes
    ]
    notes += _by_row_after_all(called, models) if how == "row" and join == "auto" else ()
    if left_out:
        listed = ", ".join(f"{lost} of {name}" for name, lost in zip(called, left_out, strict=True))
        notes.append(f"Examples that are not in every file were left out: {listed}.")
    group = _agreed("group", aligned)
    return JoinedPredictions(
        names=called,
        truth=truth,
        predicted=tuple(model.predicted for model in aligned),
        scores=scores,
        members=tuple(book),
        multilabel=strictness.multilabel_separator is not None,
        classes=classes,
        weight=_agreed("weight", aligned),
        group=None if group is None else code_groups(group),
        notes=tuple(dict.fromkeys(notes)),
        source=_source(models, how, left_out),
    )


def _stems(paths: list[Path]) -> list[str]:
    """Name each model after its file; by its whole path where two files have one name."""
    stems = [path.name.split(".")[0] or path.name for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def _how(join: Join, models: list[ReadModel]) -> Join:
    without = [model for model in models if model.ids is None]
    if join == "auto":
        return "row" if without else "id"
    if join in {"id", "inner"} and without:
        raise InputError(
            f"{shown_path(without[0].path)}: must have a column of ids to be joined by. Name it "
            "with --id, or use --join row where the rows stand in one order."
        )
    return join


def _by_row_after_all(names: tuple[str, ...], models: list[ReadModel]) -> Iterator[str]:
    """Say that ids were not joined by, where only some of the files have them."""
    without = [name for name, model in zip(names, models, strict=True) if model.ids is None]
    if len(without) < len(models):
        yield f"Joined row by row: {', '.join(without)} without ids; their order was trusted."


def _by_row(models: list[ReadModel]) -> tuple[list[ReadModel], list[int]]:
    for model in models:
        if model.dropped:
            raise InputError(
                f"{shown_path(model.path)}: must be complete to be joined row by row; "
                f"{model.dropped} rows were dropped. Name a column of ids with --id."
            )
        if model.rows != models[0].rows:
            raise InputError(
                f"The files must hold the same examples; {shown_path(models[0].path)} has "
                f"{models[0].rows} rows, {shown_path(model.path)} has {model.rows}. Name a column "
                "of ids with --id to join by."
            )
    return models, []


def _by_id(models: list[ReadModel], how: Join) -> tuple[list[ReadModel], list[int]]:
    places = [{one: row for row, one in enumerate(model.ids or [])} for model in models]
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
    first: ReadModel, other: ReadModel, ids: dict[str, int], others: dict[str, int]
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


def _recoded(model: ReadModel, book: dict[LabelSet, int]) -> ReadModel:
    """Give the labels of a file the codes that all files share."""
    codes = np.array([book.setdefault(one, len(book)) for one in model.members])
    return replace(
        model,
        truth=None if model.truth is None else codes[model.truth],
        predicted=None if model.predicted is None else codes[model.predicted],
    )


def _agreed_truth(models: list[ReadModel], members: tuple[LabelSet, ...]) -> NDArray[Any]:
    first = models[0]
    if first.truth is None:
        raise TypeError("The first file was read with its truth required.")
    for model in models[1:]:
        if model.truth is None:
            continue
        wrong = np.flatnonzero(model.truth != first.truth)
        if len(wrong):
            row = int(wrong[0])
            got = [shown("|".join(members[int(one.truth[row])])) for one in (first, model)]  # type: ignore[index]
            raise InputError(
                f"The files must have the same true labels; they differ for {len(wrong)} of "
                f"{len(first.truth)} examples, first at {_place(first, row)}: {got[0]} in "
                f"{shown_path(first.path)}, {got[1]} in {shown_path(model.path)}."
            )
    return first.truth


def _place(model: ReadModel, row: int) -> str:
    return f"row {row + 1}" if model.ids is None else f"id {shown(model.ids[row])}"


def _agreed(name: str, models: list[ReadModel]) -> Any:  # noqa: ANN401
    """Give a column that any file may have; refuse files that have it and disagree."""
    having = [model for model in models if getattr(model, name) is not None]
    if not having:
        return None
    first = getattr(having[0], name)
    for model in having[1:]:
        wrong = np.flatnonzero(getattr(model, name) != first)
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"The files must agree about each example's {name}; they differ for {len(wrong)}, "
                f"first at {_place(having[0], row)}: {shown(first[row])} in "
                f"{shown_path(having[0].path)}, {shown(getattr(model, name)[row])} in "
                f"{shown_path(model.path)}. Choose one with --{name}, or --{name} '' for none."
            )
    return first


def _agreed_scores(
    models: list[ReadModel], names: tuple[str, ...]
) -> tuple[tuple[str, ...] | None, tuple[NDArray[Any] | None, ...]]:
    """Put the score columns of all models in one order of the classes."""
    classes: tuple[str, ...] | None = None
    scores = []
    for model, name in zip(models, names, strict=True):
        own = model.files.roles.score_classes
        score = model.score
        if own is not None and score is not None and score.ndim == 2:
            classes = classes or own
            if set(own) != set(classes):
                odd = min(set(own) ^ set(classes))
                raise InputError(
                    f"The models must score the same classes; {shown(odd)} is not scored by all, "
                    f"{shown(name)} scores {', '.join(map(shown, own))}."
                )
            score = score[:, [own.index(label) for label in classes]]
        scores.append(score)
    return classes, tuple(scores)


def _columns_of(role: str, models: list[ReadModel]) -> Any:  # noqa: ANN401
    """Give the column that plays a role, or all of them where models have columns of their own."""
    columns = dict.fromkeys(getattr(model.files.roles, role) for model in models)
    found = [column for column in columns if column]
    return tuple(found) if len(found) > 1 else next(iter(found), None)


def _source(models: list[ReadModel], how: Join, left_out: list[int]) -> dict[str, Any]:
    roles = models[0].files.roles
    named = ("truth", "pred", "score", "group", "weight", "id")
    columns = {name: _columns_of(name, models) for name in named}
    facts = dict.fromkeys(fact for model in models for fact in model.files.files)
    source: dict[str, Any] = {
        "files": tuple(facts),
        "roles": {name: found for name, found in columns.items() if found},
        "guessed": roles.guessed,
        "joined_by": "id" if how == "inner" else how,
    }
    if left_out:
        source["left_out"] = tuple(left_out)
    return source
