"""The SVM at the end of a pipeline, and the features that reach it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from truerisk.learners.named_models import as_learner
from truerisk.results import Finding

PREPARED_ONCE = Finding(
    "The steps before the SVM were fitted once, to all examples, and not again without each of "
    "them.",
    code="preparation_fitted_once",
)


@dataclass(frozen=True, eq=False)
class PreparedSVM:
    """An SVM that is not trained, and its features: what the steps before it make of the examples.

    `uses_labels` says that those steps change with the labels: fitted to all examples they know the
    label of the one that is left out, and must be fitted again without it.
    """

    svm: Any
    X: Any
    notes: tuple[Finding, ...] = ()
    uses_labels: bool = False

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> "PreparedSVM":
        """Fit the steps before the SVM to all examples; twice, the second time to mixed labels."""
        return cls.of_learner(as_learner(model, X), X, y)

    @classmethod
    def of_learner(cls, model: Any, X: Any, y: Any) -> "PreparedSVM":
        """Do the same with a model that `as_learner` has checked."""
        if not isinstance(model, Pipeline):
            return cls(model, X)
        svm, steps = model[-1], model[:-1]
        if len(steps) == 0 or all(step in {None, "passthrough"} for _, step in steps.steps):
            return cls(svm, X)
        features = clone(steps).fit_transform(X, y)
        labels = y if hasattr(y, "tocsr") else np.asarray(y)
        mixed = labels[np.random.default_rng(0).permutation(labels.shape[0])]
        uses_labels = any(
            get_tags(step).target_tags.required for _, step in steps.steps if hasattr(step, "fit")
        ) or not _are_equal(features, clone(steps).fit_transform(X, mixed))
        return cls(svm, features, (PREPARED_ONCE,), uses_labels)


def _are_equal(first: Any, second: Any) -> bool:
    if first.shape != second.shape:
        return False
    if hasattr(first, "tocsr"):
        return bool((first != second).nnz == 0)
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
