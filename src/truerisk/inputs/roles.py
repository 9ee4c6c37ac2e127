"""Which column plays which role in predictions, tables and corpora: as given, or by usual names.

A guess is made only when there is one candidate; two candidates are refused, never ranked.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from truerisk.checks import did_you_mean, listed, shown
from truerisk.errors import InputError

Source = Literal["file", "frame"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


USUAL_NAMES = {
    "truth": _words(
        "y_true truth label labels target targets actual true y class gold true_label "
        "actual_label ground_truth observed"
    ),
    "pred": _words(
        "y_pred pred preds prediction predictions predicted yhat y_hat predicted_label "
        "predicted_class pred_label output"
    ),
    "score": _words(
        "score scores y_score y_scores prob proba probability probabilities p y_prob y_proba "
        "decision decision_function confidence logit margin pred_proba predict_proba p_hat "
        "y_pred_proba predicted_proba predicted_probability prediction_score"
    ),
    "group": _words("group groups cluster patient patient_id subject subject_id user user_id"),
    "weight": _words("weight weights sample_weight sample_weights"),
    "id": _words("id ids row_id example_id sample_id uid uuid doc_id document_id"),
}
ROLES = (*USUAL_NAMES, "correct", "value")
OF_LABELS = ("truth", "pred", "score", "weight")  # roles that rows of values do not have
USUAL_TARGETS = ("target", "label", "class", "y")
USUAL_CORPUS_NAMES = {
    "text": _words("text texts document documents doc body content article"),
    "labels": _words("labels label topics topic categories category class target"),
    "id": USUAL_NAMES["id"],
    "split": _words("split set subset partition"),
}
NEEDED = {"text": "the texts", "labels": "the labels"}  # of a corpus
PREFIXES = _words("score_ prob_ proba_ probability_ p_ y_score_ y_prob_ y_proba_ decision_ logit_")
# A single column such as prob_1 or proba_pos holds the score of the positive label.
POSITIVE_ENDINGS = ("1", "pos", "positive", "true")
SHOWN_COLUMNS = 20


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns that hold truth, prediction, score, group, weight and id.

    None is to be guessed, and "" is not to be used even if a column has a usual name.  Several
    score columns are one for each class.  `by` names the columns to slice by, whatever else they
    are.  Where there are no labels, `correct` is the column that says whether an answer is right (0
    or 1), or `value` that of a score within `value_range`; an `id` is then that of a question,
    which may have several rows.

    Examples
    --------
    >>> Roles(truth="label", score=("p_cat", "p_dog"), id="").score_columns
    ('p_cat', 'p_dog')
    """

    truth: str | None = None
    pred: str | None = None
    score: str | tuple[str, ...] | None = None
    group: str | None = None
    weight: str | None = None
    id: str | None = None
    by: tuple[str, ...] = ()
    correct: str | None = None
    value: str | None = None
    value_range: tuple[float, float] = (0.0, 1.0)

    @property
    def of_values(self) -> bool:
        """Whether the rows hold values, and no labels."""
        return bool(self.correct or self.value)

    @property
    def score_columns(self) -> tuple[str, ...]:
        """The score columns, none, one or several."""
        if self.value:
            return (self.value,)
        return (self.score,) if isinstance(self.score, str) else self.score or ()

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns read as text with few distinct values."""
        names = (self.truth, self.pred, self.correct, self.group)
        return tuple(name for name in names if name is not None)

    @property
    def number_columns(self) -> tuple[str, ...]:
        """The columns read as numbers."""
        return (*self.score_columns, *([self.weight] if self.weight is not None else []))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that plays a role."""
        ids = (self.id,) if self.id is not None else ()
        return (*self.label_columns, *self.number_columns, *ids)


@dataclass(frozen=True, kw_only=True)
class ResolvedRoles(Roles):
    """Roles that are settled for a file.

    `guessed` names the roles nobody gave; `score_classes` the class of each of several score
    columns.
    """

    guessed: tuple[str, ...] = ()
    score_classes: tuple[str, ...] | None = None


def resolve_roles(
    columns: Sequence[str], roles: Roles, *, needs_truth: bool = True, source: Source = "file"
) -> ResolvedRoles:
    """Settle which of `columns` plays which role.

    Given names must exist, spelt as in the file.  Roles not given are guessed, without regard to
    case, from the usual names; several columns such as ``prob_cat``, ``prob_dog`` are the scores
    of the classes ``cat`` and ``dog``.
    """
    if roles.of_values:
        _check_values_alone(roles)
        roles = dataclasses.replace(roles, **dict.fromkeys(OF_LABELS, ""))  # type: ignore[arg-type]
    unused = {role for role in USUAL_NAMES if getattr(roles, role) == ""}
    roles = dataclasses.replace(roles, **dict.fromkeys(unused))  # type: ignore[arg-type]
    _check_given(columns, roles, source)
    guesses: dict[str, str | tuple[str, ...]] = {}
    for role, usual in USUAL_NAMES.items():
        if getattr(roles, role) is None and role not in unused:
            # Slices are not groups: by the subject of questions one slices, and does not cluster.
            taken = (*roles.columns, *(roles.by if role == "group" else ()))
            guess = _guess(role, usual, [name for name in columns if name not in taken])
            if guess is not None:
                guesses[role] = guess
    settled = dataclasses.replace(roles, **guesses)  # type: ignore[arg-type]
    _check_unique(columns, (*settled.columns, *settled.by))
    if needs_truth and settled.truth is None and not roles.of_values:
        raise _absent("truth", "the true labels", columns, source)
    if settled.pred is None and settled.score is None and not roles.of_values:
        scores = "score=" if source == "frame" else "--score"
        raise _absent("pred", f"predicted labels (or scores: {scores})", columns, source)
    classes = None
    if isinstance(settled.score, tuple):
        classes = classes_of_columns(settled.score)
    given = {field.name: getattr(settled, field.name) for field in dataclasses.fields(Roles)}
    return ResolvedRoles(**given, guessed=tuple(guesses), score_classes=classes)


def _check_values_alone(roles: Roles) -> None:
    given = [role for role in OF_LABELS if getattr(roles, role)]
    both = [role for role in ("correct", "value") if getattr(roles, role)]
    if len(both) + len(given) > 1:
        raise InputError(
            f"`{both[0]}` must be given without {', '.join(OF_LABELS)} and without another column "
            f"of values; got {', '.join([*both[1:], *given])}, too."
        )


def check_columns(columns: Sequence[str], roles: Roles) -> None:
    """Refuse a further file that lacks one of the columns, or has one of them twice."""
    _check_given(columns, roles)
    _check_unique(columns, (*roles.columns, *roles.by))


@dataclass(frozen=True, kw_only=True)
class TableRoles:
    """The columns of a table, as given; a `target` of None is to be found by its usual names."""

    target: str | None = None
    group: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def settled(self, columns: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Give the target and, in their order, the features; names not there are refused."""
        self._check_given(columns)
        target = self.target if self.target is not None else self._usual_target(columns)
        unused = {target, self.group, *self.drop}
        features = tuple(name for name in columns if name not in unused)
        used = (target, *features, *([self.group] if self.group is not None else []))
        _check_unique(columns, used, ", or use --drop")
        if not features:
            raise InputError(
                "At least one column must be left as a feature; the columns are "
                f"{listed(columns, SHOWN_COLUMNS)}."
            )
        return target, features

    def _check_given(self, columns: Sequence[str]) -> None:
        taken: dict[str, str] = {}
        for role, name in _given(self, ("target", "group", "drop", "text", "categorical"), columns):
            other = taken.setdefault(name, role)
            if other != role:
                raise InputError(
                    f"Each column must play one role; {shown(name)} is named as `{other}` and "
                    f"as `{role}`."
                )

    def _usual_target(self, columns: Sequence[str]) -> str:
        others = {self.group, *self.drop, *self.text, *self.categorical}
        found = _guess("target", USUAL_TARGETS, [name for name in columns if name not in others])
        if found is None:
            raise InputError(
                f"`target` must be the column with the labels; none is called "
                f"{', '.join(USUAL_TARGETS)}. The columns are {listed(columns, SHOWN_COLUMNS)}. "
                f"Say which with --target."
            )
        return str(found)


@dataclass(frozen=True, kw_only=True)
class CorpusColumns:
    """The columns of texts, labels, ids and split.

    None is to be found by the usual names, and "" is not to be used even if a column has one.
    """

    text: str | None = None
    labels: str | None = None
    id: str | None = None
    split: str | None = None

    def settled(self, columns: Sequence[str]) -> "CorpusColumns":
        """Settle which of `columns` is which; two that could be the same one are refused."""
        unused = {role for role in USUAL_CORPUS_NAMES if getattr(self, role) == ""}
        roles = dataclasses.replace(self, **dict.fromkeys(unused))
        settled: dict[str, Any] = dict(_given(roles, USUAL_CORPUS_NAMES, columns))
        free = [name for name in dict.fromkeys(columns) if name not in settled.values()]
        for role, usual in USUAL_CORPUS_NAMES.items():
            if role not in settled:
                settled[role] = None if role in unused else _guess(role, usual, free)
        used = [name for name in settled.values() if name is not None]
        _check_one_role(used)
        _check_unique(columns, used)
        for role, what in NEEDED.items():
            if settled[role] is None:
                raise InputError(
                    f"`{role}` must be the column with {what}; none of the names is a usual one. "
                    f"The columns are {listed(columns, SHOWN_COLUMNS)}. Say which with --{role}."
                )
        return dataclasses.replace(self, **settled)


def _guess(role: str, usual: Sequence[str], columns: Sequence[str]) -> str | tuple[str, ...] | None:
    candidates: list[str | tuple[str, ...]] = [c for c in columns if _plain(c) in usual]
    if role == "score":
        others = [c for c in columns if c not in candidates]
        for prefix in PREFIXES:
            family = tuple(c for c in others if _plain(c).startswith(prefix) and c[len(prefix) :])
            if len(family) > 1:
                candidates.append(family)
            elif family and _plain(family[0])[len(prefix) :] in POSITIVE_ENDINGS:
                candidates.append(family[0])
    if len(candidates) > 1:
        names = [c if isinstance(c, str) else " + ".join(c) for c in candidates]
        raise InputError(
            f"`{role}` must be one column; the names {listed(names, SHOWN_COLUMNS)} could all be "
            f"it. Say which with --{role}."
        )
    return candidates[0] if candidates else None


def is_usual(role: str, name: str) -> bool:
    """Whether a column of this name is taken for a role that nobody gave."""
    return _plain(name) in USUAL_NAMES[role]


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def classes_of_columns(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Name the class of each score column: what follows a usual prefix, or the whole name."""
    for prefix in PREFIXES:
        if all(_plain(c).startswith(prefix) and c.strip()[len(prefix) :] for c in columns):
            return tuple(c.strip()[len(prefix) :] for c in columns)
    return columns


def _given(
    roles: object, names: Iterable[str], columns: Sequence[str], source: Source = "file"
) -> Iterator[tuple[str, str]]:
    """Give each role that has columns with each of them; refuse what is not there."""
    for role in names:
        given = getattr(roles, role)
        for name in (given,) if isinstance(given, str) else given or ():
            if name not in columns:
                raise InputError(
                    f"`{role}` must be a column of the {source}; got {shown(name)}. The columns "
                    f"are {listed(columns, SHOWN_COLUMNS)}."
                    f"{_delimiter_hint(columns) or did_you_mean(name, columns)}"
                )
            yield role, name


def _check_given(columns: Sequence[str], roles: Roles, source: Source = "file") -> None:
    list(_given(roles, (*ROLES, "by"), columns, source))
    _check_one_role(roles.columns)


def _check_one_role(names: Sequence[str]) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(
                f"Each column must play one role; {shown(name)} is named for two of them."
            )


def _check_unique(columns: Sequence[str], used: Sequence[str], remedy: str = "") -> None:
    for name in used:
        times = list(columns).count(name)
        if times > 1:
            raise InputError(
                f"The column {shown(name)} must appear once in the header; it appears {times} "
                f"times. Rename all but one of them{remedy}."
            )


def _absent(role: str, what: str, columns: Sequence[str], source: Source) -> InputError:
    """Make the error of a role that no column plays."""
    remedy = (
        f"Say which with roles=tr.Roles({role}=…)."
        if source == "frame"
        else f"Say which with --{role} (roles= in Python); the first line must be a header."
    )
    there = (
        f"The columns are {listed(columns, SHOWN_COLUMNS)}." if columns else "There are no columns."
    )
    return InputError(
        f"`{role}` must be the column with {what}; none of the names is a usual one. "
        f"{there} {remedy}"
        f"{_delimiter_hint(columns) or _likely(role, columns)}"
    )


def _likely(role: str, columns: Sequence[str]) -> str:
    """Name the column whose name is nearest to a usual one."""
    from difflib import get_close_matches

    for likely in ("pred", "score") if role == "pred" else (role,):
        for column in columns:
            if get_close_matches(_plain(column), USUAL_NAMES[likely], n=1, cutoff=0.8):
                return f" Did you mean --{likely} {column}?"
    return ""


def _delimiter_hint(columns: Sequence[str]) -> str:
    """Say what separates the cells when the whole header became one name."""
    header = columns[0] if len(columns) == 1 else ""
    likely = next((mark for mark in (";", "\t", "|", ",") if mark in header), None)
    if likely is None:
        return ""
    return f" The cells seem to be separated by {likely!r}: --delimiter {likely!r}."
