"""What files look like, what is odd in them, and which command answers which question.

Every command that is offered was tried as far as its reading goes: what a reader refuses becomes
the reason why a question has no answer yet.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Flags
from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.evaluate import evaluate_files
from truerisk.evaluation.slicing import sliced
from truerisk.inputs.arrays import missing_in
from truerisk.inputs.corpora import Corpus, read_corpus
from truerisk.inputs.files import log_of
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.formats import open_reader, recognise
from truerisk.inputs.records.places import ending, shown_path
from truerisk.inputs.records.rows import Reader, Selection, as_values
from truerisk.inputs.records.svmlight import is_svmlight
from truerisk.inputs.records.text_blocks import TextFile
from truerisk.inputs.roles import (
    USUAL_CORPUS_NAMES,
    USUAL_NAMES,
    USUAL_TARGETS,
    ResolvedRoles,
    Roles,
    resolve_roles,
)
from truerisk.inputs.tables import read_table
from truerisk.labels import in_order, plain_positive
from truerisk.results import Evaluation, Finding, Reportable, Row, has_code
from truerisk.tallies.ranking import rank

Kind = Literal[
    "empty", "constant", "labels", "numbers", "probabilities", "ids", "groups", "time", "texts"
]
FileKind = Literal["predictions", "log", "table", "corpus", "unknown"]

MAX_ROWS = 200_000  # that are looked at
MAX_LABELS = 50
FEW_NUMBERS = 20  # distinct whole numbers that may be classes
MIN_SORTED = 20
LONG_TEXT = 40  # characters, on average
EXAMPLES = 3
MAX_LISTED = 3
MAX_BY = 2  # columns that a command slices by
CLOSE = 1e-6
TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
CORRECT_NAMES = ("correct", "is_correct", "acc", "exact_match")  # of 0 and 1, in evaluation logs
PREDICTION_WORDS = ("pred", "guess", "model", "output", "hat")
GAPS: tuple[Literal["refuse", "drop"], ...] = ("refuse", "drop")  # what is tried, in this order
WORSE_WHERE, IS_BETTER = "Where is it worse than elsewhere?", "Is another model better?"
LEARNER = "How well will a learner do?"


@dataclass(frozen=True, kw_only=True)
class ColumnFacts:
    """One column: what it looks like, and the role that its name or its content gives it."""

    file: str
    name: str
    kind: Kind
    role: str
    distinct: int
    missing: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """A question, and the command that answers it; or what is missing."""

    question: str
    command: str = field(default="", kw_only=True)
    missing: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class _Trial:
    """What came of an attempt to read a file: the options that it takes, or why it fails."""

    options: tuple[str, ...] = ()
    reason: str = ""
    evaluation: Evaluation | None = None


@dataclass(frozen=True, kw_only=True)
class Diagnosed:
    """One file: what kind it is, its format, and how many rows were looked at."""

    path: str
    format: str
    kind: FileKind
    rows: int
    whole: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class Diagnosis(Reportable):
    r"""What some files look like, what is odd in them, and what can be asked of them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y_true,y_pred\n" + "1,1\n" * 30 + "0,1\n0,0\n" * 15)
    ...     diagnosis = doctor(path)
    >>> diagnosis.files[0].kind, [one.kind for one in diagnosis.columns]
    ('predictions', ['labels', 'labels'])
    """

    kind: ClassVar[str] = "diagnosis"

    files: tuple[Diagnosed, ...]
    columns: tuple[ColumnFacts, ...]
    odd: tuple[str, ...]
    answers: tuple[Answer, ...]

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that these files can be given to."""
        return tuple(one.command for one in self.answers if one.command)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What kind of files these are, each in one sentence."""
        return tuple(_what(one) for one in self.files)

    def __str__(self) -> str:
        answers = [f"{one.question} {one.command or one.missing}" for one in self.answers]
        return "\n".join([*self.verdict, *self.odd, *answers])

    def to_rows(self) -> list[Row]:
        """Give one row per column."""
        return [
            {
                "file": one.file,
                "column": one.name,
                "kind": one.kind,
                "role": one.role,
                "distinct": one.distinct,
                "missing": one.missing,
                "examples": ", ".join(one.examples),
            }
            for one in self.columns
        ]

    def to_metrics(self) -> dict[str, float]:
        """Give the rows of each file, and how many findings are odd."""
        rows = {f"{one.path}/rows": float(one.rows) for one in self.files}
        return {**rows, "odd": float(len(self.odd))}


def _what(one: Diagnosed) -> str:
    kinds = {
        "predictions": "predictions",
        "log": "an evaluation log, of answers that are right or wrong",
        "table": "a table of examples to learn from",
        "corpus": "documents with labels",
        "unknown": "neither predictions nor a table with a target",
    }
    rows = f"{one.rows:,} rows" if one.whole else f"the first {one.rows:,} rows were looked at"
    return f"{shown_path(Path(one.path))}: {kinds[one.kind]} ({one.format}, {rows})."


def doctor(paths: Path | str | Sequence[Path | str]) -> Diagnosis:
    r"""Look at files: what each column is, what is odd, and which commands answer which question.

    Parameters
    ----------
    paths
        A file or several: predictions, a table of examples, documents, evaluation logs; a folder of
        documents.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "p.csv"
    ...     _ = path.write_text("y_true,y_pred\n" + "spam,spam\n" * 30 + "ham,spam\nham,ham\n" * 15)
    ...     print(doctor(path).commands[0].replace(folder, "."))
    truerisk score ./p.csv --positive ham
    """
    listed = [Path(paths)] if isinstance(paths, (str, Path)) else [Path(one) for one in paths]
    if not listed:
        raise InputError("`paths` must name a file at least; got none.")
    looked = [_Look.at(path) for path in listed]
    several = _together(looked)
    return Diagnosis(
        files=tuple(one.facts for one in looked),
        columns=tuple(fact for one in looked for fact in one.columns),
        odd=tuple(finding for one in looked for finding in one.odd()),
        answers=(*several, *(answer for one in looked for answer in one.answers(len(listed)))),
    )


@dataclass(frozen=True)
class _Look:
    """One file that was looked at: its columns as arrays, if it has columns."""

    path: Path
    format: str
    values: dict[str, NDArray[Any]] = field(default_factory=dict)
    rows: int = 0
    whole: bool = True
    corpus: Corpus | None = None
    metrics: tuple[str, ...] = ()  # the columns of a log that say what was right
    is_log: bool = False  # as the tool that wrote it says

    @classmethod
    def at(cls, path: Path) -> "_Look":
        options = ReadingOptions()
        if path.is_dir():
            corpus = read_corpus(path)
            return cls(path, "folder", rows=len(corpus), corpus=corpus)
        facts, _, _ = recognise(path, options)
        source = TextFile(path, facts.compression, options)
        if facts.format == "csv" and is_svmlight(source.head(), ending(path)):
            corpus = read_corpus(path)
            return cls(path, "svmlight", rows=len(corpus), corpus=corpus)
        reader = open_reader(facts, path, options)
        log, nested = log_of(reader), getattr(reader, "nested", ())
        metrics = tuple(
            name for name in (*reader.columns, *nested) if _last_part(name) in CORRECT_NAMES
        )
        metrics = metrics if log is None else log.metrics
        names = tuple(dict.fromkeys((*reader.columns, *(nested if metrics else ()))))
        try:
            values, rows, whole = _read(reader, names)
        except InputError:
            # A column that holds no plain values must not hide the others.
            names = tuple(name for name in names if _is_readable(reader, name))
            if not names:
                raise
            values, rows, whole = _read(reader, names)
        metrics = tuple(name for name in metrics if name in values)
        return cls(path, facts.format, values, rows, whole, metrics=metrics, is_log=log is not None)

    # What the columns are

    @cached_property
    def facts(self) -> Diagnosed:
        return Diagnosed(
            path=str(self.path),
            format=self.format,
            kind=self.kind,
            rows=self.rows,
            whole=self.whole,
        )

    @cached_property
    def missing(self) -> dict[str, Flags]:
        return {name: missing_in(column) for name, column in self.values.items()}

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        return {name: self._kind(name) for name in self.values}

    @cached_property
    def columns(self) -> list[ColumnFacts]:
        roles = self._roles_by_name()
        return [
            ColumnFacts(
                file=str(self.path),
                name=name,
                kind=self.kinds[name],
                role=roles.get(name, ""),
                distinct=len(self.words[name]),
                missing=int(self.missing[name].sum()),
                examples=tuple(list(self.words[name])[:EXAMPLES]),
            )
            for name in self.values
        ]

    @cached_property
    def words(self) -> dict[str, dict[str, int]]:
        """How often each value of a column occurs, as text; the most frequent first."""
        return {
            name: dict(Counter(_texts(column[~self.missing[name]])).most_common())
            for name, column in self.values.items()
        }

    def _kind(self, name: str) -> Kind:  # noqa: PLR0911  (one line per kind)
        words, n = self.words[name], self.rows - int(self.missing[name].sum())
        if not words:
            return "empty"
        if len(words) == 1:
            return "constant"
        numbers = self._numbers(name)
        if numbers is not None:
            whole = bool((numbers == np.floor(numbers)).all())
            if whole and len(words) == n > FEW_NUMBERS:
                return "ids"
            if whole and len(words) <= FEW_NUMBERS:
                return "labels"
            inside = bool((numbers >= 0).all() and (numbers <= 1).all())
            return "probabilities" if inside and not whole else "numbers"
        if all(TIME.fullmatch(word) for word in list(words)[:1000]):
            return "time"
        length = sum(len(word) * count for word, count in words.items()) / n
        if length > LONG_TEXT and len(words) > n / 10:
            return "texts"
        if len(words) <= min(MAX_LABELS, max(2, n / 2)):
            return "labels"
        return "ids" if len(words) > 0.9 * n else "groups"

    def _numbers(self, name: str) -> NDArray[Any] | None:
        column = self.values[name][~self.missing[name]]
        if column.dtype.kind in "iuf":
            return np.asarray(column, dtype=np.float64)
        try:
            return np.array([float(word) for word in column.tolist() if not isinstance(word, bool)])
        except (TypeError, ValueError):
            return None

    def _roles_by_name(self) -> dict[str, str]:
        """Say which column plays which role in the kind of file that this is."""
        roles: dict[str, str] = {}
        if self.kind == "predictions" and self.roles is not None:
            for role in ("truth", "pred", "group", "weight", "id"):
                if getattr(self.roles, role):
                    roles[getattr(self.roles, role)] = role
            roles |= dict.fromkeys(self.roles.score_columns, "score")
        if self.kind == "log":
            roles |= dict.fromkeys(self.metrics, "correct")
        if self.kind == "table" and self.target is not None:
            roles[self.target] = "target"
        if self.kind == "corpus":
            for name in self.values:
                for role, usual in USUAL_CORPUS_NAMES.items():
                    if name.strip().lower() in usual:
                        roles.setdefault(name, role)
        return roles

    # Predictions

    @cached_property
    def roles(self) -> ResolvedRoles | None:
        """The roles of predictions by their usual names, else by what the columns hold."""
        if not self.values:
            return None
        try:
            return resolve_roles(tuple(self.values), Roles())
        except InputError:
            pass
        given = self._roles_by_content()
        try:
            return None if given is None else resolve_roles(tuple(self.values), given)
        except InputError:
            return None

    def _roles_by_content(self) -> Roles | None:
        """Take two columns with the same labels, one of which is called a prediction."""
        labels = [name for name, kind in self.kinds.items() if kind == "labels"]
        pairs = [
            (one, other)
            for at, one in enumerate(labels)
            for other in labels[at + 1 :]
            if set(self.words[one]) == set(self.words[other])
            and _is_called_prediction(one) != _is_called_prediction(other)
        ]
        if len(pairs) != 1:
            return None
        truth, pred = sorted(pairs[0], key=_is_called_prediction)
        return Roles(truth=truth, pred=pred)

    @cached_property
    def tried(self) -> _Trial:
        """The predictions as they can be read."""
        roles = self.roles
        if roles is None:
            reason = "no columns that could be true and predicted labels (--truth, --pred, --score)"
            return _Trial(reason=reason)
        plain = Roles(**{name: getattr(roles, name) for name in Roles.__dataclass_fields__})
        named = [  # what the names of the columns do not say
            part
            for role in ("truth", "pred")
            if getattr(roles, role) and role not in roles.guessed
            for part in (f"--{role}", getattr(roles, role))
        ]
        positives = (None, self._rare_label(roles.truth))
        return self._evaluated(plain, named, positives, measures=("accuracy", "roc_auc"))

    def _evaluated(
        self,
        roles: Roles,
        named: Sequence[str],
        positives: tuple[str | None, ...] = (None,),
        **request: Any,
    ) -> _Trial:
        """Evaluate the file, gaps refused or else dropped; the options begin with those `named`."""
        reason = ""
        for positive, missing in product(positives, GAPS):
            reading = ReadingOptions(missing=missing)
            try:
                evaluation = evaluate_files(
                    self.path, roles=roles, options=reading, pos_label=positive, **request
                )
            except InputError as error:
                reason = reason or str(error)
                continue
            options = [*named, *([] if positive is None else ["--positive", positive])]
            options += [] if missing == "refuse" else ["--missing", "drop"]
            return _Trial(tuple(options), evaluation=evaluation)
        return _Trial(reason=reason)

    def _rare_label(self, column: str | None) -> str | None:
        """Name the rarer of two labels, which is to be found; None where that is plain."""
        words = self.words[column] if column else {}
        if len(words) != 2 or plain_positive(list(words)) is not None:
            return None
        return min(reversed(list(words)), key=words.__getitem__)

    @cached_property
    def kind(self) -> FileKind:
        """What the file is for."""
        if self.corpus is not None:
            return "corpus"
        if self.is_log:
            return "log"
        if self.tried.evaluation is not None:
            return "predictions"
        if any(one.evaluation is not None for one in self.logged.values()):
            return "log"
        if self._documents is not None:
            return "corpus"
        return "table" if self.target is not None else "unknown"

    # Evaluation logs

    @cached_property
    def logged(self) -> dict[str, _Trial]:
        """Each result of a log as it can be read."""
        return {name: self._logged(name) for name in self.metrics}

    def _logged(self, name: str, **request: Any) -> _Trial:
        return self._evaluated(Roles(correct=name), ["--correct", name], **request)

    @property
    def has_ids(self) -> bool:
        return any(name.strip().lower() in USUAL_NAMES["id"] for name in self.values)

    def _of_log(self) -> Iterator[Answer]:
        for name, trial in list(self.logged.items())[:MAX_LISTED]:
            yield self._answer(f"How often is it right, by {name}?", "score", trial)
            if self._group is not None and not trial.reason:
                question = f"Do questions of one {self._group} belong together?"
                yield self._answer(question, "score", trial, "--group", self._group)
        # Where the first result that can be read is worse, by columns of words.
        readable = [name for name, one in self.logged.items() if not one.reason]
        by = [
            column
            for column in self._slice_columns(None)
            if self.kinds[column] == "labels" and column not in self.metrics
        ]
        sliced_by = self._logged(readable[0], by=by) if readable and by else None
        if sliced_by is not None and not sliced_by.reason:
            yield self._answer(WORSE_WHERE, "score", sliced_by, *_repeated("--by", by))

    # Tables and documents

    @cached_property
    def target(self) -> str | None:
        names = [name for name in self.values if name.strip().lower() in USUAL_TARGETS]
        if len(names) == 1 and self.kinds[names[0]] in {"labels", "groups"}:
            return names[0]
        labels = [name for name, kind in self.kinds.items() if kind == "labels"]
        last = list(self.values)[-1] if self.values else None
        return last if last in labels and len(self.values) > 1 else None

    @cached_property
    def _documents(self) -> Corpus | None:
        if "texts" not in self.kinds.values():
            return None
        try:
            return read_corpus(self.path)
        except InputError:
            return None

    @cached_property
    def tabled(self) -> _Trial:
        """The table as it can be read."""
        target = self.target
        if target is None:
            return _Trial(reason="no column of labels to learn (--target)")
        dropped = [
            name
            for name, kind in self.kinds.items()
            if name != target and kind in {"ids", "time", "empty", "groups"} and name != self._group
        ]
        texts = [name for name, kind in self.kinds.items() if kind == "texts"]
        try:
            table = read_table(
                self.path, target=target, group=self._group, drop=dropped, text=texts
            )
        except (InputError, ResourceError) as error:
            return _Trial(reason=str(error))
        rarest = min(Counter(table.y.tolist()).values())
        if rarest < 10:
            reason = f"a class of {target} has {rarest} examples, and ten folds need ten"
            return _Trial(reason=reason)
        options = ["--target", target, *_repeated("--drop", dropped), *_repeated("--text", texts)]
        return _Trial((*options, *([] if self._group is None else ["--group", self._group])))

    def _positive(self) -> list[str]:
        rare = self._rare_label(self.target)
        return [] if rare is None else ["--positive", rare]

    @cached_property
    def _group(self) -> str | None:
        names = [
            name
            for name in self.values
            if _last_part(name) in USUAL_NAMES["group"] and 10 <= len(self.words[name]) < self.rows
        ]
        return names[0] if len(names) == 1 else None

    # What is odd

    def odd(self) -> Iterator[Finding]:
        """Say what may be a slip, each finding with the file that it is in."""
        for rule in ODD:
            for text, code in rule(self):
                yield Finding(f"{shown_path(self.path)}: {text}", code=code)

    # What can be asked

    def answers(self, files: int) -> Iterator[Answer]:
        """Give the questions that this file can answer, then those that it cannot."""
        another = "the other model's {} of the same {}, in a second file"
        if self.kind == "predictions" and self.tried.evaluation is not None:
            yield from self._of_predictions(self.tried.evaluation)
            if files == 1:
                yield Answer(IS_BETTER, missing=another.format("predictions", "examples"))
            missing = "the examples themselves: a table of features and labels"
            yield Answer("How well will the learner do?", missing=missing)
        elif self.kind == "log":
            yield from self._of_log()
            if files == 1:
                yield Answer(IS_BETTER, missing=another.format("log", "questions"))
        elif self.kind == "unknown":
            yield Answer("How good are these predictions?", missing=self.tried.reason)
            yield Answer(LEARNER, missing=self.tabled.reason or "a target")
        else:
            yield from self._of_documents() if self.kind == "corpus" else self._of_table()
            missing = "its predictions: a file of true and predicted labels, or scores"
            yield Answer("How good is a model that is there already?", missing=missing)

    def _answer(self, question: str, command: str, trial: _Trial, *more: str) -> Answer:
        """Give the command with the options of a trial and more of them; or what is missing."""
        if trial.reason:
            return Answer(question, missing=trial.reason)
        return Answer(question, command=_command(command, [self], [*trial.options, *more]))

    def _of_table(self) -> Iterator[Answer]:
        yield self._answer(LEARNER, "estimate", self.tabled, *self._positive())
        if not self.tabled.reason:
            yield self._answer("Would more examples help?", "curve", self.tabled)

    def _of_predictions(self, evaluation: Evaluation) -> Iterator[Answer]:
        roles, tried = self.roles, self.tried
        extra = ["--probabilities"] if self._are_probabilities(evaluation) else []
        yield self._answer("How good is it?", "score", tried, *extra)
        yield self._answer("The same as a page?", "score", tried, *extra, "--html", "report.html")
        by = self._slice_columns(roles)
        no_column = _Trial(reason="a column to slice by: a region, an age, a source")
        yield self._answer(WORSE_WHERE, "score", tried if by else no_column, *_repeated("--by", by))
        if roles is None:
            return
        if roles.score is None:
            yield Answer("Which threshold?", missing="a column of scores")
        elif evaluation.pos_label is not None:
            yield self._answer("Which threshold?", "threshold", tried, "--best", "f1")
            question = "Which examples to leave undecided?"
            rejected = (
                tried if self._like_shares else _Trial(reason="probabilities, or a --threshold")
            )
            yield self._answer(question, "reject", rejected, "--want-rejection", "0.1")
        groups = [name for name, kind in self.kinds.items() if kind == "groups"]
        if roles.group is None and groups:
            question = f"Do rows of one {groups[0]} belong together?"
            yield self._answer(question, "score", tried, "--group", groups[0])

    @property
    def _score_columns(self) -> tuple[str, ...]:
        return () if self.roles is None else self.roles.score_columns

    @property
    def _like_shares(self) -> bool:
        """Whether all scores look like probabilities, each for itself."""
        return all(self.kinds[name] == "probabilities" for name in self._score_columns)

    def _are_probabilities(self, evaluation: Evaluation) -> bool:
        noted = has_code(evaluation.notes, "scores_look_like_probabilities")
        return noted and self._like_shares and self.sums_to_one()

    def sums_to_one(self) -> bool:
        columns = self._score_columns
        if len(columns) < 2:
            return True
        total = sum(np.asarray(self._numbers(name)) for name in columns)
        return bool(np.allclose(total, 1.0, atol=CLOSE))

    def _slice_columns(self, roles: Roles | None) -> list[str]:
        """Choose columns that leave two slices at least and play no role."""
        used = set() if roles is None else {*roles.columns}
        chosen = []
        for name, kind in self.kinds.items():
            if name in used or kind not in {"labels", "numbers", "time"}:
                continue
            try:
                next(sliced({name: self.values[name]}, counts=np.ones(self.rows, bool)))
            except InputError:
                continue
            chosen.append(name)
        return chosen[:MAX_BY]

    def _of_documents(self) -> Iterator[Answer]:
        if self.path.suffix.lower() not in {".parquet", ".pq"}:
            question = "How well will documents be classified?"
            yield self._answer(question, "estimate", _Trial())
            held = _Trial(("--holdout", "0.3", "--seed", "1"))
            yield self._answer("And on documents held out?", "estimate", held)
        if self.values and not self.tabled.reason:
            more = ("--model", "svm", *self._positive())
            yield self._answer("One label per document?", "estimate", self.tabled, *more)


def _command(name: str, files: Sequence[_Look], options: Sequence[str]) -> str:
    return shlex.join(["truerisk", name, *(str(one.path) for one in files), *options])


def _repeated(option: str, values: Sequence[str]) -> list[str]:
    return [part for value in values for part in (option, value)]


def _together(looked: Sequence[_Look]) -> Iterator[Answer]:
    """Give what several files of predictions, or several logs, can be asked together."""
    question = "Is the last of them better than the first?"
    no_pairs = "a column of ids, or as many rows in each file"
    logs = [one for one in looked if one.kind == "log"]
    if len(logs) > 1:
        shared = [  # by the first result that all of them have
            trial.options
            for name, trial in logs[0].logged.items()
            if not trial.reason
            and all(
                name in one.logged and one.logged[name].options == trial.options for one in logs
            )
        ]
        if len({one.rows for one in logs}) > 1 and not all(one.has_ids for one in logs):
            yield Answer(question, missing=no_pairs)
        elif not shared:
            yield Answer(question, missing="a result of 0 and 1 that all logs have")
        else:
            yield Answer(question, command=_command("compare", logs, shared[0]))
    models = [one for one in looked if one.kind == "predictions"]
    if len(models) > 1:
        options = models[0].tried.options
        ids = {one.roles.id for one in models if one.roles is not None}
        if any(one.tried.options != options for one in models):
            yield Answer(question, missing="files with the same columns")
        elif ids == {None} and len({one.rows for one in models}) > 1:
            yield Answer(question, missing=no_pairs)
        else:
            yield Answer(question, command=_command("compare", models, options))


# What is odd: one function per rule


def _one_class(look: _Look) -> Iterator[tuple[str, str]]:
    truth = _truth(look)
    if truth is not None and len(look.words[truth]) == 1:
        label = next(iter(look.words[truth]))
        yield f"all true labels are {shown(label)}: one class shows no measure of two.", "one_class"


def _spellings(look: _Look) -> Iterator[tuple[str, str]]:
    pred = None if look.kind != "predictions" or look.roles is None else look.roles.pred
    names = [name for name in (_truth(look), pred) if name is not None]
    words = {word for name in names for word in look.words[name]}
    alike: dict[str, list[str]] = {}
    for word in in_order(words):
        alike.setdefault(word.strip().casefold().removesuffix(".0"), []).append(word)
    for some in [some for some in alike.values() if len(some) > 1][:MAX_LISTED]:
        named = ", ".join(map(shown, some))
        yield (
            f"{named} may be one label: --strip, --numeric-labels or --map make it one.",
            "spellings",
        )


def _duplicates(look: _Look) -> Iterator[tuple[str, str]]:
    if not look.values or look.rows < 2:
        return
    lists = [column.tolist() for column in look.values.values()]
    rows = Counter(hash(tuple(map(str, row))) for row in zip(*lists, strict=True))
    extra = look.rows - len(rows)
    informative = any(
        kind in {"ids", "numbers", "probabilities", "texts"} for kind in look.kinds.values()
    )
    if extra and informative:
        copies = "row is a copy of another" if extra == 1 else "rows are copies of others"
        yield f"{extra:,} {copies} in every column.", "duplicates"
    for name in look.values if look.kind != "log" else ():  # of a log: samples of one question
        if name.strip().lower() in USUAL_NAMES["id"] and len(look.words[name]) < look.rows:
            repeated = look.rows - len(look.words[name])
            remedy = f"--group {name} if they belong together, --id '' to leave it aside"
            yield f"{repeated:,} rows repeat a value of {name}: {remedy}.", "ids_repeat"


def _gaps(look: _Look) -> Iterator[tuple[str, str]]:
    gaps = {name: int(flags.sum()) for name, flags in look.missing.items() if flags.any()}
    if gaps:
        named = ", ".join(f"{name} {count:,}" for name, count in list(gaps.items())[:MAX_LISTED])
        more = f" and {len(gaps) - MAX_LISTED} columns more" if len(gaps) > MAX_LISTED else ""
        yield f"values are missing: {named}{more}.", "gaps"


def _sorted_rows(look: _Look) -> Iterator[tuple[str, str]]:
    truth = _truth(look)
    if truth is None or look.rows < MIN_SORTED:
        return
    column = np.array(_texts(look.values[truth]))
    changes = int((column[1:] != column[:-1]).sum())
    if 1 <= changes == len(look.words[truth]) - 1:
        remedy = "shuffle them before you cut the file"
        yield f"the rows are sorted by {truth}: {remedy}.", "sorted_rows"


def _scores_that_do_not_fit(look: _Look) -> Iterator[tuple[str, str]]:
    evaluation = look.tried.evaluation
    if look.kind != "predictions" or look.roles is None or evaluation is None:
        return
    area = evaluation.get("roc_auc")
    if area is not None and area.interval is not None and area.interval.high < 0.5:
        why = "are they of the other label?"
        yield f"the scores rank the wrong way round (AUC {area.value:.3f}): {why}", "reversed"
    if len(look.roles.score_columns) > 1 and not look.sums_to_one():
        yield "the score columns do not add up to 1: they are no probabilities.", "no_probabilities"
    pred, scores, positive = look.roles.pred, look.roles.score, evaluation.pos_label
    if not pred or not isinstance(scores, str) or positive is None:
        return
    used = ~(look.missing[scores] | look.missing[pred])
    score = np.array([float(value) for value in look.values[scores][used].tolist()])
    called = np.array(_texts(look.values[pred][used])) == positive
    if called.any() and not called.all() and rank(score, called).auc < 1:
        wrong = "no threshold of the scores makes the predicted labels: they are of two models, or "
        yield f"{wrong}the scores are those of the predicted class.", "scores_do_not_fit"


def _useless_columns(look: _Look) -> Iterator[tuple[str, str]]:
    if look.kind in {"predictions", "log"}:
        return
    names = [name for name, kind in look.kinds.items() if kind in {"constant", "empty"}]
    if names:
        listed = ", ".join(names[:MAX_LISTED])
        yield f"{listed}: one value or none, which says nothing of the label.", "useless_columns"


def _leaks(look: _Look) -> Iterator[tuple[str, str]]:
    """Name features that tell the target one to one."""
    target = look.target
    if look.kind != "table" or target is None:
        return
    truth = _texts(look.values[target])
    for name, kind in look.kinds.items():
        if name == target or kind != "labels":
            continue
        values = _texts(look.values[name])
        if len(set(zip(values, truth, strict=True))) == len(set(values)):
            yield (
                f"{name} tells {target} without error: would it be there for a new example?",
                "leak",
            )


ODD: tuple[Callable[[_Look], Iterator[tuple[str, str]]], ...] = (
    _one_class,
    _spellings,
    _scores_that_do_not_fit,
    _duplicates,
    _gaps,
    _sorted_rows,
    _useless_columns,
    _leaks,
)


def _truth(look: _Look) -> str | None:
    if look.kind == "predictions" and look.roles is not None:
        return look.roles.truth
    return look.target if look.kind == "table" else None


def _texts(column: NDArray[Any]) -> list[str]:
    """Write values as texts, whole numbers without a fraction."""
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in column.tolist()
    ]


def _read(
    reader: Reader, names: tuple[str, ...], most: int = MAX_ROWS
) -> tuple[dict[str, NDArray[Any]], int, bool]:
    """Read the first rows: the columns, how many rows, and whether that is all of them."""
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    rows = 0
    whole = True
    for read in reader.rows(Selection(texts=names)):
        if rows >= most:
            whole = False
            break
        rows += read.count
        for name in names:
            parts[name].append(as_values(read.columns[name]))
    return {name: np.concatenate(some) for name, some in parts.items() if some}, rows, whole


def _is_readable(reader: Reader, name: str) -> bool:
    try:
        _read(reader, (name,))
    except InputError:
        return False
    return True


def _last_part(name: str) -> str:
    """Give the name of a column within its column."""
    return name.strip().lower().rpartition(".")[2]


def _is_called_prediction(name: str) -> bool:
    return any(word in name.lower() for word in PREDICTION_WORDS)
