"""Which presenter a result has: `reporting/results/<kind>.py`, by the `kind` that it declares.

Kinds that are presented by the same functions share a module, which `SHARED` names.

A presenter holds all that is said and drawn of one kind of result.  It computes no statistics: what
it shows, the result holds or offers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from operator import attrgetter
from typing import Any

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.intervals.measured_coverage import NOT_MEASURED, CoverageFigure
from truerisk.reporting.document import (
    Block,
    Chapter,
    Facts,
    Picture,
    Section,
    Table,
    Tile,
    sentences,
)
from truerisk.results import Interval, Reportable

MAX_STEPS = 4
SHARED = {
    "perturbation": "estimate",
    "learner_evaluation": "learners",
    "best_of": "learners",
    "leave_one_out": "svm",
    "xi_alpha": "svm",
    "side_by_side": "svm",
    "selection": "svm",
    "comparisons": "comparison",
    "model_comparisons": "comparison",
}
# What stands between backticks is set as code; a name from the data may hold a backtick, too.
CODE = re.compile(r"(`(?:truerisk |tr\.|CalibratedClassifierCV)[^`]*`)")
Rule = Callable[[Any], Iterator[str]]


@dataclass(frozen=True)
class Use:
    """One interval of a result: whose it is, and what was measured of its kind."""

    interval: Interval
    of: str
    measured: CoverageFigure | None
    unmeasured: str = NOT_MEASURED


def _none(_: Any) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Presenter:
    """The functions of one kind of result, each taking the result first.

    `title` to `notes` are the parts of a page, `subtitle` those of one line; `blocks` are what a
    terminal shows; `tables` those of Markdown and LaTeX; `facts` say what was assumed, `next_steps`
    what to do, `intervals` which intervals are used; `pictures` names each picture, the one of
    `plot` first.
    """

    title: str | Callable[[Any], str]
    subtitle: Callable[[Any], Iterable[str]]
    verdict: Callable[..., Iterable[str]] = attrgetter("verdict")
    tiles: Callable[[Any], Iterable[Tile]] = _none
    sections: Callable[..., Iterable[Section]] = _none
    notes: Callable[..., Iterable[str]] = attrgetter("notes")
    blocks: Callable[..., Iterable[Block]] = _none
    tables: Callable[[Any], Iterable[Table]] = _none
    facts: Callable[[Any], Facts] = _none
    next_steps: Callable[[Any], Iterable[str]] = _none
    intervals: Callable[[Any], Iterable[Use]] = _none
    pictures: Callable[[Any], Iterable[tuple[str, Picture]]] = _none

    def chapter(self, result: Any, **options: Any) -> Chapter:
        """Make the part of a page; options are for what is said, drawn and noted."""
        return Chapter(
            title=self.title if isinstance(self.title, str) else self.title(result),
            subtitle=" · ".join(self.subtitle(result)),
            verdict=sentences(self.verdict(result, **options)),
            tiles=tuple(self.tiles(result)),
            sections=tuple(self.sections(result, **options)),
            notes=sentences(self.notes(result, **options)),
        )


def presenter_of(result: Any) -> Presenter:
    """Load the presenter of a result, the constant named as its kind is; other modules are not."""
    if not isinstance(result, Reportable):
        raise InputError(f"`result` must be a result of truerisk; got {shown(result)}.")
    name = SHARED.get(result.kind, result.kind)
    module = import_module(f"truerisk.reporting.results.{name}")
    presenter: Presenter = getattr(module, result.kind.upper())
    return presenter


def facts_of(result: Any) -> Facts:
    """Say what was assumed, and with which seed, as pairs of words."""
    return presenter_of(result).facts(result)


def next_steps(result: Any) -> tuple[str, ...]:
    """Say what to do about a result: at most four steps, the most important first.

    A step has its reason, its number and its command, and reads the codes of the verdict.
    """
    steps = presenter_of(result).next_steps(result)
    return tuple(map(_with_code_alone_in_backticks, islice(steps, MAX_STEPS)))


def _with_code_alone_in_backticks(step: str) -> str:
    parts = CODE.split(step)
    parts[::2] = [words.replace("`", "'") for words in parts[::2]]
    return "".join(parts)


def by_rules(rules: Sequence[Rule], otherwise: Rule) -> Callable[[Any], Iterable[str]]:
    """Go through rules in the order of their importance; `otherwise` if none holds."""
    return lambda result: [one for rule in rules for one in rule(result)] or otherwise(result)
