"""A fitted model and examples that it was not trained on → Evaluation."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate
from truerisk.inputs.arrays import check_row_labels
from truerisk.learners.refits import number_of_rows, scores_of
from truerisk.results import Evaluation
from truerisk.tallies.cells import MAX_CLASSES


def evaluate_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    zero_division: float = math.nan,
    measures: Sequence[str] | None = None,
    max_classes: int = MAX_CLASSES,
) -> Evaluation:
    """Evaluate a fitted classifier of scikit-learn on examples that it was not trained on.

    The model predicts and scores X: by `predict_proba`, which also gives log loss and Brier score,
    or by `decision_function`, or not at all.  What follows, and what is promised, is `evaluate`.
    The model is neither changed nor trained; to train it anew on parts of the data use `estimate`.

    Parameters
    ----------
    model
        A fitted classifier, or a pipeline that ends in one.
    X, y
        Examples that were used neither to train nor to choose the model, and their labels.
    sample_weight, groups, level, pos_label, betas, costs, zero_division, measures, max_classes
        As for `evaluate`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.arange(200.0)[:, None] % 20, (np.arange(200) % 20 > 9).astype(int)
    >>> model = LogisticRegression().fit(X[:100], y[:100])
    >>> print(evaluate_model(model, X[100:], y[100:])["recall"])
    recall = 1.000 [0.929, 1.000] at 95 % (clopper_pearson, n = 50, this model)
    """
    check_row_labels(X=X, y=y, sample_weight=sample_weight, groups=groups)
    predicted = predicted_by(model, X)
    truth = np.asarray(y)
    if truth.ndim != 1:
        raise InputError(
            f"`y` must be one column of labels; got shape {truth.shape}. For sets of labels use "
            "evaluate(y, model.predict(X), multilabel=True)."
        )
    values = np.unique(np.concatenate([truth, np.asarray(getattr(model, "classes_", truth))]))
    scores = scores_of(model, X, values)
    score = scores.get("score")
    if "complement" in scores:
        score = np.column_stack([scores["complement"], scores["score"]])
    return evaluate(
        y,
        predicted,
        y_score=score,
        sample_weight=sample_weight,
        groups=groups,
        level=level,
        pos_label=pos_label,
        betas=betas,
        costs=costs,
        zero_division=zero_division,
        probabilities=bool(scores.get("probabilities", False)),
        measures=measures,
        max_classes=max_classes,
    )


def predicted_by(model: Any, X: Any) -> Any:
    """Give what a fitted classifier predicts; refuse one that is not fitted, or no classifier."""
    from sklearn.base import is_classifier
    from sklearn.exceptions import NotFittedError

    if not hasattr(model, "predict") or not is_classifier(model):
        raise InputError(f"`model` must be a classifier of scikit-learn; got {type(model)}.")
    try:
        predicted = np.asarray(model.predict(X))
    except NotFittedError:
        raise InputError(
            f"`model` must be fitted; got {type(model).__name__} before training. Train it on "
            "other examples, or use estimate(model, X, y), which trains it on parts of these."
        ) from None
    if predicted.shape != (number_of_rows(X),):
        raise InputError(
            f"`model` must predict one label for each of {number_of_rows(X)} examples; got shape "
            f"{predicted.shape}."
        )
    return predicted
