"""The paper's own figures are the reference; the bounds are checked by the binomial itself."""

import math

import pytest
from scipy.stats import beta, binom

from studies.reproduction import TABLES
from studies.reproduction.shah_shanian import (
    DELTA,
    MISPRINTS,
    possible_counts,
    printed_rows,
    prints_as,
    recompute,
    recomputed_rows,
    reproduce,
)
from truerisk.intervals.binomial import lower_bound, upper_bound

ROWS = {(row.printed.data_set, row.printed.classifier): row for row in recomputed_rows()}


def test_the_table_has_six_classifiers_on_sixteen_data_sets():
    rows = printed_rows()
    assert len(rows) == 96
    assert len({row.data_set for row in rows}) == 16
    assert {row.classifier for row in rows} == {"SVM", "Ada", "DT", "DL", "NB", "SCM"}


def test_ninety_rows_agree_in_every_printed_digit_and_the_others_are_the_six_misprints():
    different = {key for key, row in ROWS.items() if not row.is_equal}
    assert different == set(MISPRINTS)


@pytest.mark.parametrize("key", MISPRINTS, ids=" ".join)
def test_a_misprinted_row_fits_the_count_that_was_meant(key):
    printed, misprint = ROWS[key].printed, MISPRINTS[key]
    meant = recompute(printed, misprint.k)
    assert prints_as(meant.lower, printed.lower)
    if "B_u" in misprint.meant:
        assert prints_as(meant.upper, misprint.meant.split()[-1])
        assert misprint.k in possible_counts(printed.risk, printed.m)
    else:
        assert prints_as(meant.upper, printed.upper)
        assert prints_as(misprint.k / printed.m, misprint.meant.split()[3])
        assert misprint.k not in possible_counts(printed.risk, printed.m)


def test_the_bounds_of_one_row_worked_by_hand():
    # USvotes, Ada: 8 errors of 200; both bounds put back into the binomial tail give .025.
    row = ROWS["USvotes", "Ada"]
    assert row.k == 8
    assert binom.cdf(8, 200, row.upper) == pytest.approx(0.025, rel=1e-9)
    assert binom.sf(7, 200, row.lower) == pytest.approx(0.025, rel=1e-9)
    # 0.04 ± 2 √(8·192 / (200·199)): no division by √200 for the paper's CI.
    assert row.gaussian == pytest.approx((-0.352902, 0.432902), abs=1e-6)
    # 0.04 ± 1.959964 √(.04·.96 / 200)
    assert row.wald.low == pytest.approx(0.012842, abs=1e-6)
    assert row.wald.high == pytest.approx(0.067158, abs=1e-6)


def test_no_errors_prove_an_upper_bound_but_leave_both_normal_intervals_a_point():
    row = ROWS["Mushroom", "SVM"]
    assert row.k == row.lower == 0
    assert row.upper == pytest.approx(1 - 0.025 ** (1 / 4062), rel=1e-12)
    assert row.gaussian == (0, 0)
    assert row.wald.width == 0


def test_eight_rows_need_another_count_than_the_rounded_one():
    others = {key: row.k for key, row in ROWS.items() if row.k != _nearest(row.printed)}
    assert others == {
        ("Letter-AB", "NB"): 85,
        ("Letter-OQ", "SVM"): 11,
        ("Letter-DO", "Ada"): 26,
        ("Letter-DO", "DT"): 65,
        ("Letter-DO", "DL"): 58,
        ("Letter-DO", "NB"): 85,
        ("Letter-DO", "SCM"): 65,
        ("Mushroom", "NB"): 373,
    }


def _nearest(printed):
    return round(float(printed.risk) * printed.m)


def test_the_paper_cuts_off_and_does_not_round():
    def agreeing(*, rounded):
        return sum(
            prints_as(row.lower, row.printed.lower, rounded=rounded)
            and prints_as(row.upper, row.printed.upper, rounded=rounded)
            for row in ROWS.values()
        )

    assert agreeing(rounded=False) == 90
    assert agreeing(rounded=True) < 40


def test_the_gaussian_interval_of_the_paper_is_that_of_a_single_loss():
    odd = {key for key, row in ROWS.items() if not row.gaussian_is_equal}
    beyond_the_misprints = {("Credit", "NB"), ("SonarM", "Ada"), ("Tic-Tac-Toe", "DL")}
    assert odd - set(MISPRINTS) == beyond_the_misprints
    # Divided by √m, as a standard error must be, no row with errors would agree.
    for row in ROWS.values():
        if row.k:
            half = (float(row.printed.gaussian_high) - float(row.printed.gaussian_low)) / 2
            error = math.sqrt(row.k * (row.printed.m - row.k) / row.printed.m**3)
            assert half > 8 * error


def _coverage(bound, m, p):
    return sum(binom.pmf(k, m, p) for k in range(m + 1) if bound(k, m) <= p)


def test_theorem_2_as_printed_is_not_a_bound():
    # min{p : 1 − Bin(m, k, p) ≥ δ} is the δ quantile of Beta(k + 1, m − k), for k < m.
    def as_printed(k, m):
        return beta.ppf(DELTA, k + 1, m - k) if k < m else 1.0

    def as_meant(k, m):
        return lower_bound(k, m, delta=DELTA)

    for m, p in [(10, 0.002), (50, 0.05), (200, 0.04)]:
        assert _coverage(as_meant, m, p) >= 1 - DELTA
    # With no error the printed form claims a risk above 0, which a perfect classifier refutes
    # on every test set.
    assert _coverage(as_printed, 10, 0.002) == 0
    assert _coverage(as_printed, 50, 0.05) < 1 - DELTA
    assert _coverage(as_printed, 200, 0.04) < 1 - DELTA


def test_table_2_was_computed_with_the_bound_that_holds():
    row = ROWS["USvotes", "Ada"]
    assert prints_as(beta.ppf(DELTA, row.k, row.printed.m - row.k + 1), row.printed.lower)
    assert not prints_as(beta.ppf(DELTA, row.k + 1, row.printed.m - row.k), row.printed.lower)


def test_both_bounds_together_hold_with_probability_95_percent():
    m, p = 103, 0.165
    coverage = sum(
        binom.pmf(k, m, p)
        for k in range(m + 1)
        if lower_bound(k, m, delta=DELTA) <= p <= upper_bound(k, m, delta=DELTA)
    )
    assert coverage >= 0.95


def test_the_conclusion_says_what_was_found():
    conclusion = "\n".join(reproduce().conclusion)
    assert "90 of 96 rows agree in every printed digit; the other 6 are misprints." in conclusion
    assert "had it rounded them, 32 rows would agree" in conclusion
    assert "k is round(R_T·m) but for 8 rows with m > 1000" in conclusion
    assert "Misprinted: Sonar DT, bounds of R_T 0.165 (k = 17)." in conclusion
    assert "never divided by √m (89 rows agree)" in conclusion
    assert "CI leaves [0, 1] in 91 rows; in the 5 rows without errors" in conclusion


def test_it_is_found_under_its_name():
    table = TABLES["shah-shanian-table2"]()
    assert len(table.rows) == 96
    assert table.columns[0] == "data set"
    assert "Shah" in table.source
