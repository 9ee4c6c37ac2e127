"""The pages of the audit → the figures that ship with the package.

The figures are read off the pages themselves, so that the two cannot differ.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from truerisk.evaluation.measured_coverage import ANY, LEARNER, THIS_MODEL, CoverageFigure

LEVEL = 0.95
ERROR_RATE = "error_rate"
FIVE_BY_TEN, TEN, THIRD, OWN = "5 × 10 folds", "10 folds", "a third held out", "refits of its own"

# What the page of learners calls an interval → what an estimate calls it, and the refits.
LEARNER_INTERVALS = {
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
SHARES = {"recall", "precision", "specificity", "f1"}  # k of n, by the binomial at agreement's size
TARGETS = {"This model's": THIS_MODEL, "The learner's": LEARNER}
# Tests whose interval has another name.
INTERVAL_OF = {"mcnemar_mid_p": "tango", "perturbation": "perturbation_normal"}
ANY_SCORES = {"two classifiers": ANY}
OF_LEARNERS = {"cautious_t"}
OVER_DATA_SETS = {"wilcoxon": "signed_rank"}


@dataclass(frozen=True)
class PageTable:
    """A table of a page, under its nearest heading and the line before it."""

    heading: str
    before: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables_in(page: str) -> Iterator[PageTable]:
    r"""Find the tables of a page in Markdown.

    Examples
    --------
    >>> [(table.before, table.rows) for table in tables_in("# A\n\nb:\n\n| x |\n| --- |\n| 1 |\n")]
    [('b:', (('1',),))]
    """
    heading = before = ""
    lines: list[tuple[str, ...]] = []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            lines.append(tuple(cell.strip() for cell in line.strip().strip("|").split("|")))
            continue
        if lines:
            yield PageTable(heading, before, lines[0], tuple(lines[2:]))
            lines, before = [], ""
        if line.startswith("#"):
            heading, before = line.lstrip("# "), ""
        elif line:
            before = line


def figures_of_predictions(page: str) -> Iterator[CoverageFigure]:
    """Read docs/coverage.md: proportions by enumeration, then every measure by simulation."""
    sizes = _numbers(_found(r"^Sizes: (.*)", page))
    for table in tables_in(page):
        if table.head[:2] == ("method", "least"):
            level = float(_found(r"([\d.]+) %", table.heading)) / 100
            for row in table.rows:
                least, mean = float(row[1]), float(row[3])
                # No sample is drawn: the coverage of every outcome is summed.
                yield _figure(
                    row[0], ANY, (sizes[0], sizes[-1]), (mean, least), level=level, samples=0
                )
        elif table.head[0] == "measure":
            samples = int(_found(r"(\d+) samples a\s+figure", page))
            for row in table.rows:
                for name, cell in zip(table.head[2:], row[2:], strict=True):
                    if cell != "–":
                        n = _numbers(name)[0]
                        for method in row[1].split(", "):
                            least, mean = map(float, cell.split(" / "))
                            yield _figure(method, row[0], (n, n), (mean, least), samples=samples)


def figures_of_learners(page: str) -> Iterator[CoverageFigure]:
    """Read docs/coverage-of-learners.md: all intervals of the error rate, then other measures."""
    samples = int(_found(r"^(\d+) samples of each", page))
    sizes: list[int] = []
    for table in tables_in(page):
        if table.head[0] == "learner":
            sizes = [_numbers(name)[0] for name in table.head[1:]]
    for table in tables_in(page):
        told = table.heading if table.head[0] == "interval" else table.before
        target = next((target for words, target in TARGETS.items() if told.startswith(words)), None)
        if target is not None and table.head[0] == "interval":
            for row in table.rows:
                method, design = LEARNER_INTERVALS[row[0]]
                found = (float(row[1]), float(row[2]))
                yield _figure(
                    method,
                    ERROR_RATE,
                    (sizes[0], sizes[-1]),
                    found,
                    samples=samples,
                    design=design,
                    target=target,
                )
        elif target is not None and table.head[0] == "measure":
            for row in table.rows:
                for n, cell in zip(sizes, row[1:], strict=False):
                    least, mean = map(float, cell.split(" / "))
                    yield _figure(
                        "agreement_binomial" if row[0] in SHARES else "agreement_delta",
                        row[0],
                        (n, n),
                        (mean, least),
                        samples=samples,
                        design=FIVE_BY_TEN,
                        target=target,
                    )


def figures_of_differences(page: str) -> Iterator[CoverageFigure]:
    """Read docs/size-of-tests.md: how often the interval of two equal models contained 0."""
    found: dict[tuple[str, str, int], list[tuple[float, int]]] = {}
    for table in tables_in(page):
        if table.head[:2] != ("", "test"):
            continue
        for measure, test, *cells in table.rows:
            for name, cell in zip(table.head[2:], cells, strict=True):
                n, pairs = _numbers(name)[:2]
                shares = re.match(r"[\d.]+ / ([\d.]+)", cell.strip("*"))
                if shares is not None:
                    excluded = float(shares.group(1))
                    found.setdefault((test, measure, n), []).append((1 - excluded, pairs))
    for (test, measure, n), shares_of in found.items():
        kept = [share for share, _ in shares_of]
        yield _figure(
            {**INTERVAL_OF, **OVER_DATA_SETS}.get(test, test),
            ANY_SCORES.get(measure, measure),
            (n, n),
            (sum(kept) / len(kept), min(kept)),
            samples=min(pairs for _, pairs in shares_of),
            target=LEARNER if test in OF_LEARNERS else THIS_MODEL,
        )


FIGURES: dict[str, Callable[[str], Iterator[CoverageFigure]]] = {
    "coverage": figures_of_predictions,
    "coverage-of-learners": figures_of_learners,
    "size-of-tests": figures_of_differences,
}


def _figure(
    method: str,
    measure: str,
    sizes: tuple[int, int],
    found: tuple[float, float],
    *,
    samples: int,
    level: float = LEVEL,
    design: str = "",
    target: str = THIS_MODEL,
) -> CoverageFigure:
    return CoverageFigure(
        method=method,
        measure=measure,
        design=design,
        target=target,
        level=level,
        smallest=sizes[0],
        largest=sizes[1],
        samples=samples,
        mean=found[0],
        least=found[1],
    )


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError(f"the page does not say {pattern}")
    return match.group(1)


def _numbers(text: str) -> Sequence[int]:
    return [int(digits) for digits in re.findall(r"\d+", text)]
