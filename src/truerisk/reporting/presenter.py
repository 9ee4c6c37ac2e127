"""Which presenter a result has: `reporting/results/<kind>.py`, by the `kind` that it declares.

Kinds whose presenters share functions share a module, which `SHARED` names.

A presenter holds all that is said and drawn of one kind of result.  It computes no statistics: what
it shows, the result holds or offers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar, cast

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


def _nothing(_presenter: Any, _result: Any) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True)
class Presenter:
    """All that is said and drawn of one kind of result; every method takes the result.

    `title` to `notes` are the parts of a page, `subtitle` those of one line; `blocks` are what a
    terminal shows; `tables` those of Markdown and LaTeX; `facts` say what was assumed, `next_steps`
    what to do, `intervals` which intervals are used; `pictures` names each picture, the one of
    `plot` first.  Fields of a subclass are options of its page or its terminal.
    """

    question: ClassVar[str] = ""

    def title(self, _result: Any) -> str:
        """Give the question that the result answers."""
        return self.question

    def verdict(self, result: Any) -> Iterable[str]:
        """Give the answer in sentences."""
        return cast("Iterable[str]", result.verdict)

    def notes(self, result: Any) -> Iterable[str]:
        """Give what else is to be known."""
        return getattr(result, "notes", ())

    subtitle: ClassVar[Callable[[Any, Any], Iterable[str]]] = _nothing
    tiles: ClassVar[Callable[[Any, Any], Iterable[Tile]]] = _nothing
    sections: ClassVar[Callable[[Any, Any], Iterable[Section]]] = _nothing
    blocks: ClassVar[Callable[[Any, Any], Iterable[Block]]] = _nothing
    tables: ClassVar[Callable[[Any, Any], Iterable[Table]]] = _nothing
    facts: ClassVar[Callable[[Any, Any], Facts]] = _nothing
    next_steps: ClassVar[Callable[[Any, Any], Iterable[str]]] = _nothing
    intervals: ClassVar[Callable[[Any, Any], Iterable[Use]]] = _nothing
    pictures: ClassVar[Callable[[Any, Any], Iterable[tuple[str, Picture]]]] = _nothing

    def chapter(self, result: Any) -> Chapter:
        """Make the part of a page."""
        return Chapter(
            title=self.title(result),
            subtitle=" · ".join(self.subtitle(result)),
            verdict=sentences(self.verdict(result)),
            tiles=tuple(self.tiles(result)),
            sections=tuple(self.sections(result)),
            notes=sentences(self.notes(result)),
        )


def presenter_of(result: Any, **options: Any) -> Presenter:
    """Make the presenter of a result; options are its fields."""
    if not isinstance(result, Reportable):
        raise InputError(f"`result` must be a result of truerisk; got {shown(result)}.")
    return presenter_class(result.kind)(**options)


def presenter_class(kind: str) -> type[Presenter]:
    """Load the class that is named after the kind; other modules are not loaded."""
    module = import_module(f"truerisk.reporting.results.{SHARED.get(kind, kind)}")
    presenter: type[Presenter] = getattr(module, f"{kind.title().replace('_', '')}Presenter")
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
