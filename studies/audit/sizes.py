"""How often each default test says "different" of two equally good models, at 0.05.

Pairs of models are drawn in blocks, one file each: a run that was stopped continues, and one with
more pairs uses what is there.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.audit import equal_models
from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.equal_models import Outcomes
from truerisk.checks import check_whole_number
from truerisk.execution import run_each
from truerisk.intervals.binomial import binomial_interval

NOMINAL, GOAL = 0.05, 0.06
FROM = 300  # examples, from which on the goal holds
SIZES = (100, 300, 1000)
DATA_SETS = (10, 30, 100)
PAIRS, BLOCK = 2000, 50


@dataclass(frozen=True)
class Kind:
    """A family of tests: how and where it is tried, and on which part of the pairs."""

    title: str
    run: Callable[[str, int, np.random.Generator], Outcomes]
    settings: Sequence[str]
    sizes: Sequence[int] = SIZES
    part: float = 1.0  # what takes long is tried less often


KINDS = {
    "predictions": Kind(
        "`tr.compare`: measures of calls, areas, losses",
        equal_models.by_counts,
        tuple(equal_models.BINARY),
    ),
    "further": Kind(
        "`tr.compare`: other measures of calls",
        equal_models.by_further_counts,
        tuple(equal_models.BINARY),
    ),
    "classes": Kind(
        "`tr.compare`: three classes",
        equal_models.by_classes,
        (*equal_models.CLASSES, *equal_models.GROUPED_CLASSES),
    ),
    "groups": Kind("`tr.compare` with groups", equal_models.by_counts, tuple(equal_models.GROUPS)),
    "weights": Kind(
        "`tr.compare` with weights", equal_models.by_counts, tuple(equal_models.WEIGHTS)
    ),
    "rankings": Kind(
        "`tr.compare`: other measures of rankings",
        equal_models.by_rankings,
        (*equal_models.BINARY, *equal_models.GROUPS, *equal_models.WEIGHTS),
    ),
    "datasets": Kind(
        "`tr.compare_over_datasets`",
        equal_models.by_datasets,
        tuple(equal_models.DIGITS),
        sizes=DATA_SETS,
    ),
    "learners": Kind(
        "`tr.compare_models`",
        equal_models.by_refits,
        tuple(equal_models.LEARNERS),
        part=0.15,
    ),
    "perturbation": Kind(
        "`tr.perturbation_difference`",
        equal_models.by_perturbation,
        (equal_models.HALVES,),
        part=0.15,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One family of tests in one setting, on n examples (or data sets)."""

    kind: str
    setting: str
    n: int
    random_state: int = 0

    @property
    def file_name(self) -> str:
        """Name the files of the trial, without block and suffix."""
        words = f"sizes {self.kind} {self.setting} {self.n}".lower()
        return re.sub(r"[^a-z0-9]+", "-", words)

    def pairs(self, of_fast: int) -> int:
        """Give on how many pairs of models it is tried, from the number for fast tests."""
        return max(1, round(of_fast * KINDS[self.kind].part))


@dataclass(frozen=True, kw_only=True)
class TestSize:
    """How often one test rejected, and how often its interval excluded 0; NaN without interval.

    Pairs for which the test is undefined count neither way.
    """

    __test__ = False  # not for pytest

    kind: str
    setting: str
    n: int
    random_state: int
    test: str
    method: str
    pairs: int
    defined: int
    rejected: float
    excluded: float

    @property
    def meets_goal(self) -> bool:
        """Whether its size may be within the goal, within Monte Carlo error."""
        shares = [share for share in (self.rejected, self.excluded) if not np.isnan(share)]
        return all(
            binomial_interval(round(share * self.defined), self.defined).low <= GOAL
            for share in shares
        )

    @property
    def counts_for_goal(self) -> bool:
        """Whether the goal is set for this size."""
        return self.kind == "datasets" or self.n >= FROM


def all_trials(*, kinds: Sequence[str] = tuple(KINDS), random_state: int = 0) -> list[Trial]:
    """List every trial, family by family.

    Examples
    --------
    >>> all_trials(kinds=["perturbation"])[0].n
    100
    """
    return [
        Trial(kind=kind, setting=setting, n=n, random_state=random_state)
        for kind in kinds
        for setting in KINDS[kind].settings
        for n in KINDS[kind].sizes
    ]


def measure_sizes(
    trials: Sequence[Trial],
    *,
    pairs: int = PAIRS,
    folder: Path | None = None,
    n_jobs: int = 1,
) -> Iterator[tuple[Trial, list[TestSize]]]:
    """Give the rows of one trial after another, in their order.

    Parameters
    ----------
    trials
        What to try.
    pairs
        Pairs of models drawn for the fast tests; the slow ones get a part of this.
    folder
        Where checkpoints are written, and looked for first.
    n_jobs
        Processes; the figures do not depend on it.
    """
    check_whole_number(pairs, "pairs", low=1)
    blocks = {trial: range(-(-trial.pairs(pairs) // BLOCK)) for trial in trials}
    items = [(trial, block) for trial in trials for block in blocks[trial]]
    results = run_each(_block, {"folder": folder}, items, n_jobs=n_jobs)
    for trial in trials:
        parts = [next(results) for _ in blocks[trial]]
        every = {
            key: np.concatenate([part[key] for part in parts])[: trial.pairs(pairs)]
            for key in ("p_values", "ends")
        }
        yield trial, sizes_of(trial, parts[0]["tests"], parts[0]["methods"], **every)


def sizes_of(
    trial: Trial,
    tests: NDArray[Any],
    methods: NDArray[Any],
    *,
    p_values: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> list[TestSize]:
    """Give one row per test, from pairs × tests p-values and pairs × tests × 2 ends."""
    rows = []
    for at, (test, method) in enumerate(zip(tests.tolist(), methods.tolist(), strict=True)):
        there = ~np.isnan(p_values[:, at])
        p, (low, high) = p_values[there, at], ends[there, at].T
        has_ends = bool(len(p)) and not np.isnan(low).any()
        rows.append(
            TestSize(
                kind=trial.kind,
                setting=trial.setting,
                n=trial.n,
                random_state=trial.random_state,
                test=test,
                method=method,
                pairs=len(p_values),
                defined=int(there.sum()),
                rejected=float(np.mean(p <= NOMINAL)) if len(p) else np.nan,
                excluded=float(np.mean((low > 0) | (high < 0))) if has_ends else np.nan,
            )
        )
    return rows


def run_pair(trial: Trial, at: int) -> Outcomes:
    """Draw one pair of models, and give what each test says of it."""
    seed = [trial.random_state, zlib.crc32(trial.file_name.encode()), at]
    return KINDS[trial.kind].run(trial.setting, trial.n, np.random.default_rng(seed))


def _block(shared: Mapping[str, Any], item: tuple[Trial, int]) -> Arrays:
    trial, block = item

    def compute() -> Mapping[str, NDArray[Any]]:
        outcomes = [run_pair(trial, at) for at in range(block * BLOCK, (block + 1) * BLOCK)]
        first = outcomes[0]
        return {
            "tests": np.array(list(first)),
            "methods": np.array([one.method for one in first.values()]),
            "p_values": np.array([[one[test].p_value for test in first] for one in outcomes]),
            "ends": np.array([[(one[t].low, one[t].high) for t in first] for one in outcomes]),
        }

    settings = {**asdict(trial), "block": block}
    return checkpointed(shared["folder"], f"{trial.file_name}-{block}", settings, compute)
