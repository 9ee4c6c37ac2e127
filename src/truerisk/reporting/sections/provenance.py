"""Where numbers came from: files and their hashes, columns, settings, seed, versions."""

import platform
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from truerisk.reporting.document import SENTENCE, Facts, Section
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.sections.coverage import ELSEWHERE, NO_PROMISE, promises_of
from truerisk.reporting.wording import NO_INTERVAL, count, plain_text, spoken
from truerisk.results import Estimate, as_plain

MAX_ROWS = 200
# Of these the version is told if they were loaded: they took part.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow")
MODULES = {"scikit-learn": "sklearn"}
NOT_HASHED = "no SHA-256: the file is large, and --hash-all was not given"
ROLES = {
    "truth": "true labels",
    "pred": "predicted labels",
    "score": "scores",
    "group": "groups",
    "weight": "weights",
    "id": "ids",
    "correct": "right answers",
    "value": "values",
}
SPOKEN = {
    "pos_label": "positive label",
    "binomial": "interval of k of n",
    "cell_interval": "interval of other measures",
    "random_state": "seed",
}


def provenance_sections(
    result: Any, source: Mapping[str, Any] | None = None, rivals: Iterable[Estimate] = ()
) -> Iterator[Section]:
    """Give what a page says of where a result came from, and of what its intervals are worth.

    `source` is one file (`path`, `rows`, `bytes`, `sha256` …), or `files` and `roles`.
    """
    promises = promises_of(result, rivals)
    if promises:
        yield _section(
            "Does each interval keep its promise?",
            map(_promise, promises),
            "How often intervals of each kind contained the truth where the truth was known, "
            "beside what they promise for examples drawn independently.",
        )
    read = as_plain(getattr(result, "source", None) if source is None else source)
    files = [] if read is None else _files(read)
    if files:
        yield _section(
            "Which files",
            map(_file, files),
            "A file with the same SHA-256 is the same, byte by byte: sha256sum prints it.",
        )
    text = (*facts_of(result), *([] if read is None else _source(read)), *versions())
    yield _section("Where the numbers came from", (_row(*pair) for pair in text))


def _row(name: str, words: str, *notes: str) -> dict[str, Any]:
    """Give a name, what is said of it, and lines in small print; all texts visible ones."""
    shown, *lines = (visible(text, most=SENTENCE) for text in (words, *notes))
    return {"name": visible(name), "words": shown, "notes": lines}


def _section(title: str, rows: Iterable[dict[str, Any]], lead: str = "") -> Section:
    every = list(rows)
    data = {"rows": every[:MAX_ROWS], "left_out": max(0, len(every) - MAX_ROWS)}
    return Section("provenance", visible(title), data, lead)


def _promise(row: tuple[str, ...]) -> dict[str, Any]:
    interval, of, promised, mean, least, where = row
    if mean == NO_INTERVAL:
        return _row(interval, f"promises {promised}; {where}", of)
    covered = f"covered {mean} on average, {least} at the least"
    if where.startswith(ELSEWHERE):  # no share is to be held against a promise it is not about
        level, where = where.split(": ", 1)
        covered = f"{level}, it {covered}"
    return _row(interval, f"promises {promised}; {covered}", of, where)


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    rows, dropped = file.get("rows", file.get("documents")), file.get("dropped")
    words = [
        " ".join(str(file[key]) for key in ("format", "compression") if file.get(key)),
        "" if file.get("bytes") is None else f"{count(file['bytes'])} bytes",
        "" if rows is None else f"{count(rows)} rows",
        f"{count(dropped)} of them dropped" if dropped else "",
    ]
    digest = f"SHA-256 {file['sha256']}" if file.get("sha256") else NOT_HASHED
    return _row(plain_text(file.get("path")), ", ".join(filter(None, words)), digest)


def _files(source: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Find the files in a source, which may be one itself."""
    return [source] if "path" in source else list(source.get("files", ()))


def versions() -> Facts:
    """Name what computed this, as far as it was loaded; nothing that tells whose machine it was."""
    from importlib.metadata import PackageNotFoundError, version

    yield "truerisk", version("truerisk")
    yield "Python", platform.python_version()
    for package in PACKAGES:
        if MODULES.get(package, package) in sys.modules:
            try:
                yield package, version(package)
            except PackageNotFoundError:  # a copy on the path, not installed
                continue
    yield "platform", f"{platform.system()} {platform.machine()}"


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


def targets_of(estimates: Iterable[Estimate]) -> str:
    """Say what some estimates are about, each target once."""
    return " and ".join(dict.fromkeys(one.target for one in estimates)) or "nothing"


def setting_facts(settings: Mapping[str, Any], skip: Collection[str] = ()) -> Facts:
    """Give settings as pairs of words, without those to `skip`."""
    for name, value in settings.items():
        if name not in skip:
            yield SPOKEN.get(name, spoken(name)), plain_text(as_plain(value))


def source_facts(source: Mapping[str, Any]) -> Facts:
    """Give where data came from, as pairs of words: files, columns, and whatever else is known."""
    plain = as_plain(source)
    guessed = plain.pop("guessed", None) or []
    for file in plain.pop("files", []):
        yield "file", _file_words(file)
    for role, column in plain.pop("roles", {}).items():
        yield role, f"column {plain_text(column)}{' (guessed)' if role in guessed else ''}"
    for name, value in plain.items():
        yield spoken(name), plain_text(value)


def _file_words(facts: Mapping[str, Any]) -> str:
    text = dict(facts)
    name = text.pop("path", "")
    words = [
        f"{spoken(key)} {count(value) if isinstance(value, int) else plain_text(value)}"
        for key, value in text.items()
        if value  # nothing dropped and not compressed need no words
    ]
    return f"{name}: {', '.join(words)}"


def unit_of(estimate: Any) -> str:
    """Say what the size of an estimate counts: examples, or values whose examples nobody told."""
    return "value" if estimate.method == "resampling" else "example"


def interval_names(estimates: Iterable[Any]) -> str:
    """Name the intervals that were used, each once."""
    used = (one.interval.method for one in estimates if one.interval is not None)
    return ", ".join(dict.fromkeys(spoken(one) for one in used if one not in NO_PROMISE)) or "none"
