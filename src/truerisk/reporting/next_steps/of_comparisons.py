"""What to do next about a comparison: one rule a function."""

from collections.abc import Iterator, Sequence
from typing import Any

from truerisk.comparison.conclusion import planned_in_words
from truerisk.reporting.wording import count, plain_text, title_of, written
from truerisk.results import Comparison

MAX_NAMED = 3
COMPARE, AGAINST, WITHOUT = "compare", "estimate --against …", "perturb --without …"
ALL_FEATURES = {"all columns", "all features"}  # what the command and the library call them
OUT_OF_REACH = 100  # times as many data sets as there are


def comparisons_steps(result: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about models that were compared by their predictions."""
    if len(result.names) == 2:
        main = result[result.measure]
        against = _against(main, [one for one in result.pairs if one.measure != result.measure])
        yield from (
            _decide_what_counts(main, against, COMPARE)
            if against
            else _after_two(main, result.n, COMPARE)
        )
        return
    told = [
        one
        for one in result.pairs
        if one.measure == result.measure
        and one.finding in {"better", "worse"}
        and result.adjusted[one.names] <= 1 - result.level
    ]
    if not told:
        yield from _collect([one for one in result.pairs if one.measure == result.measure], result)
    if result.best is not None:
        corrected, own = written(result.best.corrected), written(result.best.own)
        yield (
            f"Judge {result.best.name} on examples that did not choose it: it looks best of "
            f"{len(result.names)} here, and without that luck {title_of(result.measure)} is "
            f"{corrected.value} {corrected.interval}, not {own.value}: `truerisk score`."
        )


def comparison_steps(one: Comparison) -> Iterator[str]:
    """Say what to do about two learners."""
    yield from _after_two(one, one.difference.n, _command(one))


def model_comparisons_steps(result: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about two learners that were compared by several measures."""
    main, *others = result.values()
    against = _against(main, others)
    if against:
        yield from _decide_what_counts(main, against, _command(main))
    else:
        yield from comparison_steps(main)


def over_datasets_steps(found: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about classifiers that were compared over many data sets."""
    from truerisk.comparison.datasets.over_datasets import datasets_to_settle  # noqa: PLC0415  (rare)

    best = found.in_order[0]
    of_best = [pair for pair in found.pairs if best in pair.names]
    won = [
        pair for pair in of_best if pair.finding == ("better" if pair.names[1] == best else "worse")
    ]
    if len(won) == len(found.names) - 1:
        yield (
            f"Prefer {best} on data sets like these {count(found.n)}, and check it on your own: "
            "`truerisk estimate --model … --against …`."
        )
    needed = {
        pair.names: datasets_to_settle(pair.wilcoxon, found.n, found.level)
        for pair in of_best
        if pair.finding == "no evidence"
    }
    known = {
        names: n for names, n in needed.items() if n is not None and n < OUT_OF_REACH * found.n
    }
    if known:
        first, second = min(known, key=lambda names: known[names])
        yield (
            f"Try them on more data sets: about {count(known[first, second])} in all, "
            f"{count(found.n)} now, would tell {second} from {first}, by what is seen so far: "
            "`truerisk rank`."
        )
    alike = [
        name
        for pair in of_best
        if pair.finding == "equivalent"
        for name in pair.names
        if name != best
    ]
    if alike:
        named = plain_text(alike[:MAX_NAMED])
        more = f" and {len(alike) - MAX_NAMED} more" if len(alike) > MAX_NAMED else ""
        yield (
            f"Choose between {best} and {named}{more} by what else counts, such as speed or "
            f"simplicity: over these data sets they are equivalent, within ± {found.region:g}: "
            "`truerisk curve` shows what training costs."
        )
    open_pairs = sum(pair.finding == "no evidence" for pair in found.pairs)
    if found.region is None and open_pairs:
        yield (
            f"Say which difference matters: {count(open_pairs)} of {count(len(found.pairs))} pairs "
            "are open, and without it none can be called equivalent: `truerisk rank --region`."
        )


def _after_two(main: Comparison, n: float, command: str) -> Iterator[str]:
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
            f"{planned_in_words(main.difference.value, main.region)} ({_difference(main)} is "
            f"seen): `truerisk {command}` again with them."
        )
    if main.region is None:
        yield (
            f"Say which difference of {title_of(main.measure)} would matter: {_difference(main)} "
            f"is seen, and whether {second} and {first} are equivalent can then be told: "
            f"`truerisk {command} --region`."
        )
    if main.settled_by is None and main.region is not None:
        yield (
            f"Stay with the cheaper of {first} and {second} until more examples are there: "
            f"{count(n)} do not tell them apart ({_difference(main)}): `truerisk {command}`."
        )


def _difference(one: Comparison) -> str:
    told = written(one.difference)
    return told.value if one.difference.interval is None else f"{told.value} {told.interval}"


def _command(one: Comparison) -> str:
    """Name the command that compares two learners so."""
    return WITHOUT if ALL_FEATURES & set(one.names) else AGAINST


def _against(main: Comparison, others: Sequence[Comparison]) -> list[str]:
    """List the measures that say the opposite of the main one."""
    opposite = {"better": "worse", "worse": "better"}.get(main.finding)
    return [title_of(one.measure) for one in others if one.finding == opposite]


def _decide_what_counts(main: Comparison, against: list[str], command: str) -> Iterator[str]:
    first, second = main.names
    other = "worse" if main.finding == "better" else "better"
    named = plain_text(against[:MAX_NAMED])
    if len(against) > MAX_NAMED:
        named += f" and {len(against) - MAX_NAMED} more"
    yield (
        f"Decide which measure counts before choosing: {second} is {main.finding} than {first} by "
        f"{title_of(main.measure)} ({_difference(main)}) but {other} by {named}: `truerisk "
        f"{command} --measure {main.measure}`."
    )


def _collect(pairs: Sequence[Comparison], result: Any) -> Iterator[str]:  # noqa: ANN401
    known = [one for one in pairs if one.settled_by is not None]
    if not known:
        return
    closest = min(known, key=lambda one: one.settled_by or 0)
    more = max((closest.settled_by or 0) - result.n, 1)
    yield (
        f"Collect about {count(more)} more examples to tell {closest.names[1]} from "
        f"{closest.names[0]} ({_difference(closest)}), the pair that is settled first: `truerisk "
        f"{COMPARE}` again with them."
    )
