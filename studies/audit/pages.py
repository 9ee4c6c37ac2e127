"""The pages of the documentation and the figures that ship, made from the ledgers.

Every ledger whose columns are those of `CoverageCell` is a study: its page, its table and its
figures are made here, whatever it measures.  Three ledgers have rows of their own: proportions
(summed, not simulated), perturbation and tests.

=================================  =============================================================
made                               from
=================================  =============================================================
docs/coverage.md                   proportions, and studies of predictions
docs/coverage-of-learners.md       studies of refits and of estimates without them
docs/coverage-of-perturbation.md   perturbation
docs/size-of-tests.md              tests, and studies of sentences, guarantees and plans
docs/ledger.md, evidence.md        all of them
measured_coverage.csv              all of them; what the package quotes
perturbation_coverage.csv          perturbation; what `tr.perturbation` quotes
=================================  =============================================================
"""

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from studies.audit.holdout import LIMIT
from studies.audit.ledger import (
    DOCS,
    LEDGERS,
    ROOT,
    is_ledger_of,
    markdown_table,
    mean,
    read_ledger,
)
from studies.audit.perturbation import NORMAL, STANDARD_C, PerturbationCoverage
from studies.audit.proportions import EnumeratedCoverage
from studies.audit.sizes import TestSize
from studies.audit.sizes_page import in_short, sizes_page
from truerisk.intervals.measured_coverage import (
    ANY,
    DIFFERENCE,
    FILE,
    LEARNER,
    NO_PROMISE,
    PERTURBATION_FILE,
    PRIOR,
    THIS_MODEL,
    WEIGHTS,
    CoverageFigure,
    PerturbationFigure,
    figures_as_csv,
)

EVIDENCE = DOCS / "evidence.md"
SHIPPED = ROOT / "src" / "truerisk" / "intervals"
LEVEL = 0.95
# Of the promised misses, 0.05 at 95 %: a band of coverages, and what is low.
PREDICTION_BAND, PREDICTION_LOW = (1.6, 0.3), 2.4  # [0.92, 0.985], 0.88
REFIT_BAND, REFIT_LOW = (1.4, 0.4), 2.6  # [0.93, 0.98], 0.87
MAX_LISTED = 40
MAX_WORST = 3
MIN_SAMPLES = 30  # fewer in which a measure is defined say little; such cells are left out
BEGIN, END = "<!-- coverage, made by `make pages` -->", "<!-- end of coverage -->"
ROUNDING = 1e-9

PREDICTIONS, LEARNERS, PERTURBATION, TESTS = (
    "coverage", "coverage-of-learners", "coverage-of-perturbation", "size-of-tests",
)  # fmt: skip


@dataclass(frozen=True)
class Study:
    """What a page says of a study; `bound` promises at least its level, and may keep more."""

    title: str
    page: str
    words: str = ""
    bound: bool = False
    by_design: bool = False
    of_learner: bool = False  # what is promised is the learner's value, not this model's
    pooled: tuple[str, ...] = ()  # methods of which the package knows no design

    @property
    def band(self) -> tuple[float, float]:
        """The most and the fewest misses of the band, of those that are promised."""
        return REFIT_BAND if self.page in (LEARNERS, PERTURBATION) else PREDICTION_BAND

    @property
    def low(self) -> float:
        """The misses from which on a cell is low, of those that are promised."""
        return REFIT_LOW if self.page in (LEARNERS, PERTURBATION) else PREDICTION_LOW


STUDIES = {
    "holdout": Study("Predictions of one model", PREDICTIONS, "The intervals of `tr.evaluate`."),
    "further_measures": Study(
        "Measures at another prior, and on request",
        PREDICTIONS,
        "`prior=` of `tr.evaluate`: two classes, of which every outcome was also summed "
        "(tests/intervals/test_binomial.py), several, and scores; weighted κ, partial "
        "areas, areas of pairs of classes, micro and weighted averages of rankings; the "
        "bootstrap within the classes, where the examples are drawn class by class.",
    ),
    "predictions": Study("Predictions: normal scores, small tables", PREDICTIONS),
    "groups": Study("Rows in groups", PREDICTIONS, "`tr.evaluate` and `tr.compare` with groups."),
    "values": Study(
        "Answers without labels",
        PREDICTIONS,
        "`tr.evaluate_values` and `tr.compare_values`: means of scores, their paired differences, "
        "questions in groups; *first tier* is how often the best model is in it.",
    ),
    "chosen_thresholds": Study(
        "Thresholds chosen on the same examples",
        PREDICTIONS,
        "Measures at the threshold of best F1, of Youden's J or of the least cost.",
    ),
    "slice_differences": Study(
        "Slices less the rest",
        PREDICTIONS,
        "The intervals of the differences in `tr.evaluate(by=…)`; n is the size of the slice.",
        by_design=True,
    ),
    "bands": Study(
        "Bands of curves",
        PREDICTIONS,
        "A band promises to hold the whole true curve, at every threshold at once.",
        bound=True,
    ),
    "refits": Study(
        "Estimates by refits", LEARNERS, "The intervals of `tr.estimate`.", by_design=True
    ),
    "refit_measures": Study(
        "Estimates by refits, other measures",
        LEARNERS,
        "The other measures of `tr.estimate`, on some of the same populations.",
        by_design=True,
    ),
    "learners": Study(
        "Other intervals of refits, by name",
        LEARNERS,
        "The error rate on eight problems with three learners: linear discriminant, naive Bayes, "
        "tree. `agreement` was found on other problems; `agreement_damped` with a look at these.",
        by_design=True,
    ),
    "divisions": Study(
        "Random divisions, halves and scorers",
        LEARNERS,
        "The defaults of random divisions (`subsampling`, ShuffleSplit), of 5 × 2 folds, and of "
        "scorers that the registry does not know (*scorer*), by folds, divisions or one hold-out. "
        "`components_or_t` holds the corrected t as well, where more than a quarter of the "
        "examples is tested: that was decided on these problems.",
        by_design=True,
    ),
    "corrected_t": Study(
        "The corrected t by name, and winners of searches",
        LEARNERS,
        'Random divisions and scorers (*scorer*) with `interval="corrected_t"`, and the winner of '
        "a search. It speaks of the learner: the truth is the mean, over samples, of the model "
        "trained on all the examples; refits on fewer are worse.",
        by_design=True,
        of_learner=True,
    ),
    "leave_one_out": Study(
        "Exact leave-one-out of SVMs",
        LEARNERS,
        "`tr.leave_one_out`, on noise with as many examples of either class and on other problems; "
        '`clopper_pearson` is `interval="binomial"`.',
        by_design=True,
    ),
    "curves": Study(
        "Learning curves",
        LEARNERS,
        "`at()` beyond the data, at 2 and 4 times as many, and between measured sizes.",
        by_design=True,
        pooled=("power_law_bootstrap",),
    ),
    "xi_alpha": Study(
        "ξα as a bound",
        LEARNERS,
        "Eight tables and six categories of Reuters; widths are distances from the truth.",
        bound=True,
        by_design=True,
    ),
    "compression": Study(
        "Sample compression as a bound",
        LEARNERS,
        "Eight tables; widths are distances from the truth, and small where few examples determine "
        "the rule.",
        bound=True,
    ),
    "select": Study("Settings chosen by ξα or leave-one-out", LEARNERS, by_design=True),
    PERTURBATION: Study(
        "Perturbation resampling of SVMs",
        PERTURBATION,
        "*Training losses* are the published form, as printed: every example is predicted by a "
        "model that was trained on it. *Cross-validated losses* refit every fold under every "
        "weighting; `perturbation_effective_size` of these is the default. `agreement` on 5 × 5 "
        "folds needs no weighting, is shorter and covers as much: for the error of one SVM, "
        "`tr.estimate` is the better choice.",
        by_design=True,
    ),
    "perturbed_measures": Study(
        "The plug-in variance, other measures and learners",
        PERTURBATION,
        "`perturbation_plug_in` is the variance of equations (7) and (14), about the "
        "cross-validated error; the others are `tr.perturbation(measure=…)` by 100 weightings, "
        "several classes one against the rest.",
        by_design=True,
    ),
    "planning": Study("Planned sizes", TESTS, "`tr.sample_size` keeps its word.", bound=True),
    "guarantees": Study(
        "Guarantees",
        TESTS,
        "Thresholds and rejection with guarantees; *width* is what is given away for it. "
        "`studies/audit/guarantees.py` says how.",
        bound=True,
    ),
    "sentences": Study(
        "Sentences that say they are sure",
        TESTS,
        "Samples at the boundary, where every “Sure:” and every “better” is false; *covered* is "
        "the share of samples in which the sentence was not said, or was true. What comparisons "
        "call better rests on the tests above as well, whose size is measured there.",
        bound=True,
    ),
}  # fmt: skip

# Ledgers whose rows are of another kind, shown as they are on the page of tests.
OTHERS = {
    "refit_tests": "`tr.compare_models`: size (gap 0) and power of four tests",
    "group_power": "`tr.compare` with groups: size (gap 0) and power beside the former rule",
    "guarantee_rivals": "Guarantees beside other rules",
}
PAGES = {
    PREDICTIONS: (
        "Measured coverage",
        "How often each interval of predictions contains the truth, set against what it promises.",
    ),
    LEARNERS: (
        "Measured coverage of estimates of learners",
        (
            "How often the intervals for a learner contain the truth.  *This model* is the one "
            "trained on the whole sample, its truth measured on fresh examples; *the learner at "
            "this sample size* is the mean of this over all samples."
        ),
    ),
    PERTURBATION: (
        "Measured coverage of perturbation resampling",
        "How often the intervals of `tr.perturbation` contain the error of the SVM.",
    ),
}
LEGEND = """\
One row per interval, measure, level and target; a *cell* is one problem at one size.  *Role*:
*held out* problems were not looked at when the interval was chosen, *chosen on* ones were.  *Mean*
and *least* are over the cells; *in band* is the share of cells whose coverage lies in
[0.92, 0.985] at 95 %, for refits and perturbation in [0.93, 0.98] (at other levels in proportion to
the promised misses), *kept* that of cells at or above the level, both with two standard errors of
the Monte Carlo allowed; *low* counts cells under 0.88, for refits and perturbation under 0.87, with
nothing allowed.  *±* is two standard errors of the cell with the fewest samples.
*Width* is relative to the rival that is named, on the same samples.  `make audit` measures anew and
writes the ledgers in studies/ledgers, which have every cell.
"""
PROPORTIONS = """
## Proportions, by enumeration

Every outcome of n trials is summed, at {proportions} proportions and n = {sizes}; nothing is
simulated.  *Under* is the share of these at which the method covers less often than it promises;
*width* is relative to Clopper and Pearson's.
"""
LEDGER = """\
# The ledger of measured coverage

An interval promises to contain the truth so many times in a hundred.  Here is how often each kind
did when that was measured, with the truth known.  The worst figure matters more than the mean: it
is what a reader with unlucky data gets.  What has no row here was not measured, and says so where
it is shown: ° in the terminal, "not measured" in tables and on pages.

"""
HEADS = ["interval", "level", "about", "role", "n", "cells", "samples", "±", "mean", "least"]

# What the ledger of perturbation calls an interval → its method, and the losses or the refits.
OF_SVMS = {
    "training, percentile": ("perturbation_percentile", "training losses"),
    "training, normal": ("perturbation_normal", "training losses"),
    "cross-validated, percentile": ("perturbation_percentile", "cross-validated losses"),
    "cross-validated, normal": ("perturbation_normal", "cross-validated losses"),
    "cross-validated, effective size": ("perturbation_effective_size", "cross-validated losses"),
    "exact binomial": ("clopper_pearson", "5 folds pooled"),
    "agreement, 5 × 5": ("agreement", "5 × 5 folds"),
}
PUBLISHED, DEFAULT = "training, percentile", "cross-validated, effective size"
# Tests whose interval has another name.
INTERVAL_OF = {
    "mcnemar_mid_p": "tango",
    "perturbation": "perturbation_normal",
    "wilcoxon": "signed_rank",
}
OF_ANY_SCORES = "two classifiers"
TESTS_OF_LEARNERS = {"cautious_t"}

Cells = Sequence[CoverageCell]
Key = Callable[[CoverageCell], tuple[object, ...]]


@dataclass(frozen=True)
class Ledgers:
    """All that was measured; `studies` are those of cells, by name."""

    proportions: tuple[EnumeratedCoverage, ...]
    perturbation: tuple[PerturbationCoverage, ...]
    tests: tuple[TestSize, ...]
    studies: dict[str, tuple[CoverageCell, ...]]
    others: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path = LEDGERS) -> "Ledgers":
        """Read every ledger of a folder."""
        names = sorted(
            path.stem for path in folder.glob("*.csv") if is_ledger_of(CoverageCell, path)
        )
        order = {name: at for at, name in enumerate(STUDIES)}
        names.sort(key=lambda name: order.get(name, len(order)))
        return cls(
            read_ledger(EnumeratedCoverage, "proportions", folder),
            read_ledger(PerturbationCoverage, "perturbation", folder),
            read_ledger(TestSize, "tests", folder),
            {name: read_ledger(CoverageCell, name, folder) for name in names},
            {
                path.stem: _plain(path)
                for path in sorted(folder.glob("*.csv"))
                if path.stem in OTHERS
            },
        )

    def cells(self) -> Iterator[tuple[str, Study, Cells]]:
        """Give every study of cells, with what is said of it."""
        perturbed = {PERTURBATION: tuple(perturbation_cells(self.perturbation))}
        for name, rows in (self.studies | perturbed).items():
            default = Study(name.replace("_", " ").capitalize(), PREDICTIONS)
            yield name, STUDIES.get(name, default), tuple(map(_of_difference, rows))


def _plain(path: Path) -> tuple[tuple[str, ...], ...]:
    """Read a table as it is, heading first, numbers with three digits."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(tuple(map(_short, row)) for row in csv.reader(file))


def _short(cell: str) -> str:
    return f"{float(cell):.3f}" if re.fullmatch(r"0\.\d{4,}", cell) else cell


def _of_difference(cell: CoverageCell) -> CoverageCell:
    """Name the measure of a difference as the package does."""
    measure, comma, _ = cell.measure.partition(", difference")
    return replace(cell, measure=f"{DIFFERENCE}{measure}") if comma else cell


def write_pages(folder: Path = LEDGERS) -> tuple[Path, ...]:
    """Write every file that is made from the ledgers."""
    made = made_from(Ledgers.read(folder))
    for path, content in made.items():
        path.write_text(content, encoding="utf-8")
    return tuple(made)


def made_from(ledgers: Ledgers) -> dict[Path, str]:
    """Give the content of every file that is made from the ledgers."""
    studies = list(ledgers.cells())

    def sections(page: str) -> str:
        return "".join(section(name, of, rows) for name, of, rows in studies if of.page == page)

    pages = {
        DOCS / f"{page}.md": f"# {title}\n\n{lead}\n\n{LEGEND}{_enumerated(page, ledgers)}"
        f"{sections(page)}"
        for page, (title, lead) in PAGES.items()
    }
    tests, more = sizes_page(ledgers.tests), sections(TESTS)
    tests += "".join(
        f"\n## {OTHERS[name]}\n\nFrom studies/ledgers/{name}.csv.\n\n"
        f"{markdown_table(rows[0], rows[1:])}\n"
        for name, rows in ledgers.others.items()
    )
    return pages | {
        DOCS / f"{TESTS}.md": f"{tests}\n# Other promises\n\n{LEGEND}{more}" if more else tests,
        DOCS / "ledger.md": ledger_page(ledgers),
        EVIDENCE: evidence_page(ledgers, EVIDENCE.read_text(encoding="utf-8")),
        SHIPPED / FILE: figures_as_csv(CoverageFigure, figures_of(ledgers)),
        SHIPPED / PERTURBATION_FILE: figures_as_csv(
            PerturbationFigure, perturbation_figures(ledgers.perturbation)
        ),
    }


def section(name: str, study: Study, cells: Cells) -> str:
    """Write what a page says of one study: its table, and its low cells one by one."""
    measured = [cell for cell in cells if cell.samples >= MIN_SAMPLES]
    rows = [_line(group, study) for group in grouped(measured, _with_design(study, _by_measure))]
    table = markdown_table(["measure", *HEADS, *_last(study), "undefined"], rows)
    problems = list(dict.fromkeys(cell.problem for cell in measured))
    roles = {
        role: len({c.problem for c in measured if c.role == role}) for role in (HELD_OUT, CHOSEN_ON)
    }
    told = " and ".join(f"{count} {role}" for role, count in roles.items() if count)
    low = sorted((cell for cell in measured if is_low(cell, study)), key=lambda cell: cell.coverage)
    few = len(cells) - len(measured)
    left = f"; {few} cells with fewer than {MIN_SAMPLES} samples are left out" if few else ""
    listed = "".join(
        f"- {cell.coverage:.3f}: {cell.measure} ({cell.method}{_of(cell.design)}), {cell.problem}, "
        f"n = {cell.n:,}, {cell.role}, {cell.samples} samples\n"
        for cell in low[:MAX_LISTED]
    )
    more = f"- and {len(low) - MAX_LISTED} more\n" if len(low) > MAX_LISTED else ""
    lowest = f"\nLow cells:\n\n{listed}{more}" if low else "\nNo cell is low.\n"
    return (
        f"\n## {study.title}\n\n{study.words}{' ' if study.words else ''}"
        f"{len(problems)} problems ({told}), {len(measured)} rows of cells{left}; the ledger is "
        f"studies/ledgers/{name.removeprefix('coverage-of-')}.csv.\n\n{table}\n{lowest}"
    )


def _last(study: Study) -> list[str]:
    return ["kept"] if study.bound else ["in band", "kept", "low", "width"]


def _of(design: str) -> str:
    return f", {design}" if design else ""


def _by_measure(cell: CoverageCell) -> tuple[object, ...]:
    weights = _shipped(cell.design)
    return cell.measure, cell.method, cell.level, cell.target, cell.role, weights


def _by_method(cell: CoverageCell) -> tuple[object, ...]:
    return cell.method, cell.level, cell.target, cell.role, _shipped(cell.design)


def _by_level(cell: CoverageCell) -> tuple[object, ...]:
    return cell.level, cell.role


def _with_design(study: Study, key: Key) -> Key:
    return lambda cell: (*key(cell), cell.design if study.by_design else "")


def grouped(cells: Iterable[CoverageCell], key: Key) -> list[Cells]:
    """Put cells with the same key together, in the order of their first ones."""
    groups: dict[tuple[object, ...], list[CoverageCell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    return list(groups.values())


def in_band(cell: CoverageCell, study: Study) -> bool:
    """Whether the coverage lies in the band of its study, two standard errors allowed."""
    most, fewest = study.band
    miss = 1 - cell.level
    return cell.within(1 - most * miss, 1 - fewest * miss)


def is_kept(cell: CoverageCell, _: Study) -> bool:
    """Whether the coverage is at or above the level, two standard errors allowed."""
    return cell.within(cell.level, 1.0)


def is_low(cell: CoverageCell, study: Study) -> bool:
    """Whether the coverage is so low that the page names the cell."""
    return cell.coverage < 1 - study.low * (1 - cell.level) - ROUNDING


def _line(cells: Cells, study: Study, *, with_measure: bool = True) -> list[str]:
    """Write one row of a table: what the cells have in common, and what they cover."""
    first, sizes = cells[0], [cell.n for cell in cells]
    shares = [cell.coverage for cell in cells]
    samples = min(cell.samples for cell in cells)
    designs = list(dict.fromkeys(cell.design for cell in cells))
    design = _of(designs[0] if study.by_design else _shipped(designs[0]))
    beside = [cell for cell in cells if cell.rival_width > 0 and math.isfinite(cell.width)]
    widths = [cell.width / cell.rival_width for cell in beside]
    width = f"{mean(widths):.2f} × {beside[0].rival}" if widths else "–"
    drawn = sum(cell.samples + cell.undefined for cell in cells)
    judged = [is_kept] if study.bound else [in_band, is_kept]
    return [
        *([first.measure] if with_measure else []),
        f"{first.method}{design}",
        f"{100 * first.level:g} %",
        first.target,
        first.role,
        _range(sizes),
        str(len(cells)),
        str(samples),
        f"{max(2 * cell.standard_error for cell in cells):.3f}",
        f"{mean(shares):.3f}",
        f"{min(shares):.3f}",
        *(f"{mean([float(rule(cell, study)) for cell in cells]):.2f}" for rule in judged),
        *([] if study.bound else [str(sum(is_low(cell, study) for cell in cells)), width]),
        f"{sum(cell.undefined for cell in cells) / drawn:.3f}" if drawn else "–",
    ]


def _range(sizes: Sequence[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _enumerated(page: str, ledgers: Ledgers) -> str:
    if page != PREDICTIONS:
        return ""
    rows = ledgers.proportions
    sizes = ", ".join(map(str, sorted({row.n for row in rows})))
    head = PROPORTIONS.format(proportions=rows[0].proportions, sizes=sizes)
    tables = (
        f"\n### Promised: {100 * level:g} %\n\n{summary_of_level(rows, level)}\n"
        for level in sorted({row.level for row in rows})
    )
    return "".join([head, *tables])


def summary_of_level(enumerated: Sequence[EnumeratedCoverage], level: float) -> str:
    """Write what every method for proportions covers at one confidence level."""
    rows = [row for row in enumerated if row.level == level]
    exact = {row.n: row.mean_width for row in rows if row.method == "clopper_pearson"}
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        of_method = [row for row in rows if row.method == method]
        worst = min(of_method, key=lambda row: row.least)
        widths = [row.mean_width / exact[row.n] for row in of_method if row.n in exact]
        lines.append(
            [
                method,
                f"{worst.least:.4f}",
                f"n = {worst.n}, p = {worst.least_at:.4g}",
                f"{mean([row.mean for row in of_method]):.4f}",
                f"{100 * mean([row.share_under for row in of_method]):.1f} %",
                f"{mean(widths):.3f}" if widths else "–",
            ]
        )
    return markdown_table(["method", "least", "at", "mean", "under", "width"], lines)


def ledger_page(ledgers: Ledgers) -> str:
    """Give docs/ledger.md: one table per study, all measures of a method together."""
    summed = summary_of_level(ledgers.proportions, LEVEL)
    proportions = "k of n, summed over all outcomes at 95 %. In full: [coverage](coverage.md)."
    parts = [LEDGER, LEGEND, f"\n## Proportions\n\n{proportions}\n\n{summed}\n"]
    for _, study, rows in ledgers.cells():
        measured = [cell for cell in rows if cell.samples >= MIN_SAMPLES]
        groups = grouped(measured, _with_design(study, _by_method))
        lines = [_line(group, study, with_measure=False)[:-1] for group in groups]
        table = markdown_table([*HEADS, *_last(study)], lines)
        where = f"In full: [{study.page}]({study.page}.md)."
        parts.append(f"\n## {study.title}\n\n{where}\n\n{table}\n")
    parts.append(
        "\n## Tests of a difference\n\nHow often the default tests say “different” of models that "
        "are equally good; 0.05 is promised. In full: [size-of-tests](size-of-tests.md).\n\n"
        f"{in_short(ledgers.tests)}\n"
    )
    return "".join(parts)


def evidence_page(ledgers: Ledgers, page: str) -> str:
    """Put the table of coverage, and the limits, between the marks in docs/evidence.md."""
    before, rest = page.split(f"{BEGIN}\n")
    after = rest.split(END)[1]
    heads = ["interval", "of", "n", "cells", "samples", "role", "mean", "least", "in band", "low"]
    rows, limits = list(_exact_evidence(ledgers.proportions)), []
    for _, study, cells in ledgers.cells():
        usual = [
            cell
            for cell in cells
            if cell.samples >= MIN_SAMPLES and (cell.level == LEVEL or study.bound)
        ]
        other = {NO_PROMISE, LIMIT}
        other |= set() if study.of_learner else {LEARNER}
        usual = [cell for cell in usual if cell.target not in other]
        key = _by_level if study.bound else _with_design(study, _by_method)
        rows += [_evidence(study, group) for group in grouped(usual, key)]
        low = [cell for cell in usual if is_low(cell, study) and "invalid" not in cell.method]
        if low and not study.bound:
            limits.append(_limit(study, low, len(usual)))
    table = markdown_table(heads, rows)
    return f"{before}{BEGIN}\n{table}\n\nLimits:\n\n{''.join(limits)}{END}{after}"


def _exact_evidence(rows: Sequence[EnumeratedCoverage]) -> Iterator[list[str]]:
    for method, words in (("clopper_pearson", "k of n"), ("wald", "k of n; never a default")):
        mine = [row for row in rows if (row.method, row.level) == (method, LEVEL)]
        least, average = min(row.least for row in mine), mean([row.mean for row in mine])
        cells = str(sum(row.proportions for row in mine))
        sizes = _range([row.n for row in mine])
        numbers = [f"{average:.3f}", f"{least:.3f}", "–", "–"]
        yield [method, words, sizes, cells, "all outcomes", "–", *numbers]


def _evidence(study: Study, cells: Cells) -> list[str]:
    """Write one row of the evidence: all measures of one interval in one study."""
    line = _line(cells, study, with_measure=False)
    name, _, _, role, sizes, count, samples, _, average, least, *rest = line
    measures = {cell.measure for cell in cells}
    of = f"{study.title[0].lower()}{study.title[1:]}"
    of += f", {len(measures)} measures" if len(measures) > 1 else f", {min(measures)}"
    if study.bound:
        of = f"{study.title}, {100 * cells[0].level:g} % promised"
        return ["all", of, sizes, count, samples, role, average, least, f"kept {rest[0]}", "–"]
    band = [rest[0], rest[2]]
    return [name, of, sizes, count, samples, role, average, least, *band]


def _limit(study: Study, low: Cells, count: int) -> str:
    worst = sorted(low, key=lambda cell: cell.coverage)[:MAX_WORST]
    words = "; ".join(
        f"{cell.coverage:.3f} {cell.measure} ({cell.method}), {cell.problem}, n = {cell.n:,}"
        for cell in worst
    )
    return f"* {study.title}: {len(low)} of {count} cells are low, the lowest: {words}.\n"


def perturbation_cells(rows: Iterable[PerturbationCoverage]) -> Iterator[CoverageCell]:
    """Give the rows of the ledger of perturbation as cells, one for either truth."""
    for row in rows:
        method, design = OF_SVMS[row.interval]
        for target, coverage in ((THIS_MODEL, row.of_model), (LEARNER, row.of_learner)):
            yield CoverageCell(
                study="perturbation",
                problem=f"{row.classifier}, {row.features} features, d = {row.d}, Bayes error "
                f"{row.error:g}, C = {row.C:g}",
                role=CHOSEN_ON,
                design=design,
                n=row.n,
                measure="error_rate",
                method=method,
                level=LEVEL,
                target=target,
                samples=row.samples,
                undefined=0,
                coverage=coverage,
                width=row.width,
            )


def figures_of(ledgers: Ledgers) -> Iterator[CoverageFigure]:
    """Give the figures that the package quotes: held-out cells of each interval where there are."""
    yield from _of_proportions(ledgers.proportions)
    page_of: dict[tuple[object, ...], str] = {}
    every: list[CoverageCell] = []
    for _, study, cells in ledgers.cells():
        for cell in cells:
            kept = study.by_design and cell.method not in study.pooled
            one = cell if kept else replace(cell, design=_shipped(cell.design))
            if one.samples >= MIN_SAMPLES:
                page_of.setdefault(_key(one), study.page)
                every.append(one)
    held_out = {_key(cell) for cell in every if cell.role == HELD_OUT}
    best = [cell for cell in every if cell.role == HELD_OUT or _key(cell) not in held_out]
    tests = list(_of_tests(ledgers.tests))
    # Of one interval of a difference, equally good models are quoted.
    tested = {(one.measure, one.method, one.level, one.target, one.design) for one in tests}
    for group in grouped(best, _key):
        if _key(group[0]) not in tested:
            yield _figure(page_of[_key(group[0])], group)
    yield from tests


def _shipped(design: str) -> str:
    return next((one for one in (WEIGHTS, PRIOR) if design.startswith(one)), "")


def _key(cell: CoverageCell) -> tuple[object, ...]:
    return cell.measure, cell.method, cell.level, cell.target, cell.design


def _figure(page: str, cells: Cells) -> CoverageFigure:
    first = cells[0]
    shares = [cell.coverage for cell in cells]
    return CoverageFigure(
        page=page,
        method=first.method,
        measure=first.measure,
        design=first.design,
        target=first.target,
        level=first.level,
        role=first.role,
        smallest=min(cell.n for cell in cells),
        largest=max(cell.n for cell in cells),
        cells=len(cells),
        samples=min(cell.samples for cell in cells),
        mean=round(mean(shares), 4),
        least=round(min(shares), 4),
    )


def _of_proportions(rows: tuple[EnumeratedCoverage, ...]) -> Iterator[CoverageFigure]:
    for level, method in dict.fromkeys((row.level, row.method) for row in rows):
        mine = [row for row in rows if (row.level, row.method) == (level, method)]
        yield CoverageFigure(
            page=PREDICTIONS,
            method=method,
            measure=ANY,
            design="",
            target=THIS_MODEL,
            level=level,
            role=HELD_OUT,
            smallest=min(row.n for row in mine),
            largest=max(row.n for row in mine),
            cells=sum(row.proportions for row in mine),
            samples=0,  # every outcome is summed
            mean=round(mean([row.mean for row in mine]), 4),
            least=round(min(row.least for row in mine), 4),
        )


def _of_tests(rows: tuple[TestSize, ...]) -> Iterator[CoverageFigure]:
    """Give how often the interval of two equally good models contained 0."""
    cells = [
        CoverageCell(
            study=TESTS,
            problem=row.setting,
            role=HELD_OUT,
            design="",
            n=row.n,
            measure=DIFFERENCE + ("" if row.test == OF_ANY_SCORES else row.test),
            method=INTERVAL_OF.get(row.method, row.method),
            level=LEVEL,
            target=LEARNER if row.method in TESTS_OF_LEARNERS else THIS_MODEL,
            samples=row.pairs,
            undefined=0,
            coverage=1 - row.excluded,
            width=math.nan,
        )
        for row in rows
        if not math.isnan(row.excluded)
    ]
    for group in grouped(cells, _by_measure):
        yield _figure(TESTS, group)


def perturbation_figures(rows: Sequence[PerturbationCoverage]) -> Iterator[PerturbationFigure]:
    """Give what the published form and the default cover, by classifier, n and d."""
    plain = [row for row in rows if row.features == NORMAL and row.C == STANDARD_C]
    for cell in dict.fromkeys((row.classifier, row.n, row.d) for row in plain):
        here = [row for row in plain if (row.classifier, row.n, row.d) == cell]
        published, default = (
            [row.of_model for row in here if row.interval == name] for name in (PUBLISHED, DEFAULT)
        )
        errors = [row.error for row in here]
        yield PerturbationFigure(
            classifier=cell[0],
            n=cell[1],
            d=cell[2],
            lowest_error=min(errors),
            highest_error=max(errors),
            samples=here[0].samples,
            published_low=min(published),
            published_high=max(published),
            default_low=min(default),
            default_high=max(default),
        )
