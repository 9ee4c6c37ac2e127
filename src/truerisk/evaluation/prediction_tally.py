"""One pass over predictions, from arrays or from files: all that the measures will need."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.evaluation.grouped_scores import GroupedScores, joined
from truerisk.evaluation.joint_scores import MAX_ENTRIES, JointScores
from truerisk.evaluation.positive import other_of_pair, positive_of_two
from truerisk.evaluation.request import Request
from truerisk.tallies.cells import Cells, CellTally
from truerisk.tallies.documents import DocumentTally
from truerisk.tallies.labels import in_order, plain_positive
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.score_tally import ScoreTally

MADE_CODES = 2**20  # codes from here on are of label sets that scores, not files, have made

MIN_WEIGHT = 1e-100

THE_REST = ("\0",)  # stands for the label that is not positive until all labels are known

Members = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Columns:
    """Some rows of predictions; `members` gives the label set of each code met so far.

    `complement` is the probability of the other of two classes, where it is given for itself.
    """

    truth: NDArray[Any]
    members: Members
    predicted: NDArray[Any] | None = None
    score: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    group: NDArray[Any] | None = None
    complement: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Tallies:
    """What the pass has found, frozen."""

    labels: tuple[str, ...]
    multilabel: bool
    pos_label: str | None
    n: int
    cells: Cells | None = None
    all_cells: Cells | None = None
    rankings: dict[str, Ranking] = field(default_factory=dict)
    pooled: Ranking | None = None
    grouped_scores: dict[str, GroupedScores] = field(default_factory=dict)
    joint_scores: JointScores | None = None
    documents: DocumentTally | None = None
    probabilities: ProbabilityTally | None = None

    @property
    def rejected(self) -> int:
        """How many examples were refused an answer."""
        if self.cells is None or self.all_cells is None:
            return 0
        return self.all_cells.n - self.cells.n


@dataclass
class PredictionTally:
    """Grows batch by batch; tallies of parts merge into that of the whole.

    `classes` names the columns of a score matrix; without it a score is that of the positive
    label.
    """

    request: Request
    multilabel: bool = False
    classes: tuple[str, ...] | None = None
    n: int = 0
    cells: CellTally | None = None
    rankings: dict[str, ScoreTally] = field(default_factory=dict)
    pooled: ScoreTally | None = None
    documents: DocumentTally | None = None
    probabilities: ProbabilityTally | None = None
    made: dict[tuple[str, ...], int] = field(default_factory=dict)
    truth_codes: set[int] = field(default_factory=set)
    grouped_rows: dict[str, list[GroupedScores]] = field(default_factory=dict)
    joint_rows: list[JointScores] = field(default_factory=list)

    def add(self, columns: Columns) -> "PredictionTally":
        """Count some rows; return the tally itself."""
        _refuse_extreme(columns.weight)
        self.n += len(columns.truth)
        if columns.score is not None and columns.score.ndim == 2 and self.classes is None:
            raise InputError(
                f"Each of the {columns.score.shape[1]} scores of a row must say which class it is "
                "of; a list does not. Write one column a class, such as score_cat, score_dog."
            )
        predicted = self._predicted(columns) if columns.predicted is None else columns.predicted
        if predicted is None:
            self.truth_codes.update(_distinct(columns))
        else:
            if self.cells is None:
                weighted, grouped = columns.weight is not None, columns.group is not None
                self.cells = CellTally(weighted=weighted, grouped=grouped)
            self.cells.add(columns.truth, predicted, weight=columns.weight, group=columns.group)
        self._add_scores(columns)
        return self

    def _predicted(self, columns: Columns) -> NDArray[Any] | None:
        """Make predictions of scores, where it is plain how."""
        score, threshold = columns.score, self.request.threshold
        if score is None or (score.ndim == 1 and threshold is None):
            return None
        if score.ndim == 1:
            codes = np.array([self._made(THE_REST), self._made((self._positive(columns),))])
            return np.asarray(codes[(score >= threshold).astype(np.intp)])
        classes = self.classes or ()
        if not self.multilabel:
            codes = np.array([self._made((label,)) for label in classes])
            return np.asarray(codes[score.argmax(axis=1)])
        if threshold is None:
            return None
        patterns, at = np.unique(score >= threshold, axis=0, return_inverse=True)
        sets = [tuple(sorted(np.array(classes)[row].tolist())) for row in patterns]
        return np.array([self._made(one) for one in sets])[at.ravel()]

    def _made(self, label_set: tuple[str, ...]) -> int:
        return self.made.setdefault(label_set, MADE_CODES + len(self.made))

    def _add_scores(self, columns: Columns) -> None:
        score = columns.score
        if score is None:
            return
        if score.ndim == 1:
            names: tuple[str, ...] = (self._positive(columns),)
            score = score[:, None]
        else:
            names = self.classes or ()
        truth = np.column_stack([_belongs(name, columns) for name in names])
        for at, name in enumerate(names):
            self._add_ranking(name, np.ascontiguousarray(score[:, at]), truth[:, at], columns)
        if len(names) == 1:
            self._add_probabilities(score[:, 0], truth[:, 0], columns)
        else:
            self.documents = self.documents or DocumentTally()
            self.documents.add(score, truth, columns.weight)
            self._add_joint_rows(score, truth, columns)
            if not self.multilabel:
                self._refuse_unscored(truth, columns)
                self._add_probabilities(score, truth.argmax(axis=1), columns)

    def _add_ranking(
        self, name: str, score: NDArray[Any], is_positive: NDArray[np.bool_], columns: Columns
    ) -> None:
        self.rankings.setdefault(name, ScoreTally()).add(score, is_positive, columns.weight)
        if self.classes is not None:
            self.pooled = self.pooled or ScoreTally()
            self.pooled.add(score, is_positive, columns.weight)
        if columns.group is not None:
            rows = GroupedScores(
                score, is_positive, columns.group, columns.weight, columns.complement
            )
            self.grouped_rows.setdefault(name, []).append(rows)

    def _add_joint_rows(
        self, score: NDArray[Any], truth: NDArray[np.bool_], columns: Columns
    ) -> None:
        if columns.group is None and self.n * score.shape[1] <= MAX_ENTRIES:
            rows = JointScores(score.astype(np.float64), truth, columns.weight)
            self.joint_rows.append(rows)

    def _add_probabilities(
        self, score: NDArray[Any], truth: NDArray[Any], columns: Columns
    ) -> None:
        if self.request.probabilities:
            self.probabilities = self.probabilities or ProbabilityTally()
            self.probabilities.add(score, truth, columns.weight, columns.complement)

    def _refuse_unscored(self, truth: NDArray[np.bool_], columns: Columns) -> None:
        unscored = ~truth.any(axis=1)
        if unscored.any():
            label = columns.members[int(columns.truth[unscored][0])][0]
            raise InputError(
                f"Every class must have a score column; {shown(label)} has none, the columns are "
                f"of {', '.join(map(shown, self.classes or ()))}."
            )

    def _positive(self, columns: Columns) -> str:
        """Settle what one column of scores is the score of, once and for all."""
        if self.rankings:
            return next(iter(self.rankings))
        labels = _labels(columns)
        asked = self.request.pos_label or plain_positive(labels)
        if asked is None and len(labels) > 2:
            raise InputError(
                f"`pos_label` must say which of the {len(labels)} classes the one score column "
                "scores; or give one score column for each class."
            )
        return asked or positive_of_two(labels, None)

    def merge(self, other: "PredictionTally") -> "PredictionTally":
        """Add what another tally, of the same codes, has seen; return the tally itself."""
        if self.made != other.made:
            raise InputError("Tallies must share the codes of made predictions to be merged.")
        self.n += other.n
        self.truth_codes |= other.truth_codes
        for name in ("cells", "pooled", "documents", "probabilities"):
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, theirs if mine is None else mine.merge(theirs) if theirs else mine)
        for label, ranking in other.rankings.items():
            if label in self.rankings:
                self.rankings[label].merge(ranking)
            else:
                self.rankings[label] = ranking
            self.grouped_rows.setdefault(label, []).extend(other.grouped_rows.get(label, []))
        self.joint_rows.extend(other.joint_rows)
        return self

    def finish(self, members: Members) -> Tallies:
        """Freeze what was counted; `members` gives the label set of every code."""
        every = dict(enumerate(members)) | {code: one for one, code in self.made.items()}
        if THE_REST in self.made:
            every = self._two_sided(every)
        reject = self.request.reject
        if reject is not None and not self.multilabel:
            every = {code: () if one == (reject,) else one for code, one in every.items()}
        codes = self.truth_codes if self.cells is None else self.cells.codes()
        met = {label for code in codes for label in every[code]}
        pos_label = self._final_positive(in_order({*met, *(self.classes or ())}))
        all_cells = None
        if self.cells is not None:
            all_cells = self.cells.cells(
                every,
                multilabel=self.multilabel,
                also=self._known(met),
                max_classes=self.request.max_classes,
            )
        if all_cells is not None and not all_cells.totals.any():
            raise InputError(
                "`weight` must be positive somewhere; all are 0. Choose the weights with --weight."
            )
        cells = all_cells
        if all_cells is not None and not self.multilabel:
            cells = all_cells.only(np.asarray(all_cells.predicted.any(axis=1)))
        labels = in_order({*met, *(self.classes or ()), *(cells.labels if cells else ())})
        return Tallies(
            labels=labels if pos_label is None else other_of_pair(pos_label, labels),
            multilabel=self.multilabel,
            pos_label=pos_label,
            n=self.n,
            cells=cells,
            all_cells=all_cells,
            rankings={name: tally.ranking() for name, tally in self.rankings.items()},
            pooled=None if self.pooled is None else self.pooled.ranking(),
            grouped_scores={name: joined(rows) for name, rows in self.grouped_rows.items() if rows},
            joint_scores=self._joint_scores(),
            documents=self.documents,
            probabilities=self.probabilities,
        )

    def _joint_scores(self) -> JointScores | None:
        """Put the rows of all classes together, if all of them could be kept."""
        if not self.joint_rows or sum(len(rows.score) for rows in self.joint_rows) < self.n:
            return None
        weights = [rows.weight for rows in self.joint_rows if rows.weight is not None]
        return JointScores(
            np.concatenate([rows.score for rows in self.joint_rows]),
            np.concatenate([rows.truth for rows in self.joint_rows]),
            np.concatenate(weights) if weights else None,
        )

    def _two_sided(self, every: dict[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
        """Call everything that is not positive by one name: scores tell only two sides apart."""
        pos_label = next(iter(self.rankings))
        met = {label for one in every.values() if one != THE_REST for label in one}
        others = [label for label in other_of_pair(pos_label, met) if label != pos_label]
        rest = others[0] if len(others) == 1 else f"not {pos_label}"
        return {code: one if one == (pos_label,) else (rest,) for code, one in every.items()}

    def _known(self, met: set[str]) -> tuple[str, ...]:
        """List the labels that exist whether or not they occur."""
        asked = (self.request.pos_label,) if self.request.pos_label is not None else ()
        known = (*(self.classes or ()), *(self.request.average_over or ()), *asked)
        plain = plain_positive({*met, *known})
        return known if plain is None else (*known, *other_of_pair(plain, met))

    def _final_positive(self, labels: tuple[str, ...]) -> str | None:
        asked = self.request.pos_label
        if asked is not None and len(labels) > 1 and asked not in labels:
            listed = ", ".join(map(shown, labels[:10]))
            raise InputError(f"`pos_label` must be one of the labels {listed}; got {shown(asked)}.")
        if self.multilabel or self.classes is not None or len(labels) > 2:
            single = self.classes is None and self.rankings
            return next(iter(self.rankings)) if single else None
        return positive_of_two(labels, asked)


def _refuse_extreme(weight: NDArray[np.float64] | None) -> None:
    """Refuse weights whose squares, which the intervals need, are no numbers any more."""
    if weight is None:
        return
    extreme = (weight > 0) & ((weight < MIN_WEIGHT) | (weight > 1 / MIN_WEIGHT))
    if extreme.any():
        raise InputError(
            f"`weight` must be 0 or between {MIN_WEIGHT:g} and {1 / MIN_WEIGHT:g}; "
            f"got {weight[extreme][0]:g}. Multiply all weights by one number: only ratios count."
        )


def _belongs(label: str, columns: Columns) -> NDArray[np.bool_]:
    """Tell the examples of a label."""
    codes = [code for code, one in enumerate(columns.members) if label in one]
    if len(codes) == 1:  # a comparison is several times as fast as a look-up
        return np.asarray(columns.truth == codes[0])
    return np.asarray(np.isin(np.arange(len(columns.members)), codes)[columns.truth])


def _distinct(columns: Columns) -> list[int]:
    found = np.bincount(columns.truth, minlength=len(columns.members))
    return np.flatnonzero(found).tolist()


def _labels(columns: Columns) -> tuple[str, ...]:
    return in_order({label for code in _distinct(columns) for label in columns.members[code]})
