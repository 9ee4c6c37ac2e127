"""ModelComparisons: two learners by several measures."""

from collections.abc import Iterator, Mapping
from typing import Any

from truerisk.comparison.learners.model_comparisons import ModelComparisons
from truerisk.measures.registry import title_of
from truerisk.reporting.document import Block, Facts, Pictures, Table
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.comparison import (
    command_of,
    comparison_blocks,
    comparison_facts,
    comparison_steps,
    decide_what_counts,
    difference_forest,
    measures_against,
    model_comparison_chapter,
    model_comparison_table,
)
from truerisk.reporting.sections.coverage import uses_of
from truerisk.reporting.wording import plain_text


def model_comparisons_facts(result: Any) -> Facts:
    """Say what was assumed, in pairs of words."""
    for first in list(result.values())[:1]:
        for name, words in comparison_facts(first):
            if name == "measure":
                yield "measures", plain_text([title_of(measure) for measure in result])
            else:
                yield name, words


def model_comparisons_steps(result: Any) -> Iterator[str]:
    """Say what to do about two learners that were compared by several measures."""
    main, *others = result.values()
    against = measures_against(main, others)
    if against:
        yield from decide_what_counts(main, against, command_of(main))
    else:
        yield from comparison_steps(main)


def model_comparisons_uses(results: Mapping[str, Any]) -> Iterator[Use]:
    """List the intervals, and what was measured of each."""
    for one in results.values():
        yield from uses_of(one)


def model_comparisons_tables(result: ModelComparisons) -> Iterator[Table]:
    """Give one table per measure."""
    return (model_comparison_table(one) for one in result.values())


def model_comparisons_blocks(result: ModelComparisons) -> Iterator[Block]:
    """Give what a terminal shows of each measure."""
    for one in result.values():
        yield from comparison_blocks(one)


def model_comparisons_pictures(result: ModelComparisons) -> Pictures:
    """Draw the differences, one row per measure."""
    yield "differences", difference_forest(list(result.values()))


PRESENTER = Presenter(
    chapter=model_comparison_chapter,
    blocks=model_comparisons_blocks,
    tables=model_comparisons_tables,
    facts=model_comparisons_facts,
    next_steps=model_comparisons_steps,
    intervals=model_comparisons_uses,
    pictures=model_comparisons_pictures,
)
