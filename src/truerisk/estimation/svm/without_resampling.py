"""Every estimate of an SVM that needs no resampling, side by side."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from truerisk.aliases import ArrayLike
from truerisk.errors import InputError
from truerisk.estimation.compression import compression_bound
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.preparation import PreparedSVM
from truerisk.estimation.svm.rivals import vc_dimension
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.inputs.arrays import check_row_labels
from truerisk.intervals.binomial import upper_bound
from truerisk.intervals.bounds import margin_dimension, vc_bound
from truerisk.learners.named_models import as_learner
from truerisk.results import Estimate, Finding, Interval, Reportable, Row
from truerisk.svm.dual_of import FittedDual, duals_of, is_readable, twin_of
from truerisk.svm.span import span_bound


@dataclass(frozen=True, kw_only=True, repr=False)
class SideBySide(Reportable):
    """One estimate of each kind, and the seconds it took after training.

    Examples
    --------
    >>> one = Estimate(value=0.1, interval=None, measure="error_rate", method="span_bound", n=20)
    >>> print(SideBySide(estimates=(one,), seconds=(0.002,), training_seconds=0.01))
    span_bound              0.100  —                2.0 ms
    trained once in 10.0 ms
    """

    kind: ClassVar[str] = "side_by_side"

    estimates: tuple[Estimate, ...]
    seconds: tuple[float, ...]
    training_seconds: float

    def _rows(self) -> Iterator[Row]:
        for one, seconds in zip(self.estimates, self.seconds, strict=True):
            yield {"method": one.method, **one.row(), "seconds": seconds}

    def __str__(self) -> str:
        lines = [
            f"{one.method:22}  {one.value:.3f}  {_ends(one):16} {1000 * took:.1f} ms"
            for one, took in zip(self.estimates, self.seconds, strict=True)
        ]
        return "\n".join([*lines, f"trained once in {1000 * self.training_seconds:.1f} ms"])


def without_resampling(
    svm: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> SideBySide:
    r"""Estimate the error rate of an SVM of two classes by every method without resampling.

    ==================  ===========================================  ==========================
    method              error                                        leans
    ==================  ===========================================  ==========================
    training_error      :math:`\xi > 1` on the training examples      to the good side, far
    xi_alpha_1          :math:`\alpha R^2 + \xi \ge 1`                to the bad side
    xi_alpha_2          :math:`2 \alpha R^2 + \xi \ge 1`              to the bad side, proven
    span_bound          Vapnik and Chapelle's bound                  to the bad side, far
    span_rule           :math:`\alpha S^2 + \xi \ge 1`                hardly; approximate
    leave_one_out       exact                                        not at all
    sample_compression  of the examples that are no support vectors  to the good side; the bound
                                                                     is proven, and loose
    vc_bound            as training_error                            the same, looser
    holdout_bound       of a third, held out from another training   to the bad side, a little
    ==================  ===========================================  ==========================

    The leave-one-out of `tr.leave_one_out` is exact; the span rule comes near it for less.  The
    three rules by α and ξ come with a one-sided bound, as in `tr.xi_alpha`; the span bound holds on
    average, and has none.  The bounds of the last three are proven for every distribution; the
    hold-out set takes a third of the examples and one more training.

    Parameters
    ----------
    svm, X, y, sample_weight, n_jobs
        As in `tr.leave_one_out`.
    level
        Confidence level.
    random_state
        Chooses the third that is held out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> found = without_resampling(KernelSVM(C=10, gamma=0.1), X, y == 1)
    >>> [(one.method, round(one.value, 3)) for one in found.estimates][4:6]
    [('span_rule', 0.033), ('leave_one_out', 0.04)]
    """
    check_row_labels(X=X, y=y, sample_weight=sample_weight)
    model = as_learner(svm, X)
    prepared = PreparedSVM.of(model, X, y) if is_readable(model) else PreparedSVM(model, X)
    if prepared.uses_labels:
        raise InputError(
            "`svm` must have no step that uses the labels: fitted to all examples, it knows those "
            "that count as new. Use tr.leave_one_out."
        )
    svm = twin_of(prepared.svm, len(np.unique(y))) or prepared.svm
    X = prepared.X
    weights: dict[str, Any] = {} if sample_weight is None else {"sample_weight": sample_weight}
    began = time.perf_counter()
    fitted = clone(svm).fit(X, y, **weights)
    trained = time.perf_counter() - began
    duals = duals_of(fitted, X, y, **weights)
    if len(duals) > 1:
        raise InputError(f"`y` must hold two classes; got {len(duals)}. Compare one at a time.")
    options: dict[str, Any] = {
        "measures": ("error_rate",),
        "level": level,
        "pos_label": duals[0].label,
    }

    def at(rho: float, refine: str | None = None) -> Estimate:
        result = xi_alpha(fitted, X, y, rho=rho, refine=refine, **weights, **options)
        one = result["error_rate"]
        return replace(one, notes=(*one.notes, *result.notes))

    methods: dict[str, Callable[[], Estimate]] = {
        "training_error": lambda: _training_error(duals[0], at(0.0)),
        "xi_alpha_1": lambda: at(1.0),
        "xi_alpha_2": lambda: at(2.0),
        "span_bound": lambda: _span_bound(duals[0]),
        "span_rule": lambda: at(2.0, "span"),
        "leave_one_out": lambda: leave_one_out(svm, X, y, n_jobs=n_jobs, **weights, **options)[
            "error_rate"
        ],
        "sample_compression": lambda: compression_bound(fitted, X, y, level=level),
        "vc_bound": lambda: _vc_bound(fitted, X, duals[0], level),
        "holdout_bound": lambda: _holdout_bound(
            svm, X, y, weights, level=level, random_state=random_state
        ),
    }
    estimates, seconds = [], []
    for name, method in methods.items():
        began = time.perf_counter()
        one = method()
        estimates.append(replace(one, method=name, notes=(*one.notes, *prepared.notes)))
        seconds.append(time.perf_counter() - began)
    return SideBySide(estimates=tuple(estimates), seconds=tuple(seconds), training_seconds=trained)


def _training_error(dual: FittedDual, other: Estimate) -> Estimate:
    """Give the share of training examples that are predicted wrongly."""
    value = float(np.mean(dual.solution.slack >= 1.0))
    note = Finding("measured on the training examples", code="on_training_examples")
    return replace(other, value=value, interval=None, notes=(note,))


def _vc_bound(fitted: Any, X: Any, dual: FittedDual, level: float) -> Estimate:
    """Bound the error by the training error and the VC dimension of the kernel's rules."""
    solution, dimension = dual.solution, vc_dimension(fitted, X)
    n, value = len(solution.y), float(np.mean(solution.slack >= 1.0))
    interval = vc_bound(value, n, min(dimension, n), level=level)
    # Σ αᵢyᵢ(f(xᵢ) − b) is |w|², and by Jung's theorem R² is at least that of the smallest ball.
    norm = float((solution.alpha * solution.y) @ (solution.decision - solution.bias))
    margin = margin_dimension(dual.squared_radius, norm)
    return Estimate(
        value=value,
        interval=replace(interval, side="upper"),
        measure="error_rate",
        method="vc_bound",
        n=n,
        target="this model",
        notes=(
            Finding(
                f"VC dimension {dimension:g}; by its margin, R²·|w|² + 1 = {margin:.3g}, which is "
                "known only after training, and is no VC dimension of a family chosen before it",
                code="vc_dimension",
            ),
        ),
    )


def _holdout_bound(
    svm: Any, X: Any, y: Any, weights: Mapping[str, Any], *, level: float, random_state: int
) -> Estimate:
    """Train on two thirds, and bound the error exactly by the errors on the third."""
    labels = np.asarray(y)
    train, test = train_test_split(
        np.arange(len(labels)), test_size=1 / 3, stratify=labels, random_state=random_state
    )
    part = {name: np.asarray(value)[train] for name, value in weights.items()}
    fitted = clone(svm).fit(X[train], labels[train], **part)
    wrong, n = int(np.sum(fitted.predict(X[test]) != labels[test])), len(test)
    high = upper_bound(wrong, n, delta=1 - level)
    return Estimate(
        value=wrong / n,
        interval=Interval(0.0, high, level, "clopper_pearson_upper", "upper"),
        measure="error_rate",
        method="holdout_bound",
        n=n,
        target="the models of the folds",
    )


def _span_bound(dual: FittedDual) -> Estimate:
    """Give the bound of the leave-one-out error; it holds on average, so it has no level."""
    n = len(dual.solution.y)
    value = span_bound(dual.kernel, dual.solution, dual.squared_radius) / n
    return Estimate(
        value=value,
        interval=None,
        measure="error_rate",
        method="span_bound",
        n=n,
        target="the learner at this sample size",
        notes=(
            Finding(
                "bounds the leave-one-out error; its expectation bounds that of the error",
                code="bounds_leave_one_out",
            ),
        ),
    )


def _ends(estimate: Estimate) -> str:
    interval = estimate.interval
    return "—" if interval is None else interval.words(lambda end: f"{end:.3f}")
