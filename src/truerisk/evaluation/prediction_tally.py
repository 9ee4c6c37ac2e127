"""One pass over predictions, from arrays or from files: all that the measures will need."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.errors import InputError
from truerisk.evaluation.request import Request
from truerisk.inputs.arrays import Members
from truerisk.inputs.predictions import (
    Predictions,
    check_threshold,
    made_predictions,
    no_such_positive,
    positive_of_pair,
    unscored,
)
from truerisk.labels import (
    check_same_spelling,
    in_order,
    other_of_pair,
    plain_positive,
    positive_of_two,
)
from truerisk.tallies.cells import Cells, CellTally, cell_codes
from truerisk.tallies.counting import distinct
from truerisk.tallies.documents import DocumentTally
from truerisk.tallies.losses import ProbabilityTally, check_probabilities
from truerisk.tallies.radix_rank import EVERY_BUCKET
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.score_tally import ScoreTally
from truerisk.tallies.scored_rows import MAX_ENTRIES, ScoredRows, joined

MADE_CODES = 2**20  # codes from here on are of label sets that scores, not files, have made

MIN_WEIGHT = 1e-100

THE_REST = ("\0",)  # stands for the label that is not positive until all labels are counted


@dataclass(frozen=True)
class Tallies:
    """What was counted, frozen."""

    labels: tuple[str, ...]
    multilabel: bool
    pos_label: str | None
    n: int
    cells: Cells | None = None
    all_cells: Cells | None = None
    rankings: dict[str, Ranking] = field(default_factory=dict)
    pooled: Ranking | None = None
    grouped_scores: ScoredRows | None = None
    joint_scores: ScoredRows | None = None
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
    pair: tuple[str, ...] = ()
    has_predictions: bool = False
    made: dict[tuple[str, ...], int] = field(default_factory=dict)
    truth_codes: set[int] = field(default_factory=set)
    scored_rows: list[ScoredRows] = field(default_factory=list)
    held: range = EVERY_BUCKET  # of float64 scores that are too many to be held at one time

    @classmethod
    def of_classes(
        cls,
        request: Request,
        classes: tuple[str, ...] | None,
        *,
        multilabel: bool = False,
    ) -> "PredictionTally":
        """Begin a tally; of two classes whose positive label is settled, one column is used."""
        if not multilabel and positive_of_pair(classes, request.pos_label) is not None:
            return cls(request, pair=classes or ())
        return cls(request, multilabel, classes)

    def add(self, predictions: Predictions) -> "PredictionTally":
        """Count some rows; return the tally itself."""
        self.has_predictions |= predictions.predicted is not None
        if self.pair:
            predictions = with_one_score(predictions, self.request)
        _refuse_extreme(predictions.weight)
        self.n += len(predictions.truth)
        if predictions.score is not None and predictions.score.ndim == 2 and self.classes is None:
            raise InputError(
                f"Each of the {predictions.score.shape[1]} scores of a row must say which class it "
                "is of; a list does not. Write one column per class: score_cat, score_dog."
            )
        predicted = self.predicted(predictions)
        if predicted is None:
            self.truth_codes.update(predictions.codes_in(predictions.truth))
        else:
            if self.cells is None:
                weighted, grouped = predictions.weight is not None, predictions.group is not None
                self.cells = CellTally(weighted=weighted, grouped=grouped)
            self.cells.add(
                predictions.truth, predicted, weight=predictions.weight, group=predictions.group
            )
        self._add_scores(predictions)
        return self

    def add_ranked(self, predictions: Predictions) -> None:
        """Take in what one column of scores is ranked by, and nothing else."""
        if self.pair:
            predictions = with_one_score(predictions, self.request)
        if predictions.score is not None:
            name, score = self._positive(predictions), np.ascontiguousarray(predictions.score)
            self._add_ranking(name, score, predictions.belongs(name), predictions)

    def predicted(self, predictions: Predictions) -> NDArray[Any] | None:
        """Give the predictions; make them of scores, where there are none and it is plain how."""
        check_threshold(self.request.threshold, predicted=predictions.predicted is not None)
        if predictions.predicted is not None:
            return predictions.predicted
        score, threshold = predictions.score, self.request.threshold
        if score is None or (score.ndim == 1 and threshold is None):
            return None
        if score.ndim == 1:
            codes = np.array(
                [self.made_code(THE_REST), self.made_code((self._positive(predictions),))]
            )
            return np.asarray(codes[(score >= threshold).astype(np.intp)])
        return made_predictions(
            score,
            self.classes or (),
            self.made_code,
            multilabel=self.multilabel,
            threshold=threshold,
        )

    def made_code(self, label_set: tuple[str, ...]) -> int:
        """Give the code of a label set that scores have made."""
        return self.made.setdefault(label_set, MADE_CODES + len(self.made))

    def _add_scores(self, predictions: Predictions) -> None:
        score = predictions.score
        if score is None:
            return
        if score.ndim == 1:
            names: tuple[str, ...] = (self._positive(predictions),)
            score = score[:, None]
        else:
            names = self.classes or ()
        belongs = [predictions.belongs(name) for name in names]
        for at, name in enumerate(names):
            self._add_ranking(name, np.ascontiguousarray(score[:, at]), belongs[at], predictions)
        truth = belongs[0][:, None] if len(names) == 1 else np.column_stack(belongs)
        self._add_rows(score, truth, predictions)
        if len(names) == 1:
            self._add_probabilities(score[:, 0], truth[:, 0], predictions)
        else:
            self.documents = self.documents or DocumentTally()
            self.documents.add(score, truth, predictions.weight)
            if not self.multilabel:
                self._refuse_unscored(truth, predictions)
                self._add_probabilities(score, truth.argmax(axis=1), predictions)

    def _add_ranking(
        self,
        name: str,
        score: NDArray[Any],
        is_positive: Flags,
        predictions: Predictions,
    ) -> None:
        tallies = [self.rankings.setdefault(name, ScoreTally(held=self.held))]
        if self.classes is not None:
            self.pooled = self.pooled or ScoreTally()
            tallies.append(self.pooled)
        for tally in tallies:  # predictions stay as they are
            tally.add(score, is_positive, predictions.weight, copy=False)

    def _add_rows(self, score: NDArray[Any], truth: Flags, predictions: Predictions) -> None:
        """Hold the rows one by one: in groups, at a prior, or of several classes."""
        group = predictions.group
        every = group is not None or self.request.prior is not None
        if every or 1 < score.shape[1] <= MAX_ENTRIES // self.n:
            self.scored_rows.append(
                ScoredRows(score, truth, predictions.weight, group, predictions.complement)
            )

    def _add_probabilities(
        self, score: NDArray[Any], truth: NDArray[Any], predictions: Predictions
    ) -> None:
        if self.request.probabilities:
            self.probabilities = self.probabilities or ProbabilityTally()
            self.probabilities.add(score, truth, predictions.weight, predictions.complement)

    def _refuse_unscored(self, truth: Flags, predictions: Predictions) -> None:
        without = ~truth.any(axis=1)
        if without.any():
            label = predictions.members[int(predictions.truth[without][0])][0]
            raise unscored(label, self.classes or ())

    def _positive(self, predictions: Predictions) -> str:
        """Settle what one column of scores is the score of, once and for all."""
        if self.rankings:
            return next(iter(self.rankings))
        if self.request.pos_label is not None:
            return self.request.pos_label
        labels = predictions.labels_of_truth
        pos_label = plain_positive(labels)
        if pos_label is None and len(labels) > 2:
            raise InputError(
                f"`pos_label` must say which of the {len(labels)} classes the one score column "
                "scores; or give one score column for each class."
            )
        return pos_label or positive_of_two(labels, None)

    def merge(self, other: "PredictionTally") -> "PredictionTally":
        """Add what another tally, of the same codes, has seen; return the tally itself."""
        if self.made != other.made:
            raise InputError("Tallies must share the codes of made predictions to be merged.")
        self.n += other.n
        self.truth_codes |= other.truth_codes
        self.has_predictions |= other.has_predictions
        for name in ("cells", "pooled", "documents", "probabilities"):
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, theirs if mine is None else mine.merge(theirs) if theirs else mine)
        for label, ranking in other.rankings.items():
            if label in self.rankings:
                self.rankings[label].merge(ranking)
            else:
                self.rankings[label] = ranking
        self.scored_rows.extend(other.scored_rows)
        return self

    def finish(self, members: Members, known: Collection[str] = ()) -> Tallies:
        """Freeze what was counted; `members` gives the label set of every code.

        `known` are labels of the problem, whether or not they occur in these rows.
        """
        every = self.label_sets(members)
        if not known:  # else these are some of the rows that were checked together
            self._check_spelling(every)
        codes = self.truth_codes if self.cells is None else self.cells.codes()
        occurring = {*known, *(label for code in codes for label in every[code])}
        pos_label = self._final_positive(in_order({*occurring, *(self.classes or ())}))
        all_cells = None
        rows = self._all_rows()
        if self._one_row_each(rows):  # such groups are rows
            of_use = rows is not None and (rows.classes > 1 or self.request.prior is not None)
            rows = replace(rows, group=None) if rows is not None and of_use else None
            self.cells = None if self.cells is None else replace(self.cells, grouped=False)
        if self.cells is not None:
            all_cells = self.cells.cells(
                every,
                multilabel=self.multilabel,
                also=(*self._existing(occurring), *known),
                max_classes=self.request.max_classes,
            )
        if all_cells is not None and not all_cells.totals.any():
            raise InputError(
                "`weight` must be positive somewhere; all are 0. Choose the weights with --weight."
            )
        cells = all_cells
        if all_cells is not None and not self.multilabel:
            cells = all_cells.only(all_cells.predicted.sizes > 0)
        labels = in_order({*occurring, *(self.classes or ()), *(cells.labels if cells else ())})
        grouped = rows is not None and rows.group is not None
        return Tallies(
            labels=labels if pos_label is None else other_of_pair(pos_label, labels),
            multilabel=self.multilabel,
            pos_label=pos_label,
            n=self.n,
            cells=cells,
            all_cells=all_cells,
            rankings={name: tally.ranking() for name, tally in self.rankings.items()},
            pooled=None if self.pooled is None else self.pooled.ranking(),
            grouped_scores=rows if grouped else None,
            joint_scores=None if grouped else rows,
            documents=self.documents,
            probabilities=self.probabilities,
        )

    def label_sets(self, members: Members) -> dict[int, tuple[str, ...]]:
        """Give the label set of every code, made ones included; that of a rejection is empty."""
        every = dict(enumerate(members)) | {code: one for one, code in self.made.items()}
        if THE_REST in self.made:
            every = self._two_sided(every)
        reject = self.request.reject
        if reject is None or self.multilabel:
            return every
        return {code: () if one == (reject,) else one for code, one in every.items()}

    def _check_spelling(self, every: dict[int, tuple[str, ...]]) -> None:
        """Refuse predictions that were given in other labels than the truth."""
        if self.cells is None or not self.has_predictions:
            return
        true, predicted = (
            {label for code in distinct(side).tolist() for label in every[code]}
            for side in self.cells.sides
        )
        known = (*(self.classes or ()), *self.pair, *(self.request.average_over or ()))
        check_same_spelling(true, predicted, known, self.request.pos_label)

    def _one_row_each(self, rows: ScoredRows | None) -> bool:
        """Whether every group is a single row."""
        if self.cells is not None and self.cells.grouped:
            return len({group for group, _ in self.cells.group_counts}) == self.n
        return rows is not None and rows.groups == self.n

    def _all_rows(self) -> ScoredRows | None:
        """Put the rows of all batches together, if none was left out."""
        if not self.scored_rows or sum(rows.n for rows in self.scored_rows) < self.n:
            return None
        return joined(self.scored_rows)

    def _two_sided(self, every: dict[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
        """Give everything that is not positive one name: one score has only two sides."""
        pos_label = next(iter(self.rankings))
        occurring = {label for one in every.values() if one != THE_REST for label in one}
        others = [label for label in other_of_pair(pos_label, occurring) if label != pos_label]
        rest = others[0] if len(others) == 1 else f"not {pos_label}"
        return {code: one if one == (pos_label,) else (rest,) for code, one in every.items()}

    def _existing(self, occurring: set[str]) -> tuple[str, ...]:
        """List the labels that exist whether or not they occur."""
        positive = (self.request.pos_label,) if self.request.pos_label is not None else ()
        labels = (*(self.classes or ()), *(self.request.average_over or ()), *positive)
        plain = plain_positive({*occurring, *labels})
        return labels if plain is None else (*labels, *other_of_pair(plain, occurring))

    def _final_positive(self, labels: tuple[str, ...]) -> str | None:
        pos_label = self.request.pos_label
        if pos_label is not None and len(labels) > 1 and pos_label not in labels:
            raise no_such_positive(pos_label, labels)
        if self.multilabel or self.classes is not None or len(labels) > 2:
            single = self.classes is None and self.rankings
            return next(iter(self.rankings)) if single else None
        return positive_of_two(labels, pos_label)


def with_one_score(predictions: Predictions, request: Request) -> Predictions:
    """Keep the positive label's column of two, if both are probabilities where so requested."""
    is_pair = predictions.positive_of_pair(request.pos_label) is not None
    if request.probabilities and is_pair and predictions.score is not None:
        check_probabilities(predictions.score)
    return predictions.with_one_score(request.pos_label, request.threshold, request.reject)


def _refuse_extreme(weight: Array | None) -> None:
    """Refuse weights whose squares, which the intervals need, are no numbers any more."""
    if weight is None:
        return
    extreme = (weight > 0) & ((weight < MIN_WEIGHT) | (weight > 1 / MIN_WEIGHT))
    if extreme.any():
        raise InputError(
            f"`weight` must be 0 or between {MIN_WEIGHT:g} and {1 / MIN_WEIGHT:g}; "
            f"got {weight[extreme][0]:g}. Multiply all weights by one number: only ratios count."
        )


def merge_recoded(
    whole: PredictionTally, part: PredictionTally, labels: Sequence[int], groups: Sequence[int]
) -> PredictionTally:
    """Add to a tally what another one has seen, which is then used up; return the tally.

    `labels` and `groups` give the code in `whole` of each code in `part`.
    """
    codes = dict(enumerate(labels))
    for label_set, code in part.made.items():
        codes[code] = whole.made_code(label_set)
    new_group = np.asarray(groups, dtype=np.int64)
    recoded = replace(
        part,
        made=whole.made,
        truth_codes={codes[code] for code in part.truth_codes},
        cells=None if part.cells is None else _recoded_cells(part.cells, codes, groups),
        scored_rows=[
            one if one.group is None else replace(one, group=new_group[one.group])
            for one in part.scored_rows
        ],
    )
    return whole.merge(recoded)


def _recoded_cells(cells: CellTally, codes: dict[int, int], groups: Sequence[int]) -> CellTally:
    truth, predicted = (np.array([codes[one] for one in side.tolist()]) for side in cells.sides)
    pairs = cell_codes(truth, predicted)
    new = dict(zip(cells.pairs.tolist(), pairs.tolist(), strict=True))

    def crossed(counter: Counter[tuple[int, int]]) -> Counter[tuple[int, int]]:
        return Counter({(groups[group], new[old]): n for (group, old), n in counter.items()})

    recoded = CellTally(
        cells.weighted,
        cells.grouped,
        units=Counter({new[old]: n for old, n in cells.units.items()}),
        square_units=Counter({new[old]: n for old, n in cells.square_units.items()}),
        group_counts=crossed(cells.group_counts),
        group_units=crossed(cells.group_units),
    )
    return recoded.add_pairs(pairs, cells.counts)
