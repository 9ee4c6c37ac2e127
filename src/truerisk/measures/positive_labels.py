"""Labels → which of them are positive, and scores ranked by that."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_same_length, shown
from truerisk.errors import InputError
from truerisk.labels import plain_positive
from truerisk.tallies.ranking import Ranking, rank


def rank_labels(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any,  # noqa: ANN401
    weight: ArrayLike | None,
) -> Ranking:
    """Rank scores by the labels of their examples."""
    labels, scores = np.asarray(y_true), np.asarray(y_score)
    check_same_length(y_true=labels, y_score=scores)
    return rank(scores, is_positive(labels, pos_label), weight)


def is_positive(labels: NDArray[Any], pos_label: Any = None) -> NDArray[np.bool_]:  # noqa: ANN401
    """Tell which labels are the positive one.

    Examples
    --------
    >>> is_positive(np.array(["ham", "spam"]), "spam").tolist()
    [False, True]
    """
    if labels.ndim != 1:
        raise InputError(f"`y_true` must be one column of labels; got shape {labels.shape}.")
    if labels.dtype == np.bool_ and pos_label is None:
        return labels
    if pos_label is not None:
        found = np.asarray(labels == pos_label)
        if found.shape != labels.shape or not found.any():
            some = shown(np.unique(labels)[:5].tolist())
            raise InputError(
                f"`pos_label` must be a label that occurs, such as {some}; got {shown(pos_label)}."
            )
        return found.astype(np.bool_)
    values = np.unique(labels)
    texts = [_label_text(value) for value in values.tolist()]
    plain = plain_positive(texts)
    if plain is None:
        raise InputError(
            "`y_true` must hold {0, 1}, {-1, 1} or booleans when the positive label is not named; "
            f"got {shown(values[:5].tolist())}. Name it with `pos_label=`."
        )
    if plain not in texts:
        return np.zeros(len(labels), dtype=np.bool_)
    return np.asarray(labels == values[texts.index(plain)])


def _label_text(label: Any) -> str:  # noqa: ANN401
    # 1.0 is the label 1, and −0.0 the label 0.
    return str(label + 0.0).removesuffix(".0") if isinstance(label, float) else str(label)
