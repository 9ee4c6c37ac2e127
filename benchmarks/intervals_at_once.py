"""Many intervals in one call, and bootstrap replicates of counts."""

import time
from collections.abc import Callable, Iterator

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from truerisk.intervals.binomial import binomial_bounds
from truerisk.intervals.replicates import multinomial_cells
from truerisk.measures import find_measure
from truerisk.tallies.cells import BinaryCounts

TITLE = "Intervals of proportions, and the bootstrap of count measures"
COLUMNS = ("work", "size", "truerisk", "beside", "time beside", "ratio")

STATSMODELS = {"clopper_pearson": "beta", "wilson": "wilson", "jeffreys": "jeffreys"}
REPEATS = 3


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    size = 10**4 if quick else 10**6
    rng = np.random.default_rng(0)
    n = rng.integers(1, 10**6, size)
    k = rng.binomial(n, rng.beta(0.5, 2, size))
    for method, theirs in STATSMODELS.items():
        ours = best(lambda method=method: binomial_bounds(k, n, method=method))
        with np.errstate(all="ignore"):
            peer = best(lambda theirs=theirs: proportion_confint(k, n, method=theirs))
        yield (
            f"{method} intervals, checked by their residual",
            f"{size:.0e}",
            f"{ours:.2f} s",
            "statsmodels, unchecked",
            f"{peer:.2f} s",
            f"{peer / ours:.2f}",
        )
    yield bootstrap(10**4 if quick else 10**6)


def bootstrap(n: int, replicates: int = 1000) -> tuple[str, ...]:
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    predicted = rng.random(n) < np.where(truth, 0.8, 0.1)
    counts = [np.sum(a & b) for a in (truth, ~truth) for b in (predicted, ~predicted)]
    measure = find_measure("gmean")

    def by_cells() -> None:
        drawn = multinomial_cells(counts, replicates, rng)
        measure.value(BinaryCounts(drawn[:, 0], drawn[:, 2], drawn[:, 1], drawn[:, 3]))

    def by_rows(times: int = 3) -> None:
        for _ in range(times):
            at = rng.integers(0, n, n)
            table = np.bincount(2 * truth[at] + predicted[at], minlength=4)
            measure.value(BinaryCounts(table[3], table[1], table[2], table[0]))

    ours, peer = best(by_cells), best(by_rows) / 3 * replicates
    return (
        f"bootstrap of the G-mean, {replicates} replicates",
        f"{n:.0e}",
        f"{1000 * ours:.2f} ms",
        "resampling the rows (extrapolated from 3 replicates)",
        f"{peer:.1f} s",
        f"{peer / ours:,.0f}",
    )


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows():
        print(" | ".join(line), flush=True)
