import numpy as np
import pytest

from truerisk.audit.simulation import count_methods, simulate_coverage
from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_interval
from truerisk.results import Interval


def gmean(cells):
    tp, fp, fn, tn = (cells[..., i] for i in range(4))
    return np.sqrt(tp / (tp + fn) * tn / (tn + fp))


def share(cells):
    return cells[..., 0] / cells.sum(axis=-1)


def test_it_agrees_with_the_exact_coverage():
    # Wilson at n = 10, p = 0.3, summed exactly by SciPy's binom.pmf over k = 1, …, 5: 0.9244.
    row = simulate_coverage(
        [3, 7],
        10,
        lambda cells, _: binomial_interval(int(cells[0]), 10, method="wilson"),
        share,
        repetitions=2000,
        rng=np.random.default_rng(5),
    )
    assert row.truth == pytest.approx(0.3)
    assert row.likely.covers(0.9244)
    assert row.likely.covers(row.coverage)
    assert row.repetitions == 2000


def test_repetitions_without_an_interval_are_counted_apart():
    def sometimes(cells, rng):
        del rng
        return Interval(0.0, 1.0, 0.95, "all") if cells[0] > 0 else None

    row = simulate_coverage(
        [0.2, 0.8], 3, sometimes, share, repetitions=400, rng=np.random.default_rng(2)
    )
    # (1 − 0.2)³ = 0.512 of them have none.
    assert row.degenerate == pytest.approx(0.512 * 400, abs=40)
    assert row.coverage == 1.0


def test_no_interval_at_all_is_refused():
    with pytest.raises(InputError, match="`interval_of` must give an interval; got None 3 times"):
        simulate_coverage(
            [1, 1], 5, lambda *_: None, share, repetitions=3, rng=np.random.default_rng(1)
        )


@pytest.mark.parametrize("method", ["delta", "percentile", "bca", "dirichlet"])
def test_the_intervals_of_a_count_measure_cover_about_as_often_as_they_promise(method):
    interval_of = count_methods(gmean, level=0.9, replicates=300)[method]
    row = simulate_coverage(
        [40, 15, 10, 85], 150, interval_of, gmean, repetitions=300, rng=np.random.default_rng(3)
    )
    assert row.method == method
    assert row.level == 0.9
    assert 0.84 < row.coverage < 0.96
    assert row.degenerate == 0


def test_only_the_posterior_answers_when_nothing_went_wrong():
    methods = count_methods(gmean, replicates=300)
    cells, rng = np.array([5, 0, 0, 12]), np.random.default_rng(1)
    assert [name for name, of in methods.items() if of(cells, rng) is not None] == ["dirichlet"]
    interval = methods["dirichlet"](cells, rng)
    assert interval.high == 1.0
    assert 0.4 < interval.low < 0.95


def test_the_same_seed_gives_the_same_row():
    interval_of = count_methods(gmean, replicates=100)["percentile"]
    one, other = (
        simulate_coverage(
            [4, 1, 1, 4], 60, interval_of, gmean, repetitions=20, rng=np.random.default_rng(9)
        )
        for _ in range(2)
    )
    assert one == other
