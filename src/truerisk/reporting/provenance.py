"""Where the numbers came from: files and their hashes, columns, settings, seed, versions."""

import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from truerisk.reporting.chapters import SENTENCE, Section
from truerisk.reporting.escaping import visible
from truerisk.reporting.promises import promise_table
from truerisk.reporting.tables import SPOKEN, Column, Table, spoken
from truerisk.reporting.wording import NO_INTERVAL, count, percent, plain_text, title_of
from truerisk.results import as_plain

MOST_ROWS = 200
# Of these the version is told if they were loaded: they took part.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")
MODULES = {"scikit-learn": "sklearn"}
NOT_HASHED = "no SHA-256: the file is large, and --hash-all was not given"

Facts = Iterator[tuple[str, str]]


def provenance_sections(
    result: Any,  # noqa: ANN401
    source: Mapping[str, Any] | None = None,
) -> Iterator[Section]:
    """Give what a page says of where a result came from, and of what its intervals are worth.

    Parameters
    ----------
    result
        Of any kind.
    source
        Where its data came from, for results that do not know: one file (`path`, `rows`, `bytes`,
        `sha256` …), or `files` and `roles`.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> [section.title for section in provenance_sections(evaluate_counts([[5, 5], [4, 85]]))]
    ['Does each interval keep its promise?', 'Where the numbers came from']
    """
    promises = promise_table(result)
    if promises is not None:
        yield _section(
            promises.title,
            map(_promise, promises.rows),
            "How often intervals of each kind contained the truth where the truth was known, "
            "beside what they promise for examples drawn independently.",
        )
    read = as_plain(getattr(result, "source", None) if source is None else source)
    files = None if read is None else file_table(read)
    if files is not None:
        yield _section(
            files.title,
            map(_file, files.rows),
            "A file with the same SHA-256 is the same, byte by byte: sha256sum prints it.",
        )
    told = (*facts_of(result), *([] if read is None else _source(read)), *versions())
    yield _section("Where the numbers came from", (Row(*pair) for pair in told))


@dataclass(frozen=True)
class Row:
    """A name, what is said of it, and lines in small print."""

    name: str
    words: str
    beside: tuple[str, ...] = ()

    def shown(self) -> dict[str, Any]:
        """Give it in plain values; all texts visible ones."""
        words, *beside = (visible(text, most=SENTENCE) for text in (self.words, *self.beside))
        return {"name": visible(self.name), "words": words, "beside": beside}


def _section(title: str, rows: Iterable[Row], lead: str = "") -> Section:
    every = list(rows)
    shown = [row.shown() for row in every[:MOST_ROWS]]
    data = {"rows": shown, "left_out": len(every) - len(shown)}
    return Section("provenance", visible(title), data, lead)


def _promise(row: tuple[str, ...]) -> Row:
    interval, of, promised, mean, least, where = row
    if mean == NO_INTERVAL:
        return Row(interval, f"promises {promised}; {where}", (of,))
    covered = f"promises {promised}; covered {mean} on average, {least} at the least"
    return Row(interval, covered, (of, where))


def _file(row: tuple[str, ...]) -> Row:
    path, form, size, rows, dropped, digest = row
    words = [form, f"{size} bytes", f"{rows} rows"]
    words += [f"{dropped} of them dropped"] if dropped != "0" else []
    told = digest if digest == NOT_HASHED else f"SHA-256 {digest}"
    return Row(path, ", ".join(one for one in words if NO_INTERVAL not in one), (told,))


def file_table(source: Mapping[str, Any]) -> Table | None:
    """List the files of a source; None where there are none.

    Examples
    --------
    >>> file_table({"path": "scores.csv", "bytes": 1200, "rows": 30, "sha256": "ab…"}).rows
    (('scores.csv', '–', '1,200', '30', '0', 'ab…'),)
    """
    files = _files(as_plain(source))
    if not files:
        return None
    columns = (
        Column("File"),
        Column("Format"),
        Column("Bytes", numeric=True),
        Column("Rows", numeric=True),
        Column("Dropped", numeric=True),
        Column("SHA-256"),
    )
    return Table("Which files", columns, tuple(map(_file_row, files)))


def _files(source: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Find the files in a source, which may be one itself."""
    if "path" in source:
        return [source]
    return list(source.get("files", ()))


def _file_row(file: Mapping[str, Any]) -> tuple[str, ...]:
    form = " ".join(str(file[key]) for key in ("format", "compression") if file.get(key))
    rows = file.get("rows", file.get("documents"))
    return (
        plain_text(file.get("path")),
        form or NO_INTERVAL,
        *(NO_INTERVAL if n is None else count(n) for n in (file.get("bytes"), rows)),
        count(file.get("dropped") or 0),
        file.get("sha256") or NOT_HASHED,
    )


def facts_of(result: Any) -> Facts:  # noqa: ANN401
    """Give what was assumed, and with which seed, as pairs of words.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> facts = dict(facts_of(evaluate_counts([[5, 5], [4, 85]], random_state=7)))
    >>> facts["examples"], facts["seed"], facts["confidence level"]
    ('99', '7', '95 %')
    """
    for kind in type(result).__mro__:
        if kind.__name__ in FACTS:
            yield from FACTS[kind.__name__](result)
            return


def versions() -> Facts:
    """Name what computed this, as far as it was loaded; nothing that tells whose machine it was.

    Examples
    --------
    >>> [name for name, _ in versions()][:2]
    ['truerisk', 'Python']
    """
    yield "truerisk", version("truerisk")
    yield "Python", platform.python_version()
    for package in PACKAGES:
        if MODULES.get(package, package) in sys.modules:
            try:
                yield package, version(package)
            except PackageNotFoundError:  # a copy on the path, not installed
                continue
    yield "platform", f"{platform.system()} {platform.machine()}"


def _of_evaluation(evaluation: Any) -> Facts:  # noqa: ANN401
    yield "examples", count(evaluation.n)
    if evaluation.labels:
        yield "classes", f"{len(evaluation.labels):,}"
    yield "positive label", plain_text(evaluation.positive)
    yield "confidence level", percent(evaluation.level)
    yield "the numbers are about", _targets(evaluation.values())
    yield from _settings(evaluation.settings, told={"level", "positive", "target"})


def _of_learner(evaluation: Any) -> Facts:  # noqa: ANN401
    yield from _of_evaluation(evaluation)
    yield "refits", count(evaluation.refits)


def _of_corpus(evaluation: Any) -> Facts:  # noqa: ANN401
    yield "training documents", count(evaluation.n)
    if evaluation.holdout is not None:
        yield "documents held out", count(evaluation.holdout.n)
    yield "categories", count(len(evaluation.categories))
    yield "confidence level", percent(evaluation.level)
    yield "the numbers are about", _targets(evaluation.values())
    yield from _settings(evaluation.settings, told={"level", "positive", "target"})


def _of_comparisons(result: Any) -> Facts:  # noqa: ANN401
    yield "models", plain_text(result.names)
    yield "examples", count(result.n)
    yield "main measure", title_of(result.measure)
    yield "confidence level", percent(result.level)
    yield "the numbers are about", _targets(one.difference for one in result.pairs)
    given = {name: value for name, value in result.settings.items() if value is not None}
    yield from _settings(given, told={"level"})


def _of_comparison(one: Any) -> Facts:  # noqa: ANN401
    yield "models", plain_text(one.names)
    yield "measure", title_of(one.measure)
    yield "examples", count(one.difference.n)
    yield "test", spoken(one.method)
    if one.difference.interval is not None:
        yield "confidence level", percent(one.difference.interval.level)
    yield "region of equivalence", "none" if one.region is None else f"± {one.region:g}"
    yield "the numbers are about", one.difference.target


def _of_model_comparisons(result: Any) -> Facts:  # noqa: ANN401
    for first in list(result.values())[:1]:
        for name, words in _of_comparison(first):
            if name == "measure":
                yield "measures", plain_text([title_of(measure) for measure in result])
            else:
                yield name, words


def _of_perturbed(found: Any) -> Facts:  # noqa: ANN401
    yield "examples", count(found.n)
    yield "weightings", count(len(found.replicates))
    yield "losses", spoken(found.losses)
    if found.interval is not None:
        yield "confidence level", percent(found.interval.level)
    yield "the numbers are about", found.target


def _of_curve(curve: Any) -> Facts:  # noqa: ANN401
    yield "learners", plain_text(list(curve))
    yield "measure", title_of(curve.measure)
    yield "examples", count(curve.n)
    yield "held out in each repeat", count(curve.held_out)
    yield "repeats", count(curve.repeats)
    yield "training sizes", ", ".join(map(count, curve.sizes))
    yield "estimate from the training part", plain_text(curve.estimate)
    yield "confidence level", percent(curve.level)
    yield "the numbers are about", "the learner at each sample size"
    yield "seed", str(curve.random_state)


def _over_data_sets(found: Any) -> Facts:  # noqa: ANN401
    yield "data sets", count(found.n)
    yield "classifiers", plain_text(found.names)
    yield "control", plain_text(found.control)
    yield "better is", "a higher score" if found.higher_is_better else "a lower score"
    yield "region of equivalence", "none" if found.region is None else f"± {found.region:g}"
    yield "confidence level", percent(found.level)
    yield "seed", str(found.random_state)


def _of_best(result: Any) -> Facts:  # noqa: ANN401
    yield "learners", plain_text(list(result.evaluations))
    yield "chosen by", title_of(result.measure)
    yield from _of_learner(result.evaluations[result.winner])


def _of_selection(found: Any) -> Facts:  # noqa: ANN401
    yield "settings tried", count(len(found.candidates))
    yield "chosen", plain_text(as_plain(found.best))
    yield from _of_estimate(found.corrected)


def _side_by_side(found: Any) -> Facts:  # noqa: ANN401
    yield "ways of estimating", ", ".join(spoken(one.method) for one in found.estimates)
    for one in found.estimates[:1]:
        yield "measure", title_of(one.measure)
        yield "examples", count(one.n)
    yield "the numbers are about", _targets(found.estimates)


def _of_estimate(estimate: Any) -> Facts:  # noqa: ANN401
    yield "measure", title_of(estimate.measure)
    yield "examples", count(estimate.n)
    if estimate.interval is not None:
        yield "confidence level", percent(estimate.interval.level)
    yield "the numbers are about", estimate.target


# By the name of the type, so that nothing is loaded for it.
FACTS: dict[str, Callable[[Any], Facts]] = {
    "Evaluation": _of_evaluation,
    "LearnerEvaluation": _of_learner,
    "CorpusEvaluation": _of_corpus,
    "Comparisons": _of_comparisons,
    "Comparison": _of_comparison,
    "ModelComparisons": _of_model_comparisons,
    "Perturbed": _of_perturbed,
    "LearningCurve": _of_curve,
    "OverDatasets": _over_data_sets,
    "BestOf": _of_best,
    "Selection": _of_selection,
    "SideBySide": _side_by_side,
}


def _targets(estimates: Iterable[Any]) -> str:
    return " and ".join(dict.fromkeys(one.target for one in estimates)) or "nothing"


def _settings(settings: Mapping[str, Any], told: set[str]) -> Facts:
    for name, value in settings.items():
        if name not in told:
            yield SPOKEN.get(name, spoken(name)), plain_text(as_plain(value))


def _source(source: Mapping[str, Any]) -> Facts:
    """Tell the columns and the rest of a source; its files have a table of their own."""
    if not _files(source):
        yield "read from", "values in memory, no file"
    if "path" in source:
        return
    guessed = source.get("guessed") or []
    for role, column in (source.get("roles") or {}).items():
        how = "guessed from its name" if role in guessed else "given"
        yield f"column of the {ROLES.get(role, role)}", f"{plain_text(column)} ({how})"
    for name, value in source.items():
        if name not in {"files", "guessed", "roles"}:
            yield spoken(name), plain_text(value)


ROLES = {
    "truth": "true labels",
    "pred": "predicted labels",
    "score": "scores",
    "group": "groups",
    "weight": "weights",
    "id": "ids",
}
