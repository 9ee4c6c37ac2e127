import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom, expon, laplace, multivariate_normal, norm
from scipy.stats import t as student
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

from truerisk.errors import InputError
from truerisk.intervals.auc import delong_covariance, delong_interval, delong_paired, placements
from truerisk.intervals.binomial import at_least, binomial_bounds, upper_bound
from truerisk.intervals.planning import (
    EXPONENTIAL,
    LAPLACE,
    NORMAL,
    REFLECTED,
    SHAPES,
    STUDENT,
    _AreaSpread,
    _placed_apart,
    both_below,
    difference_variance,
    paired_power,
    proven_by_no_errors,
    rejected_from,
    sample_size,
)


def kept(n, expected, succeeds):
    """The definition: the probability of the counts at which the question is answered."""
    k = np.arange(n + 1)
    return binom.pmf(k, n, expected)[succeeds(k, n)].sum()


def short(half_width, method="clopper_pearson"):
    def succeeds(k, n):
        low, high = binomial_bounds(k, np.full_like(k, n), method=method)
        return high - low <= 2 * half_width

    return succeeds


def proven(bound):
    return lambda k, n: binom.cdf(k, n, bound) <= 0.05


@pytest.mark.parametrize(
    ("half_width", "expected", "assurance", "method"),
    [
        (0.05, 0.1, 0.8, "clopper_pearson"),
        (0.1, 0.5, 0.8, "clopper_pearson"),
        (0.1, 0.0, 0.8, "clopper_pearson"),
        (0.07, 0.03, 0.95, "clopper_pearson"),
        (0.2, 1.0, 0.8, "clopper_pearson"),
        (0.08, 0.8, 0.5, "wilson"),
        (0.08, 0.2, 0.9, "jeffreys"),
    ],
)
def test_from_the_planned_size_on_the_interval_is_short_often_enough(
    half_width, expected, assurance, method
):
    plan = sample_size(half_width=half_width, expected=expected, assurance=assurance, method=method)
    often = [kept(n, expected, short(half_width, method)) for n in range(plan.n - 1, plan.n + 120)]
    assert often[0] < assurance
    assert min(often[1:]) >= assurance - 1e-12
    assert plan.assurance == assurance


@pytest.mark.parametrize(
    ("bound", "expected", "assurance"), [(0.05, 0.02, 0.8), (0.01, 0.0, 0.99), (0.3, 0.2, 0.6)]
)
def test_from_the_planned_size_on_the_bound_is_proven_often_enough(bound, expected, assurance):
    n = sample_size(upper_bound=bound, expected=expected, assurance=assurance).n
    often = [kept(m, expected, proven(bound)) for m in range(n - 1, n + 300)]
    assert often[0] < assurance
    assert min(often[1:]) >= assurance - 1e-12


def test_a_size_counts_only_if_no_larger_one_fails_by_hand():
    # Two errors prove .66 from n = 7 on, three from n = 9 on.  At an error rate of ¼ there are two
    # at most with probability .756 at n = 7 and .679 at n = 8, three at most with .834 at n = 9.
    assert binom.cdf(2, 7, 0.66) < 0.05 < binom.cdf(2, 6, 0.66)
    assert binom.cdf(3, 9, 0.66) < 0.05 < binom.cdf(3, 8, 0.66)
    probabilities = [binom.cdf(k, n, 0.25) for k, n in ((2, 7), (2, 8), (3, 9))]
    np.testing.assert_allclose(probabilities, [0.756, 0.679, 0.834], atol=5e-4)
    assert sample_size(upper_bound=0.66, expected=0.25, assurance=0.75).n == 9


def test_the_count_expected_is_not_enough():
    # Without an assurance, 917 examples would do for the count that is expected, 92.
    low, high = binomial_bounds(np.array([92]), np.array([917]))
    assert high - low <= 0.04
    assert 0.5 < kept(917, 0.1, short(0.02)) < 0.6
    assert sample_size(half_width=0.02, expected=0.1).n == 978


def test_no_errors_by_hand():
    # (1 − 0.01)ⁿ ≤ 0.05 from n = ln 0.05 / ln 0.99 = 298.07 on
    assert sample_size(upper_bound=0.01, expected=0.0).n == 299
    assert proven_by_no_errors(299) == pytest.approx(1 - 0.05 ** (1 / 299), rel=1e-12)
    assert proven_by_no_errors(298) > 0.01 > proven_by_no_errors(299)


def test_what_no_errors_prove_is_the_exact_bound():
    assert proven_by_no_errors(10**9, 0.99) == pytest.approx(
        upper_bound(0, 10**9, delta=0.01), rel=1e-12
    )


def test_the_paired_size_has_the_power_and_one_less_has_not():
    n = sample_size(difference=0.05, discordant=0.2, assurance=0.9).n
    assert paired_power(n, 0.2, 0.05, 0.95) >= 0.9 > paired_power(n - 1, 0.2, 0.05, 0.95)


def test_the_paired_size_is_near_connors_formula():
    # (1.959964 √0.1 + 0.841621 √(0.1 − 0.0004))² / 0.0004 = 1959.2
    assert sample_size(difference=0.02, discordant=0.1).n == pytest.approx(1959, rel=0.02)


def test_the_unpaired_size_is_that_of_statsmodels():
    n = sample_size(difference=0.05, expected=0.2).n
    theirs = samplesize_proportions_2indep_onetail(0.05, 0.15, power=0.8, alpha=0.05)
    assert n == pytest.approx(theirs, rel=0.02)
    by_angles = NormalIndPower().solve_power(
        2 * (math.asin(math.sqrt(0.2)) - math.asin(math.sqrt(0.15))), alpha=0.05, power=0.8
    )
    assert n == pytest.approx(by_angles, rel=0.02)


def test_a_plan_is_a_sentence():
    assert str(sample_size(difference=0.05, discordant=0.2)) == (
        "To find a difference of 0.05 between two models at 95 % in 80 % of samples takes "
        f"{sample_size(difference=0.05, discordant=0.2).n:,} examples (both models on the same "
        "examples; they differ on a share of 0.2; McNemar's mid-p test)."
    )
    assert "two test sets of this size each" in str(sample_size(difference=0.05, expected=0.2))


def test_rare_errors_can_be_planned_for():
    assert sample_size(upper_bound=1e-6, expected=0.0).n == math.ceil(
        math.log(0.05) / math.log1p(-1e-6)
    )


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "exactly one of half_width, upper_bound and difference; got none"),
        ({"half_width": 0.1, "upper_bound": 0.2}, "got half_width, upper_bound"),
        ({"half_width": 0.1}, "`half_width` must come with expected, or with auc, prevalence; got"),
        ({"half_width": 0.1, "expected": 0.2, "auc": 0.8}, "got expected and auc"),
        ({"half_width": 0.1, "expected": 0.2, "assurance": 80}, "Write 0.8 for 80 %"),
        ({"half_width": 0.1, "expected": 0.2, "method": "wald"}, "`method` must be one of"),
        ({"upper_bound": 0.1, "expected": 0.0, "method": "wilson"}, "`method` must be that of"),
        ({"half_width": 0.1, "auc": 0.4, "prevalence": 0.5}, "`auc` must be at least 0.5"),
        ({"half_width": 0.1, "auc": 0.9, "prevalence": 0.0}, "`prevalence` must lie strictly"),
        (
            {"difference": 0.2, "auc": 0.9, "prevalence": 0.5, "correlation": 0.0},
            "`difference` must keep the larger AUC under 1",
        ),
        ({"half_width": 1e-6, "auc": 0.6, "prevalence": 0.5}, "must be at most 1e"),
        ({"upper_bound": 0.1, "expected": 0.2}, "`upper_bound` must exceed the expected rate 0.2"),
        ({"difference": 0.1}, "`difference` must come with discordant"),
        (
            {"difference": 0.1, "discordant": 0.2, "expected": 0.3},
            "or with auc, prevalence, correlation; got expected and discordant",
        ),
        ({"difference": 0.1, "discordant": 0.05}, "`discordant` must be at least the difference"),
        ({"difference": 0.3, "expected": 0.2}, "`difference` must be at most `expected`"),
        ({"difference": 0.0, "expected": 0.2}, "`difference` must lie in"),
        ({"half_width": 0.1, "expected": 0.2, "level": 95}, "Write 0.95 for 95 %"),
    ],
)
def test_slips_are_told(question, message):
    with pytest.raises(InputError, match=message):
        sample_size(**question)


def by_summing(n, discordant, difference, level):
    """The definition: every number of discordances, every split of them."""
    wins, total = 0.5 * (1 + difference / discordant), 0.0
    for m in range(n + 1):
        k = np.arange(m + 1)
        mid_p = 2 * (binom.sf(np.maximum(k, m - k), m, 0.5)) + binom.pmf(k, m, 0.5)
        mid_p = np.where(2 * k == m, 1.0, mid_p)
        reject = mid_p <= 1 - level
        total += binom.pmf(m, n, discordant) * binom.pmf(k, m, wins)[reject].sum()
    return total


@pytest.mark.parametrize(
    ("n", "discordant", "difference", "level"),
    [(40, 0.3, 0.15, 0.95), (25, 1.0, 0.4, 0.9), (60, 0.2, 0.2, 0.99), (30, 0.5, 0.0, 0.8)],
)
def test_it_is_the_sum_of_the_definition(n, discordant, difference, level):
    expected = by_summing(n, discordant, difference, level)
    assert paired_power(n, discordant, difference, level) == pytest.approx(expected, abs=1e-10)


def test_summing_over_every_few_changes_little(monkeypatch):
    sparse = paired_power(20_000, 0.1, 0.005, 0.95)
    monkeypatch.setattr("truerisk.intervals.planning.NUMBERS", 10**9)
    assert sparse == pytest.approx(paired_power(20_000, 0.1, 0.005, 0.95), abs=2e-3)


def test_six_of_six_is_the_first_rejection_by_hand():
    # mid-p of all m heads is 2 · ½ · 2⁻ᵐ: 1/32 at m = 5, which is under 0.05.
    assert rejected_from(np.array([4.0, 5.0, 6.0]), 0.025).tolist() == [5.0, 5.0, 6.0]


def test_tails_beyond_the_trials():
    got = at_least(np.array([0.0, 3.0, 4.0]), np.array([3.0, 3.0, 3.0]), 0.5)
    np.testing.assert_allclose(got, [1.0, 0.125, 0.0])


@pytest.mark.parametrize(("a", "b", "r"), [(0.3, -1.0, 0.4), (1.2, 1.2, -0.7), (0.0, 2.0, 0.95)])
def test_both_below_is_the_bivariate_normal_distribution(a, b, r):
    theirs = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([a, b])
    assert both_below(a, b, r) == pytest.approx(theirs, abs=1e-6)
    assert both_below(a, b, 0.0) == pytest.approx(multivariate_normal([0, 0]).cdf([a, b]), abs=1e-9)


def scores(rng, n, areas, correlation):
    root = np.linalg.cholesky([[1.0, correlation], [correlation, 1.0]])
    drawn = rng.normal(size=(n, 2)) @ root.T
    return drawn + math.sqrt(2) * ndtri(areas)


def test_the_variance_of_a_difference_of_areas_is_that_of_simulated_scores():
    rng = np.random.default_rng(1)
    areas, r, positives, negatives = (0.8, 0.9), 0.6, 12, 20
    differences = []
    for _ in range(4000):
        above, below = scores(rng, positives, areas, r), scores(rng, negatives, (0.5, 0.5), r)
        differences.append(float(np.diff(placements(above, below).areas)[0]))
    planned = difference_variance(*areas, r, positives, negatives)
    assert np.var(differences) == pytest.approx(planned, rel=0.08)


@pytest.mark.parametrize(("auc", "prevalence", "half_width"), [(0.6, 0.5, 0.08), (0.9, 0.3, 0.06)])
def test_the_interval_of_a_planned_area_is_short_often_enough(auc, prevalence, half_width):
    rng = np.random.default_rng(2)
    n = sample_size(half_width=half_width, auc=auc, prevalence=prevalence, scores="normal").n
    widths = []
    for _ in range(400):
        positives = rng.binomial(n, prevalence)
        placed = placements(
            rng.normal(math.sqrt(2) * ndtri(auc), 1, positives), rng.normal(size=n - positives)
        )
        variance = float(delong_covariance(placed)[0, 0])
        area = float(placed.areas[0])
        widths.append(delong_interval(area, variance, positives, n - positives).width)
    assert np.mean(np.array(widths) <= 2 * half_width) == pytest.approx(0.8, abs=0.06)


def test_a_planned_difference_of_areas_is_found_often_enough():
    rng = np.random.default_rng(3)
    n = sample_size(difference=0.06, auc=0.8, prevalence=0.4, correlation=0.5, scores="normal").n
    found = 0
    for _ in range(400):
        positives = rng.binomial(n, 0.4)
        above = scores(rng, positives, (0.8, 0.86), 0.5)
        result = delong_paired(above, scores(rng, n - positives, (0.5, 0.5), 0.5))
        found += result.p_value <= 0.05 and result.difference < 0
    assert found / 400 == pytest.approx(0.8, abs=0.06)


def test_the_spread_of_an_area_with_exponential_scores_by_hand():
    # The positives are d higher, c = exp(−d).  A positive exceeds a share 1 − cU of the negatives:
    # the area is 1 − c/2, the variance c²/12.  A negative is under all positives with probability
    # 1 − c, else under the share U: the variance is c/3 − c²/4.  Area .8: c = .4.
    assert EXPONENTIAL.distance(0.8) == pytest.approx(-math.log(0.4), abs=1e-3)
    spread = _AreaSpread.of(0.8, 0.3, EXPONENTIAL)
    assert spread.variance == pytest.approx((0.16 / 12) / 0.3 + (0.4 / 3 - 0.04) / 0.7, rel=1e-3)
    turned = _AreaSpread.of(0.8, 0.7, REFLECTED)  # positives and negatives change places
    assert turned.variance == pytest.approx(spread.variance, rel=1e-9)
    assert turned.excess == pytest.approx(spread.excess, rel=1e-9)
    assert turned.width(400, 1.96, 0.84) == pytest.approx(spread.width(400, 1.96, 0.84), rel=1e-9)


@pytest.mark.parametrize("shape", [NORMAL, LAPLACE, STUDENT, EXPONENTIAL, REFLECTED])
def test_quantiles_and_probabilities_of_a_shape_agree(shape):
    p = np.linspace(0.001, 0.999, 37)
    assert shape.cdf(shape.quantile(p)) == pytest.approx(p, abs=1e-6)
    reference = {id(STUDENT): student(3), id(EXPONENTIAL): expon(), id(NORMAL): norm()}
    reference[id(LAPLACE)] = laplace()
    if id(shape) in reference:
        assert shape.quantile(p) == pytest.approx(reference[id(shape)].ppf(p), rel=1e-5, abs=1e-5)


def test_the_difference_of_placements_of_normal_scores_is_that_of_the_formula():
    positives, negatives = _placed_apart(0.8, 0.88, 0.6, NORMAL)
    large = 1e9  # where pairs that share both examples count for nothing
    planned = difference_variance(0.8, 0.88, 0.6, 0.3 * large, 0.7 * large)
    assert positives / (0.3 * large) + negatives / (0.7 * large) == pytest.approx(planned, rel=0.01)


def test_heavier_tails_and_skewed_scores_take_more_examples():
    questions = (
        {"half_width": 0.03, "auc": 0.95, "prevalence": 0.1},
        {"difference": 0.05, "auc": 0.8, "prevalence": 0.3, "correlation": 0.6},
    )
    for question in questions:
        sizes = [sample_size(scores=one, **question).n for one in SHAPES]
        assert sizes == sorted(set(sizes))
        assert sample_size(**question).n == sizes[1]


def test_scores_are_refused_where_no_area_is_planned():
    with pytest.raises(InputError, match="`scores` must be left out"):
        sample_size(half_width=0.02, expected=0.1, scores="normal")
    with pytest.raises(InputError, match="`scores` must be one of"):
        sample_size(half_width=0.02, auc=0.8, prevalence=0.3, scores="skewed")
