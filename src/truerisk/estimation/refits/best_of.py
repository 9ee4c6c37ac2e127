"""Several learners on the same refits, and what the best of many is worth without its luck."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import check_whole_number
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.estimate import LearnerEvaluation, estimate
from truerisk.estimation.svm.one_vs_rest_counts import base_measure, measure_values
from truerisk.measures.averages import value_of_tables
from truerisk.results import Estimate, Interval, Reportable, Row
from truerisk.tallies.votes import NOT_JUDGED

AT_A_TIME = 50  # replicates whose weights are held at once


def corrected_estimate(
    measure: str,
    signs: Array,
    wrong: NDArray[np.bool_],
    *,
    higher_is_better: bool,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> Estimate:
    """Judge the choice itself: choose on examples drawn with replacement, judge by the others.

    Parameters
    ----------
    measure, signs, wrong
        As in `measure_values`; the first axis of `wrong` is the candidate.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coins = rng.random((20, 1, 50)) < 0.5  # twenty candidates that know nothing
    >>> luck = measure_values("error_rate", np.ones((1, 50)), coins).min()
    >>> judged = corrected_estimate("error_rate", np.ones((1, 50)), coins, level=0.95,
    ...                             higher_is_better=False, replicates=500, rng=rng)
    >>> bool(luck < 0.4), round(judged.value, 1)
    (True, 0.5)
    """
    n = signs.shape[1]
    kinds, of_kind = _kinds(signs, wrong)
    judged: list[float] = []
    for start in range(0, replicates, AT_A_TIME):
        size = min(AT_A_TIME, replicates - start)
        drawn, left = _draws(of_kind, len(kinds), size, rng)
        inside = measure_values(measure, signs[:, kinds], wrong[:, :, kinds], drawn)
        outside = measure_values(measure, signs[:, kinds], wrong[:, :, kinds], left)
        order = inside if higher_is_better else -inside
        winner = np.where(np.isnan(order), -np.inf, order).argmax(axis=0)
        judged.extend(outside[winner, np.arange(size)].tolist())
    values = np.array(judged)[~np.isnan(judged)]
    if not len(values):
        return Estimate(
            value=np.nan,
            interval=Interval(0.0, 1.0, level, "bootstrap_out_of_bag"),
            measure=measure,
            method="chosen_by_bootstrap",
            n=n,
            target="the learner at this sample size",
            notes=("the measure is undefined in every replicate",),
        )
    return estimate_of_choices(values, measure, level=level, n=n, method="chosen_by_bootstrap")


def estimate_of_choices(
    judged: Array, measure: str, *, level: float, n: int, method: str
) -> Estimate:
    """Give the mean and the quantiles of what repeated choices were judged to be worth.

    Examples
    --------
    >>> found = estimate_of_choices(np.array([0.2, 0.3, 0.4]), "error_rate", level=0.5, n=9,
    ...                             method="best_of")
    >>> round(found.value, 3), round(found.interval.low, 3), round(found.interval.high, 3)
    (0.3, 0.25, 0.35)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(judged, [tail, 1 - tail])
    value = float(judged.mean())
    return Estimate(
        value=value,
        interval=Interval(
            min(float(low), value), max(float(high), value), level, "bootstrap_out_of_bag"
        ),
        measure=measure,
        method=method,
        n=n,
        target="the learner at this sample size",
        notes=("each replicate chooses anew and is judged by the examples it did not draw",),
    )


def _kinds(signs: Array, wrong: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give one example of each kind, and the kind of each example.

    Examples of one kind have the same signs and are called wrong by the same candidates.
    """
    flags = np.concatenate([signs > 0, wrong.reshape(-1, wrong.shape[-1])])
    _, first, of_kind = np.unique(
        np.packbits(flags, axis=0), axis=1, return_index=True, return_inverse=True
    )
    return first, of_kind.ravel()


def _draws(
    of_kind: NDArray[np.intp], kinds: int, size: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw the examples with replacement; count those drawn, and those never drawn, by kind."""
    n = len(of_kind)
    drawn, left = np.empty((size, kinds)), np.empty((size, kinds))
    for row in range(size):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        drawn[row] = np.bincount(of_kind, weights=times, minlength=kinds)
        left[row] = np.bincount(of_kind[times == 0], minlength=kinds)
    return drawn, left


@dataclass(frozen=True, kw_only=True, repr=False)
class BestOf(Reportable):
    """Several learners judged on the same divisions, and the best of them.

    `optimism` is by how much the winner's own estimate is too good, because it was chosen for it;
    `corrected` is what choosing the best of these learners is worth.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> models = {"constant": "majority", "tree": "tree"}
    >>> found = best_of(models, *load_iris(return_X_y=True), random_state=1, repeats=1)
    >>> found.ranking
    ('tree', 'constant')
    """

    kind: ClassVar[str] = "best_of"

    evaluations: Mapping[str, LearnerEvaluation]
    measure: str
    winner: str
    optimism: float
    corrected: Estimate

    @property
    def ranking(self) -> tuple[str, ...]:
        """The learners, best first."""
        sign = -1.0 if base_measure(self.measure).higher_is_better else 1.0
        values = {name: sign * one[self.measure].value for name, one in self.evaluations.items()}
        return tuple(sorted(values, key=lambda name: (np.isnan(values[name]), values[name])))

    def __str__(self) -> str:
        lines = [f"{name}: {self.evaluations[name][self.measure]}" for name in self.ranking]
        lines.append(
            f"The best, {self.winner}, was chosen by these numbers: its own is too good by "
            f"{abs(self.optimism):.3f}. Corrected: {self.corrected}"
        )
        return "\n".join(lines)

    def _content(self) -> dict[str, Any]:
        return {"ranking": list(self.ranking), **super()._content()}

    def _rows(self) -> Iterator[Row]:
        for name in self.ranking:
            yield from ({"model": name, **row} for row in self.evaluations[name].to_rows())
        yield {"model": "best, corrected", **self.corrected.row()}


def best_of(
    models: Mapping[str, Any],
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    measure: str = "error_rate",
    random_state: int | None = None,
    replicates: int = 500,
    **options: Any,  # noqa: ANN401
) -> BestOf:
    r"""Judge several learners on the same divisions; say what the best is worth without its luck.

    The best of many looks better than it is: it was chosen for the number that is then reported.
    The correction repeats the choice: examples are drawn with replacement, the best on those drawn
    is chosen, and judged by the examples that were not drawn; no model is trained again.

    Parameters
    ----------
    models
        Learners by name.
    X, y, **options
        As for `tr.estimate`; the method must judge every example (cross-validation and its like).
    measure
        What the best is chosen by: a measure of counts, or an average of one.
    replicates
        How often the choice is repeated.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"stump": DecisionTreeClassifier(max_depth=1), "naive Bayes": GaussianNB()}
    >>> found = best_of(models, X, y, random_state=1, repeats=2)
    >>> found.winner, round(found.optimism, 3)
    ('naive Bayes', 0.0)
    """
    if len(models) < 2:
        raise InputError(f"`models` must be two or more to choose from; got {len(models)}.")
    check_whole_number(replicates, "replicates", low=100, high=1_000_000)
    base_measure(measure)  # refuses what is not made of counts, before anything is trained
    if options.get("method") == "bootstrap":
        raise InputError("`method` must keep what each refit calls; bootstrap only adds it up.")
    if random_state is None:
        random_state = int(np.random.default_rng().integers(2**32 - 1))
    folder = options.pop("resume", None)
    found = {}
    for at, (name, model) in enumerate(models.items(), start=1):
        kept = None if folder is None else Path(folder) / f"learner-{at}"
        try:
            found[name] = estimate(model, X, y, random_state=random_state, resume=kept, **options)
        except RefitError as error:
            raise RefitError(f"{name}: {error}") from error
    first = next(iter(found.values()))
    if measure not in first:
        raise InputError(f"`measure` must be one of {', '.join(first)}; got {measure!r}.")
    function = _of_tables(measure, first)
    sign = 1.0 if base_measure(measure).higher_is_better else -1.0
    values = np.array([one[measure].value for one in found.values()])
    if np.isnan(values).all():
        raise InputError(f"`measure` must be defined for some model; {measure} is for none.")
    winner = int(np.nanargmax(sign * values))
    truth = np.unique(np.asarray(y), return_inverse=True)[1]
    choice = [cell_shares(truth, one.called, len(one.labels)) for one in found.values()]
    judged = _chosen_anew(choice, function, sign, replicates, random_state)
    corrected = _corrected(judged, measure, first)
    return BestOf(
        evaluations=found,
        measure=measure,
        winner=list(found)[winner],
        optimism=float(sign * (values[winner] - corrected.value)),
        corrected=corrected,
    )


def cell_shares(truth: NDArray[Any], called: NDArray[Any] | None, classes: int) -> Array:
    """Give, for each example, the share of the repetitions in which it is in each cell (n, K²).

    Examples
    --------
    >>> cell_shares(np.array([0, 1]), np.array([[0, 0], [0, 1]]), 2)
    array([[1. , 0. , 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    if called is None:
        raise InputError("`method` must judge every example, as cross_validation does.")
    shares = np.zeros((len(truth), classes * classes))
    for row in called:
        judged = np.flatnonzero(row != NOT_JUDGED)
        shares[judged, truth[judged] * classes + row[judged]] += 1
    times = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.maximum(times, 1))


def _of_tables(measure: str, found: LearnerEvaluation) -> Callable[[Array], Array]:
    """Give the measure as a function of confusion tables (…, K²)."""
    k = len(found.labels)
    pos_label = None if found.pos_label is None else found.labels.index(found.pos_label)

    def value(tables: Array) -> Array:
        values = value_of_tables(measure, tables.reshape(*tables.shape[:-1], k, k), pos_label)
        if values is None:
            raise InputError(f"`measure` must be one of counts to choose by; got {measure!r}.")
        return values

    return value


def _chosen_anew(
    choice: list[Array],
    function: Callable[[Array], Array],
    sign: float,
    replicates: int,
    seed: int,
) -> Array:
    """Choose on examples drawn with replacement; give the winners' values on those not drawn."""
    rng = np.random.default_rng([seed, 1])
    n = len(choice[0])
    judged: list[float] = []
    for start in range(0, replicates, AT_A_TIME):
        size = min(AT_A_TIME, replicates - start)
        drawn = np.stack(
            [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(size)]
        ).astype(np.float64)
        left = (drawn == 0).astype(np.float64)
        inside = np.stack([sign * function(drawn @ shares) for shares in choice])
        outside = np.stack([function(left @ shares) for shares in choice])
        winner = np.where(np.isnan(inside), -np.inf, inside).argmax(axis=0)
        judged.extend(outside[winner, np.arange(size)].tolist())
    values = np.array(judged)
    return np.asarray(values[~np.isnan(values)])


def _corrected(judged: Array, measure: str, found: LearnerEvaluation) -> Estimate:
    if len(judged):
        return estimate_of_choices(judged, measure, level=found.level, n=found.n, method="best_of")
    return Estimate(
        value=float("nan"),
        interval=Interval(*base_measure(measure).measure_range, found.level, "undefined"),
        measure=measure,
        method="best_of",
        n=found.n,
        target="the learner at this sample size",
        notes=("undefined in every replicate",),
    )
