"""Variance components of refits: worked by hand, against the program that found them, and laws."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, gamma

from truerisk.errors import InputError
from truerisk.intervals.group_jackknife import group_jackknife
from truerisk.intervals.variance_components import (
    METHOD,
    OTHER,
    RULES,
    Components,
    RefitQuestion,
    Rule,
    components,
    components_of_cells,
    few_of,
    mean_loss_ends,
    notes_on,
    pseudo_value_interval,
    refit_interval,
    rule_of,
    share_ends,
    unseen_losses,
)
from truerisk.results import Interval, has_code
from truerisk.tallies.group_values import ratio_values
from truerisk.tallies.votes import CellPairs

REFERENCE = Path(__file__).parents[1] / "reference" / "variance_components.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
# Four examples in two folds, the same in both repetitions; in the first, one model errs twice.
LOSSES = np.array([[1.0, 1, 0, 0], [0, 0, 0, 0]])
REFITS = np.array([[0, 0, 1, 1], [2, 2, 3, 3]])


def table(rows):
    return np.array([[int(digit) for digit in row] for row in rows])


@st.composite
def judged(draw):
    """Draw losses of 0 and 1 and folds of several repetitions."""
    n, repetitions = draw(st.integers(6, 40)), draw(st.integers(2, 5))
    folds = draw(st.integers(2, n // 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    losses = (rng.random((repetitions, n)) < rng.random(n)).astype(float)
    parts = np.stack([rng.permutation(np.arange(n) % folds) for _ in range(repetitions)])
    return losses, parts


def numbered(parts):
    return parts + np.arange(len(parts))[:, None] * (parts.max() + 1)


def test_the_components_worked_by_hand():
    # p = ¼.  ψ = ¾ twice and −¼ six times: mean ψ² = 3/16, V₁ = 3/64.
    # w = ½, ½, 0, 0, of mean ¼: u = min(1, ¼ / (3/16)) = 1.
    # d = ±1 in the folds of the first two, where 2/1 · ½ / 2 is noise: (1 − ½) / (1 − ½) = 1.
    # d = 0 and w = 0 in the others: s² = (1 + 1 + 0 + 0) / 4.
    parts = components(LOSSES - 0.25, REFITS)
    assert parts.independent == pytest.approx(3 / 64)
    assert parts.disagreement == 1.0
    assert parts.together == pytest.approx(1 / 2)
    assert parts.units == 4
    assert parts.variance(Rule(0.75, 0.75, "careful")) == pytest.approx(3 / 64 * 1.75 + 0.375)
    assert parts.without_together(OTHER) == parts.agreement == pytest.approx(3 / 32)


def test_an_interval_that_long_leaves_everything_open():
    # m = (3/16) / .457 = .41: under one event of either kind.
    found = refit_interval(LOSSES, REFITS)
    assert (found.low, found.high, found.method) == (0.0, 1.0, METHOD)
    assert found.lengthening == pytest.approx(math.sqrt((3 / 64 * 1.75 + 0.375) / (3 / 64 * 1.75)))


@pytest.mark.parametrize("vector", VECTORS, ids=[one["id"] for one in VECTORS])
def test_the_interval_is_that_of_the_program_that_found_the_rule(vector):
    losses, folds = (table(vector["inputs"][name]) for name in ("losses", "folds"))
    expected, tolerance = vector["expected"], vector["tolerance"]["abs"]
    found = refit_interval(losses, folds)
    for name in ("independent", "disagreement", "together"):
        assert getattr(found, name) == pytest.approx(expected[name], abs=tolerance)
    assert (found.low, found.high) == pytest.approx(expected["interval"], abs=tolerance)


@pytest.mark.parametrize(
    ("value", "variance", "form", "expected"),
    [
        # m = .16 / .0016 = 100, x = 20
        (0.2, 0.0016, "jeffreys", (beta.ppf(0.025, 20.5, 80.5), beta.ppf(0.975, 20.5, 80.5))),
        (0.2, 0.0016, "careful", (beta.ppf(0.025, 20.5, 80.5), beta.ppf(0.975, 20.5, 80.5))),
        (0.2, 0.0016, "exact", (beta.ppf(0.025, 20, 81), beta.ppf(0.975, 21, 80))),
        # m = .0384 / .000384 = 100, x = 4: few events
        (0.04, 0.000384, "careful", (beta.ppf(0.025, 4, 97), beta.ppf(0.975, 5, 96))),
        (0.04, 0.000384, "jeffreys", (beta.ppf(0.025, 4.5, 96.5), beta.ppf(0.975, 4.5, 96.5))),
        # m = 50, x = ½: under one event
        (0.01, 0.000198, "careful", (0.0, beta.ppf(0.975, 1.5, 49.5))),
        (0.99, 0.000198, "jeffreys", (beta.ppf(0.025, 50.0, 1.0), 1.0)),
        # at an end, or without a variance, the number counted
        (0.0, 0.01, "jeffreys", (0.0, 1 - 0.025 ** (1 / 30))),
        (1.0, 0.0, "careful", (0.025 ** (1 / 30), 1.0)),
        (0.5, 0.0, "jeffreys", (beta.ppf(0.025, 15, 16), beta.ppf(0.975, 16, 15))),
    ],
)
def test_the_forms_of_a_share(value, variance, form, expected):
    low, high = share_ends(value, variance, 30, form=form, level=0.95)
    assert (low, high) == pytest.approx(expected, rel=1e-9)


def test_the_form_of_a_loss_without_a_largest_value():
    # shape L²/V = 25 and scale V/L = .02; above, L + w/2 = .65 and V + w²/2 = .055
    low, high = mean_loss_ends(0.5, 0.01, 0.3, level=0.9)
    above = gamma.ppf(0.95, 0.65**2 / 0.055) * 0.055 / 0.65
    assert (low, high) == pytest.approx((gamma.ppf(0.05, 25) * 0.02, above))
    assert mean_loss_ends(0.0, 0.0, 0.0, level=0.95) == (0.0, math.inf)
    small = mean_loss_ends(0.5e-12, 1e-26, 0.3e-12, level=0.9)  # the same in other units
    assert small == pytest.approx((low * 1e-12, high * 1e-12), rel=1e-9)


@pytest.mark.parametrize(
    ("units", "event", "times"),
    [
        # ρ = (.0525 − .5/200)²/.01 = ¼: 8/4 + 6 (100/200)²
        (200, 0.0525, 2 + 1.5),
        # ρ = (.0205 − .5/1000)²/.01 = .04: .32 + 6/100
        (1000, 0.0205, 0.32 + 0.06),
        # ρ = (.1005 − .0005)²/.01 = 1: no more than six
        (1000, 0.1005, 6),
        # few examples: six, whatever their losses
        (100, 0.005, 6),
    ],
)
def test_unseen_losses_follow_the_share_of_the_largest_one(units, event, times):
    parts = Components(0.01, 0.1, 0.0, units)
    assert unseen_losses(0.5, event, parts) == pytest.approx(times * event)
    other = Components(0.01e6, 0.1, 0.0, units)  # the same in other units
    assert unseen_losses(0.5e3, event * 1e3, other) == pytest.approx(times * event * 1e3)


def test_losses_that_do_not_vary_leave_none_unseen():
    assert unseen_losses(0.5, 0.05, Components(0.0, 0.0, 0.0, 200)) == 0.0


def test_the_coefficients_are_those_that_were_chosen():
    chosen = {name: (rule.a, rule.c, rule.form) for name, rule in RULES.items()}
    assert chosen == {
        "error_rate": (0.75, 0.75, "careful"),
        "accuracy": (0.75, 0.75, "careful"),
        "brier_score": (1.0, 0.75, "careful"),
        "log_loss": (1.0, 0.75, "gamma"),
        "roc_auc": (1.0, 2.0, "careful"),
        "average_precision": (1.0, 1.5, "exact"),
        "eleven_point_precision": (1.0, 1.5, "own"),
        "breakeven_point": (1.0, 1.5, "own"),
        "best_f1": (1.0, 1.5, "own"),
        "ks": (1.0, 1.5, "own"),
    }
    assert (rule_of("recall").a, rule_of("recall").c, rule_of("recall").form) == (1, 1, "jeffreys")


def test_a_range_of_its_own_is_mapped_to_that_of_a_share():
    parts = Components(0.0064, 0.0, 0.0, 100)
    found = RefitQuestion(
        value=-0.6, parts=parts, rule=OTHER, counted=100, level=0.95, measure_range=(-1.0, 1.0)
    ).interval()
    # (1 − .6)/2 = .2, and V / 4 = .0016
    low, high = share_ends(0.2, 0.0016, 100, form="jeffreys", level=0.95)
    assert (found.low, found.high) == pytest.approx((2 * low - 1, 2 * high - 1))


def test_ragged_judgements_worked_by_hand():
    # Example 2 is judged once: it counts in V₁ and says nothing of u and s².
    psi = np.array([[1.0, -1.0, 0.5], [-1.0, -1.0, np.nan]])
    parts = components(psi, np.array([[0, 0, 0], [1, 1, 0]]))
    assert parts.independent == pytest.approx((1 + 1 + 0.25) / 9)
    assert parts.disagreement == 1.0  # w = 2, 0 of squares 1, 1
    # d = (2 + 0)/2 and (−2 + 0)/2; noise 2 · 1 / 2 = 1; (1 − 1)/½ = 0.
    assert parts.together == pytest.approx(0.0)


def test_one_repetition_says_nothing_of_disagreement():
    parts = components(np.array([[0.5, -0.5]]), np.array([[0, 1]]))
    assert not parts.repeated
    assert math.isnan(parts.together)
    assert parts.variance(OTHER) == parts.independent == 0.125
    with pytest.raises(InputError, match="two repetitions"):
        refit_interval([[1, 0]], [[0, 1]])


def test_folds_of_one_example_say_nothing_of_common_errors():
    losses = np.tile([[1.0, 0, 0, 1, 0, 0]], (2, 1))
    losses[1, 1] = 1
    found = refit_interval(losses, np.tile(np.arange(6), (2, 1)))
    assert math.isnan(found.together)
    assert found.lengthening == 1.0
    assert has_code(notes_on(found), "common_errors_unknown")


def test_a_note_says_where_refits_err_together():
    found = refit_interval(LOSSES, REFITS)
    assert has_code(notes_on(found), "refits_err_together")
    assert f"{found.lengthening:.1f} times as long" in notes_on(found)[0]
    assert notes_on(Interval(0.0, 1.0, 0.95, "whole_range")) == ()


def test_groups_are_the_examples():
    # Two groups of two: sums of ψ are 3/2 and −½, then −½ and −½; G/n is ½.
    groups = np.array([0, 0, 1, 1])
    parts = components(LOSSES - 0.25, REFITS, groups)
    assert parts.units == 2
    # mean squares (9/16 + 1/16)/2 and 1/16; over G², times G/(G − 1) = 2
    assert parts.independent == pytest.approx(2 * (5 / 16 + 1 / 16) / 4)
    assert math.isnan(parts.together)  # one group in each fold
    assert refit_interval(LOSSES, REFITS, groups=groups).method == "whole_range"


def test_groups_have_the_interval_of_one_model_stretched():
    # Six groups of two in two folds of three.  The repetitions differ in the first example alone,
    # which is wrong in one of two: p = 4.5/12, and the sums of ψ over G/n = ½ are 1.25 and .25 of
    # the first group, 1.25 of the second, .25 of the third, −.75 of the others.
    losses = np.zeros((2, 12))
    losses[:, [1, 2, 3, 4]] = 1
    losses[0, 0] = 1
    groups = np.repeat(np.arange(6), 2)
    folds = np.tile(groups % 2, (2, 1))
    parts = components(losses - 4.5 / 12, numbered(folds), groups)
    squares = (0.625**2 + 0.125**2) / 2 + 0.625**2 + 0.125**2 + 3 * 0.375**2
    assert parts.independent == pytest.approx(6 / 5 * squares / 36)
    assert parts.disagreement == pytest.approx(0.5**2 / 2 / squares)
    # d = ±.5/3 where the first group is, and 2 · (.125/3)/3 of d² is noise: nothing is left.
    assert parts.together == pytest.approx(0, abs=1e-12)
    rule = rule_of("error_rate")
    assert parts.stretch(rule) == pytest.approx(math.sqrt(1 + 0.75 * parts.disagreement))
    values = ratio_values(np.array([1.5, 2, 1, 0, 0, 0]), np.full(6, 2.0))
    interval = refit_interval(losses, folds, groups=groups)
    expected = group_jackknife(values, stretch=parts.stretch(rule))
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert interval.method == "cluster_variance_components"


def test_refits_that_agree_have_the_interval_of_one_model_in_groups():
    losses = np.tile([1.0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0], (3, 1))
    groups = np.repeat(np.arange(6), 2)
    folds = np.stack([groups % 2, groups // 3, groups % 3])
    interval = refit_interval(losses, folds, groups=groups)
    alone = group_jackknife(ratio_values(np.bincount(groups, losses[0]), np.full(6, 2.0)))
    assert (interval.low, interval.high) == (alone.low, alone.high)


def test_one_example_of_a_class_leaves_everything_open():
    assert few_of(1) == math.inf
    assert few_of(5) == 1.25


@pytest.mark.parametrize("losses", [[[0, 2], [0, 1]], [0, 1], [[]]])
def test_what_are_no_losses_is_refused(losses):
    with pytest.raises(InputError):
        refit_interval(losses, np.zeros_like(np.asarray(losses), dtype=int))


@settings(max_examples=60)
@given(judged(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_it_contains_the_value_and_lies_in_the_range(case, level):
    losses, parts = case
    found = refit_interval(losses, parts, level=level)
    assert 0 <= found.low <= losses.mean() <= found.high <= 1
    assert found.low < found.high


@settings(max_examples=60)
@given(judged(), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(case, random):
    losses, parts = case
    rows, columns = list(range(len(losses))), list(range(losses.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = refit_interval(losses, parts)
    other = refit_interval(losses[rows][:, columns], 7 - 2 * parts[rows][:, columns])
    assert (other.low, other.high) == pytest.approx((one.low, one.high))


FIVE_OF_THIRTEEN = np.array([[0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0]] * 2, dtype=float)
FOLDS_OF_THIRTEEN = np.array([np.arange(13) % 2, np.arange(13) % 3 % 2])


@settings(max_examples=60)
@given(judged())
@example((FIVE_OF_THIRTEEN, FOLDS_OF_THIRTEEN))  # just as many errors as are not few
def test_accuracy_is_the_mirror_of_the_error(case):
    losses, parts = case
    one = refit_interval(losses, parts)
    other = refit_interval(1 - losses, parts)
    assert (1 - other.high, 1 - other.low) == pytest.approx((one.low, one.high), abs=1e-9)


@settings(max_examples=30)
@given(judged())
def test_repetitions_that_agree_have_the_variance_of_independent_examples(case):
    losses, parts = case
    same = np.repeat(losses[:1], len(losses), axis=0)
    found = components(same - same.mean(), numbered(parts))
    p = same.mean()
    assert found.variance(OTHER) == pytest.approx(p * (1 - p) / losses.shape[1])
    assert found.together == pytest.approx(0.0, abs=1e-15)


@settings(max_examples=30)
@given(judged())
def test_components_are_those_of_a_plain_loop(case):
    losses, parts = case
    repetitions, _ = losses.shape
    psi = losses - losses.mean()
    within = psi.var(axis=0, ddof=1)
    terms = []
    for r in range(repetitions):
        others = np.delete(psi, r, axis=0).mean(axis=0)
        for k in range(parts.max() + 1):
            own = parts[r] == k
            b = own.sum()
            if b > 1:
                d = (psi[r] - others)[own].mean()
                noise = repetitions / (repetitions - 1) * within[own].mean() / b
                terms.append((d**2 - noise) / (1 - 1 / b))
    found = components(psi, numbered(parts))
    assert found.together == pytest.approx(np.mean(terms), abs=1e-12)


def test_a_group_for_each_example_changes_the_components_by_few_groups_only():
    rng = np.random.default_rng(3)
    losses = (rng.random((3, 30)) < 0.3).astype(float)
    parts = numbered(np.stack([rng.permutation(np.arange(30) % 5) for _ in range(3)]))
    psi = losses - losses.mean()
    one, other = components(psi, parts), components(psi, parts, np.arange(30))
    assert other.independent == pytest.approx(one.independent * 30 / 29)
    assert (other.disagreement, other.together) == pytest.approx((one.disagreement, one.together))


def test_the_components_of_cells_worked_by_hand():
    # The losses worked by hand above, as cells: g = −¼ · ¼ where right, ¾ · ¼ where wrong.
    counted = CellPairs.of(LOSSES.astype(np.int32), REFITS)
    assert counted.totals.tolist() == [6, 2]
    assert counted.sizes.tolist() == [2, 2, 2, 2]
    # Two examples with T = (1, 1): the first model put both into the second cell, 2 · 2 − 2.
    assert counted.moved.tolist() == [[-2, 2], [0, 0], [2, -2], [0, 0]]
    assert counted.pairs.tolist() == [[0, 1]]
    assert counted.split.tolist() == [[2], [0], [2], [0]]
    parts = components_of_cells(counted, np.array([-1 / 16, 3 / 16]))
    assert parts.independent == pytest.approx(3 / 64)
    assert parts.disagreement == 1.0
    assert parts.together == pytest.approx(1 / 2)
    assert parts.units == 4


@settings(max_examples=50)
@given(judged(), st.integers(1, 9))
def test_components_of_cells_are_those_of_their_influences(case, size):
    losses, parts = case
    rng = np.random.default_rng(losses.shape[1] + size)
    stable = rng.integers(0, size, losses.shape[1])
    cells = np.where(losses > 0, rng.integers(0, size, losses.shape), stable).astype(np.int32)
    gradient = rng.standard_normal(size + 1)  # of one more cell, in which nobody is
    found = components_of_cells(CellPairs.of(cells, numbered(parts)), gradient)
    expected = components(cells.shape[1] * gradient[cells], numbered(parts))
    assert found.units == expected.units
    assert found.independent == pytest.approx(expected.independent)
    assert found.disagreement == pytest.approx(expected.disagreement, abs=1e-12)
    scale = cells.shape[1] * expected.independent
    assert found.together == pytest.approx(expected.together, rel=1e-9, abs=1e-12 * scale)


T3 = 3.182446305  # Student's t of 3 degrees at .975
SHIFT = (1 + 2 * 1.959963985**2) / 6


def test_one_repetition_by_hand():
    pseudo, refits = np.array([[0.0, 0.0, 0.0, 4.0]]), np.zeros((1, 4), dtype=int)
    found = pseudo_value_interval(1.0, pseudo, refits, level=0.95)
    # ψ = −1, −1, −1, 3: V₁ = 12/16, V = 4/3 · V₁ = 1; Σψ⁴/(Σψ²)² − 1/4 = 1/3, so ν = min(3, 6).
    # Σψ³ = 24, and the largest ψ adds 3/4.
    assert found.low == pytest.approx(1 - T3)
    assert found.high == pytest.approx(1 + T3 + SHIFT * 24 / 64 + 3 / 4)
    assert found.method == "pseudo_values"


def test_two_repetitions_by_hand():
    pseudo = np.array([[0.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    refits = np.array([[0, 0, 1, 1], [2, 3, 2, 3]])
    found = pseudo_value_interval(0.5, pseudo, refits, level=0.95)
    # V₁ = (3 · ¼ + 6¼)/16 = 7/16.  The last example differs by 4: u = min(1, 8/7), and s² = 0.
    # Its mean influence is 3/2, that of the others −½.
    variance = 4 / 3 * 7 / 16 * 2
    half = T3 * np.sqrt(variance)
    assert found.low == pytest.approx(0.5 - half)
    assert found.high == pytest.approx(0.5 + half + SHIFT * 3 / (64 * variance) + 1.5 / 4)
    assert (found.disagreement, found.together) == (1.0, pytest.approx(0.0))


def test_it_turns_with_the_score_and_grows_with_its_unit():
    rng = np.random.default_rng(1)
    pseudo, refits = rng.exponential(size=(3, 40)), rng.integers(0, 5, (3, 40))
    refits += 5 * np.arange(3)[:, None]
    one = pseudo_value_interval(1.0, pseudo, refits, level=0.9)
    turned = pseudo_value_interval(-2.0, -2 * pseudo, refits, level=0.9)
    assert (turned.low, turned.high) == pytest.approx((-2 * one.high, -2 * one.low))
    assert one.high - 1 > 1 - one.low  # skewed to the right


def test_models_that_move_all_their_examples_lengthen_it():
    rng = np.random.default_rng(2)
    refits = np.array([rng.permutation(np.repeat(np.arange(5), 20)) + 5 * r for r in range(4)])
    losses = rng.normal(size=100) + rng.normal(size=(4, 100)) / 2
    together = losses + rng.normal(size=20)[refits]
    parts = components(together - together.mean(), refits)
    assert parts.together > 0.3
    apart = pseudo_value_interval(0.0, losses, refits, level=0.95)
    found = pseudo_value_interval(0.0, together, refits, level=0.95)
    assert found.lengthening > 2
    assert apart.lengthening < 1.2
    assert found.width > 2 * 1.96 * np.sqrt(parts.variance(OTHER))


def test_groups_are_the_units():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(10), 5)
    refits = np.repeat(np.arange(5), 10)[None, :] + [[0], [5]]
    pseudo = np.repeat(rng.normal(size=10), 5) + np.zeros((2, 50))
    found = pseudo_value_interval(0.0, pseudo, refits, level=0.95, groups=groups)
    each = pseudo_value_interval(0.0, pseudo[:, ::5], refits[:, ::5], level=0.95)
    assert (found.low, found.high) == pytest.approx((each.low, each.high))
    assert found.method == "cluster_pseudo_values"


def test_an_example_that_stands_for_two_counts_as_two():
    rng = np.random.default_rng(6)
    pseudo, refits = rng.normal(size=(1, 30)), np.zeros((1, 30), dtype=int)
    half = pseudo_value_interval(0.0, pseudo, refits, level=0.95, weights=np.full(30, 2.0))
    whole = pseudo_value_interval(0.0, pseudo, refits, level=0.95)
    assert half.width == pytest.approx(whole.width / np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("pseudo", [np.ones((2, 5)), np.array([[0.0, 1.0]])])
def test_without_a_spread_there_is_none(pseudo):
    refits = np.arange(pseudo.size).reshape(pseudo.shape) // 2
    assert pseudo_value_interval(1.0, pseudo, refits, level=0.95) is None


def test_an_example_that_was_never_judged_does_not_count():
    pseudo = np.array([[0.0, 1.0, 3.0, np.nan], [1.0, 1.0, 2.0, np.nan]])
    refits = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])
    found = pseudo_value_interval(1.0, pseudo, refits, level=0.95)
    assert found == pseudo_value_interval(1.0, pseudo[:, :3], refits[:, :3], level=0.95)
