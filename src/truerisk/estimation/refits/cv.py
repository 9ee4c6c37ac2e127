"""What `cv=` means: a number of folds, a splitter of scikit-learn, or a list of divisions.

The divisions themselves decide which method they are and so which interval is valid, not the class
of the splitter: a list that was saved yesterday counts as the splitter that made it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.methods import METHODS, Design, Method
from truerisk.estimation.refits.plans import Folds, HeldOut, Plan
from truerisk.learners.divisions import divisions_of, positions_of


@dataclass(frozen=True)
class Division:
    """The examples of one division; `train` is None where it is all that are not in `test`."""

    test: Indices
    train: Indices | None


def plan_of(cv: Any, examples: Examples, seed: int, groups: Any) -> tuple[Method, Design, Plan]:
    """Give the method that the divisions are, and their plan."""
    divisions = [
        _checked(at, *one, examples)
        for at, one in enumerate(divisions_of(cv, examples.X, examples.y, groups, seed), start=1)
    ]
    if not divisions:
        raise InputError("`cv` must make at least one division; got none.")
    n = examples.n
    parts = _as_folds(divisions, n)
    if parts is not None:
        folds = Folds(parts)
        alone = folds.folds == n and len(parts) == 1
        method = METHODS["leave_one_out" if alone else "cross_validation"]
        return method, Design(folds=folds.folds, repeats=len(parts)), folds
    judged = _marked([one.test for one in divisions], n)
    complete = all(one.train is None for one in divisions)
    trained = None
    if not complete:
        trained = ~judged
        for row, one in zip(trained, divisions, strict=True):
            if one.train is not None:
                row[:] = False
                row[one.train] = True
    plan = HeldOut(judged, trained)
    share = float(judged.mean())
    design = Design(folds=len(plan), repeats=len(plan), test_size=share)
    return METHODS[_kind(divisions, plan, examples)], design, plan


def _kind(divisions: list[Division], plan: HeldOut, examples: Examples) -> str:
    """Name the method by what the divisions are like."""
    if len(divisions) == 1:
        return "holdout"
    if plan.repetitions == 1:
        rows = map(plan.train_and_test, range(len(plan)))
        forward = all(train.max() < test.min() for train, test in rows)
        return "time_ordered" if forward else "given_folds"
    tested = plan.judged
    trained = ~tested if plan.trained is None else plan.trained
    units = np.arange(examples.n) if examples.groups is None else examples.groups
    sizes = [[len(np.unique(units[row])) for row in rows] for rows in (tested, trained)]
    alike = all(max(one) - min(one) <= 1 for one in sizes)
    return "subsampling" if alike else "given_divisions"


def _as_folds(divisions: list[Division], n: int) -> NDArray[np.int32] | None:
    """Give the part of each example in each repetition; None where they are no folds."""
    if any(one.train is not None for one in divisions):
        return None
    rows: list[NDArray[np.int32]] = []
    counts: list[int] = []
    left = 0
    for one in divisions:
        if left == 0:
            rows.append(np.full(n, -1, dtype=np.int32))
            counts.append(0)
            left = n
        if (rows[-1][one.test] >= 0).any():
            return None
        rows[-1][one.test] = counts[-1]
        counts[-1] += 1
        left -= len(one.test)
    return np.stack(rows) if left == 0 and len(set(counts)) == 1 else None


def _checked(at: int, train: Any, test: Any, examples: Examples) -> Division:
    """Refuse positions that are not there, or on both sides."""
    sides = [positions_of(one, examples.n, at) for one in (train, test)]
    marks = _marked(sides, examples.n)
    if (marks[0] & marks[1]).any():
        raise InputError(
            f"`cv` must not test what it trains on; division {at} has "
            f"{np.count_nonzero(marks[0] & marks[1])} examples on both sides."
        )
    if examples.groups is not None:
        both = np.intersect1d(examples.groups[sides[0]], examples.groups[sides[1]])
        if both.size:
            raise InputError(
                f"`cv` must keep groups together; division {at} has {both.size} of them on both "
                "sides. Take a splitter of groups, such as GroupKFold, or leave `groups` out."
            )
    complete = len(sides[0]) + len(sides[1]) == examples.n
    return Division(np.flatnonzero(marks[1]), None if complete else np.flatnonzero(marks[0]))


def _marked(rows: list[Indices], n: int) -> NDArray[np.bool_]:
    marks = np.zeros((len(rows), n), dtype=bool)
    for mark, row in zip(marks, rows, strict=True):
        mark[row] = True
    return marks
