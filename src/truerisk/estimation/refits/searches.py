"""What scikit-learn's `cross_validate` and its searches say, as values of refits."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truerisk.errors import InputError
from truerisk.learners.scoring import SAME_MEASURE


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
    wanted = measure or (refit if isinstance(refit, str) else None)
    for name in endings:
        if wanted in {name, SAME_MEASURE.get(name, name)}:
            return name, name
    raise InputError(f"`measure` must be one of {', '.join(sorted(endings))}; got {measure!r}.")


def _folds(search: Any, splits: int) -> int | None:
    """Give the folds of one repetition; None where the divisions are random."""
    cv = getattr(search, "cv", None)
    if hasattr(cv, "test_size") and not hasattr(cv, "gap"):
        return None
    repeats = getattr(cv, "n_repeats", 1)
    return splits // repeats if isinstance(repeats, int) else splits
