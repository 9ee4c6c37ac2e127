"""What scikit-learn gives: `cv=`, and what `cross_validate` and its searches say.

`cv=` is a number of folds, a splitter, or a list of divisions.  The divisions themselves decide
which method they are and so which interval is valid, not the class of the splitter: a list that was
saved yesterday counts as the splitter that made it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import ArrayLike, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import METHODS, Design, Folds, HeldOut, Method
from truerisk.learners.scoring import SAME_MEASURE, divisions_of, is_number_of_folds, positions_of


@dataclass(frozen=True)
class RefitScores:
    """The values of one measure in each refit; those of the winner, if several were tried.

    `optimism` is by how much the mean of the winner is too good, in the direction of the measure.
    """

    measure: str
    values: tuple[float, ...]
    candidates: int = 1
    optimism: float = 0.0
    folds: int | None = None


def is_search(given: Any) -> bool:
    """Whether it is a search of scikit-learn, or its `cv_results_`."""
    return hasattr(given, "cv_results_") or (isinstance(given, Mapping) and "params" in given)


def scores_of_cross_validate(table: Mapping[str, Any], measure: str) -> RefitScores:
    """Read one measure of `cross_validate`; a negative loss becomes the loss."""
    names = [one for one, other in SAME_MEASURE.items() if other == measure]
    for name in (measure, *names):
        if f"test_{name}" in table:
            return named_scores(name, np.asarray(table[f"test_{name}"]))
    if "test_score" in table:
        return named_scores(measure, np.asarray(table["test_score"]))
    raise InputError(
        f"`values` must hold test_score or test_{measure}, as cross_validate gives them; "
        f"got {', '.join(map(str, table))}. Give the values of one of them."
    )


def scores_of_search(search: Any, measure: str | None) -> RefitScores:
    r"""Read the winner of a search, and by how much its mean is too good.

    The winner was chosen by the mean over the same divisions.  With :math:`e_k(c)` the value of
    candidate c in division k, :math:`\hat c` the winner and :math:`\hat c_k` the best in division
    k alone, the optimism is estimated by

    .. math:: \frac1K \sum_k \bigl( e_k(\hat c_k) - e_k(\hat c) \bigr)

    Source: R. J. Tibshirani and R. Tibshirani, "A bias correction for the minimum error rate in
    cross-validation", Annals of Applied Statistics 3(2), 822-829, 2009.
    Halving: the candidates of the last iteration.
    """
    results: Mapping[str, Any] = getattr(search, "cv_results_", search)
    ending, name = _ending_and_measure(search, results, measure)
    splits = sorted(
        (one for one in results if re.fullmatch(rf"split\d+_test_{re.escape(ending)}", one)),
        key=lambda one: int(one[5 : one.index("_")]),
    )
    if len(splits) < 2:
        raise InputError(
            f"`values` must hold two divisions of {ending} or more; got {len(splits)}."
        )
    table = np.array([results[one] for one in splits], dtype=np.float64).T
    alike = np.ones(len(table), dtype=bool)
    if "iter" in results:  # halving chooses among the last
        alike = np.asarray(results["iter"]) == np.max(results["iter"])
    ranks = np.where(alike, results[f"rank_test_{ending}"], np.inf)
    winner = int(getattr(search, "best_index_", ranks.argmin()))
    rivals = table[alike]
    rivals = rivals[np.isfinite(rivals).all(axis=1)]
    # Scores of scikit-learn: more is better.
    optimism = float(np.mean(rivals.max(axis=0) - table[winner])) if len(rivals) else np.nan
    scores = named_scores(name, table[winner])
    return RefitScores(
        scores.measure, scores.values, len(rivals), optimism, _folds(search, len(splits))
    )


def named_scores(name: str, values: ArrayLike) -> RefitScores:
    """Take scikit-learn's name for the measure of the registry, and its sign off."""
    sign = -1.0 if name.startswith("neg_") else 1.0
    numbers = sign * np.asarray(values, dtype=np.float64)
    return RefitScores(SAME_MEASURE.get(name, name), tuple(numbers.tolist()))


def _ending_and_measure(
    search: Any, results: Mapping[str, Any], measure: str | None
) -> tuple[str, str]:
    """Give the ending of the columns of one measure, and scikit-learn's name for it."""
    endings = {one.removeprefix("rank_test_") for one in results if one.startswith("rank_test_")}
    if endings == {"score"}:
        scoring = getattr(search, "scoring", None)
        name = measure or (scoring if isinstance(scoring, str) else None) or "accuracy"
        if isinstance(scoring, str) and SAME_MEASURE.get(scoring, scoring) == measure:
            name = scoring
        return "score", name
    refit = getattr(search, "refit", None)
    target = measure or (refit if isinstance(refit, str) else None)
    for name in endings:
        if target in {name, SAME_MEASURE.get(name, name)}:
            return name, name
    raise InputError(f"`measure` must be one of {', '.join(sorted(endings))}; got {measure!r}.")


def _folds(search: Any, splits: int) -> int | None:
    """Give the folds of one repetition; None where the divisions are random."""
    cv = getattr(search, "cv", None)
    if hasattr(cv, "test_size") and not hasattr(cv, "gap"):
        return None
    repeats = getattr(cv, "n_repeats", 1)
    return splits // repeats if isinstance(repeats, int) else splits


@dataclass(frozen=True)
class Division:
    """The examples of one division; `train` is None where it is all that are not in `test`."""

    test: Indices
    train: Indices | None


def beside_cv(cv: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Take a number of folds among the settings of the division; refuse any beside a splitter."""
    if cv is None:
        return given
    if is_number_of_folds(cv):
        if "folds" in given:
            raise InputError("`folds` must be left out where `cv` is given; got both.")
        return {"folds": cv, **given}
    refuse_beside_divisions(given)
    return given


def refuse_beside_divisions(given: Mapping[str, Any]) -> None:
    """Refuse settings that `cv` settles."""
    for name, value in given.items():
        raise InputError(
            f"`{name}` must be left out where `cv` divides the examples; got {shown(value)}."
        )


def plan_of(
    cv: Any, examples: Examples, seed: int, groups: Any
) -> tuple[Method, Design, Folds | HeldOut]:
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
