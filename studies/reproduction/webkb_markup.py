"""Does lost HTML explain what is outside in table 2?  Pages with markup put back at random.

The pages here are the text between tags; what the paper trained on is not said.  A line of a page
ends where a tag was, so tags of typical frequency are drawn for every line, and the head of a
server's answer before the page; with hosts, full addresses name the university of the page.
Only how often such words occur is meant, not where.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from studies.reproduction.joachims import Row
from studies.reproduction.joachims_corpora import WEBKB
from studies.reproduction.joachims_printed import SOURCE, printed_table
from studies.reproduction.joachims_trials import (
    MIN_DOCUMENTS,
    Documents,
    compare,
    halves,
    run_trial,
)
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings
from truerisk.inputs.corpora import read_corpus

# Tags with the words of their attributes, and how many of 100 they are.
TAGS = {
    "li": 21, "a href html": 13, "a href http www cs HOST edu html": 11, "p": 10, "br": 10,
    "img src gif": 6, "h": 6, "ul": 5, "hr": 4, "b": 3, "i": 2, "align center": 2, "dt": 2,
    "dd": 2, "font size": 2, "td": 1,
}  # fmt: skip
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SERVERS = ("ncsa", "ncsa", "ncsa", "apache", "cern")
COLUMNS = (
    "reading", "figure", "course paper", "course", "faculty paper", "faculty", "project paper",
    "project", "student paper", "student",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """How pages are read: tags drawn for each line, None for no head either; rare words."""

    name: str
    tags: int | None = None
    hosts: bool = False
    min_documents: int = MIN_DOCUMENTS

    def applied_to(self, text: str, host: str, rng: np.random.Generator) -> str:
        """Put the head and the tags back."""
        if self.tags is None:
            return text
        drawn = rng.choice(list(TAGS), self.tags * (text.count("\n") + 1), p=SHARES)
        head = (
            f"date {rng.choice(DAYS)} nov gmt server {rng.choice(SERVERS)} mime version content "
            f"type text html last modified {rng.choice(DAYS)} {rng.choice(MONTHS)} gmt content "
            "length html head title body"
        )
        markup = " ".join(drawn).replace("HOST", host if self.hosts else "")
        return f"{head} {markup} {text}"


SHARES = np.array(list(TAGS.values())) / sum(TAGS.values())
READINGS = (
    Reading("as they are"),
    Reading("head", 0),
    Reading("head, 1 tag per line", 1),
    Reading("head, 2 tags per line", 2),
    Reading("head, 4 tags per line", 4),
    Reading("head, 1 tag per line, hosts", 1, hosts=True),
    Reading("head, 2 tags per line, hosts", 2, hosts=True),
    Reading("head, 4 tags per line, hosts", 4, hosts=True),
    Reading("words of 1 document", min_documents=1),
    Reading("words of 2 documents", min_documents=2),
)


def reproduce(settings: Settings) -> Reproduction:
    """Repeat the errors of table 2 for every reading."""
    documents = WEBKB.read(settings.data)
    path = WEBKB.find(settings.data)
    every = read_corpus(path, labels="university", split="").labels
    hosts = [" ".join(every[place]) for place in WEBKB.used(path, len(every))]
    rows = {
        reading.name: _rows(reading, documents, hosts, settings)
        for reading in settings.progress(READINGS, len(READINGS))
    }
    return Reproduction(
        title="Table 2 with markup put back",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(cells for name, of in rows.items() for cells in _cells(name, of)),
        conclusion=tuple(_conclusion(rows)),
    )


def _rows(
    reading: Reading, documents: Documents, hosts: list[str], settings: Settings
) -> list[Row]:
    rng = np.random.default_rng([settings.random_state, 1])
    pages = zip(documents.texts, hosts, strict=True)
    read = replace(documents, texts=tuple(reading.applied_to(*page, rng) for page in pages))
    splits = halves(len(read), settings.splits, np.random.default_rng(settings.random_state))
    trials = [run_trial(read, *one, min_documents=reading.min_documents) for one in splits]
    printed = {(line.category, line.rho): line for line in printed_table("joachims_table2.csv")}
    return [Row(one, printed[one.category, one.rho]) for one in compare(read.categories, trials)]


def _errors(rows: list[Row]) -> Iterator[tuple[str, list[Row], str]]:
    """Give the three errors of the table: by the estimate at either ρ, and on hold-out sets."""
    for name, rho, kind in (
        ("hold-out", 1.0, "hold-out"),
        ("ρ = 1", 1.0, "estimate"),
        ("ρ = 2", 2.0, "estimate"),
    ):
        own = [row for row in rows if (row.ours.measure, row.ours.rho) == ("error_rate", rho)]
        yield name, own, kind


def _cells(name: str, rows: list[Row]) -> Iterator[tuple[str, ...]]:
    for figure, own, kind in _errors(rows):
        pairs = [row.pairs[kind] for row in own]
        yield (name, figure, *(one.written(2) for ours, paper in pairs for one in (paper, ours)))


def _conclusion(rows: dict[str, list[Row]]) -> Iterator[str]:
    for name, of in rows.items():
        inside = [kind not in row.outside for _, own, kind in _errors(of) for row in own]
        every = [kind not in row.outside for row in of for kind in row.pairs]
        yield (
            f"{name}: {sum(inside)} of {len(inside)} errors lie within the paper's mean ± 3 sd, of "
            f"all figures {sum(every)} of {len(every)}."
        )
