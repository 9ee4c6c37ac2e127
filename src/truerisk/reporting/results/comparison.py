"""Comparisons: of two learners or SVMs, by one measure or several; of models on the same examples.

Two learners are drawn by their difference, its chances and refit by refit; several models by every
difference against 0.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from truerisk.comparison.conclusion import planned_in_words
from truerisk.comparison.learners.compare_models import BayesianComparison, ModelComparisons
from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.errors import InputError
from truerisk.intervals.measured_coverage import DIFFERENCE
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import (
    REPEATED,
    difference_uses,
    is_weighted,
    marks_of,
    prediction_uses,
    refit_uses,
    uses_of,
)
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    ProbabilityBar,
    difference_tile,
    differences_section,
    probabilities_section,
    signed_words,
)
from truerisk.reporting.sections.provenance import setting_facts, source_facts, targets_of
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    counted,
    interval_heading,
    p_words,
    percent,
    plain_text,
    spoken,
    written,
)
from truerisk.results import Comparison, Estimate, decimals_for, number

SEVERAL = "The p-values of different measures are not adjusted for being several."
MAX_SCATTERS = 2  # measures whose refits are drawn one by one
SHARES = {(0.0, 1.0), (-1.0, 1.0)}  # measures of these ranges are drawn on one scale
SIDES = {True: "Higher is better", False: "Lower is better", None: "Neither side is better"}
# tests on repeated cross-validation
BY_FOLDS = {"cautious_t", "corrected_t", "variance_components", "agreement"}
MAX_NAMED = 3
COMPARE, AGAINST, WITHOUT = "compare", "estimate --against …", "perturb --without …"
ALL_FEATURES = {"all columns", "all features"}  # what the command and the library call them
IN_A_ROW, UNDER_THE_AXIS = 12, 30  # characters of a name, so that both have room
MAX_ROWS = 300  # differences drawn on one page
MAX_TILES = 4  # models whose main measure has a tile
MAX_MODELS_SHOWN = 5  # whose values fit beside each other on a screen


# Told apart by their shapes as well.
FINDINGS: dict[str, tuple[doc.Ink, str]] = {
    "better": ("first", "^"),
    "worse": ("second", "v"),
    "equivalent": ("third", "s"),
    "no evidence": ("soft", "o"),
}


def _compared(result: Comparison | ModelComparisons) -> list[Comparison]:
    """List the comparisons of two learners: one for each measure, the main one first."""
    return list(result.values()) if isinstance(result, ModelComparisons) else [result]


class ComparisonPresenter(Presenter):
    """Two learners, or SVMs: the difference, its chances, refit by refit."""

    def title(self, result: Comparison | ModelComparisons) -> str:
        first, second = map(visible, _compared(result)[0].names)
        return f"Is {second} better than {first}?"

    def subtitle(self, result: Comparison | ModelComparisons) -> Iterator[str]:
        main = _compared(result)[0]
        yield counted(main.difference.n, "example")
        yield visible(spoken(main.method))
        if main.difference.interval is not None:
            yield f"{percent(main.difference.interval.level)} intervals"

    def verdict(self, result: Comparison | ModelComparisons) -> list[str]:
        return [one.verdict for one in _compared(result)]

    def tiles(self, result: Comparison | ModelComparisons) -> Iterator[doc.Tile]:
        main = _compared(result)[0]
        title = title_of(main.measure)
        for name, estimate in zip(main.names, (main.first, main.second), strict=True):
            yield doc.Tile.of(f"{title}: {name}", estimate)
        yield difference_tile(Difference.of(main, title))

    def sections(self, result: Comparison | ModelComparisons) -> Iterator[doc.Section]:
        compared = _compared(result)
        main, *others = compared
        ends = main.difference.interval
        yield differences_section(
            "The difference, and how sure it is",
            by_measure(others),
            level="" if ends is None else percent(ends.level),
            main=Difference.of(main, title_of(main.measure)),
        )
        bars = [_bar(one) for one in compared if isinstance(one, BayesianComparison)]
        if bars:
            region = (
                "Without a region of equivalence only a difference of exactly 0 is equivalent."
                if main.region is None
                else f"Equivalent is a difference within ± {main.region:g}."
            )
            lead = (
                f"How probable it is that {main.names[1]} is worse, equivalent or better. {region}"
            )
            yield probabilities_section(
                "How probable is each finding?", bars, lead=visible(lead, 500)
            )
        scatters = [chart for one in compared[:MAX_SCATTERS] for chart in _refits(one)]
        if scatters:
            yield doc.charts_section(
                "Refit by refit",
                scatters,
                "A dot is one refit of both on the same examples. On the dashed line both are "
                "alike.",
            )

    def notes(self, result: Comparison | ModelComparisons) -> Iterator[str]:
        compared = _compared(result)
        yield from dict.fromkeys(note for one in compared for note in one.notes)
        if len(compared) > 1:
            yield SEVERAL

    def blocks(self, result: Comparison | ModelComparisons) -> Iterator[doc.Block]:
        """Give what a terminal shows, measure by measure: verdict, table and notes."""
        for one in _compared(result):
            sentences = [one.verdict]
            if isinstance(one, BayesianComparison):
                sentences.append(f"Probability that {one.names[1]} is: {one.probabilities}.")
            yield doc.Sentences(sentences)
            yield model_comparison_table(one)
            yield doc.Sentences(one.notes, "Notes")

    def tables(self, result: Comparison | ModelComparisons) -> Iterator[doc.Table]:
        return map(model_comparison_table, _compared(result))

    def facts(self, result: Comparison | ModelComparisons) -> doc.Facts:
        """Say what was assumed, in pairs of words."""
        one = _compared(result)[0]
        yield "models", plain_text(one.names)
        if isinstance(result, ModelComparisons):
            yield "measures", plain_text([title_of(measure) for measure in result])
        else:
            yield "measure", title_of(one.measure)
        yield "examples", count(one.difference.n)
        yield "test", spoken(one.method)
        if one.difference.interval is not None:
            yield "confidence level", percent(one.difference.interval.level)
        yield "region of equivalence", "none" if one.region is None else f"± {one.region:g}"
        yield "the numbers are about", one.difference.target

    def next_steps(self, result: Comparison | ModelComparisons) -> Iterator[str]:
        """Say what to do about two learners."""
        main, *others = _compared(result)
        command = WITHOUT if ALL_FEATURES & set(main.names) else AGAINST
        return after_two(main, others, main.difference.n, command)

    def intervals(self, result: Comparison | ModelComparisons) -> Iterator[Use]:
        for one in _compared(result):
            yield from difference_uses(one)
            design = REPEATED if one.method in BY_FOLDS else ""
            for estimate in (one.first, one.second):
                if estimate.kind == "estimate":
                    yield from refit_uses([estimate], design)
                else:
                    yield from uses_of(estimate)

    def pictures(self, result: Comparison | ModelComparisons) -> doc.Pictures:
        name = "differences" if isinstance(result, ModelComparisons) else "difference"
        yield name, difference_forest(_compared(result))


ModelComparisonsPresenter = ComparisonPresenter


def _bar(result: BayesianComparison) -> ProbabilityBar:
    chances = result.probabilities
    first, second = result.names
    return ProbabilityBar(
        title=f"{title_of(result.measure)}: {second} − {first}",
        worse=chances.worse,
        equivalent=chances.equivalent,
        better=chances.better,
    )


def _refits(result: Comparison) -> Iterator[doc.Chart]:
    """Draw the second's value against the first's, where both have one in each refit."""
    # Those of a perturbed SVM are deviations, not values.
    x, y = (
        np.asarray(() if hasattr(one, "training_error") else getattr(one, "replicates", ()))
        for one in (result.first, result.second)
    )
    if len(x) != len(y) or len(x) < 2 or not np.isfinite([x, y]).all():
        return
    first, second = result.names
    title = title_of(result.measure)
    across, up = (doc.Scale.over(f"{title}: {name}", [*x, *y]) for name in (first, second))
    ends = (across.low, across.high)
    above, below = int((y > x).sum()), int((y < x).sum())
    text = f"{second} is higher in {above} of {len(x)} refits, lower in {below}."
    yield doc.Chart(
        title=title,
        x=across,
        y=up,
        shapes=[
            doc.Line(ends, ends, "soft", dashed=True, words="alike"),
            doc.Dots(x, y, words="one refit"),
        ],
        caption=text,
    )


def model_comparison_table(result: Comparison) -> doc.Table:
    """Give one row per learner, and one of their difference with its test."""
    level = result.difference.interval.level if result.difference.interval is not None else None
    heading = "Interval" if level is None else interval_heading(level)
    numbers = doc.number_columns((title_of(result.measure), heading, "p"))
    columns = doc.heads("Learner", *numbers)
    first, second = result.names
    own, of_difference = marks_of(result), marks_of(result, DIFFERENCE)
    estimates = (
        (first, result.first, own, ""),
        (second, result.second, own, ""),
        (f"{second} − {first}", result.difference, of_difference, p_words(result.p_value)),
    )
    rows = tuple(
        (name, words.value, f"{words.interval}{mark(one)}", p_value)
        for name, one, mark, p_value in estimates
        for words in (written(one),)
    )
    return doc.Table(f"Learners compared ({result.method}): {result.finding}", columns, rows)


def by_measure(drawn: Sequence[Comparison]) -> Iterator[DifferenceGroup]:
    """Group the measures that share a scale, a region and the side that is better."""
    together: dict[tuple[bool | None, float | None], list[Difference]] = {}
    alone = []
    for one in drawn:
        row = Difference.of(one, title_of(one.measure))
        result, _ = measure_of(one.measure)
        if result is None or result.measure_range not in SHARES:
            alone.append(row)
        else:
            together.setdefault((row.higher_is_better, row.region), []).append(row)
    for rows in together.values():
        yield DifferenceGroup(side_words(rows[0]), rows)
    for row in alone:
        yield DifferenceGroup(f"{side_words(row)}, on a scale of its own", [row])


def side_words(row: Difference) -> str:
    """Say which side is better, and what does not matter."""
    side = SIDES[row.higher_is_better]
    return side if row.region is None else f"{side}, ± {row.region:g} does not matter"


def after_two(
    main: Comparison, others: Sequence[Comparison], n: float, command: str
) -> Iterator[str]:
    """Say what to do about two models, by the main measure, unless others say the opposite."""
    opposite = {"better": "worse", "worse": "better"}.get(main.finding)
    against = [title_of(one.measure) for one in others if one.finding == opposite]
    if against:
        yield _decide_what_counts(main, against, command)
        return
    first, second = main.names
    of_first, of_second = written(main.first).value, written(main.second).value
    by = f"{title_of(main.measure)} {of_second} against {of_first}"
    if main.finding in {"better", "worse"}:
        winner, loser = (second, first) if main.finding == "better" else (first, second)
        beside = f"{title_of(main.measure)} of {second} {of_second}, of {first} {of_first}"
        watch = "train it on all examples and judge it on fresh ones, `truerisk score`"
        if command == COMPARE:
            watch = "`truerisk compare --fail-unless not-worse` keeps watch over the next change"
        yield f"Take {winner} rather than {loser}, if this measure decides ({beside}): {watch}."
    elif main.finding == "equivalent":
        yield (
            f"Choose {first} or {second} by what else counts, such as speed or simplicity: a "
            f"difference of {main.region:g} or more is excluded ({by}): `truerisk curve` shows "
            "what training costs."
            if main.region is not None
            else f"Choose {first} or {second} by what else counts: they are equivalent ({by})."
        )
    else:
        yield from _still_open(main, n, command)


def _still_open(main: Comparison, n: float, command: str) -> Iterator[str]:
    first, second = main.names
    if not main.difference.is_defined:
        yield (
            f"Compare by another measure: {title_of(main.measure)} has no value for both on these "
            f"{count(n)} examples: `truerisk {command} --measure`."
        )
        return
    if main.settled_by is not None:
        yield (
            f"Collect about {count(max(main.settled_by - n, 1))} more examples: "
            f"{count(main.settled_by)} in all would detect a difference "
            f"{planned_in_words(main.difference.value, main.region)} ({difference_words(main)} is "
            f"seen): `truerisk {command}` again with them."
        )
    if main.region is None:
        yield (
            f"Say which difference of {title_of(main.measure)} would matter: "
            f"{difference_words(main)} is seen, and whether {second} and {first} are "
            f"equivalent can then be told: `truerisk {command} --region`."
        )
    if main.settled_by is None and main.region is not None:
        yield (
            f"Stay with the cheaper of {first} and {second} until more examples are there: "
            f"{count(n)} do not tell them apart ({difference_words(main)}): `truerisk {command}`."
        )


def difference_words(one: Comparison) -> str:
    """Write a difference and its interval."""
    value, ends = written(one.difference)
    return value if one.difference.interval is None else f"{value} {ends}"


def _decide_what_counts(main: Comparison, against: list[str], command: str) -> str:
    """Ask for a decision where two measures say the opposite."""
    first, second = main.names
    other = "worse" if main.finding == "better" else "better"
    named = plain_text(against[:MAX_NAMED])
    if len(against) > MAX_NAMED:
        named += f" and {len(against) - MAX_NAMED} more"
    return (
        f"Decide which measure counts before choosing: {second} is {main.finding} than {first} by "
        f"{title_of(main.measure)} ({difference_words(main)}) but {other} by {named}: `truerisk "
        f"{command} --measure {main.measure}`."
    )


def difference_forest(comparisons: Sequence[Comparison]) -> doc.Forest:
    """Describe differences: triangles, squares (equivalent) and dots (no evidence).

    Measures without an upper end are left out where there are others, and named: their
    differences would leave no room for those of rates.
    """
    if not comparisons:
        raise InputError("`comparisons` must hold at least one comparison; got none.")
    bounded = [one for one in comparisons if _is_bounded(one.measure)]
    drawn = bounded or list(comparisons)
    one_pair = len({one.names for one in drawn}) == 1
    words = (
        _pair(drawn[0], UNDER_THE_AXIS) if one_pair else f"{title_of(drawn[0].measure)}: difference"
    )
    left_out = dict.fromkeys(title_of(one.measure) for one in comparisons if one not in drawn)
    return doc.Forest(
        rows=[_forest_entry(one, by_measure=one_pair) for one in drawn],
        axis=words,
        note=f"{words}. On other scales: {', '.join(left_out)}" if left_out else "",
        about_zero=True,
    )


def _forest_entry(comparison: Comparison, *, by_measure: bool) -> doc.Entry:
    what = title_of(comparison.measure) if by_measure else _pair(comparison, IN_A_ROW)
    ink, mark = FINDINGS[comparison.finding]
    title = f"{what}: {comparison.finding}"
    return doc.Entry(title, comparison.difference, "", ink, mark, comparison.region)


def _pair(comparison: Comparison, most: int) -> str:
    first, second = (visible(name, most=most) for name in comparison.names)
    return f"{second} − {first}"


def _is_bounded(measure: str) -> bool:
    result, _ = measure_of(measure)
    return result is not None and all(map(math.isfinite, result.measure_range))


# Several models on the same examples


@dataclass(frozen=True)
class ComparisonsPresenter(Presenter):
    """Models on the same examples: every difference against 0; `tiers` for a terminal."""

    question: ClassVar[str] = "Which model is really better?"
    tiers: bool = False

    def subtitle(self, result: Comparisons) -> Iterator[str]:
        yield counted(result.n, "example")
        yield f"{counted(len(result.names), 'model')}, {counted(len(result.name_pairs), 'pair')}"
        yield f"{percent(result.level)} intervals"

    def tiles(self, result: Comparisons) -> Iterator[doc.Tile]:
        """Give the main measure of each model, then their difference, or the best one."""
        for name in result.names[:MAX_TILES]:
            estimate = result.evaluations[name].get(result.measure)
            if estimate is not None:
                yield doc.Tile.of(f"{title_of(result.measure)}: {name}", estimate)
        main = _main(result)
        if main is not None:
            yield difference_tile(main)
        if result.best is not None and len(result.names) > 2:
            note = "without the luck of being chosen"
            yield doc.Tile.of(
                f"The best, corrected: {result.best.name}", result.best.corrected, note
            )

    def sections(self, result: Comparisons) -> Iterator[doc.Section]:
        yield _differences(result)
        yield from _slices_section(result)
        # That of two models would only say again what is drawn and written.
        tables = islice(comparisons_tables(result), len(result.names) == 2, None)
        yield from map(doc.table_section, tables)

    def notes(self, result: Comparisons) -> tuple[str, ...]:
        """Give the notes of the whole, and those of single comparisons, each told once."""
        text = doc.each_once(
            (title_of(one.measure), note) for one in result.pairs for note in one.notes
        )
        listed = (f"{'; '.join(dict.fromkeys(titles))}: {note}" for note, titles in text.items())
        return (*result.notes, *listed, *([SEVERAL] if len(result.measures) > 1 else []))

    def blocks(self, result: Comparisons) -> Iterator[doc.Block]:
        """Give what a terminal shows: the verdict, the tables, the notes, and what was assumed."""
        yield doc.Sentences(result.verdict)
        yield from [tier_table(result)] if self.tiers else comparisons_tables(result, short=True)
        yield doc.Sentences(self.notes(result), "Notes")
        facts = [pair for pair in self.facts(result) if pair[0] != "the numbers are about"]
        yield doc.FactList([*facts, *source_facts(result.source)])

    def tables(self, result: Comparisons) -> Iterator[doc.Table]:
        return comparisons_tables(result)

    def facts(self, result: Any) -> doc.Facts:
        """Say what was assumed, in pairs of words."""
        yield "models", plain_text(result.names)
        yield "examples", count(result.n)
        yield "main measure", title_of(result.measure)
        yield "confidence level", percent(result.level)
        yield "the numbers are about", targets_of(one.difference for one in result.pairs)
        given = {name: value for name, value in result.settings.items() if value is not None}
        yield from setting_facts(given, skip={"level"})

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say what to do about models that were compared by their predictions."""
        if len(result.names) == 2:
            others = [one for one in result.pairs if one.measure != result.measure]
            yield from after_two(result[result.measure], others, result.n, COMPARE)
            return
        text = [
            one
            for one in result.pairs
            if one.measure == result.measure
            and one.finding in {"better", "worse"}
            and result.adjusted[one.names] <= 1 - result.level
        ]
        if not text:
            yield from _collect(
                [one for one in result.pairs if one.measure == result.measure], result
            )
        if result.best is not None:
            corrected, own = written(result.best.corrected), written(result.best.own)
            yield (
                f"Judge {result.best.name} on examples that did not choose it: it looks best of "
                f"{len(result.names)} here, and without that luck {title_of(result.measure)} is "
                f"{corrected.value} {corrected.interval}, not {own.value}: `truerisk score`."
            )

    def intervals(self, result: Any) -> Iterator[Use]:
        weighted = any(map(is_weighted, result.evaluations.values()))
        for one in (*result.pairs, *(part.comparison for part in result.slices)):
            yield from difference_uses(one, weighted=weighted)
        for evaluation in result.evaluations.values():
            yield from prediction_uses(evaluation)

    def pictures(self, result: Comparisons) -> doc.Pictures:
        """Draw the differences of two models, one row per measure; of more, one row per pair."""
        two = len(result.names) == 2
        drawn = [one for one in result.pairs if two or one.measure == result.measure]
        yield "differences", difference_forest(drawn)


def _main(result: Comparisons) -> Difference | None:
    """Give the difference of two models by the main measure; more models have no single one."""
    if len(result.names) > 2 or result.measure not in result:
        return None
    return Difference.of(result[result.measure], title_of(result.measure))


def _differences(result: Comparisons) -> doc.Section:
    """Draw two models measure by measure; more of them pair by pair, one picture per measure."""
    main = _main(result)
    rest = [one for one in result.pairs if main is None or one.measure != result.measure]
    drawn = sorted(rest, key=lambda one: result.measures.index(one.measure))[:MAX_ROWS]
    return differences_section(
        "Every difference, and how sure it is",
        _by_pair(result, drawn) if len(result.names) > 2 else by_measure(drawn),
        level=percent(result.level),
        main=main,
        left_out=len(rest) - len(drawn),
    )


def _by_pair(result: Comparisons, drawn: Sequence[Comparison]) -> Iterator[DifferenceGroup]:
    for measure in dict.fromkeys(one.measure for one in drawn):
        rows = [
            Difference.of(one, f"{one.names[1]} − {one.names[0]}", finding_among(result, one))
            for one in drawn
            if one.measure == measure
        ]
        yield DifferenceGroup(f"{title_of(measure)}. {side_words(rows[0])}", rows)


def _slices_section(result: Comparisons) -> Iterator[doc.Section]:
    """Draw the differences in the slices, one picture per measure and pair."""
    if not result.slices:
        return
    groups: dict[tuple[str, tuple[str, str]], list[Difference]] = {}
    for one in result.slices[:MAX_ROWS]:
        key = (one.comparison.measure, one.comparison.names)
        drawn = Difference.of(one.comparison, f"{one.slice} ({count(one.n)})", one.finding)
        groups.setdefault(key, []).append(drawn)
    yield differences_section(
        "Where is it better, where worse? Slices",
        (
            DifferenceGroup(f"{title_of(measure)}: {second} − {first}. {side_words(rows[0])}", rows)
            for (measure, (first, second)), rows in groups.items()
        ),
        level=percent(result.level),
        left_out=len(result.slices) - MAX_ROWS,
    )


def slice_table(result: Comparisons) -> doc.Table | None:
    """Give one row per slice and pair: the change, its interval, and what is sure among all."""
    if not result.slices:
        return None
    columns: doc.Cells = {
        "Slice": lambda one: one.slice,
        "#n": lambda one: count(one.n),
        "Measure": lambda one: title_of(one.comparison.measure),
    }
    if len(result.names) > 2:
        columns["Pair"] = lambda one: " − ".join(reversed(one.comparison.names))
    columns |= {
        "#Change": lambda one: signed_words(one.comparison.difference)[0],
        f"#{interval_heading(result.level)}": (
            lambda one: signed_words(one.comparison.difference)[1]
        ),
        "#p (Holm)": lambda one: p_words(one.adjusted),
        "Finding": lambda one: one.finding,
    }
    return doc.table("Slices", columns, result.slices)


def comparisons_tables(result: Comparisons, *, short: bool = False) -> Iterator[doc.Table]:
    """Give every table, for pages and files; the short form, for a terminal, the main ones."""
    if len(result.names) == 2:
        yield two_model_table(result)
    else:
        yield pair_table(result)
        if not short or len(result.names) <= MAX_MODELS_SHOWN:
            yield value_table(result)
        if not short:
            yield from (pair_table(result, measure) for measure in result.measures[1:])
            yield tier_table(result)
    others = other_test_table(result, (result.measure,) if short else result.measures)
    yield from filter(None, (slice_table(result), right_table(result), others))


def two_model_table(result: Comparisons) -> doc.Table:
    """Give one row per measure: both values, the difference, its interval, test and finding."""
    first, second = result.names
    numeric = (first, second, "Change", interval_heading(result.level), "p")
    columns = doc.heads("Measure", *doc.number_columns(numeric), "Finding")
    mark = marks_of(result, DIFFERENCE)

    def decimals(one: Comparison) -> int:
        ends = one.difference.interval
        return 3 if ends is None else decimals_for(ends.width)

    rows = tuple(
        (
            title_of(one.measure),
            *(number(model.value, decimals(one)) for model in (one.first, one.second)),
            *_marked(one.difference, mark),
            p_words(one.p_value),
            one.finding,
        )
        for one in result.pairs
    )
    return doc.Table(f"{second} against {first}", columns, rows)


def pair_table(result: Comparisons, measure: str | None = None) -> doc.Table:
    """Give one row per pair of models, by one measure: the main one if none is named."""
    name, mark = measure or result.measure, marks_of(result, DIFFERENCE)
    columns: doc.Cells = {
        "Model": lambda one: one.names[1],
        "against": lambda one: one.names[0],
        "#Change": lambda one: _marked(one.difference, mark)[0],
        f"#{interval_heading(result.level)}": lambda one: _marked(one.difference, mark)[1],
        "#p": lambda one: p_words(one.p_value),
    }
    if name == result.measure:
        columns["#p (Holm)"] = lambda one: p_words(result.adjusted[one.names])
    columns["Finding"] = lambda one: finding_among(result, one)
    pairs = [one for one in result.pairs if one.measure == name]
    return doc.table(f"{title_of(name)}, every pair", columns, pairs)


def _marked(difference: Estimate, mark: Callable[[Estimate], str]) -> tuple[str, str]:
    value, interval = signed_words(difference)
    return value, f"{interval}{mark(difference)}"


def finding_among(result: Comparisons, comparison: Comparison) -> str:
    """Give the finding as it stands among all pairs: by the main measure, p-values are adjusted."""
    alone = comparison.measure != result.measure or comparison.finding not in {"better", "worse"}
    if alone or result.adjusted[comparison.names] <= 1 - result.level:
        return comparison.finding
    return f"{comparison.finding} alone"


def tier_table(result: Comparisons) -> doc.Table:
    """Give one row per model: the best first, in tiers of models that cannot be told apart."""
    columns = doc.heads(
        "Model", *doc.number_columns((title_of(result.measure), "Interval", "Tier"))
    )
    rows = []
    entry = measure_of(result.measure)[0]
    sign = -1.0 if entry is not None and entry.higher_is_better is False else 1.0
    for place, tier in enumerate(result.tiers, start=1):
        estimates = {name: result.evaluations[name].get(result.measure) for name in tier}
        known = {name: one for name, one in estimates.items() if one is not None}
        for name in sorted(known, key=lambda name: -sign * known[name].value):
            words = written(known[name])
            rows.append((name, words.value, words.interval, str(place)))
    return doc.Table("Models in tiers, the best first", columns, tuple(rows))


def value_table(result: Comparisons) -> doc.Table:
    """Give one row per measure, and a column a model."""
    columns = doc.heads("Measure", *doc.number_columns(result.names))
    evaluations = [result.evaluations[name] for name in result.names]
    rows = tuple(
        (
            title_of(name),
            *(number(one[name].value) if name in one else NO_INTERVAL for one in evaluations),
        )
        for name in result.measures
    )
    return doc.Table("Values", columns, rows)


def right_table(result: Comparisons) -> doc.Table | None:
    """Give one row per pair: on how many examples both are right, only one, or neither."""
    if not result.tables:
        return None
    columns = doc.heads(
        "First", "Second", *doc.number_columns(("Both", "Only first", "Only second", "Neither"))
    )
    rows = tuple((*one.names, *map(count, one.counts)) for one in result.tables)
    return doc.Table("Right on how many examples", columns, rows)


def other_test_table(result: Comparisons, measures: tuple[str, ...]) -> doc.Table | None:
    """Give one row per test of these measures, beside the one that the finding rests on."""
    columns: doc.Cells = {"Measure": lambda row: title_of(row[0][0])}
    if len(result.names) > 2:
        columns["Models"] = lambda row: f"{row[0][2]} against {row[0][1]}"
    columns |= {
        "Test": lambda row: spoken(row[1].method),
        "#p": lambda row: p_words(row[1].p_value),
    }
    tests = [(key, one) for key, of_pair in result.beside.items() for one in of_pair]
    table = doc.table("Other tests", columns, (row for row in tests if row[0][0] in measures))
    return table if table.rows else None


def _collect(pairs: Sequence[Comparison], result: Any) -> Iterator[str]:
    defined = [one for one in pairs if one.settled_by is not None]
    if not defined:
        return
    closest = min(defined, key=lambda one: one.settled_by or 0)
    more = max((closest.settled_by or 0) - result.n, 1)
    yield (
        f"Collect about {count(more)} more examples to tell {closest.names[1]} from "
        f"{closest.names[0]} ({difference_words(closest)}), the pair that is settled first: "
        f"`truerisk {COMPARE}` again with them."
    )
