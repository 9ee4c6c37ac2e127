"""Predictions in memory → Evaluation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_same_length
from truerisk.errors import InputError
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import Columns, PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs.labels import LabelBook
from truerisk.results import Evaluation
from truerisk.tallies.labels import (
    CodedLabels,
    code_groups,
    code_label_sets,
    code_labels,
    in_order,
    plain_positive,
)
from truerisk.tallies.losses import check_probabilities


def evaluate(
    y_true: Any,  # noqa: ANN401
    y_pred: Any = None,  # noqa: ANN401
    *,
    y_score: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
    allow_inf: bool = False,
    **options: Any,  # noqa: ANN401
) -> Evaluation:
    r"""Estimate every measure of a set of predictions, each with its interval.

    The intervals are about *this* trained model: where it would end up on ever more examples drawn
    as these were.  They hold when the examples were not used to train it or to choose it.

    Parameters
    ----------
    y_true, y_pred
        Labels: integers, booleans or texts.  With `multilabel`, a collection of labels for each
        example, or an n × K matrix of 0 and 1.
    y_score
        Scores, larger meaning more positive: n of them, or an n × K matrix with the columns in the
        order of the sorted labels.  Of two classes only the column of the positive label is used,
        if that label is told or plain; so `predict_proba(X)` may be given as it is.
    sample_weight
        Weights; the intervals then hold at the effective number of examples.
    groups
        Which rows belong together (one patient, one user): groups, not rows, are then the units.
    labels
        Names of the K columns of matrices, if not in that order; averages are taken over these.
    allow_inf
        Whether a score may be infinite, where only the order of the scores counts.
    **options
        The fields of `Request`: level, positive, betas, costs, binomial, cell_interval, replicates,
        random_state, zero_division, average_over, probabilities, threshold, reject, measures.

    Examples
    --------
    >>> evaluation = evaluate([1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 1])
    >>> print(evaluation["recall"])
    recall = 0.667 [0.094, 0.992] at 95 % (clopper_pearson, n = 3, this model)
    >>> evaluation["f1"].interval.method
    'clopper_pearson'
    """
    if y_pred is None and y_score is None:
        raise InputError("`y_pred` or `y_score` must be given; got neither.")
    request = _request(options, y_true, labels, multilabel=multilabel)
    scores = None if y_score is None else _scores(y_score, allow_inf=allow_inf)
    weights = None if sample_weight is None else _weights(sample_weight)
    units = None if groups is None else code_groups(groups)
    check_same_length(
        y_true=y_true, y_pred=y_pred, y_score=scores, sample_weight=weights, groups=units
    )
    if multilabel:
        coded = code_label_sets(y_true, y_pred, labels)
    else:
        coded = code_labels(_of_one_kind(y_true), _of_one_kind(y_pred))
        _refuse_empty(coded)
    classes = _classes(scores, labels, coded, y_true)
    complement = None
    if scores is not None and classes is not None and not multilabel:
        pos_label = _positive_of_pair(classes, coded, request)
        if pos_label is not None:
            coded = _with_made_predictions(coded, scores, classes, request)
            at, classes = classes.index(pos_label), None
            complement, scores = scores[:, 1 - at].astype(np.float64), scores[:, at]
    tally = PredictionTally(request, multilabel, classes)
    columns = Columns(
        coded.truth,
        coded.members,
        coded.predicted,
        scores,
        weights,
        units,
        complement,
    )
    notes = _label_notes(coded)
    return assemble(tally.add(columns).finish(coded.members), request, notes=notes)


def _request(
    options: dict[str, Any],
    y_true: Any,  # noqa: ANN401
    labels: Sequence[Any] | None,
    *,
    multilabel: bool,
) -> Request:
    unknown = set(options) - set(Request.__dataclass_fields__)
    if unknown:
        known = ", ".join(Request.__dataclass_fields__)
        raise InputError(f"`evaluate` must be given options it knows ({known}); got {unknown}.")
    named = labels
    if named is None and multilabel and getattr(y_true, "ndim", 1) == 2:
        named = range(y_true.shape[1])
    if named is not None:
        options = {"average_over": tuple(str(label) for label in named)} | options
    return Request(**options).checked()


def _of_one_kind(column: Any) -> Any:  # noqa: ANN401
    """Keep what is in a list from being made texts: NaN beside "a" is missing, not "nan"."""
    if not isinstance(column, (list, tuple)):
        return column
    are_texts = {issubclass(kind, str) for kind in set(map(type, column))}
    return np.array(column, dtype=object) if len(are_texts) > 1 else column


def _refuse_empty(coded: CodedLabels) -> None:
    if ("",) not in coded.members:
        return
    empty = coded.members.index(("",))
    for name, codes in (("y_true", coded.truth), ("y_pred", coded.predicted)):
        count = 0 if codes is None else int(np.count_nonzero(codes == empty))
        if count:
            raise InputError(
                f"`{name}` must have a label everywhere; {count} are empty. "
                "Drop these examples first, or give the class a name."
            )


def _label_notes(coded: CodedLabels) -> Iterator[str]:
    """Say of labels in memory what is said of those in a file."""
    book = LabelBook()
    for label in (label for one in coded.members for label in one):
        book.add(label)
    return book.notes("labels", "" if coded.multilabel else None)


def _scores(y_score: ArrayLike, *, allow_inf: bool) -> NDArray[Any]:
    scores = np.asarray(y_score)
    if scores.ndim not in {1, 2} or scores.dtype.kind not in "fiub":
        raise InputError(
            f"`y_score` must be numbers, n of them or an n × K matrix; "
            f"got {scores.dtype} of shape {scores.shape}."
        )
    if scores.dtype.kind != "f" or np.isfinite(scores).all():
        return scores
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing:
        raise InputError(
            f"`y_score` must be numbers; {missing} are NaN. Drop these examples first."
        )
    if not allow_inf:
        raise InputError(
            f"`y_score` must be finite; {np.count_nonzero(np.isinf(scores))} are infinite. "
            "Use allow_inf=True where only the order of the scores counts."
        )
    return scores


def _weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    weights = np.asarray(sample_weight)
    if weights.ndim != 1 or weights.dtype.kind not in "fiub":
        raise InputError(
            f"`sample_weight` must be one number for each example; "
            f"got {weights.dtype} of shape {weights.shape}."
        )
    weights = weights.astype(np.float64, copy=False)
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        raise InputError(
            f"`sample_weight` must be finite and not negative; {np.count_nonzero(wrong)} are not, "
            f"the first is {weights[wrong][0]:g}."
        )
    if not weights.any():
        raise InputError("`sample_weight` must not be 0 for every example.")
    return weights


def _classes(
    scores: NDArray[Any] | None,
    labels: Sequence[Any] | None,
    coded: CodedLabels,
    y_true: Any,  # noqa: ANN401
) -> tuple[str, ...] | None:
    """Name the columns of a score matrix."""
    if scores is None or scores.ndim == 1:
        return None
    if labels is not None:
        names = tuple(str(label) for label in labels)
    elif coded.multilabel and getattr(y_true, "ndim", 1) == 2:
        names = tuple(str(at) for at in range(y_true.shape[1]))
    else:
        names = in_order({label for one in coded.members for label in one})
    if len(names) != scores.shape[1]:
        raise InputError(
            f"`labels` must name the {scores.shape[1]} columns of `y_score`; got {len(names)} "
            f"({', '.join(names[:10])})."
        )
    return names


def _positive_of_pair(classes: tuple[str, ...], coded: CodedLabels, request: Request) -> str | None:
    """Give the positive label if the columns are of two classes, and it is told or plain."""
    pos_label = plain_positive(classes) if request.pos_label is None else request.pos_label
    known = {*classes, request.reject}
    met = {label for one in coded.members for label in one}
    return pos_label if len(classes) == 2 and pos_label in classes and met <= known else None


def _with_made_predictions(
    coded: CodedLabels, scores: NDArray[Any], classes: tuple[str, ...], request: Request
) -> CodedLabels:
    """Look at all columns before one is taken: they must be probabilities if they are called so.

    What scores highest is called, unless it is told what is.
    """
    if request.probabilities:
        check_probabilities(scores)
    if coded.predicted is not None or request.threshold is not None:
        return coded
    book = {one: code for code, one in enumerate(coded.members)}
    codes = np.array([book.setdefault((label,), len(book)) for label in classes])
    return replace(coded, predicted=codes[scores.argmax(axis=1)], members=tuple(book))
