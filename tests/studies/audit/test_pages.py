import math
from dataclasses import replace

import pytest

from studies.audit import pages
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from studies.audit.ledger import write_ledger
from studies.audit.pages import (
    STUDIES,
    Ledgers,
    figures_of,
    in_band,
    is_kept,
    is_low,
    made_from,
    section,
    write_pages,
)
from studies.audit.proportions import enumerate_all
from truerisk.errors import InputError
from truerisk.intervals.measured_coverage import NO_PROMISE, coverage_of


@pytest.fixture(scope="module")
def ledgers():
    return Ledgers.read()


def cell(coverage=0.95, **others):
    facts = {
        "study": "holdout",
        "problem": "a coin",
        "role": HELD_OUT,
        "design": "",
        "n": 100,
        "measure": "f2",
        "method": "delta",
        "level": 0.95,
        "target": "this model",
        "samples": 400,
        "undefined": 0,
        "width": 0.2,
    }
    return CoverageCell(coverage=coverage, **facts | others)


def test_every_committed_page_and_the_shipped_figures_are_made_from_the_ledgers(ledgers):
    for path, content in made_from(ledgers).items():
        assert path.read_text(encoding="utf-8") == content, f"{path}: run `make pages`"


@pytest.mark.parametrize(
    ("coverage", "band", "kept", "low"),
    [
        # Two standard errors of 400 samples are 0.0218.
        (0.95, True, True, False),
        (0.93, True, True, False),
        (0.928, True, False, False),
        (0.899, True, False, False),
        (0.898, False, False, False),
        (0.879, False, False, True),
        (1.0, True, True, False),
    ],
)
def test_a_cell_is_judged_with_its_monte_carlo_error(coverage, band, kept, low):
    one = cell(coverage)
    study = STUDIES["holdout"]
    assert (in_band(one, study), is_kept(one, study), is_low(one, study)) == (band, kept, low)


def test_the_band_follows_the_level():
    # At 99 % misses may be from 0.003 to 0.016; 40,000 samples are off by 0.001.
    study = STUDIES["holdout"]
    assert in_band(cell(0.9835, level=0.99, samples=40_000), study)
    assert not in_band(cell(0.9825, level=0.99, samples=40_000), study)
    assert is_low(cell(0.97, level=0.99), study)


def test_refits_have_a_narrower_band():
    refits = STUDIES["refits"]
    assert not in_band(cell(0.925, samples=400_000), refits)
    assert in_band(cell(0.925, samples=400_000), STUDIES["holdout"])
    assert is_low(cell(0.869), refits)
    assert not is_low(cell(0.871), refits)


def figures(ledgers, page):
    return {
        (one.method, one.measure, one.design, one.smallest, one.largest): (
            one.role,
            one.cells,
            one.samples,
            one.mean,
            one.least,
        )
        for one in figures_of(ledgers)
        if one.page == page
    }


def test_cells_become_one_figure_and_held_out_ones_come_first(ledgers):
    rows = (
        cell(0.92, n=50, samples=70),
        cell(0.98, n=200),
        cell(0.5, role=CHOSEN_ON),
        cell(0.9, measure="f1", role=CHOSEN_ON),
        cell(math.nan, measure="undefined", samples=0, undefined=400),
    )
    few = replace(ledgers, studies={"holdout": rows}, proportions=ledgers.proportions[:1])
    found = figures(few, "coverage")
    assert found["delta", "f2", "", 50, 200] == (HELD_OUT, 2, 70, 0.95, 0.92)
    assert found["delta", "f1", "", 100, 100] == (CHOSEN_ON, 1, 400, 0.9, 0.9)
    assert len(found) == 3


def test_the_design_counts_where_refits_are_told_apart(ledgers):
    rows = (cell(0.9, design="10 folds"), cell(0.96, design="5 × 10 folds"))
    few = replace(ledgers, studies={"refits": rows, "groups": rows})
    designs = [key[2] for key in figures(few, "coverage-of-learners")]
    assert sorted(designs) == ["10 folds", "5 × 10 folds"]
    assert figures(few, "coverage")["delta", "f2", "", 100, 100][1] == 2


def test_proportions_hold_for_any_measure(ledgers):
    one = replace(ledgers.proportions[0], method="wilson", level=0.9, n=5, mean=0.9, least=0.79)
    two = replace(one, n=1000, mean=0.92, least=0.85)
    few = replace(ledgers, proportions=(one, two), studies={})
    assert figures(few, "coverage") == {
        ("wilson", "", "", 5, 1000): (HELD_OUT, 1100, 0, 0.91, 0.79)
    }


def test_intervals_of_differences_cover_where_they_do_not_exclude_0(ledgers):
    one = replace(
        ledgers.tests[0], test="error_rate", method="mcnemar_mid_p", n=100, pairs=50, excluded=0.06
    )
    two = replace(one, setting="another", pairs=20, excluded=0.02)
    without = replace(one, test="wins", method="sign", excluded=math.nan)
    few = replace(ledgers, tests=(one, two, without), studies={})
    # Over two settings: .94 and .98 have the mean .96; the pairs are the fewest of both.
    assert figures(few, "size-of-tests") == {
        ("tango", "difference of error_rate", "", 100, 100): (HELD_OUT, 2, 20, 0.96, 0.94)
    }


def test_a_section_says_roles_shares_error_and_low_cells():
    rows = (
        cell(0.95, problem="a coin"),
        cell(0.86, problem="a die", n=50, rival="wald", rival_width=0.4),
        cell(0.97, problem="a die", role=CHOSEN_ON, undefined=400),
    )
    text = section("holdout", STUDIES["holdout"], rows)
    assert "2 problems (2 held out and 1 chosen on)" in text
    assert (
        "| f2 | delta | 95 % | this model | held out | 50–100 | 2 | 400 | 0.022 | 0.905 | 0.860 | "
        "0.50 | 0.50 | 1 | 0.50 × wald | 0.000 |" in text
    )
    assert (
        "| chosen on | 100 | 1 | 400 | 0.022 | 0.970 | 0.970 | 1.00 | 1.00 | 0 | – | 0.500 |"
        in text
    )
    assert "- 0.860: f2 (delta), a die, n = 50, held out, 400 samples" in text


def test_a_study_that_nobody_described_has_its_section(tmp_path):
    for path in pages.LEDGERS.glob("*.csv"):
        lines = path.read_bytes().splitlines(keepends=True)
        few = None if path.stem == "proportions" else 40  # those are quoted by name
        (tmp_path / path.name).write_bytes(b"".join(lines[:few]))
    write_ledger(CoverageCell, "new_things", [cell(study="new_things")], tmp_path)
    made = made_from(Ledgers.read(tmp_path))
    assert "\n## New things\n" in made[pages.DOCS / "coverage.md"]


def test_the_figures_of_proportions_are_what_enumeration_gives(ledgers):
    recorded = {(row.method, row.n, row.level): row for row in ledgers.proportions}
    for row in enumerate_all(["clopper_pearson", "wilson"], (5, 10, 17, 20), [0.95]):
        known = recorded[row.method, row.n, row.level]
        assert (row.least, row.mean) == pytest.approx((known.least, known.mean), rel=1e-8)


def test_a_ledger_with_other_columns_is_refused(tmp_path):
    (tmp_path / "proportions.csv").write_text("method,share\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"proportions\.csv must have the columns method, level"):
        write_pages(tmp_path)


def test_the_evidence_has_one_row_per_interval_and_names_the_lowest_cells(ledgers):
    rows = (cell(0.95), cell(0.8, measure="f1"), cell(0.5, level=0.9), cell(0.1, target=NO_PROMISE))
    few = replace(ledgers, studies={"holdout": rows}, perturbation=())
    text = pages.evidence_page(few, f"# Evidence\n{pages.BEGIN}\nold\n{pages.END}\nmore\n")
    assert text.startswith("# Evidence\n")
    assert text.endswith(f"{pages.END}\nmore\n")
    assert "old" not in text
    assert (
        "| delta | predictions of one model, 2 measures | 100 | 2 | 400 | held out | 0.875 | 0.800 "
        "| 0.50 | 1 |" in text
    )
    assert "1 of 2 cells are low, the lowest: 0.800 f1 (delta), a coin, n = 100." in text


def test_what_is_quoted_of_proportions_is_what_ships():
    figure = coverage_of("clopper_pearson", "error_rate")
    page = (pages.DOCS / "evidence.md").read_text(encoding="utf-8")
    [line] = [line for line in page.splitlines() if line.startswith("| clopper_pearson | k of n ")]
    assert f"| {figure.mean:.3f} | {figure.least:.3f} |" in line
