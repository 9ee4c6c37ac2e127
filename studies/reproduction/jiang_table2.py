"""Table 2 of Jiang, Zhang and Cai: what their intervals cover on two normal classes.

The classes have means 1 and −1 in each of d features and the covariance σ²I.  The paper does not
say σ.  The error of a linear rule is known here, and need not be simulated.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from studies.reproduction.jiang_printed import DATASETS, SOURCE, printed_rows
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.jiang_trials import LEVEL, Perturbing, percentile_ends
from studies.reproduction.reproduced import Reproduction
from truerisk.aliases import Array
from truerisk.execution.running import run_each
from truerisk.intervals.bounds import stability_bound, vc_bound
from truerisk.svm.classifier import solve_one
from truerisk.svm.problems import Effort, linear_problem
from truerisk.svm.solution import LinearSolution

C = 1.0
FOLDS = 5
COLUMNS = (
    *("σ", "n", "d", "error", "losses"),
    *(
        f"{form} {what} {whose}"
        for form in ("percentile", "normal", "true sd")
        for what in ("CA", "AL")
        for whose in ("paper", "ours")
    ),
    *("VC CA", "stability CA"),
)
Z = -float(ndtri((1 - LEVEL) / 2))
TRUTH = (
    "CA ours: of the error of the model that was trained, and in brackets of the mean error of "
    "such models; both exact, by the normal distribution."
)
FORMS = (
    "Losses in training, as the paper's (10) has them, are optimistic and vary too little where d "
    "is not small beside n. Cross-validated is the form that the paper names and calls too "
    "expensive: all folds are trained again under each weighting."
)
SIGMA = (
    "σ is not said in the paper. Of the deviations 1.5 to 4.5, 2.5 makes the intervals with the "
    "true variance most nearly as long as the paper's; none fits all six."
)
ALLOWED_ERRORS = 3.0  # Monte Carlo errors of a difference of two coverages


def two_normals(
    n: int,
    d: int,
    sigma: float,
    rng: np.random.Generator,
    *,
    correlation: float = 0.0,
    noise: float = 0.0,
) -> tuple[Array, NDArray[np.intp]]:
    """Draw n examples of two classes, equally probable, with means −1 and 1 in every feature.

    Any two features have the correlation r; a share of the labels is turned round.
    """
    y = rng.integers(0, 2, size=n)
    X = sigma * math.sqrt(1 - correlation) * rng.normal(size=(n, d))
    X += np.where(y == 1, 1.0, -1.0)[:, None]
    if correlation > 0:
        X += sigma * math.sqrt(correlation) * rng.normal(size=(n, 1))
    if noise > 0:
        y = np.where(rng.random(n) < noise, 1 - y, y)
    return X, y


def exact_error(
    weights: Array, bias: float, sigma: float, *, correlation: float = 0.0, noise: float = 0.0
) -> float:
    r"""Give the error of a linear rule on the two normal classes.

    .. math:: \tfrac12 \Phi\Bigl(-\frac{\sum_j w_j + b}{s}\Bigr)
              + \tfrac12 \Phi\Bigl(-\frac{\sum_j w_j - b}{s}\Bigr), \quad
              s^2 = \sigma^2 \bigl((1 - r)\,|w|^2 + r\,(\textstyle\sum_j w_j)^2\bigr)

    With a share η of labels turned round, an error e becomes e(1 − 2η) + η.

    Examples
    --------
    >>> round(exact_error(np.ones(4), 0.0, 2.0), 6)  # Φ(−1)
    0.158655
    >>> round(exact_error(np.ones(4), 0.0, 1.0, correlation=1.0, noise=0.5), 6)
    0.5
    """
    total = float(weights.sum())
    length = float(weights @ weights)
    scale = sigma * math.sqrt((1 - correlation) * length + correlation * total**2)
    error = 0.5  # one class is said of all
    if scale > 0:
        error = 0.5 * float(ndtr(-(total + bias) / scale) + ndtr(-(total - bias) / scale))
    return error * (1 - 2 * noise) + noise


def one_data_set(shared: Mapping[str, Any], at: int) -> dict[str, Array]:
    """Draw data set `at`, train on it, and give what its intervals and its error are."""
    n, d, sigma = int(shared["n"]), int(shared["d"]), float(shared["sigma"])
    unsaid = {name: float(shared.get(name, 0.0)) for name in ("correlation", "noise")}
    cost = float(shared.get("cost", C))
    rng = np.random.default_rng([shared["seed"], n, d, round(1e6 * sigma), at])
    X, y = two_normals(n, d, sigma, rng, **unsaid)
    design = Perturbing.of(y, rng, folds=FOLDS, replicates=shared["replicates"])
    signs = np.where(y == 1, 1.0, -1.0)
    svm = solve_one(linear_problem(X), signs, np.full(n, cost), Effort())
    weights = svm.weights if isinstance(svm, LinearSolution) else np.zeros(d)
    value = design.error(X, cost)
    outcomes = {
        "truth": np.array(exact_error(weights, svm.bias, sigma, **unsaid)),
        "value": np.array(value),
        "bounds": np.array(_bounds(X, svm, n, d)),
    }
    for losses in shared["losses"]:
        spread = design.spread(X, losses, cost)
        outcomes[f"{losses} ends"] = np.array(percentile_ends(value, spread))
        outcomes[f"{losses} sd"] = np.array(spread.std(ddof=1))
    return outcomes


def _bounds(X: Array, svm: Any, n: int, d: int) -> tuple[float, float]:
    """Give the upper ends of the bounds by VC dimension and by stability."""
    wrong = float(np.mean((svm.decision > 0) != (svm.y > 0)))
    risk = float(np.minimum(svm.slack, 1.0).mean())
    kappa = float((X**2).sum(axis=1).max())
    return vc_bound(wrong, n, d + 1, level=LEVEL).high, stability_bound(
        risk, n, C * kappa, level=LEVEL
    ).high


@dataclass(frozen=True)
class Coverage:
    """How often some intervals hold the error of their model, and of the learner; how long."""

    this_model: float
    learner: float
    length: float

    @classmethod
    def of(cls, ends: Array, truth: Array) -> "Coverage":
        """Count over the data sets; the learner's error is the mean of the models' errors."""

        def share(error: Array | float) -> float:
            return 100 * float(np.mean((ends[:, 0] <= error) & (error <= ends[:, 1])))

        lengths = ends[:, 1] - ends[:, 0]
        return cls(share(truth), share(float(truth.mean())), float(lengths.mean()))

    def cells(self, ca: str, al: str) -> tuple[str, ...]:
        """Write the paper's figures and ours: this model's error, the learner's in brackets."""
        return (ca, f"{self.this_model:.1f} ({self.learner:.1f})", al, f"{self.length:.2f}")


@dataclass(frozen=True)
class Row:
    """One setting and one form of losses, over all data sets."""

    sigma: float
    printed: Mapping[str, str]
    losses: str
    truth: Array
    percentile: Coverage
    normal: Coverage
    true_sd: Coverage
    bounds: tuple[float, float]

    def cells(self) -> tuple[str, ...]:
        """Write the row."""
        paper = self.printed
        return (
            *(f"{self.sigma:g}", paper["n"], paper["d"], f"{self.truth.mean():.3f}", self.losses),
            *self.percentile.cells(paper["percentile_ca"], paper["percentile_al"]),
            *self.normal.cells(paper["normal_ca"], paper["normal_al"]),
            *self.true_sd.cells(paper["true_ca"], paper["true_al"]),
            *(f"{share:.1f}" for share in self.bounds),
        )

    @property
    def agrees(self) -> bool:
        """Whether the percentile interval covers as the paper says, within Monte Carlo error."""
        paper, ours = float(self.printed["percentile_ca"]) / 100, self.percentile.this_model / 100
        variance = paper * (1 - paper) / DATASETS + ours * (1 - ours) / len(self.truth)
        return abs(paper - ours) <= ALLOWED_ERRORS * math.sqrt(variance)


def reproduce(settings: JiangSettings) -> Reproduction:
    """Repeat the simulation, the paper's figures beside ours."""
    rows = list(_rows(settings))
    return Reproduction(
        title="Table 2: coverage (CA, percent) and average length (AL) of 95 % intervals",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(row.cells() for row in rows),
        conclusion=_conclusion(rows, settings),
    )


def _rows(settings: JiangSettings) -> Iterator[Row]:
    cells = [(sigma, line) for sigma in settings.sigmas for line in printed_rows(2)]
    total = len(cells) * settings.datasets
    outcomes = settings.progress(_simulated(settings, cells), total)
    for sigma, line in cells:
        ours = list(islice(outcomes, settings.datasets))
        arrays = {name: np.array([one[name] for one in ours]) for name in ours[0]}
        for losses in settings.losses:
            yield row_of(sigma, line, losses, arrays)


def row_of(
    sigma: float, line: Mapping[str, str], losses: str, outcomes: Mapping[str, Array]
) -> Row:
    """Count over the data sets of one setting what each interval covers."""
    truth, value = outcomes["truth"], outcomes["value"]
    halves = Z * outcomes[f"{losses} sd"]
    half = Z * float(value.std(ddof=1))  # the true deviation, as far as the data sets tell it
    bounds = 100 * np.mean(outcomes["bounds"] >= truth[:, None], axis=0)
    return Row(
        sigma,
        line,
        losses,
        truth,
        Coverage.of(outcomes[f"{losses} ends"], truth),
        Coverage.of(np.column_stack([value - halves, value + halves]), truth),
        Coverage.of(np.column_stack([value - half, value + half]), truth),
        (float(bounds[0]), float(bounds[1])),
    )


def _simulated(
    settings: JiangSettings, cells: list[tuple[float, Mapping[str, str]]]
) -> Iterator[dict[str, Any]]:
    """Simulate one setting after the other, data set by data set."""
    for sigma, line in cells:
        shared = {
            "n": int(line["n"]),
            "d": int(line["d"]),
            "sigma": sigma,
            "seed": settings.random_state,
            "replicates": settings.replicates,
            "losses": settings.losses,
        }
        yield from run_each(one_data_set, shared, range(settings.datasets), n_jobs=settings.n_jobs)


def _conclusion(rows: list[Row], settings: JiangSettings) -> tuple[str, ...]:
    said = []
    for losses in settings.losses:
        own = [row for row in rows if row.losses == losses]
        shares = [row.percentile.this_model for row in own]
        said.append(
            f"Percentile interval, {losses.replace('_', '-')} losses: covers {min(shares):.1f} to "
            f"{max(shares):.1f} % (paper 93.8 to 95.2); {sum(row.agrees for row in own)} of "
            f"{len(own)} within {ALLOWED_ERRORS:g} Monte Carlo errors of the paper. "
            f"{_lengths(own)}"
        )
    drawn = (
        f"{settings.datasets} data sets from seed {settings.random_state}, {settings.replicates} "
        f"perturbations each; C = {C:g}, {FOLDS} stratified folds; VC dimension d + 1; stability "
        "C·max|x|²."
    )
    return (*said, TRUTH, FORMS, SIGMA, drawn)


def _lengths(rows: list[Row]) -> str:
    """Say how long the percentile intervals are beside the paper's."""
    ratios = [row.percentile.length / float(row.printed["percentile_al"]) for row in rows]
    return f"Lengths {min(ratios):.2f} to {max(ratios):.2f} times the paper's."
