"""Every estimate of an SVM that needs no resampling, side by side."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.preparation import PreparedSVM
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.learners.named_models import as_learner
from truerisk.results import Estimate, Finding, Reportable, Row
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
    ==================  ===========================================  ==========================

    The leave-one-out of `tr.leave_one_out` is exact; the span rule comes near it for less.  The
    three rules by α and ξ come with a one-sided bound, as in `tr.xi_alpha`; the span bound holds on
    average, and has none.

    Parameters
    ----------
    svm, X, y, sample_weight, n_jobs
        As in `tr.leave_one_out`.
    level
        Confidence level.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> found = without_resampling(KernelSVM(C=10, gamma=0.1), X, y == 1)
    >>> [(one.method, round(one.value, 3)) for one in found.estimates][-2:]
    [('span_rule', 0.033), ('leave_one_out', 0.04)]
    """
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

    def at(rho: float, refine: str | None = None) -> Callable[[], Estimate]:
        def estimate() -> Estimate:
            result = xi_alpha(fitted, X, y, rho=rho, refine=refine, **weights, **options)
            one = result["error_rate"]
            return replace(one, notes=(*one.notes, *result.notes))

        return estimate

    methods: dict[str, Callable[[], Estimate]] = {
        "training_error": lambda: _training_error(duals[0], at(0.0)),
        "xi_alpha_1": at(1.0),
        "xi_alpha_2": at(2.0),
        "span_bound": lambda: _span_bound(duals[0]),
        "span_rule": at(2.0, "span"),
        "leave_one_out": lambda: leave_one_out(svm, X, y, n_jobs=n_jobs, **weights, **options)[
            "error_rate"
        ],
    }
    estimates, seconds = [], []
    for name, method in methods.items():
        began = time.perf_counter()
        one = method()
        estimates.append(replace(one, method=name, notes=(*one.notes, *prepared.notes)))
        seconds.append(time.perf_counter() - began)
    return SideBySide(estimates=tuple(estimates), seconds=tuple(seconds), training_seconds=trained)


def _training_error(dual: FittedDual, other: Callable[[], Estimate]) -> Estimate:
    """Give the share of training examples that are predicted wrongly."""
    value = float(np.mean(dual.solution.slack >= 1.0))
    note = Finding("measured on the training examples", code="on_training_examples")
    return replace(other(), value=value, interval=None, notes=(note,))


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
    found = estimate.interval
    return "—" if found is None else found.words(lambda end: f"{end:.3f}")
