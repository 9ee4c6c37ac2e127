"""What a comparison of several models says in words: what is sure, what is not, who was lucky."""

from collections.abc import Iterator

from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.measures.registry import spoken_title
from truerisk.results import Comparison

MAX_LISTED = 6


def verdict_of(result: Comparisons) -> Iterator[str]:
    """Say the main finding first, then what the other measures add to it."""
    if len(result.names) == 2:
        yield result[result.measure].verdict
        yield from _other_findings(result)
    else:
        yield from _of_many(result)
    yield from _of_the_best(result)


def _other_findings(result: Comparisons) -> Iterator[str]:
    """List the measures by which the finding is another one."""
    main = result[result.measure]
    second, first = main.names[1], main.names[0]
    others = [one for one in result.pairs if one.measure != result.measure]
    for finding in ("better", "worse", "equivalent"):
        named = [
            spoken_title(one.measure)
            for one in others
            if one.finding == finding and main.finding != finding
        ]
        if named:
            relation = f"{finding} {'to' if finding == 'equivalent' else 'than'} {first}"
            yield f"{second} is {relation} by {_listed(named)}, each measure taken for itself."


def _of_many(result: Comparisons) -> Iterator[str]:
    title = spoken_title(result.measure)
    at = 1 - result.level
    if result.omnibus is not None:
        p_value = result.omnibus.p_value
        same = "are not all equally often right" if p_value <= at else "may all be equally good"
        yield f"The {len(result.names)} models {same} (Cochran's Q, p = {p_value:.3g})."
    told = [
        one
        for one in result.pairs
        if one.measure == result.measure
        and one.finding in {"better", "worse"}
        and result.adjusted[one.names] <= at
    ]
    if not told:
        yield (
            f"By {title} no model is shown to be better than another, over all "
            f"{len(result.name_pairs)} pairs (Holm)."
        )
    else:
        named = [_better_first(one) for one in told]
        yield f"By {title}, over all {len(result.name_pairs)} pairs (Holm): {_listed(named)}."


def _better_first(comparison: Comparison) -> str:
    first, second = comparison.names
    better, worse = (second, first) if comparison.finding == "better" else (first, second)
    return f"{better} is better than {worse}"


def _of_the_best(result: Comparisons) -> Iterator[str]:
    best = result.best
    if best is None or len(result.names) < 3:
        return
    title = spoken_title(result.measure)
    yield (
        f"The best of the {len(result.names)} here is {best.name}, with {title} "
        f"{best.own.value:.3f}; corrected for having been chosen by it: "
        f"{best.corrected.value:.3f} [{best.corrected.interval.low:.3f}, "
        f"{best.corrected.interval.high:.3f}]."
        if best.corrected.interval is not None
        else f"The best of the {len(result.names)} here is {best.name}."
    )


def _listed(names: list[str]) -> str:
    left = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {left} more" if left > 0 else "")
