"""Every estimate of a support vector machine that needs no resampling, side by side."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.results import Estimate, Interval, Reportable, Row
from truerisk.svm.classifier import MarginClassifier
from truerisk.svm.dual_of import duals_of
from truerisk.svm.span_bound import span_bound


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
    svm: MarginClassifier,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> SideBySide:
    r"""Estimate the error rate of a support vector machine of two classes in every way there is.

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

    The leave-one-out of `tr.leave_one_out` is exact; the span rule comes near it for less.

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
    if not isinstance(svm, MarginClassifier):
        raise InputError(
            f"`svm` must be a tr.LinearSVM or a tr.KernelSVM; got {type(svm).__name__}."
        )
    began = time.perf_counter()
    machine = clone(svm).fit(X, y, sample_weight=sample_weight)
    trained = time.perf_counter() - began
    if len(machine.solutions_) > 1:
        raise InputError(
            f"`y` must hold two classes; got {len(machine.classes_)}. Compare one class at a time."
        )
    options = {"measures": ("error_rate",), "level": level, "pos_label": machine.classes_[1]}

    def at(rho: float, refine: str | None = None) -> Callable[[], Estimate]:
        return lambda: xi_alpha(
            machine, X, y, rho=rho, refine=refine, sample_weight=sample_weight, **options
        )["error_rate"]

    ways: dict[str, Callable[[], Estimate]] = {
        "training_error": lambda: _training_error(machine, at(0.0)),
        "xi_alpha_1": at(1.0),
        "xi_alpha_2": at(2.0),
        "span_bound": lambda: _span_bound(machine, X, y, sample_weight, level),
        "span_rule": at(2.0, "span"),
        "leave_one_out": lambda: leave_one_out(
            svm, X, y, sample_weight=sample_weight, n_jobs=n_jobs, **options
        )["error_rate"],
    }
    estimates, seconds = [], []
    for name, way in ways.items():
        began = time.perf_counter()
        estimates.append(replace(way(), method=name))
        seconds.append(time.perf_counter() - began)
    return SideBySide(estimates=tuple(estimates), seconds=tuple(seconds), training_seconds=trained)


def _training_error(machine: MarginClassifier, likewise: Callable[[], Estimate]) -> Estimate:
    """Give the share of training examples called wrong; it says nothing of others."""
    value = float(np.mean(machine.slack_ >= 1.0))
    return replace(
        likewise(), value=value, interval=None, notes=("measured on the training examples",)
    )


def _span_bound(
    machine: MarginClassifier,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,
    level: float,
) -> Estimate:
    dual = duals_of(machine, X, y, sample_weight=sample_weight)[0]
    n = len(dual.solution.y)
    value = span_bound(dual.kernel, dual.solution, dual.squared_radius) / n
    return Estimate(
        value=value,
        interval=Interval(0.0, value, level, "span_bound"),
        measure="error_rate",
        method="span_bound",
        n=n,
        target="the learner at this sample size",
        notes=("bounds the leave-one-out error; its expectation bounds that of the error",),
    )


def _ends(estimate: Estimate) -> str:
    found = estimate.interval
    return "—" if found is None else f"[{found.low:.3f}, {found.high:.3f}]"
