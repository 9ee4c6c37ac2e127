"""The Reuters-21578 collection as it is published: files reut2-*.sgm, of 1000 documents each.

A document is ``<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" … NEWID="1"> … </REUTERS>``.  Its labels
are the ``<D>`` of ``<TOPICS>``; its text is ``<TITLE>`` and ``<BODY>``, without the dateline, or
all of ``<TEXT>`` where that has neither (``TYPE="UNPROC"``).  The split is ModApte's:

========================  ==========  ======
LEWISSPLIT                TOPICS      split
========================  ==========  ======
TRAIN                     YES         train
TEST                      YES         test
NOT-USED, or any other                unused
========================  ==========  ======

The collection's own description, by D. D. Lewis (README.txt, version 1.3, 2004), is the source.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from truerisk.checks import shown
from truerisk.inputs.corpora import Documents, Refuse, whole_text
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import refusal, shown_path

BETWEEN = re.compile(r"\s*(<!DOCTYPE[^>]*>\s*)?")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
TOPIC = re.compile(r"<D>([^<]*)</D>")
TAG = re.compile(r"</?[A-Z]+[^>]*>")
ENTITY = re.compile(r"&(?:(lt|gt|amp)|#([0-9]{1,3}));")
NAMED = {"lt": "<", "gt": ">", "amp": "&"}
PARTS = {("TRAIN", "YES"): "train", ("TEST", "YES"): "test"}
LEWIS_SPLITS = ("TRAIN", "TEST", "NOT-USED")


def read_reuters(paths: Sequence[Path], options: ReadingOptions) -> Documents:
    """Read SGML files in the order that is given."""
    documents = Documents(options, files=len(paths))
    digest = hashlib.sha256()
    for path in paths:
        data, source = whole_text(path, options)
        documents.bytes += path.stat().st_size
        digest.update(f"{source.sha256}  {path.name}\n".encode(errors="surrogateescape"))
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
            documents.notes.append(f"{shown_path(path)}: not UTF-8 throughout; read as Latin-1.")
        _read(path, text.replace("\r\n", "\n"), documents)
    documents.sha256 = digest.hexdigest()
    return documents


def _read(path: Path, text: str, documents: Documents) -> None:
    at = 0
    while (document := _element(text, "REUTERS", at)) is not None:
        _check_between(path, text, at, document.start)
        refuse = _refuser(path, text, document.start)
        _add(documents, dict(ATTRIBUTE.findall(document.attributes)), document.content, refuse)
        at = document.end
    _check_between(path, text, at, len(text))
    if at == 0:
        raise refusal(path, "must hold <REUTERS> … </REUTERS>; got none.")


@dataclass(frozen=True)
class _Element:
    attributes: str
    content: str
    start: int
    end: int


def _element(text: str, tag: str, low: int = 0) -> _Element | None:
    """Find the first element of a tag; plain searches, several times as fast as an expression."""
    start = text.find(f"<{tag}", low)
    opened = text.find(">", start)
    closed = text.find(f"</{tag}>", opened)
    if start < 0 or opened < 0 or closed < 0:
        return None
    attributes = text[start + len(tag) + 1 : opened]
    return _Element(attributes, text[opened + 1 : closed], start, closed + len(tag) + 3)


def _refuser(path: Path, text: str, at: int) -> Refuse:
    return lambda sentence: refusal(path, sentence, f"line {1 + text.count(chr(10), 0, at)}")


def _check_between(path: Path, text: str, low: int, high: int) -> None:
    between = text[low:high]
    if not between.isspace() and BETWEEN.fullmatch(between) is None:
        skipped = len(between) - len(between.lstrip())
        raise _refuser(path, text, low + skipped)(
            f"must hold documents that start with <REUTERS …> and end with </REUTERS>; "
            f"got {shown(between.strip())}."
        )


def _add(documents: Documents, attributes: dict[str, str], body: str, refuse: Refuse) -> None:
    if "<REUTERS" in body:
        raise refuse("must end every document with </REUTERS>; this one does not end.")
    for name in ("NEWID", "LEWISSPLIT", "TOPICS"):
        if name not in attributes:
            raise refuse(f'must have {name}="…" in its <REUTERS> tag; got {shown(attributes)}.')
    split = attributes["LEWISSPLIT"]
    if split not in LEWIS_SPLITS:
        raise refuse(f"LEWISSPLIT must be {', '.join(LEWIS_SPLITS)}; got {shown(split)}.")
    topics = _element(body, "TOPICS")
    if topics is None:
        raise refuse("must have <TOPICS> … </TOPICS>; got none.")
    documents.add(
        _text(body, refuse),
        [_plain(topic) for topic in TOPIC.findall(topics.content)],
        id=attributes["NEWID"],
        split=PARTS.get((split, attributes["TOPICS"]), "unused"),
        refuse=refuse,
    )


def _text(document: str, refuse: Refuse) -> str:
    whole = _element(document, "TEXT")
    if whole is None:
        raise refuse("must have <TEXT> … </TEXT>; got none.")
    parts = (_element(whole.content, "TITLE"), _element(whole.content, "BODY"))
    marked = [part.content for part in parts if part is not None]
    return "\n".join(filter(None, map(_plain, marked or [TAG.sub(" ", whole.content)])))


def _plain(marked: str) -> str:
    return ENTITY.sub(_character, marked).strip()


def _character(entity: re.Match[str]) -> str:
    if entity[1]:
        return NAMED[entity[1]]
    # Control characters (&#2; &#3; &#22; …) are marks of the wire service, not text.
    character = chr(int(entity[2]))
    return character if character.isprintable() or character.isspace() else ""


def is_reuters(head: str) -> bool:
    """Whether a text is a file of the collection, by its start."""
    match = BETWEEN.match(head)
    return match is not None and head.startswith("<REUTERS", match.end())
