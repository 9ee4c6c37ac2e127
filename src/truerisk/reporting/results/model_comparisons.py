"""ModelComparisons: two learners by several measures."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from truerisk.measures.registry import title_of
from truerisk.reporting.document import Facts
from truerisk.reporting.presenter import Presenter
from truerisk.reporting.results import comparison as two
from truerisk.reporting.sections.coverage import uses_of
from truerisk.reporting.wording import plain_text


def _facts(result: Any) -> Facts:
    for first in list(result.values())[:1]:
        for name, words in two.comparison_facts(first):
            if name == "measure":
                yield "measures", plain_text([title_of(measure) for measure in result])
            else:
                yield name, words


def _next_steps(result: Any) -> Iterator[str]:
    """Say what to do about two learners that were compared by several measures."""
    main, *others = result.values()
    against = two.measures_against(main, others)
    if against:
        yield from two.decide_what_counts(main, against, two.command_of(main))
    else:
        yield from two.comparison_steps(main)


PRESENTER = Presenter(
    chapter=two.model_comparison_chapter,
    blocks=lambda result: chain.from_iterable(map(two.comparison_blocks, result.values())),
    tables=lambda result: map(two.model_comparison_table, result.values()),
    facts=_facts,
    next_steps=_next_steps,
    intervals=lambda result: chain.from_iterable(map(uses_of, result.values())),
    pictures=lambda result: [("differences", two.difference_forest([*result.values()]))],
)
