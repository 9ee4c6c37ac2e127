"""The one list of measures: what each is called, needs, promises and admits.

Help, tables, tests and checks all read it, so a measure is one small function and one line.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from truerisk.checks import check_number, did_you_mean, shown
from truerisk.errors import InputError
from truerisk.tallies.cells import BinaryCounts, ClassCounts, Proportion, Rejections
from truerisk.tallies.documents import DocumentTally
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.question_values import QuestionValues
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.scored_rows import ScoredRows

Needs = Literal[
    "binary counts",
    "class counts",
    "rejections",
    "ranking",
    "documents",
    "probabilities",
    "rows",
    "values",
]

NEEDS: dict[type, Needs] = {
    BinaryCounts: "binary counts",
    ClassCounts: "class counts",
    Rejections: "rejections",
    Ranking: "ranking",
    DocumentTally: "documents",
    ProbabilityTally: "probabilities",
    QuestionValues: "values",
    ScoredRows: "rows",
}

BINOMIAL_INTERVALS = (
    "clopper_pearson",
    "wilson",
    "wilson_cc",
    "jeffreys",
    "agresti_coull",
    "mid_p",
    "blaker",
    "wald",
)
STRATIFIED_INTERVALS = ("stratified_percentile", "stratified_basic", "stratified_bca")
DRAWN_INTERVALS = ("percentile", "basic", "bca", *STRATIFIED_INTERVALS, "dirichlet")
CELL_INTERVALS = ("by_measure", "smoothed_delta", "delta", *DRAWN_INTERVALS)
DEFAULT_INTERVALS: dict[Needs, tuple[str, ...]] = {
    "binary counts": CELL_INTERVALS,
    "class counts": CELL_INTERVALS,
    "ranking": ("precision_influence",),
    "documents": ("delta",),
    "probabilities": ("gamma_of_losses",),
    "values": ("betting", "empirical_bernstein"),
    "rows": ("pair_placements",),
}

AVERAGE_NAMES = ("micro", "macro", "weighted", "samples")  # the last is over examples
# The averages that every evaluation of several classes has; others of one class are on request.
AVERAGED_COUNTS = ("precision", "recall", "f1", "jaccard", "specificity")
AVERAGED_RANKINGS = ("roc_auc", "average_precision", "breakeven_point", "eleven_point_precision")
AVERAGED = AVERAGED_COUNTS + AVERAGED_RANKINGS

# Functions whose formula the page holds, too (`reporting/templates/interval_numbers.js`): with it
# the threshold explorer computes the measure live.  Others are left out of it, with a note.
LIVE = frozenset(
    {
        "accuracy", "error_rate", "balanced_accuracy", "matthews_correlation", "cohen_kappa",
        "cost", "rejection_rate", "precision", "recall", "specificity",
        "negative_predictive_value", "jaccard", "f1", "f_beta", "e_beta", "gmean", "youden",
        "positive_likelihood_ratio", "negative_likelihood_ratio",
    }
)  # fmt: skip

SHORT_TITLES = {
    "roc_auc": "ROC AUC",
    "roc_auc_ovo": "ROC AUC, one-vs-one",
    "eleven_point_precision": "11-point precision",
}
NAMESAKES = ("Matthews", "Cohen", "Hamming", "Jaccard", "Youden", "Kolmogorov", "Brier")
SPOKEN_AVERAGES = {"samples": "per-example"}


@dataclass(frozen=True)
class Measure:
    """One entry of the registry."""

    name: str
    title: str
    function: Callable[..., Any]
    needs: Needs
    higher_is_better: bool | None
    measure_range: tuple[float, float]
    intervals: tuple[str, ...]
    undefined: str
    label_sets: bool | None = False  # whether examples must have sets of labels; None: either
    on_request: bool = False  # left out unless it is named
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    @property
    def formula(self) -> str:
        """The formula of its docstring, in LaTeX."""
        formula = re.search(
            r"\.\. math::\s*(.+?)(?:\n\s*\n|\Z)", self.function.__doc__ or "", re.DOTALL
        )
        return " ".join(formula.group(1).split()) if formula else ""

    @property
    def is_live(self) -> bool:
        """Whether a page can compute it at any threshold."""
        return self.function.__name__ in LIVE

    def __call__(self, tally: Any) -> Any:
        """Apply the formula; a `Proportion` where the value is k of n."""
        return self.function(tally, **self.parameters)

    def value(self, tally: Any) -> Any:
        """Apply the formula and give the bare number, or array of numbers."""
        value = self(tally)
        if isinstance(value, Proportion):
            return value.value
        return value if hasattr(value, "shape") else np.asarray(value)


MEASURES: dict[str, Measure] = {}


def measure(
    *,
    title: str,
    undefined: str,
    higher_is_better: bool | None = True,
    measure_range: tuple[float, float] = (0.0, 1.0),
    intervals: tuple[str, ...] | None = None,
    label_sets: bool | None = False,
    on_request: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function in the registry under its own name.

    Its annotations say the rest: the tally that it takes is what it needs, and what it returns
    says which intervals it can have (a `Proportion`, the exact ones).
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        tally, *_, value = inspect.get_annotations(function).values()
        needs = NEEDS[tally]
        default = BINOMIAL_INTERVALS if value is Proportion else DEFAULT_INTERVALS[needs]
        MEASURES[function.__name__] = Measure(
            name=function.__name__,
            title=title,
            function=function,
            needs=needs,
            higher_is_better=higher_is_better,
            measure_range=measure_range,
            intervals=default if intervals is None else intervals,
            undefined=undefined,
            label_sets=label_sets,
            on_request=on_request,
        )
        return function

    return enter


def find_measure(name: object) -> Measure:
    """Look a measure up; `f2` and `e0.5` are F_β and E_β, `partial_auc_0.2` has its limit."""
    if not isinstance(name, str):
        raise InputError(
            f"`measures` must be names of measures; got {shown(name)}. Functions are not accepted: "
            "see `truerisk measures` for the names."
        )
    if name in MEASURES:
        return MEASURES[name]
    if partial := re.fullmatch(r"partial_auc_(0?\.\d+|1(?:\.0*)?)", name):
        limit = check_number(float(partial.group(1)), "max_fpr", low=1e-6, high=1.0)
        base = MEASURES["partial_auc"]
        title = base.title.replace("0.1", f"{limit:g}")
        return replace(base, name=name, title=title, parameters={"max_fpr": limit})
    named = re.fullmatch(r"([fe])(\d+(?:\.\d+)?|inf)", name)
    if named is None:
        averages = (f"{base}_{ending}" for base in AVERAGED for ending in AVERAGE_NAMES)
        raise InputError(
            f"`measure` must be one of {', '.join(sorted(MEASURES))}, or f and a number; "
            f"got {shown(name)}.{did_you_mean(name, [*MEASURES, *averages])}"
        )
    base, beta = MEASURES[{"f": "f_beta", "e": "e_beta"}[named.group(1)]], float(named.group(2))
    title = base.title.replace("β", f"{beta:g}")
    return replace(base, name=name, title=title, parameters={"beta": beta})


def base_and_average(name: str) -> tuple[str, str | None]:
    """Split the name of an average into the measure and the kind of average."""
    base, _, average = name.rpartition("_")
    return (base, average) if average in AVERAGE_NAMES else (name, None)


def base_measure(name: object) -> Measure:
    """Look up the measure that a name is of, averaged or not; refuse averages that do not exist."""
    if not isinstance(name, str):
        return find_measure(name)
    base, average = base_and_average(name)
    measure = find_measure(base)
    if average is not None and measure.needs != "binary counts" and base not in AVERAGED:
        raise InputError(
            f"`measure` must not be an average of {base}, which is of all classes already; "
            f"got {shown(name)}. Did you mean {base!r}?"
        )
    return measure


def measures_that_need(needs: Needs) -> Iterator[Measure]:
    """Give what is always computed from one kind of tally, in the order of the registry."""
    return (entry for entry in MEASURES.values() if entry.needs == needs and not entry.on_request)


def measure_of(name: str) -> tuple[Measure | None, str]:
    """Give the registry's entry for a name such as `f1_macro`, and the average's name."""
    base, average = base_and_average(name)
    try:
        return find_measure(base), average or ""
    except InputError:
        return None, average or ""


def title_of(name: str) -> str:
    """Give the title of a measure, short enough for a column."""
    entry, average = measure_of(name)
    if entry is None:
        return name
    return f"{_short(entry)}, {average}" if average else _short(entry)


def spoken_title(name: str) -> str:
    """Write the title of a measure as it stands within a sentence."""
    entry, average = measure_of(name)
    if entry is None:
        return name.replace("_", " ")
    title = _short(entry)
    # Of abbreviations and of people the capital stays.
    if title[1:2].isascii() and title[1:2].islower() and not title.startswith(NAMESAKES):
        title = title[0].lower() + title[1:]
    return f"{SPOKEN_AVERAGES.get(average, average)} {title}" if average else title


def _short(measure: Measure) -> str:
    return SHORT_TITLES.get(measure.name, measure.title.split(" (")[0])
