"""The pages of the documentation and the data that ships, made from the ledgers.

=================================  ==============================================================
made                               from the ledgers
=================================  ==============================================================
docs/coverage.md                   proportions, predictions
docs/coverage-of-learners.md       learner_cells, learner_intervals, learner_measures
docs/coverage-of-perturbation.md   perturbation
docs/size-of-tests.md              tests
docs/ledger.md                     all of them
measured_coverage.csv              all of them; what the package quotes
=================================  ==============================================================
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studies.audit.coverage_page import coverage_page, measure_table, summary_of_level
from studies.audit.learner_page import (
    MODEL,
    CellCoverage,
    IntervalSummary,
    LearnerLedgers,
    MeasureSummary,
    interval_table,
    learner_page,
)
from studies.audit.ledger import DOCS, LEDGERS, ROOT, mean, read_ledger
from studies.audit.perturbation import STANDARD_C, PerturbationCoverage
from studies.audit.perturbation_page import perturbation_page, summary_table
from studies.audit.predictions import SimulatedCoverage
from studies.audit.proportions import EnumeratedCoverage
from studies.audit.sizes import TestSize
from studies.audit.sizes_page import in_short, sizes_page
from truerisk.intervals.measured_coverage import (
    ANY,
    FILE,
    LEARNER,
    PERTURBATION,
    THIS_MODEL,
    CoverageFigure,
    Page,
    figures_as_csv,
)

SHIPPED = ROOT / "src" / "truerisk" / "intervals" / FILE
LEVEL = 0.95
ERROR_RATE = "error_rate"
FIVE_BY_TEN, TEN, THIRD, OWN = "5 × 10 folds", "10 folds", "a third held out", "refits of its own"
TRAINING, VALIDATED = "training losses", "cross-validated losses"
# What a ledger calls an interval → what an estimate calls it, and the refits.
OF_LEARNERS = {
    "agreement": ("agreement_binomial", FIVE_BY_TEN),
    "agreement, Jeffreys": ("agreement_jeffreys", FIVE_BY_TEN),
    "agreement, damped": ("agreement_damped", FIVE_BY_TEN),
    "corrected t, 5 × 10": ("corrected_t", FIVE_BY_TEN),
    "corrected t, 10": ("corrected_t", TEN),
    "plain t, 5 × 10 (invalid)": ("plain_t (invalid)", FIVE_BY_TEN),
    "plain t, 10 (invalid)": ("plain_t (invalid)", TEN),
    "limit theorem, all pairs": ("cross_validation_clt_all_pairs", TEN),
    "limit theorem, within folds": ("cross_validation_clt_within_folds", TEN),
    "binomial, 10 folds pooled": ("pooled_binomial", TEN),
    "hold-out, one third": ("clopper_pearson", THIRD),
    "nested cross-validation": ("nested_cross_validation", OWN),
    "conservative Z": ("conservative_z", OWN),
}
OF_SVMS = {
    "training, percentile": ("perturbation_percentile", TRAINING),
    "training, normal": ("perturbation_normal", TRAINING),
    "cross-validated, percentile": ("perturbation_percentile", VALIDATED),
    "cross-validated, normal": ("perturbation_normal", VALIDATED),
    "cross-validated, effective size": ("perturbation_effective_size", VALIDATED),
    "exact binomial": ("clopper_pearson", "5 folds pooled"),
    "agreement, 5 × 5": ("agreement", "5 × 5 folds"),
}
SHARES = {"recall", "precision", "specificity", "f1"}  # k of n, by the binomial at agreement's size
# Tests whose interval has another name.
INTERVAL_OF = {
    "mcnemar_mid_p": "tango",
    "perturbation": "perturbation_normal",
    "wilcoxon": "signed_rank",
}
ANY_SCORES = {"two classifiers": ANY}
TESTS_OF_LEARNERS = {"cautious_t"}

HEAD = """# The ledger of measured coverage

An interval promises to contain the truth so many times in a hundred. Here is how often each kind
did when that was measured, with the truth known: by summing over all outcomes, or by simulation.
`make audit` measures everything anew, in hours, and writes this page and those it leads to from the
ledgers in studies/ledgers; they say what was drawn, how often, and with which seed. What is
promised here is 95 %.

The worst figure matters more than the mean: it is what a reader with unlucky data gets.
"""
PROPORTIONS = """\
Accuracy, error rate, precision, recall: k of n. *Least* and *mean* are over eleven sizes from 5 to
1000 and 550 proportions. The default is `clopper_pearson`; `wald`, the interval of most textbooks,
is there to be compared with."""
MEASURES = """\
The interval that `truerisk score` gives, for populations with a common and a rare class, and with
three and four classes."""
LEARNERS = """\
The named intervals of `truerisk estimate` for the model trained on all examples. The default,
`variance_components`, has a ledger of its own: studies/ledgers/refits.csv."""
SVMS = """\
The intervals of `truerisk perturb`; `cross-validated, effective size` is the default, *training*
the form as published."""
TESTS = """\
How often the default tests of `truerisk compare`, `tr.compare_models` and `truerisk rank` say
"different" of models that are equally good; 0.05 is promised."""


@dataclass(frozen=True)
class Ledgers:
    """All that was measured."""

    proportions: tuple[EnumeratedCoverage, ...]
    predictions: tuple[SimulatedCoverage, ...]
    learners: LearnerLedgers
    perturbation: tuple[PerturbationCoverage, ...]
    tests: tuple[TestSize, ...]

    @classmethod
    def read(cls, folder: Path = LEDGERS) -> "Ledgers":
        """Read every ledger of a folder."""
        return cls(
            read_ledger(EnumeratedCoverage, "proportions", folder),
            read_ledger(SimulatedCoverage, "predictions", folder),
            LearnerLedgers(
                read_ledger(CellCoverage, "learner_cells", folder),
                read_ledger(IntervalSummary, "learner_intervals", folder),
                read_ledger(MeasureSummary, "learner_measures", folder),
            ),
            read_ledger(PerturbationCoverage, "perturbation", folder),
            read_ledger(TestSize, "tests", folder),
        )


def made_from(ledgers: Ledgers) -> dict[Path, str]:
    """Give the content of every file that is made from the ledgers."""
    return {
        DOCS / "coverage.md": coverage_page(ledgers.proportions, ledgers.predictions),
        DOCS / "coverage-of-learners.md": learner_page(ledgers.learners),
        DOCS / "coverage-of-perturbation.md": perturbation_page(ledgers.perturbation),
        DOCS / "size-of-tests.md": sizes_page(ledgers.tests),
        DOCS / "ledger.md": ledger_page(ledgers),
        SHIPPED: figures_as_csv(figures_of(ledgers)),
    }


def write_pages(folder: Path = LEDGERS) -> tuple[Path, ...]:
    """Write every file that is made from the ledgers."""
    made = made_from(Ledgers.read(folder))
    for path, content in made.items():
        path.write_text(content, encoding="utf-8")
    return tuple(made)


def ledger_page(ledgers: Ledgers) -> str:
    """Give docs/ledger.md: the chief table of every other page."""
    chapters = (
        ("Proportions", PROPORTIONS, "coverage", summary_of_level(ledgers.proportions, LEVEL)),
        ("Every measure", MEASURES, "coverage", measure_table(ledgers.predictions)),
        (
            "Learners, by refits",
            LEARNERS,
            "coverage-of-learners",
            interval_table(ledgers.learners.intervals, MODEL),
        ),
        (
            "Support vector machines, by perturbation",
            SVMS,
            PERTURBATION,
            summary_table(ledgers.perturbation, lambda row: row.of_model),
        ),
        ("Tests of a difference", TESTS, "size-of-tests", in_short(ledgers.tests)),
    )
    return HEAD + "".join(
        f"\n## {title}\n\n{words} In full: [{page}]({page}.md).\n\n{table}\n"
        for title, words, page, table in chapters
    )


def figures_of(ledgers: Ledgers) -> Iterator[CoverageFigure]:
    """Give the figures that the package quotes, with as many digits as the pages show."""
    yield from _of_proportions(ledgers.proportions)
    yield from _of_predictions(ledgers.predictions)
    yield from _of_learners(ledgers.learners)
    yield from _of_perturbation(ledgers.perturbation)
    yield from _of_tests(ledgers.tests)


def _of_proportions(rows: tuple[EnumeratedCoverage, ...]) -> Iterator[CoverageFigure]:
    sizes = {row.n for row in rows}
    for level, method in dict.fromkeys((row.level, row.method) for row in rows):
        mine = [row for row in rows if (row.level, row.method) == (level, method)]
        # No sample is drawn: the coverage of every outcome is summed.
        yield _figure(
            "coverage",
            method,
            ANY,
            (min(sizes), max(sizes)),
            (round(mean([row.mean for row in mine]), 4), round(min(r.least for r in mine), 4)),
            samples=0,
            level=level,
        )


def _of_predictions(rows: tuple[SimulatedCoverage, ...]) -> Iterator[CoverageFigure]:
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        for n in sorted({row.n for row in mine}):
            shares = [row.coverage for row in mine if row.n == n]
            for method in dict.fromkeys(row.method for row in mine):
                yield _figure(
                    "coverage",
                    method,
                    measure,
                    (n, n),
                    (round(mean(shares), 3), round(min(shares), 3)),
                    samples=min(row.samples for row in rows),
                )


def _of_learners(ledgers: LearnerLedgers) -> Iterator[CoverageFigure]:
    sizes = [cell.n for cell in ledgers.cells]
    samples = ledgers.cells[0].samples
    for row in ledgers.intervals:
        method, design = OF_LEARNERS[row.interval]
        yield _figure(
            "coverage-of-learners",
            method,
            ERROR_RATE,
            (min(sizes), max(sizes)),
            (round(row.mean, 3), round(row.least, 3)),
            samples=samples,
            design=design,
            target=THIS_MODEL if row.target == MODEL else LEARNER,
        )
    for one in ledgers.measures:
        yield _figure(
            "coverage-of-learners",
            "agreement_binomial" if one.measure in SHARES else "agreement_delta",
            one.measure,
            (one.n, one.n),
            (round(one.mean, 3), round(one.least, 3)),
            samples=samples,
            design=FIVE_BY_TEN,
            target=THIS_MODEL if one.target == MODEL else LEARNER,
        )


def _of_perturbation(rows: tuple[PerturbationCoverage, ...]) -> Iterator[CoverageFigure]:
    for row in rows:
        method, design = OF_SVMS[row.interval]
        plain = row.C == STANDARD_C
        yield CoverageFigure(
            page=PERTURBATION,
            method=method,
            measure=ANY,
            design=design,
            target=THIS_MODEL,
            level=LEVEL,
            smallest=row.n,
            largest=row.n,
            samples=row.samples,
            mean=row.of_model,
            least=row.of_model,
            classifier=row.classifier,
            problem=row.features if plain else f"{row.features}, C = {row.C:g}",
            features=row.d,
            bayes_error=row.error,
        )


def _of_tests(rows: tuple[TestSize, ...]) -> Iterator[CoverageFigure]:
    """Give how often the interval of two equally good models contained 0."""
    with_ends = [row for row in rows if row.excluded == row.excluded]
    for method, test, n in dict.fromkeys((row.method, row.test, row.n) for row in with_ends):
        mine = [row for row in with_ends if (row.method, row.test, row.n) == (method, test, n)]
        shares = [1 - round(row.excluded, 3) for row in mine]
        yield _figure(
            "size-of-tests",
            INTERVAL_OF.get(method, method),
            ANY_SCORES.get(test, test),
            (n, n),
            (mean(shares), min(shares)),
            samples=min(row.pairs for row in mine),
            target=LEARNER if method in TESTS_OF_LEARNERS else THIS_MODEL,
        )


def _figure(
    page: Page,
    method: str,
    measure: str,
    sizes: tuple[int, int],
    shares: tuple[float, float],
    *,
    samples: int,
    level: float = LEVEL,
    design: str = "",
    target: str = THIS_MODEL,
) -> CoverageFigure:
    return CoverageFigure(
        page=page,
        method=method,
        measure=measure,
        design=design,
        target=target,
        level=level,
        smallest=sizes[0],
        largest=sizes[1],
        samples=samples,
        mean=shares[0],
        least=shares[1],
    )
