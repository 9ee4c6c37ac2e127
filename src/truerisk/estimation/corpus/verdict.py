"""What the estimates of a corpus say in words: what is proven, what leans, what is too open."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerisk.checks import shown
from truerisk.estimation.corpus.categories import EFFORT, Trained, listed
from truerisk.estimation.svm.one_vs_rest_counts import MEASURES
from truerisk.results import Estimate, Evaluation, Finding

PROVEN_RHO = 2.0
WIDE = 0.5  # an interval of F1 wider than this says next to nothing


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the rules look at; `drawn` says that what is held out was drawn at random."""

    main: Evaluation
    holdout: Evaluation | None
    trained: Trained
    rho: float
    drawn: bool = False
    one_label: Evaluation | None = None

    @property
    def exact(self) -> bool:
        """Whether the estimates are those of leave-one-out."""
        return bool(self.main.settings["method"] == "leave_one_out")


def verdict_of(findings: Findings) -> Iterator[Finding]:
    """Say in plain sentences what was found."""
    for rule in RULES:
        yield from rule(findings)


def how_good(findings: Findings) -> Iterator[Finding]:
    """Say what the averages are."""
    main, categories = findings.main, int(np.count_nonzero(findings.trained.averaged))
    wrong, micro, macro = (main[name] for name in ("hamming_loss", "f1_micro", "f1_macro"))
    if not wrong.is_defined:
        yield Finding(
            "There is no category that can be told from the rest.", code="no_category_told"
        )
        return
    yield Finding(
        f"Of the decisions whether a document carries a category, {_percent(wrong)} are wrong, by "
        f"the {main.n:,} training documents alone.",
        code="decisions_wrong",
    )
    yield Finding(
        f"Over {_categories(categories)}: micro F1 {_percent(micro)}, macro F1 {_percent(macro)}.",
        code="averages",
    )


def what_leans(findings: Findings) -> Iterator[Finding]:
    """Say what is proven, and to which side the estimates lean."""
    svms = findings.trained.svms
    if findings.exact:
        refits, ties = int(svms.refits.sum()), int(svms.ties.sum())
        yield Finding(
            "These count the errors of exact leave-one-out: nearly unbiased, as they are about "
            f"SVMs with one document less. {refits:,} documents were left out in earnest.",
            code="exact_leave_one_out",
        )
        if ties:
            yield Finding(
                f"{ties:,} of these calls are ties: the counts may differ by as many.",
                code="ties",
            )
        return
    radius = f"R² = {svms.squared_radius:.4g} ({svms.radius_rule})"
    if findings.rho >= PROVEN_RHO:
        yield Finding(
            f"Proven, with {radius}: where an SVM is stable, these estimates are never better "
            "than those of leave-one-out. Expect them to be worse than the truth.",
            code="proven",
        )
    else:
        yield Finding(
            f"They lean to the pessimistic side. ρ = {findings.rho:g} is the choice for text and "
            f"not proven; ρ = 2, given beside, is, with {radius}.",
            code="pessimistic",
        )


def beside_the_holdout(findings: Findings) -> Iterator[Finding]:
    """Compare the estimates with what was held out."""
    if findings.holdout is None:
        return
    parts = []
    for name in MEASURES:
        sign = 1.0 if name == "error_rate" else -1.0
        differences = [sign * (mine - theirs) for mine, theirs in _pairs(findings, name)]
        worse, better = (sum(side * one > 0 for one in differences) for side in (1, -1))
        title = {"error_rate": "error", "f1": "F1"}.get(name, name)
        parts.append(f"{title} {worse} (and {better}) of {len(differences)}")
    yield Finding(
        f"Beside the {findings.holdout.n:,} documents held out the estimate is worse (and better) "
        f"in so many categories: {'; '.join(parts)}.",
        code="beside_the_holdout",
    )
    apart = [
        label
        for label, row in findings.main.by_class.items()
        if _apart(row["f1"], findings.holdout.by_class[label]["f1"])
    ]
    if apart:
        what = "The two intervals of F1 do not meet" if findings.exact else "F1 is below its bound"
        # Parts that were drawn at random are of one kind.
        why = "the documents held out may be of another kind"
        if findings.drawn:
            why = "it is chance, or the estimate is off"
        yield Finding(f"{what} in {listed(apart)}: there {why}.", code="holdout_apart")


def with_one_label(findings: Findings) -> Iterator[Finding]:
    """Say how often the class is right, where every document has one."""
    if findings.one_label is not None:
        yield Finding(
            "Every document has one label. The category with the largest decision value is right "
            f"for {_percent(findings.one_label['accuracy'])} of the documents held out.",
            code="one_label",
        )


def what_is_unstable(findings: Findings) -> Iterator[Finding]:
    """Name the categories whose bias is one of many."""
    trained = findings.trained
    unstable = [
        name for name, stable in zip(trained.names, trained.svms.stable, strict=True) if not stable
    ]
    if unstable:
        yield Finding(
            f"Unstable, as every support vector is at its bound: {listed(unstable)}. Nothing is "
            "proven there; a larger C usually helps.",
            code="unstable_categories",
        )


def what_is_not_solved(findings: Findings) -> Iterator[Finding]:
    """Say so where a solver stopped before it was done."""
    gaps = findings.trained.svms.gap
    left = int(np.count_nonzero(gaps > EFFORT.tolerance))
    if left:
        yield Finding(
            f"The solver stopped early in {left} of {len(gaps)} categories, with a gap of up to "
            f"{gaps.max():.2g}: their estimates are rough. Scale the features, or lower C.",
            code="solver_stopped_early",
        )


def what_is_too_open(findings: Findings) -> Iterator[Finding]:
    """Name the categories that have too few documents to say anything."""
    counts = dict(zip(findings.trained.names, findings.trained.truth.sum(axis=1), strict=True))
    wide = [
        label
        for label, row in findings.main.by_class.items()
        if _width(row["f1"]) > WIDE and counts[label]
    ]
    if wide:
        most = max(int(counts[label]) for label in wide)
        yield Finding(
            f"Too few documents to say much (the interval of F1 is wider than {WIDE:g}): "
            f"{_categories(len(wide))} with at most {most} training documents, such as "
            f"{', '.join(map(shown, wide[:4]))}.",
            code="too_few_documents",
        )


def what_has_no_value(findings: Findings) -> Iterator[Finding]:
    """Count what is undefined."""
    untrained = sum(reason is not None for reason in findings.trained.reasons)
    if untrained:
        have = "has" if untrained == 1 else "have"
        yield Finding(
            f"{_categories(untrained)} {have} no estimate: see the notes.",
            code="categories_without_estimate",
        )


RULES = (
    how_good,
    what_leans,
    beside_the_holdout,
    with_one_label,
    what_is_unstable,
    what_is_not_solved,
    what_is_too_open,
    what_has_no_value,
)


def _pairs(findings: Findings, name: str) -> list[tuple[float, float]]:
    """Give the values of both sides in the categories that averages are over."""
    holdout, trained = findings.holdout, findings.trained
    if holdout is None:
        return []
    pairs = [
        (findings.main.by_class[label][name], holdout.by_class[label][name])
        for label, taken in zip(trained.names, trained.averaged, strict=True)
        if taken
    ]
    return [(a.value, b.value) for a, b in pairs if a.is_defined and b.is_defined]


def _apart(mine: Estimate, theirs: Estimate) -> bool:
    if mine.interval is None or theirs.interval is None:
        return False
    return mine.interval.high < theirs.interval.low or theirs.interval.high < mine.interval.low


def _width(estimate: Estimate) -> float:
    """Give the width of the interval; that of a bound is twice its distance."""
    ends = estimate.interval
    if ends is None:
        return 0.0
    return ends.width if ends.side == "both" else 2 * (estimate.value - ends.low)


def _percent(estimate: Estimate) -> str:
    if not estimate.is_defined:
        return "undefined"
    value = _short(estimate.value)
    if estimate.interval is None:
        return f"{value} %"
    ends, level = estimate.interval, f"{100 * estimate.interval.level:.10g} % confidence"
    if ends.side == "both":
        return f"{value} % ({_short(ends.low)} to {_short(ends.high)} % at {level})"
    return f"{value} % ({ends.words(_short)} % with {level})"


def _categories(count: int) -> str:
    return "1 category" if count == 1 else f"{count} categories"


def _short(share: float) -> str:
    """Write a share in percent; small ones need a second decimal."""
    return f"{100 * share:.1f}" if share >= 0.1 else f"{100 * share:.2f}"
