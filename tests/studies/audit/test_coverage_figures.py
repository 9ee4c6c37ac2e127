from pathlib import Path

import pytest

from studies.audit.coverage_figures import FIGURES, tables_in
from studies.audit.enumeration import enumerate_all
from truerisk.evaluation.measured_coverage import FILES, LEARNER, coverage_of, figures_as_csv

DOCS = Path(__file__).parents[3] / "docs"
PACKAGE = Path(__file__).parents[3] / "src" / "truerisk" / "evaluation"

PREDICTIONS = """\
Sizes: 5, 1000.

### Promised: 90 %

| method | least | at | mean | under | width |
| --- | --- | --- | --- | --- | --- |
| wilson | 0.79 | n = 5, p = 0.04 | 0.91 | 40.4 % | 0.902 |

| method | 5 | 1000 |
| --- | --- | --- |
| wilson | 0.792 | 0.807 |

## Every measure, by simulation

counted is so and so.  70 samples a
figure.

| measure | method | n = 50: least / mean | n = 200: least / mean |
| --- | --- | --- | --- |
| f2 | smoothed_delta | 0.92 / 0.95 | – |
"""

SIZES = """\
First setting:

|  | test | n = 100: 50 pairs, ±0.062 | n = 300: 40 pairs, ±0.07 |
| --- | --- | --- | --- |
| error_rate | mcnemar_mid_p | 0.01 / 0.06 | **0.09 / 0.10 of 39** |
| two, wins | sign | 0.02 | – |

Second setting:

|  | test | n = 100: 20 pairs, ±0.1 |
| --- | --- | --- |
| error_rate | mcnemar_mid_p | 0.01 / 0.02 |
"""


def found(name, text):
    return {
        (one.method, one.measure, one.smallest, one.largest): (
            one.level,
            one.samples,
            round(one.mean, 9),
            round(one.least, 9),
        )
        for one in FIGURES[name](text)
    }


def test_proportions_hold_for_any_measure_and_measures_for_themselves():
    assert found("coverage", PREDICTIONS) == {
        ("wilson", "", 5, 1000): (0.9, 0, 0.91, 0.79),
        ("smoothed_delta", "f2", 50, 50): (0.95, 70, 0.95, 0.92),
    }


def test_intervals_of_differences_cover_where_they_do_not_exclude_0():
    # Over two settings: .94 and .98 have the mean .96; the pairs are the fewest of both.
    assert found("size-of-tests", SIZES) == {
        ("tango", "error_rate", 100, 100): (0.95, 20, 0.96, 0.94),
        ("tango", "error_rate", 300, 300): (0.95, 40, 0.9, 0.9),
    }


@pytest.mark.parametrize("page", FILES)
def test_the_shipped_figures_are_those_of_the_committed_page(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    shipped = (PACKAGE / FILES[page]).read_text(encoding="utf-8")
    assert figures_as_csv(list(FIGURES[page](text))) == shipped


def test_the_page_of_learners_says_in_words_what_its_figures_say():
    words = (DOCS / "coverage-of-learners.md").read_text(encoding="utf-8")
    asked = {"page": "coverage-of-learners", "design": "5 × 10 folds"}
    for target, title in (("this model", "This model's"), (LEARNER, "The learner's")):
        one = coverage_of("agreement_binomial", "error_rate", target=target, **asked)
        told = f"covers {one.mean:.3f} on average and {one.least:.3f} at least"
        assert f"- {title} error: the default {told}" in words


def test_the_figures_of_proportions_are_what_enumeration_gives():
    sizes = (5, 10, 17, 20)
    for method in ("clopper_pearson", "wilson"):
        rows = list(enumerate_all([method], sizes, [0.95]))
        shipped = coverage_of(method, "recall")
        assert min(row.least for row in rows) >= shipped.least - 5e-5


def test_a_page_without_tables_has_none():
    assert list(tables_in("# A page\n\nwith words.\n")) == []
    with pytest.raises(ValueError, match="Sizes"):
        list(FIGURES["coverage"]("no sizes"))
