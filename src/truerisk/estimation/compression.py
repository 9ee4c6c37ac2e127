"""Bounds of a rule by the few training examples that determine it: no test set, no refit."""

from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_array, check_is_fitted

from truerisk.aliases import Indices
from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.bounds import sample_compression
from truerisk.results import Estimate, Finding
from truerisk.svm.dual_of import duals_of

SCHEMES = (
    "an SVM of truerisk or scikit-learn, a SetCoveringMachine, CondensedNeighbors, a Perceptron "
    "with shuffle=False, or a model with `compression_set_`"
)
ALL_EXAMPLES = "depends on all examples, and the proof takes it as given beforehand"
SAME_WEIGHTS = 1e-9  # relative: sums in another order


@dataclass(frozen=True)
class Scheme:
    """The training rows that determine a rule, and ln of how many messages it needs beside them."""

    rows: Indices
    log_messages: float = 0.0
    notes: tuple[Finding, ...] = ()
    undetermined: Finding | None = None


def compression_bound(
    fitted: Any, X: Any, y: Any, *, level: float = 0.95, tried: int = 1
) -> Estimate:
    r"""Bound the error of a trained classifier by the training examples that determine it.

    A rule that d of its n training examples determine has the other n − d as a test set, once the
    confidence is shared among all d-subsets, all sizes (prior 1/((d + 1)(d + 2))) and all messages
    that are needed to rebuild it:

    .. math:: \max\Bigl\{p : \mathrm{Bin}(n - d, k, p) \ge
        \frac{1 - level}{(d + 1)(d + 2)\binom{n}{d} M}\Bigr\}

    k of the n − d are predicted wrongly, and `value` is their share.  The bound is one-sided and
    holds with probability at least `level` for independent examples, whatever their distribution,
    if the settings were chosen without them or `tried` counts all that were tried.

    =====================  =============================================  ======================
    classifier             determined by                                  messages M
    =====================  =============================================  ======================
    SVM                    support vectors                                1
    SetCoveringMachine     centres and borders                            which pairs are balls:
                                                                          (r + 1)(r + 2) C(db, r)
    CondensedNeighbors     stored examples                                1
    Perceptron             examples it was corrected on                   T(T + 1), T passes
    `compression_set_`     those rows                                     exp(`log_messages_`)
    =====================  =============================================  ======================

    A set covering machine has r balls, and b of its d examples may be borders.  The bound is tight
    for rules of few examples, and says little where a third of them are support vectors.

    Parameters
    ----------
    fitted
        A trained classifier of the table, alone or at the end of a pipeline.
    X, y
        The examples it was trained on, in the same order.
    level
        Confidence level.
    tried
        How many settings were tried on these examples; the confidence is shared among them.

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", JMLR 6,
       273-306, 2005.
    .. [2] M. Marchand and J. Shawe-Taylor, "The set covering machine", JMLR 3, 723-746, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from truerisk import SetCoveringMachine
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = SetCoveringMachine(kind="disjunction", max_balls=1).fit(X, y)
    >>> print(compression_bound(machine, X, y).interval)
    at most 0.175 with 95 % confidence
    """
    check_level(level)
    settings = check_whole_number(tried, "tried", low=1)
    labels = np.asarray(y)
    scheme = _scheme(fitted, X, labels)
    n = len(labels)
    if len(scheme.rows) and scheme.rows[-1] >= n:
        raise InputError(
            f"`X` must hold the examples that it was trained on; got {n}, and it uses example "
            f"{scheme.rows[-1]}."
        )
    outside = np.setdiff1d(np.arange(n), scheme.rows)
    wrong = np.asarray(fitted.predict(X))[outside] != labels[outside]
    counted = Finding(
        f"determined by {len(scheme.rows)} of {n} examples; the error is of the others",
        code="compression_set",
    )
    interval = None
    if scheme.undetermined is None:
        interval = sample_compression(
            int(wrong.sum()),
            n,
            len(scheme.rows),
            log_messages=scheme.log_messages + log(settings),
            level=level,
        )
    return Estimate(
        value=float(wrong.mean()) if len(outside) else float("nan"),
        interval=interval,
        measure="error_rate",
        method="sample_compression",
        n=len(outside),
        target="this model",
        notes=(counted, *scheme.notes, *filter(None, [scheme.undetermined])),
    )


def _scheme(fitted: Any, X: Any, y: Any) -> Scheme:
    """Find what determines a trained classifier."""
    check_is_fitted(fitted)
    if isinstance(fitted, Pipeline):
        scheme = _scheme(fitted[-1], fitted[:-1].transform(X) if len(fitted) > 1 else X, y)
        steps = [type(step).__name__ for _, step in fitted.steps[:-1] if hasattr(step, "fit")]
        notes = tuple(
            Finding(f"{name}, fitted before it, {ALL_EXAMPLES}", code="not_given_beforehand")
            for name in steps
        )
        return replace(scheme, notes=scheme.notes + notes)
    if isinstance(fitted, OneVsRestClassifier) and len(fitted.estimators_) == 1:
        return _scheme(fitted.estimators_[0], X, y == fitted.classes_[-1])
    if hasattr(fitted, "compression_set_"):
        return Scheme(fitted.compression_set_, float(getattr(fitted, "log_messages_", 0.0)))
    if isinstance(fitted, Perceptron):
        return _perceptron(fitted, X, y)
    if isinstance(fitted, NuSVC):
        raise InputError(
            "`fitted` must be determined by its support vectors; got NuSVC, whose C depends on all "
            "examples. Use SVC."
        )
    return _svm(fitted, X, y)


def _svm(fitted: Any, X: Any, y: Any) -> Scheme:
    """Take the support vectors: trained on them alone, an SVM is the same."""
    notes = tuple(
        Finding(f"{name}={value!r} {ALL_EXAMPLES}", code="not_given_beforehand")
        for name, value in (("gamma", "scale"), ("class_weight", "balanced"))
        if str(getattr(fitted, name, None)) == value
        and not (name == "gamma" and getattr(fitted, "kernel", "") == "linear")
    )
    if isinstance(fitted, SVC) and len(fitted.classes_) > 2:
        return Scheme(np.sort(fitted.support_).astype(np.intp), 0.0, notes)
    try:
        duals = duals_of(fitted, X, y)
    except InputError as error:
        raise InputError(f"`fitted` must be {SCHEMES}; {error}") from None
    support = np.any([dual.solution.alpha > 0 for dual in duals], axis=0)
    open_bias = any(dual.free_bias and not dual.solution.stable for dual in duals)
    undetermined = Finding(
        "no bound: without a support vector below its C the bias depends on the other examples",
        code="unstable",
    )
    return Scheme(np.flatnonzero(support), 0.0, notes, undetermined if open_bias else None)


def _perceptron(fitted: Perceptron, X: Any, y: Any) -> Scheme:
    """Train it again to see which examples corrected it; they alone give the same weights."""
    if fitted.shuffle or fitted.penalty is not None or len(fitted.classes_) > 2:
        raise InputError(
            "`fitted` must be a Perceptron of two classes with shuffle=False and penalty=None: "
            "its corrections must depend on the corrected examples alone."
        )
    examples = check_array(X, dtype=np.float64)
    signs = np.where(y == fitted.classes_[1], 1.0, -1.0)
    with_bias = np.column_stack([examples, np.full(len(signs), float(fitted.fit_intercept))])
    weights, corrected = np.zeros(with_bias.shape[1]), np.zeros(len(signs), dtype=bool)
    passes = int(fitted.n_iter_)
    for _ in range(passes):
        for at, (row, sign) in enumerate(zip(with_bias, signs, strict=True)):
            if sign * (row @ weights) <= 0:
                weights += fitted.eta0 * sign * row
                corrected[at] = True
    trained = np.append(fitted.coef_.ravel(), fitted.intercept_)
    if not np.allclose(weights, trained, rtol=SAME_WEIGHTS, atol=SAME_WEIGHTS * abs(trained).max()):
        raise InputError(
            "`X` must hold the examples that the Perceptron was trained on, in their order and "
            "unweighted; training again gives other weights."
        )
    return Scheme(np.flatnonzero(corrected), log(passes * (passes + 1)))
