"""The ξα-estimates: what they cost beside refitting, and how far they are from leave-one-out."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from benchmarks.intervals_at_once import best
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.xi_alpha import at_risk, flags_of, xi_alpha
from truerisk.svm.dual_of import duals_of
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM

TITLE = "ξα-estimates: cost beside refitting, errors counted beside exact leave-one-out"
COLUMNS = ("work", "n", "time", "beside", "time beside", "ratio", "errors counted")


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    tables = {"breast cancer": load_breast_cancer(return_X_y=True)}
    if not quick:
        digits, names = load_digits(return_X_y=True)
        some = np.isin(names, (3, 5, 8))
        tables["digits, 8 against 3 and 5"] = digits[some], (names[some] == 8).astype(int)
    for name, (X, y) in tables.items():
        for machine in (KernelSVM(C=1.0), KernelSVM(C=10.0), LinearSVM(C=0.1)):
            yield from compared(name, machine, scale(X), y)


def compared(name: str, machine: Any, X: Any, y: Any) -> Iterator[tuple[str, ...]]:
    kind = f"{name}, {type(machine).__name__}(C={machine.C:g})"
    fitted = clone(machine).fit(X, y)
    (dual,) = duals_of(fitted, X, y)
    solution, radius = dual.solution, dual.squared_radius
    exact = leave_one_out(machine, X, y)
    fit = best(lambda: clone(machine).fit(X, y))
    folds = best(lambda: cross_val_score(clone(machine), X, y, cv=10), 1)
    flags = best(lambda: at_risk(solution.alpha, solution.slack, radius, 1.0))
    whole = best(lambda: xi_alpha(fitted, X, y))
    span = best(lambda: flags_of(dual, 1.0, "span"))
    left = best(lambda: leave_one_out(machine, X, y), 2)
    counted = {
        "ρ = 1": flags_of(dual, 1.0).sum(),
        "ρ = 2": flags_of(dual, 2.0).sum(),
        "span": flags_of(dual, 1.0, "span").sum(),
        "exact": len(exact.errors),
    }
    errors = ", ".join(f"{what} {count}" for what, count in counted.items())
    n = len(y)
    yield line(f"{kind}: flags, given α and ξ", n, flags, ("one fit", fit), errors)
    yield line(f"{kind}: four measures with intervals", n, whole, ("10-fold CV", folds))
    yield line(f"{kind}: span of those in doubt", n, span, ("exact leave-one-out", left))


def line(
    work: str, n: int, ours: float, beside: tuple[str, float], errors: str = ""
) -> tuple[str, ...]:
    name, theirs = beside
    times = (f"{1000 * ours:.3g} ms", name, f"{1000 * theirs:.3g} ms", f"{theirs / ours:,.0f}")
    return (work, str(n), *times, errors)


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for one in rows():
        print(" | ".join(one), flush=True)
