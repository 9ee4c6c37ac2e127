"""Choosing C, kernel and preprocessing of an SVM without a single fold."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from truerisk.aliases import Flags
from truerisk.checks import check_choice, check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.estimation.refits.best_of import corrected_estimate
from truerisk.estimation.svm.leave_one_out import LeftOut
from truerisk.estimation.svm.one_vs_rest_counts import base_measure, estimate_of, measure_values
from truerisk.estimation.svm.xi_alpha import at_risk, worst_slack
from truerisk.measures.curves import plain_label
from truerisk.measures.titles import title_of
from truerisk.results import Estimate, Reportable
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.classifier import MarginClassifier, Prepared, solve_along
from truerisk.svm.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BY = ("xi_alpha", "leave_one_out")
SMALLEST_COST = 1e-12


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One setting that was tried, and what is estimated of it."""

    parameters: Mapping[str, Any]
    estimate: Estimate
    stable: bool


@dataclass(frozen=True, kw_only=True)
class Selection(Reportable):
    """What was tried, what won, and what the winner is worth.

    `estimate` is what the winner was chosen by, and so leans to the good side; `corrected` is not
    (see `select`).

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> points, labels = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> chosen = select(LinearSVM(), points, labels, over={"C": [0.5, 2.0]}, replicates=50)
    >>> [candidate.parameters["C"] for candidate in chosen.candidates]
    [0.5, 2.0]
    """

    candidates: tuple[Candidate, ...] = field(repr=False)
    best: Mapping[str, Any]
    estimate: Estimate
    corrected: Estimate

    def plot(self, ax: Any) -> Any:  # noqa: ANN401
        """Draw the estimate against C with its interval, a line for each other setting."""
        from truerisk.estimation.svm.selection import plot_selection  # noqa: PLC0415

        return plot_selection(self, ax)

    def __str__(self) -> str:
        lines = [
            f"{'→' if candidate.parameters == self.best else ' '} "
            f"{setting_text(candidate.parameters)}: {candidate.estimate}"
            for candidate in self.candidates
        ]
        return "\n".join([*lines, f"corrected for the choice: {self.corrected}"])


def select(
    svm: MarginClassifier,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    over: Mapping[str, Sequence[Any]],
    by: str = "xi_alpha",
    measure: str | None = None,
    rho: float = 1.0,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    replicates: int = 500,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Selection:
    r"""Choose the parameters of a support vector machine by what it says of itself.

    Every setting is trained once, on all examples.  Costs C of one setting share its kernel values
    and lie on one exact path (kernels), or start from each other's solutions (linear).  The best
    estimate wins; of equal ones, the smallest C.

    The estimate of a winner leans to the good side, since it was chosen for being good.
    `corrected` takes that off by the bootstrap of Tsamardinos et al. [1]_: examples are drawn with
    replacement, the winner among them is found again, and judged by the examples not drawn.  No
    machine is trained for it.

    Parameters
    ----------
    svm
        `tr.LinearSVM` or `tr.KernelSVM`; it is cloned, not changed.
    X, y, sample_weight
        As for its `fit`; with a vectorizer among the settings, X holds texts.
    over
        The values to try of each parameter: those of the machine ("C", "kernel", "gamma", …) and
        "vectorizer".
    by
        "xi_alpha" (no refit at all) or "leave_one_out" (exact).
    measure
        What is to be best: a measure of counts, as "error_rate" (the default with two classes),
        "f1", "f1_macro", "hamming_loss" (the default with more).
    rho
        ρ of the ξα-estimate.
    replicates, random_state
        Of the bootstrap.
    n_jobs
        How many settings are trained at a time; −1 takes all cores.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning 107, 1895-1922,
       2018. https://doi.org/10.1007/s10994-018-5714-4

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> chosen = select(KernelSVM(), X, y == 1, over={"C": [0.1, 1, 10], "gamma": [0.1, 1.0]})
    >>> chosen.best
    {'gamma': 1.0, 'C': 0.1}
    """
    if not isinstance(svm, MarginClassifier):
        raise InputError(
            f"`svm` must be a tr.LinearSVM or a tr.KernelSVM; got {type(svm).__name__}."
        )
    check_choice(by, BY, "by")
    check_level(level)
    check_number(rho, "rho", low=0.0)
    check_whole_number(replicates, "replicates", low=1)
    search = _Search(svm, X, y, sample_weight, by=by, rho=rho)
    settings, costs = _grid(svm, over)
    jobs = [(setting, chunk) for setting in settings for chunk in _chunks(costs, n_jobs, settings)]
    workers = min(effective_n_jobs(n_jobs), len(jobs))
    with few_blas_threads(np.shape(y)[0], workers), ThreadPoolExecutor(workers) as pool:
        found = [one for part in pool.map(lambda job: search.run(*job), jobs) for one in part]
    place = {id(setting): at for at, setting in enumerate(settings)}
    found.sort(key=lambda trial: (place[id(trial.setting)], trial.cost))
    signs = found[0].signs
    name = measure or ("error_rate" if len(signs) == 1 else "hamming_loss")
    wrong = np.array([trial.wrong for trial in found])
    values = measure_values(name, signs, wrong)
    higher_is_better = bool(base_measure(name).higher_is_better)
    at = _best(values if higher_is_better else -values)
    candidates = tuple(
        Candidate(
            parameters={**trial.setting, "C": trial.cost},
            estimate=estimate_of(name, signs, trial.wrong, method=by, level=level),
            stable=trial.stable,
        )
        for trial in found
    )
    corrected = corrected_estimate(
        name,
        signs,
        wrong,
        higher_is_better=higher_is_better,
        level=level,
        replicates=replicates,
        rng=np.random.default_rng(random_state),
    )
    return Selection(
        candidates=candidates,
        best=dict(candidates[at].parameters),
        estimate=candidates[at].estimate,
        corrected=corrected,
    )


@dataclass(frozen=True)
class Trial:
    """A setting that was trained: which examples it is said to call wrong, a row a problem."""

    setting: Mapping[str, Any]
    cost: float
    signs: NDArray[np.float64]
    wrong: Flags
    stable: bool


class _Search:
    """The examples, and how a setting is tried on them."""

    def __init__(
        self,
        svm: MarginClassifier,
        X: Any,  # noqa: ANN401
        y: Any,  # noqa: ANN401
        sample_weight: ArrayLike | None,
        *,
        by: str,
        rho: float,
    ) -> None:
        self.svm = svm
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.by = by
        self.rho = rho

    def run(self, setting: Mapping[str, Any], costs: Sequence[float]) -> list[Trial]:
        """Train one setting at each cost, from the smallest up."""
        machine = clone(self.svm)
        vectorizer = setting.get("vectorizer")
        X = self.X if vectorizer is None else clone(vectorizer).fit_transform(self.X)
        machine.set_params(**{k: v for k, v in setting.items() if k != "vectorizer"})
        prepared = machine.prepare(X, self.y, self.sample_weight)
        radius, _ = prepared.problem.radius
        weights = machine.upper_of(prepared, 1.0)
        along = [
            solve_along(prepared.problem, signs, row, costs, machine.effort())
            for signs, row in zip(prepared.targets.signs, weights, strict=True)
        ]
        return [
            Trial(
                setting,
                cost,
                prepared.targets.signs,
                np.array([self._wrong(machine, prepared, one, radius) for one in solutions]),
                all(solution.stable for solution in solutions),
            )
            for cost, solutions in zip(costs, zip(*along, strict=True), strict=True)
        ]

    def _wrong(
        self, machine: MarginClassifier, prepared: Prepared, solution: Solution, radius: float
    ) -> Flags:
        if self.by == "xi_alpha":
            return at_risk(solution.alpha, worst_slack(solution), radius, self.rho)
        effort = machine.effort()
        margins = LeftOut(prepared.problem, radius, effort, workers=1).margins(solution)
        # A margin of 0 is called negative.
        return np.where(solution.y > 0, margins <= 0.0, margins < 0.0)


def _grid(
    svm: MarginClassifier, over: Mapping[str, Sequence[Any]]
) -> tuple[list[dict[str, Any]], list[float]]:
    """Give every setting but for C, and the costs in order."""
    known = (*svm.get_params(), "vectorizer")
    for name, values in over.items():
        check_choice(name, known, "over")
        if isinstance(values, str) or not len(values):
            raise InputError(f"`over` must give a list of values of {name}; got {values!r}.")
    names = [name for name in over if name != "C"]
    settings = [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(over[name] for name in names))
    ]
    costs = [check_number(cost, "C", low=SMALLEST_COST) for cost in over.get("C", [svm.C])]
    return settings, sorted(costs)


def _chunks(
    costs: list[float], n_jobs: int | None, settings: Sequence[Any]
) -> Iterator[list[float]]:
    """Share the costs out where there are fewer settings than workers, large and small ones alike.

    Each part starts anew, at its smallest cost.
    """
    parts = min(-(-effective_n_jobs(n_jobs) // len(settings)), len(costs))
    return (costs[start::parts] for start in range(parts))


def _best(values: NDArray[np.float64]) -> int:
    """Find the largest; an undefined value never wins."""
    if np.isnan(values).all():
        raise InputError("`measure` must be defined for some setting; it is for none of them.")
    return int(np.nanargmax(values))


def setting_text(parameters: Mapping[str, Any]) -> str:
    """Write a setting on one line.

    Examples
    --------
    >>> setting_text({"kernel": "rbf", "C": 0.5})
    'kernel=rbf, C=0.5'
    """
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


# Okabe and Ito: told apart by every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def plot_selection(selection: Selection, ax: "Axes") -> "Axes":
    """Draw a line for each setting, its interval behind it, and mark the winner."""
    lines: dict[str, list[Candidate]] = {}
    for candidate in selection.candidates:
        others = {name: value for name, value in candidate.parameters.items() if name != "C"}
        lines.setdefault(setting_text(others), []).append(candidate)
    for (name, line), colour in zip(lines.items(), cycle(COLOURS), strict=False):
        costs = np.array([float(one.parameters["C"]) for one in line])
        values = np.array([one.estimate.value for one in line])
        ends = [one.estimate.interval for one in line]
        ax.plot(costs, values, "o-", color=colour, markersize=3, label=plain_label(name))
        ax.fill_between(
            costs,
            [np.nan if end is None else end.low for end in ends],
            [np.nan if end is None else end.high for end in ends],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    ax.plot(float(selection.best["C"]), selection.estimate.value, "*", color="black", markersize=12)
    ax.set_xscale("log")
    ax.set_xlabel("C")
    ax.set_ylabel(title_of(selection.estimate.measure))
    if len(lines) > 1:
        ax.legend()
    return ax
