"""Classifiers over many data sets: who is better in general, and how sure that is."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array
from truerisk.checks import check_level, check_number, check_random_state, shown
from truerisk.comparison.conclusion import check_level_of_equivalence
from truerisk.comparison.datasets.bayesian_hierarchical import bayesian_hierarchical
from truerisk.comparison.datasets.bayesian_signed_rank import (
    PracticalPosterior,
    bayesian_signed_rank,
)
from truerisk.comparison.datasets.over_datasets import (
    AgainstControl,
    OverDatasets,
    PairOverDatasets,
    pair_finding,
)
from truerisk.comparison.datasets.rank_tests import (
    bonferroni_dunn_difference,
    cliques,
    friedman,
    nemenyi_difference,
    nemenyi_p_value,
    rank_test,
    ranks_of,
)
from truerisk.comparison.datasets.signed_rank import (
    difference_interval,
    equivalence_p_value,
    sign_test,
    signed_rank,
    typical_difference,
    without_noise,
)
from truerisk.comparison.multiplicity import hochberg, holm
from truerisk.comparison.predictions.named_scores import fold_means, named_scores
from truerisk.errors import InputError

LARGEST_SEED = 2**32


def compare_over_datasets(
    scores: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    control: str | None = None,
    higher_is_better: bool = True,
    region: float | None = None,
    test_share: float | None = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> OverDatasets:
    r"""Compare classifiers by their scores on several data sets.

    For each pair, or with a control for each pair with it: Wilcoxon's signed-rank test (exact up to
    50 data sets) with Holm's adjustment over these pairs, the exact sign test, the typical
    difference with its interval, and the Bayesian signed-rank test.  For three classifiers or more,
    on average ranks: Friedman's test, Iman and Davenport's, Nemenyi's critical difference of all
    pairs; with a control, the tests of Bonferroni and Dunn, Holm, and Hochberg against it.

    Whether one classifier is better than another is told by Wilcoxon's test and Holm's adjustment:
    if all differences are symmetric about 0, some pair is called different with probability of at
    most 1 − level.  Tests on average ranks are there beside it; their verdict on a pair changes
    with the other classifiers that happen to be in the table [2]_.  All of it is about data sets
    like these, taken as independent.  Measured at 0.05 with 2 or 5 classifiers that are alike and
    10 or 30 data sets: some pair is found to differ in .037 to .049 of all tables, with many ties
    in .017 to .048.

    Differences are rounded to twelve digits of the largest score, so that differences that are
    equal on paper are equal here.

    Parameters
    ----------
    scores
        Data sets × classifiers, or data sets × classifiers × folds; of a data frame the columns
        are the classifiers' names and the index the data sets'.
    names, datasets
        What they are called, if not by their numbers.
    control
        The classifier that the others are compared with, and the first of every pair.
    higher_is_better
        Whether a higher score is the better one; not for error rates.
    region
        The largest difference that does not matter, in units of the scores.
    test_share
        With folds: the share of the examples that a fold is tried on, 1/K for K folds, repeated or
        not.  The Bayesian hierarchical model then tells about data sets to come.
    random_state
        Seed of the two Bayesian tests; nothing else is random.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006.
    .. [2] A. Benavoli, G. Corani and F. Mangili, "Should we really use post-hoc tests based on
       mean-ranks?", JMLR 17(5), 1-10, 2016.
    .. [3] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", JMLR 18(77), 1-36, 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=(12, 1))
    >>> scores = base + [0, 0.002, 0.05] + rng.normal(0, 0.01, size=(12, 3))
    >>> found = compare_over_datasets(scores, names=["tree", "pruned", "forest"])
    >>> print(found.verdict[0])
    The classifiers differ over these 12 data sets (Iman-Davenport F = 34.3, p = 1.75e-07).
    >>> found.pair("tree", "forest").finding, found.pair("tree", "pruned").finding
    ('better', 'no evidence')
    """
    check_level(level)
    if region is not None:
        check_number(region, "region", low=0.0)
        check_level_of_equivalence(level)
    folds, called, rows = named_scores(scores, names, datasets)
    n, k, per_set = folds.shape
    if control is not None and control not in called:
        raise InputError(f"`control` must be one of {', '.join(called)}; got {shown(control)}.")
    if (test_share is None) == (per_set > 1):
        raise InputError(
            "`test_share` must be given with folds, and only then: the share of the examples that "
            f"a fold is tried on; got {test_share!r} with {per_set} for each data set."
        )
    if test_share is not None:
        check_number(test_share, "test_share", low=np.finfo(float).tiny, high=1 - 1e-9)
    means = fold_means(folds)
    ranks = ranks_of(means, higher_is_better=higher_is_better)
    averages = ranks.mean(axis=0)
    seed = _seed(random_state)
    several = k > 2
    pairs = _pairs(
        means,
        folds,
        called,
        control=control,
        higher_is_better=higher_is_better,
        region=region,
        test_share=test_share,
        level=level,
        seed=seed,
    )
    critical = nemenyi_difference(k, n, level) if several else None
    return OverDatasets(
        names=called,
        datasets=rows,
        mean_scores=tuple(means.mean(axis=0).tolist()),
        average_ranks=tuple(averages.tolist()),
        friedman=friedman(ranks) if several else None,
        critical_difference=critical,
        cliques=()
        if critical is None
        else tuple(tuple(called[i] for i in one) for one in cliques(averages, critical)),
        pairs=pairs,
        control=control,
        against_control=_against(control, called, averages, n) if several and control else (),
        control_difference=bonferroni_dunn_difference(k, n, level) if several and control else None,
        higher_is_better=higher_is_better,
        region=region,
        level=level,
        random_state=seed,
        ranks=tuple(tuple(row) for row in ranks.tolist()),
    )


def _pairs(
    means: Array,
    folds: Array,
    names: tuple[str, ...],
    *,
    control: str | None,
    higher_is_better: bool,
    region: float | None,
    test_share: float | None,
    level: float,
    seed: int,
) -> tuple[PairOverDatasets, ...]:
    n, k = means.shape
    places = list(combinations(range(k), 2))
    if control is not None:
        at = names.index(control)
        places = [(at, other) for other in range(k) if other != at]
    columns = [_differences(means[:, first], means[:, second]) for first, second in places]
    tests = [signed_rank(column) for column in columns]
    adjusted = holm([test.p_value for test in tests])
    averages = ranks_of(means, higher_is_better=higher_is_better).mean(axis=0)
    alike: list[float | None] = [None] * len(places)
    if region is not None:
        alike = list(holm([equivalence_p_value(column, region) for column in columns]))
    found = []
    for row, ((first, second), column) in enumerate(zip(places, columns, strict=True)):
        sign = 1 if higher_is_better else -1
        counted = sign_test(sign * column)
        posterior = bayesian_signed_rank(sign * column, region=region or 0.0, random_state=seed)
        hierarchical: PracticalPosterior | None = None
        if test_share is not None:
            hierarchical = bayesian_hierarchical(
                sign * (folds[:, second] - folds[:, first]),
                test_share=test_share,
                region=region or 0.0,
                random_state=seed,
            )
        typical = typical_difference(column)
        p_value = float(adjusted[row])
        found.append(
            PairOverDatasets(
                names=(names[first], names[second]),
                difference=typical,
                interval=difference_interval(column, level),
                wins=counted.wins,
                ties=counted.ties,
                losses=counted.losses,
                wilcoxon=tests[row],
                p_value=p_value,
                sign_p_value=counted.p_value,
                nemenyi_p_value=nemenyi_p_value(averages[first], averages[second], k, n)
                if k > 2
                else None,
                equivalence_p_value=None if alike[row] is None else float(alike[row] or 0.0),
                posterior=posterior,
                hierarchical=hierarchical,
                finding=pair_finding(
                    tests[row], p_value, alike[row], level=level, higher_is_better=higher_is_better
                ),
            )
        )
    return tuple(found)


def _differences(first: Array, second: Array) -> Array:
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    return without_noise(second - first, largest)


def _against(
    control: str, names: tuple[str, ...], averages: Array, n: int
) -> tuple[AgainstControl, ...]:
    k, at = len(names), names.index(control)
    others = [place for place in range(k) if place != at]
    found = [rank_test(averages[at], averages[other], k, n) for other in others]
    raw = [p_value for _, p_value in found]
    holms, hochbergs = holm(raw), hochberg(raw)
    return tuple(
        AgainstControl(
            name=names[other],
            z=float(z),
            p_value=p_value,
            bonferroni_dunn=min(1.0, (k - 1) * p_value),
            holm=float(holms[i]),
            hochberg=float(hochbergs[i]),
        )
        for i, (other, (z, p_value)) in enumerate(zip(others, found, strict=True))
    )


def _seed(random_state: int | np.random.Generator | None) -> int:
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        check_random_state(random_state)
        return int(random_state)
    return int(check_random_state(random_state).integers(LARGEST_SEED))
