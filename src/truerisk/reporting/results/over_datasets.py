"""OverDatasets: the critical-difference picture, every pair, how probable each finding is."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from truerisk.comparison.datasets.bayesian import HierarchicalPosterior
from truerisk.comparison.datasets.over_datasets import OverDatasets, PairOverDatasets
from truerisk.intervals.measured_coverage import DIFFERENCE
from truerisk.reporting import document as doc
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.escaping import figure_label, visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.comparison import side_words
from truerisk.reporting.sections.coverage import look_up
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    ProbabilityBar,
    difference_tile,
    differences_section,
    p_sentence,
    probabilities_section,
)
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    counted,
    interval_heading,
    interval_words,
    p_words,
    percent,
    plain_text,
)
from truerisk.results import Estimate, number

ZEROS = {
    "pratt": "ranked, then left out (Pratt)",
    "wilcox": "left out before ranking",
    "zsplit": "half of their ranks to either side",
}
MAX_PAIRS = 300  # drawn on one page
MAX_PAIRS_SHOWN = 60  # on a terminal
WORST, BEST = 27.0, 73.0  # the ends of the line of ranks; names stand outside
GAP = 1.5  # between the end of a leader and its name
ABOVE, LINE = 34, 76  # the critical difference, the line of ranks
FIRST_BAR, BAR_STEP = 90, 11
NAME_STEP = 26
LONGEST_NAME = 24
MAX_TICKS = 12
ROW_HEIGHT = 0.24  # inches of a figure
PAD = 0.5  # a group of equal ranks would have no width
NARROW_ROW, NARROW_TOP = 46, 30  # of the picture for phones: height of a row, room for the ticks
LANE = 9  # pixels between the bars of two groups
LANE_SHARE = 3.0  # per cent of a narrow screen that a bar needs
PAIR = "typical difference"
MAX_NAMED = 3
NEXT = "on the next data set"
OUT_OF_REACH = 100  # times as many data sets as there are


class OverDatasetsPresenter(Presenter):
    """The critical-difference picture, every pair, and how probable each finding is."""

    question = "Which classifier is better over many data sets?"

    def subtitle(self, result: OverDatasets) -> Iterator[str]:
        yield counted(result.n, "data set")
        yield counted(len(result.names), "classifier")
        yield f"{percent(result.level)} intervals"

    def tiles(self, result: OverDatasets) -> Iterator[doc.Tile]:
        if result.friedman is None:
            yield difference_tile(_pair_difference(result, result.pairs[0], "Typical difference"))
        best = result.in_order[0]
        among = f"of {len(result.names)} classifiers, over {counted(result.n, 'data set')}"
        yield doc.Tile(visible(f"Best average rank: {best}"), f"{result.rank_of(best):.2f}", among)
        if result.friedman is not None:
            yield doc.Tile("Are all alike?", p_sentence(result.friedman.p_value), "Iman-Davenport")
        length = result.critical_difference if result.control is None else result.control_difference
        if length is not None:
            kind = "Nemenyi" if result.control is None else "Bonferroni-Dunn"
            words = f"{kind}, {percent(result.level)}"
            yield doc.Tile("Critical difference of ranks", f"{length:.2f}", words)

    def sections(self, result: OverDatasets) -> Iterator[doc.Section]:
        if result.friedman is not None:
            yield critical_difference_section(result)
        shown = result.pairs[:MAX_PAIRS]
        left_out = len(result.pairs) - len(shown)
        yield _pairs(result, shown, left_out)
        yield _posteriors(result, shown, left_out)
        yield from map(doc.table_section, ranking_tables(result, drawn=True))

    def notes(self, result: OverDatasets) -> Iterator[str]:
        """Say what is to be known of the tests that were used."""
        if any(pair.interval is None for pair in result.pairs):
            yield f"Too few data sets for an interval at {percent(result.level)}."
        if len(result.pairs) > 1:
            yield "An interval is for its pair alone; findings are for all pairs together."
        if not result.pairs[0].wilcoxon.is_exact:
            yield "Over 50 data sets: Wilcoxon's p-values are normal approximations."
        if any(pair.ties for pair in result.pairs):
            rule = ZEROS[result.pairs[0].wilcoxon.zeros]
            yield f"Ties: {rule} by Wilcoxon's test; left out by the sign test."
        if result.friedman is not None and result.control is None:
            yield (
                "Groups and Nemenyi's test go by average ranks, which hang on all classifiers of "
                "the table; findings go by Wilcoxon's test of the pair and Holm's adjustment."
            )
        for pair in result.pairs:
            model = pair.hierarchical
            if isinstance(model, HierarchicalPosterior) and not model.is_mixed:
                yield f"{' and '.join(pair.names)}: the chains of the hierarchical model disagree."

    def blocks(self, result: OverDatasets) -> Iterator[doc.Block]:
        """Give what a terminal shows: what may be said, the tables, and what was assumed."""
        yield doc.Sentences(result.verdict)
        for table in ranking_tables(result):
            yield replace(table, rows=table.rows[:MAX_PAIRS_SHOWN])
            left = len(table.rows) - MAX_PAIRS_SHOWN
            if left > 0:
                yield doc.Sentences([f"{left:,} pairs more: --json and --csv have them."])
        yield doc.Sentences(tuple(self.notes(result)), "Notes")
        yield doc.FactList(list(_terminal_facts(result)))

    def tables(self, result: OverDatasets) -> Iterator[doc.Table]:
        return ranking_tables(result)

    def facts(self, result: Any) -> doc.Facts:
        yield "data sets", count(result.n)
        yield "classifiers", plain_text(result.names)
        yield "control", plain_text(result.control)
        yield "better is", "a higher score" if result.higher_is_better else "a lower score"
        yield "region of equivalence", "none" if result.region is None else f"± {result.region:g}"
        yield "confidence level", percent(result.level)
        yield "seed", str(result.random_state)

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say what to do about classifiers that were compared over many data sets."""
        from truerisk.comparison.datasets.over_datasets import datasets_to_settle

        best = result.in_order[0]
        of_best = [pair for pair in result.pairs if best in pair.names]
        won = [
            pair
            for pair in of_best
            if pair.finding == ("better" if pair.names[1] == best else "worse")
        ]
        if len(won) == len(result.names) - 1:
            yield (
                f"Prefer {best} on data sets like these {count(result.n)}, and check it on your "
                "own: `truerisk estimate --model … --against …`."
            )
        needed = {
            pair.names: datasets_to_settle(pair.wilcoxon, result.n, result.level)
            for pair in of_best
            if pair.finding == "no evidence"
        }
        defined = {
            names: n for names, n in needed.items() if n is not None and n < OUT_OF_REACH * result.n
        }
        if defined:
            first, second = min(defined, key=lambda names: defined[names])
            yield (
                f"Try them on more data sets: about {count(defined[first, second])} in all, "
                f"{count(result.n)} now, would tell {second} from {first}, by what is seen so far: "
                "`truerisk rank`."
            )
        equal = [pair.names for pair in of_best if pair.finding == "equivalent"]
        alike = [name for names in equal for name in names if name != best]
        if alike:
            named = plain_text(alike[:MAX_NAMED])
            more = f" and {len(alike) - MAX_NAMED} more" if len(alike) > MAX_NAMED else ""
            yield (
                f"Choose between {best} and {named}{more} by what else counts, such as speed or "
                "simplicity: over these data sets they are equivalent, within ± "
                f"{result.region:g}: `truerisk curve` shows what training costs."
            )
        open_pairs = sum(pair.finding == "no evidence" for pair in result.pairs)
        if result.region is None and open_pairs:
            yield (
                f"Say which difference matters: {count(open_pairs)} of {count(len(result.pairs))} "
                "pairs are open, and without it none can be called equivalent: "
                "`truerisk rank --region`."
            )

    def intervals(self, result: Any) -> Iterator[Use]:
        for pair in result.pairs:
            if pair.interval is not None:
                yield look_up(pair.interval, PAIR, measure=DIFFERENCE)

    def pictures(self, result: OverDatasets) -> doc.Pictures:
        yield "ranks", RankPicture(result)


def _pairs(result: OverDatasets, shown: Sequence[PairOverDatasets], left_out: int) -> doc.Section:
    rows = [_pair_difference(result, pair, _title(pair)) for pair in shown]
    alone = len(rows) == 1
    return differences_section(
        "Every pair, and how sure it is",
        [] if alone else [DifferenceGroup(f"Typical difference. {side_words(rows[0])}", rows)],
        level=percent(result.level),
        main=rows[0] if alone else None,
        left_out=left_out,
        seen="data sets",
    )


def _pair_difference(result: OverDatasets, pair: PairOverDatasets, title: str) -> Difference:
    estimate = Estimate(
        value=pair.difference,
        interval=pair.interval,
        measure="score",
        method="signed_rank",
        n=result.n,
        target="the learner at this sample size",
    )
    return Difference(
        title=title,
        names=pair.names,
        estimate=estimate,
        finding=pair.finding,
        higher_is_better=result.higher_is_better,
        region=result.region,
        p_value=pair.p_value,
        method="Wilcoxon, Holm" if len(result.pairs) > 1 else "Wilcoxon",
        seen=f"won {pair.wins}, tied {pair.ties}, lost {pair.losses}",
    )


def _posteriors(
    result: OverDatasets, shown: Sequence[PairOverDatasets], left_out: int
) -> doc.Section:
    region = (
        "Without a region of equivalence only exact ties are equivalent."
        if result.region is None
        else f"Equivalent is a difference within ± {result.region:g}."
    )
    return probabilities_section(
        "How probable is each finding?",
        [bar for pair in shown for bar in _probability_bars(pair)],
        lead="How probable it is, after these data sets, that the second is worse, equivalent or "
        f"better: by Bayesian tests. {region}",
        left_out=left_out,
    )


def _probability_bars(pair: PairOverDatasets) -> Iterator[ProbabilityBar]:
    """Give the probabilities of worse, equivalent and better by every model there is."""
    title = _title(pair)
    for posterior, model in ((pair.posterior, "signed rank"), (pair.hierarchical, "hierarchical")):
        if posterior is not None:
            chances = (posterior.worse, posterior.equivalent, posterior.better)
            yield ProbabilityBar(title, *chances, model)
    if isinstance(pair.hierarchical, HierarchicalPosterior):
        of = pair.hierarchical
        chances = (of.next_worse, of.next_equivalent, of.next_better)
        yield ProbabilityBar(title, *chances, NEXT)


def ranking_tables(result: OverDatasets, *, drawn: bool = False) -> Iterator[doc.Table]:
    """Give the tables; those of pairs and posteriors are left out where they are `drawn`."""
    yield rank_table(result)
    if result.friedman is not None:
        yield together_table(result.friedman)
    if not drawn:
        yield pair_table(result)
    yield p_value_table(result)
    if not drawn:
        yield posterior_table(result)
    if result.against_control:
        yield control_table(result)


def rank_table(result: OverDatasets) -> doc.Table:
    """Give one row per classifier, the best first; ranks do not tell a group apart."""
    columns: doc.Cells = {
        "Classifier": str,
        "#Average rank": lambda name: f"{result.rank_of(name):.3f}",
        "#Mean score": lambda name: number(result.mean_scores[result.names.index(name)], 4),
    }
    if result.critical_difference is not None:
        columns["Groups"] = lambda name: (
            ", ".join(str(at) for at, one in enumerate(result.cliques, 1) if name in one)
            or NO_INTERVAL
        )
    return doc.table(f"Average ranks over {count(result.n)} data sets", columns, result.in_order)


def together_table(test: Any) -> doc.Table:
    """Give one row per test of all classifiers together."""
    rows = (
        ("Iman-Davenport F", test.f, test.p_value),
        ("Friedman χ²", test.chi2, test.chi2_p_value),
        ("Friedman χ², corrected for ties", test.chi2_tie_corrected, test.tie_corrected_p_value),
    )
    words = tuple((name, number(value), p_words(p_value)) for name, value, p_value in rows)
    return doc.Table("All together", doc.heads("Test", "#Statistic", "#p"), words)


def pair_table(result: OverDatasets) -> doc.Table:
    """Give one row per pair: typical difference, interval, wins, finding."""
    columns: doc.Cells = {
        "Second − first": _title,
        "#Typical": lambda pair: number(pair.difference),
        f"#{interval_heading(result.level)}": lambda pair: interval_words(pair.interval),
        "#Won, tied, lost": lambda pair: f"{pair.wins}, {pair.ties}, {pair.losses}",
        "The second is": lambda pair: pair.finding,
    }
    return doc.table("Pairs", columns, result.pairs)


def p_value_table(result: OverDatasets) -> doc.Table:
    """Give one row per pair: the p-values of its tests, of which Holm's tells the finding."""
    offered: dict[str, Callable[[PairOverDatasets], float | None]] = {
        "Wilcoxon": lambda pair: pair.wilcoxon.p_value,
        "Holm": lambda pair: pair.p_value,
        "Sign": lambda pair: pair.sign_p_value,
        "Nemenyi": lambda pair: pair.nemenyi_p_value,
        "Equivalence": lambda pair: pair.equivalence_p_value,
    }
    used = {head: value for head, value in offered.items() if value(result.pairs[0]) is not None}
    columns = doc.heads("Second − first", *doc.number_columns(used))
    rows = tuple(
        (_title(pair), *(p_words(value(pair)) for value in used.values())) for pair in result.pairs
    )
    return doc.Table("p-values", columns, rows)


def _title(pair: PairOverDatasets) -> str:
    return f"{pair.names[1]} − {pair.names[0]}"


def posterior_table(result: OverDatasets) -> doc.Table:
    """Give one row per pair and model: the chances of worse, equivalent, better."""
    columns: doc.Cells = {
        "Second − first": lambda bar: bar.title,
        "Model": lambda bar: bar.model.removeprefix("on the "),
        "#Worse": lambda bar: number(bar.worse),
        "#Equivalent": lambda bar: number(bar.equivalent),
        "#Better": lambda bar: number(bar.better),
    }
    bars = [bar for pair in result.pairs for bar in _probability_bars(pair)]
    region = "no region" if result.region is None else f"within ± {result.region:g}"
    return doc.table(f"Posterior probabilities ({region})", columns, bars)


def control_table(result: OverDatasets) -> doc.Table:
    """Give one row per classifier: its average rank against the control's."""
    columns: doc.Cells = {
        "Classifier": lambda one: one.name,
        "#z": lambda one: number(one.z),
        "#p": lambda one: p_words(one.p_value),
        "#Bonferroni-Dunn": lambda one: p_words(one.bonferroni_dunn),
        "#Holm": lambda one: p_words(one.holm),
        "#Hochberg": lambda one: p_words(one.hochberg),
    }
    title = f"Average ranks against {result.control} (positive z: better)"
    return doc.table(title, columns, result.against_control)


def critical_difference_section(result: OverDatasets) -> doc.Section:
    """Give the section of the picture; the best rank is at the right."""
    bars = _group_bars(result)
    depth = FIRST_BAR + BAR_STEP * len(bars) + NAME_STEP // 2
    k = len(result.names)
    data = {
        "names": [_name(result, at, depth) for at in range(k)],
        "bars": bars,
        "ticks": _ticks(k),
        "line": {"low": WORST, "high": BEST, "y": LINE},
        "difference": _ruler(result),
        "height": depth + NAME_STEP * ((k + 1) // 2 - 1) + 14,
        "description": _description(result),
        "narrow": _narrow(result),
    }
    lead = (
        "A bar joins classifiers whose average ranks differ by less than the critical difference: "
        "these data sets do not tell them apart by rank."
        if result.control is None
        else "Outside the bar, a rank differs from that of the control."
    )
    lead = f"The best rank is at the right. {lead}"
    return doc.Section("critical_difference", "Average ranks", data, lead)


def _place(rank: float, k: int, worst: float = WORST, best: float = BEST) -> float:
    return round(best - (best - worst) * (rank - 1) / (k - 1), 2)


def _ticks(k: int) -> list[dict[str, Any]]:
    every = math.ceil(k / MAX_TICKS)
    return [
        {"x": _place(rank, k), "words": str(rank) if (rank - 1) % every == 0 else ""}
        for rank in range(1, k + 1)
    ]


def _group_bars(result: OverDatasets) -> list[dict[str, Any]]:
    """Give what is drawn under the line: the groups, or all that is not told from the control."""
    k = len(result.names)
    if result.control is not None and result.control_difference is not None:
        centre, half = result.rank_of(result.control), result.control_difference
        ends, mark = [(max(1.0, centre - half), min(float(k), centre + half))], "control"
    else:
        ends = [(result.rank_of(group[0]), result.rank_of(group[-1])) for group in result.cliques]
        mark = "group"
    return [
        {
            "low": _place(high, k) - PAD,
            "high": _place(low, k) + PAD,
            "y": FIRST_BAR + BAR_STEP * row,
            "mark": mark,
        }
        for row, (low, high) in enumerate(ends)
    ]


def _name(result: OverDatasets, at: int, depth: int) -> dict[str, Any]:
    """Give the leader down from a rank and out to its name: the better half at the right."""
    k, name = len(result.names), result.in_order[at]
    on_right = at < (k + 1) // 2
    rank = result.rank_of(name)
    short = visible(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")
    return {
        "words": f"{rank:.2f} {short}" if on_right else f"{short} {rank:.2f}",
        "rank": _place(rank, k),
        "end": BEST + GAP if on_right else WORST - GAP,
        "text": BEST + 2 * GAP if on_right else WORST - 2 * GAP,
        "side": "start" if on_right else "end",
        "y": depth + NAME_STEP * (at if on_right else k - 1 - at),
        "control": name == result.control,
    }


def _narrow(result: OverDatasets) -> dict[str, Any]:
    """Give the picture for phones: one row per classifier, the best first; groups join rows."""
    k, names = len(result.names), result.in_order
    groups = [] if result.control is not None else result.cliques
    worst, best = 3.0, max(60.0, 97.0 - LANE_SHARE * len(groups))
    lanes = [
        {
            "shift": -LANE * lane - 3,
            "top": NARROW_TOP + NARROW_ROW * names.index(group[0]) + 12,
            "bottom": NARROW_TOP + NARROW_ROW * names.index(group[-1]) + NARROW_ROW - 4,
        }
        for lane, group in enumerate(groups)
    ]
    band = None
    if result.control is not None and result.control_difference is not None:
        centre, half = result.rank_of(result.control), result.control_difference
        high = _place(max(1.0, centre - half), k, worst, best)
        low = _place(min(float(k), centre + half), k, worst, best)
        band = {"low": low, "width": round(high - low, 2)}
    return {
        "height": NARROW_TOP + NARROW_ROW * k + 6,
        "low": worst,
        "high": best,
        "ticks": [{**one, "x": _place(at, k, worst, best)} for at, one in enumerate(_ticks(k), 1)],
        "lanes": lanes,
        "band": band,
        "rows": [
            {
                "words": f"{result.rank_of(name):.2f} {visible(name, most=LONGEST_NAME + 8)}",
                "rank": _place(result.rank_of(name), k, worst, best),
                "y": NARROW_TOP + NARROW_ROW * row,
                "control": name == result.control,
            }
            for row, name in enumerate(names)
        ],
    }


def _ruler(result: OverDatasets) -> dict[str, Any] | None:
    """Give the critical difference, from the best rank on; it may run past the worst one."""
    is_control = result.control_difference is not None
    length = result.control_difference if is_control else result.critical_difference
    if length is None:
        return None
    low = max(0.0, _place(1 + length, len(result.names)))
    kind = "Bonferroni-Dunn" if is_control else "Nemenyi"
    words = f"critical difference {length:.2f} ({kind}, {percent(result.level)})"
    return {"low": low, "high": BEST, "y": ABOVE, "words": words}


def _description(result: OverDatasets) -> str:
    """Say what the picture shows, for those who hear the page."""
    ranked = ", ".join(f"{name} {result.rank_of(name):.2f}" for name in result.in_order)
    text = f"Average ranks, the best first: {ranked}."
    if result.control is None and result.cliques:
        groups = "; ".join(", ".join(group) for group in result.cliques)
        text += f" Not told apart: {groups}."
    return visible(text, most=doc.SENTENCE)


@dataclass(frozen=True)
class RankPicture:
    """The critical-difference picture on axes of matplotlib."""

    ranking: OverDatasets

    @property
    def height(self) -> float:
        """The height that it needs, in inches."""
        return 1.6 + ROW_HEIGHT * len(self.ranking.names)

    def __call__(self, ax: Any) -> None:
        """Draw what the section of the page describes: places in percent across, pixels down."""
        picture = critical_difference_section(self.ranking).data
        height, ink = picture["line"]["y"], {True: FIGURE["second"], False: "black"}
        ax.hlines(height, picture["line"]["low"], picture["line"]["high"], color="black")
        for tick in picture["ticks"]:
            ax.vlines(tick["x"], height - 6, height, color="black", linewidth=1)
            ax.text(tick["x"], height - 8, tick["words"], ha="center", va="bottom", size="small")
        for bar in picture["bars"]:
            colour = FIGURE["second" if bar["mark"] == "control" else "first"]
            ax.hlines(bar["y"], bar["low"], bar["high"], color=colour, linewidth=3.5)
        for name in picture["names"]:
            rank, y, colour = name["rank"], name["y"], ink[name["control"]]
            ax.plot([rank, rank, name["end"]], [height, y, y], color=colour, linewidth=0.9)
            ax.plot([rank], [height], "o", color=colour, markersize=3)
            side = "left" if name["side"] == "start" else "right"
            words = figure_label(name["words"])
            ax.text(name["text"], y, words, ha=side, va="center", color=colour, size="small")
        ruler = picture["difference"]
        if ruler is not None:
            low, high, y = ruler["low"], ruler["high"], ruler["y"]
            ax.hlines(y, low, high, color="black", linewidth=1)
            ax.vlines([low, high], y - 3, y + 3, color="black", linewidth=1)
            words = ruler["words"]
            ax.text((low + high) / 2, y - 5, words, ha="center", va="bottom", size="small")
        ax.set_xlim(0, 100)
        ax.set_ylim(picture["height"], 0)
        ax.set_axis_off()


def _terminal_facts(result: OverDatasets) -> doc.Facts:
    """Count the classifiers, which the tables name, and add the critical differences."""
    facts = dict(OverDatasetsPresenter().facts(result)) | {"classifiers": count(len(result.names))}
    seed = facts.pop("seed")
    yield from facts.items()
    if result.critical_difference is not None:
        yield "critical difference (Nemenyi)", number(result.critical_difference)
    if result.control_difference is not None:
        yield "critical difference (Bonferroni-Dunn)", number(result.control_difference)
    yield "seed", seed
