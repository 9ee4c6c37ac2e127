import math
from dataclasses import replace

import pytest

from studies.audit import pages
from studies.audit.ledger import mean
from studies.audit.pages import Ledgers, figures_of, made_from, write_pages
from studies.audit.proportions import enumerate_all
from truerisk.errors import InputError
from truerisk.intervals.measured_coverage import LEARNER, coverage_of


@pytest.fixture(scope="module")
def ledgers():
    return Ledgers.read()


def test_every_committed_page_and_the_shipped_figures_are_made_from_the_ledgers(ledgers):
    for path, content in made_from(ledgers).items():
        assert path.read_text(encoding="utf-8") == content, f"{path}: run `make pages`"


def figures(ledgers, page):
    return {
        (one.method, one.measure, one.smallest, one.largest): (
            one.level,
            one.samples,
            round(one.mean, 9),
            round(one.least, 9),
        )
        for one in figures_of(ledgers)
        if one.page == page
    }


def test_proportions_hold_for_any_measure_and_measures_for_themselves(ledgers):
    one = replace(ledgers.proportions[0], method="wilson", level=0.9, n=5, mean=0.9, least=0.79)
    two = replace(one, n=1000, mean=0.92, least=0.85)
    measured = replace(
        ledgers.predictions[0], measure="f2", method="delta", n=50, samples=70, coverage=0.92
    )
    other = replace(measured, population="another", coverage=0.98)
    few = replace(ledgers, proportions=(one, two), predictions=(measured, other))
    assert figures(few, "coverage") == {
        ("wilson", "", 5, 1000): (0.9, 0, 0.91, 0.79),
        ("delta", "f2", 50, 50): (0.95, 70, 0.95, 0.92),
    }


def test_intervals_of_differences_cover_where_they_do_not_exclude_0(ledgers):
    one = replace(
        ledgers.tests[0], test="error_rate", method="mcnemar_mid_p", n=100, pairs=50, excluded=0.06
    )
    two = replace(one, setting="another", pairs=20, excluded=0.02)
    without = replace(one, test="wins", method="sign", excluded=math.nan)
    # Over two settings: .94 and .98 have the mean .96; the pairs are the fewest of both.
    few = replace(ledgers, tests=(one, two, without))
    assert figures(few, "size-of-tests") == {
        ("tango", "error_rate", 100, 100): (0.95, 20, 0.96, 0.94)
    }


def test_the_page_of_learners_says_in_words_what_its_figures_say():
    words = (pages.DOCS / "coverage-of-learners.md").read_text(encoding="utf-8")
    refits = {"page": "coverage-of-learners", "design": "5 × 10 folds"}
    for target, title in (("this model", "This model's"), (LEARNER, "The learner's")):
        one = coverage_of("agreement_binomial", "error_rate", target=target, **refits)
        sentence = f"covers {one.mean:.3f} on average and {one.least:.3f} at least"
        assert f"- {title} error: the default {sentence}" in words


def test_the_summary_of_learners_is_that_of_its_cells(ledgers):
    # The cells have three digits.
    for row in ledgers.learners.intervals:
        cells = [cell for cell in ledgers.learners.cells if cell.interval == row.interval]
        shares = [
            cell.of_model if row.target == "this model" else cell.of_learner for cell in cells
        ]
        assert (len(cells), min(shares), max(shares)) == (row.cells, row.least, row.most)
        assert mean(shares) == pytest.approx(row.mean, abs=0.0011)


def test_the_figures_of_proportions_are_what_enumeration_gives(ledgers):
    recorded = {(row.method, row.n, row.level): row for row in ledgers.proportions}
    for row in enumerate_all(["clopper_pearson", "wilson"], (5, 10, 17, 20), [0.95]):
        known = recorded[row.method, row.n, row.level]
        assert (row.least, row.mean) == pytest.approx((known.least, known.mean), rel=1e-8)


def test_a_ledger_with_other_columns_is_refused(tmp_path):
    (tmp_path / "proportions.csv").write_text("method,share\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"proportions\.csv must have the columns method, level"):
        write_pages(tmp_path)


FIVE_BY_TEN = {"page": "coverage-of-learners", "design": "5 × 10 folds"}
PERTURBED = {"page": "coverage-of-perturbation"}
QUOTED = {
    "Clopper-Pearson": ("clopper_pearson", {}),
    "Wald": ("wald", {}),
    "agreement": ("agreement_binomial", FIVE_BY_TEN),
    "corrected resampled t": ("corrected_t", FIVE_BY_TEN),
    "plain t": ("plain_t (invalid)", FIVE_BY_TEN),
    "perturbation resampling": (
        "perturbation_effective_size",
        {**PERTURBED, "design": "cross-validated losses"},
    ),
    "the same as published": (
        "perturbation_percentile",
        {**PERTURBED, "design": "training losses"},
    ),
}


@pytest.mark.parametrize("name", QUOTED)
def test_the_summary_of_the_evidence_quotes_the_ledgers(name):
    method, where = QUOTED[name]
    figure = coverage_of(method, "error_rate", **where)
    page = (pages.DOCS / "evidence.md").read_text(encoding="utf-8")
    [line] = [line for line in page.splitlines() if line.startswith(f"| {name}")]
    least = f"{figure.least:.4f}" if 0 < figure.least < 0.001 else f"{figure.least:.3f}"
    assert line.endswith(f"| {least} | {figure.mean:.3f} |")
