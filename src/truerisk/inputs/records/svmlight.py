r"""Vectors in SVM-light's format: ``label index:value index:value … # comment``, one per line.

Labels may be several, ``a,b 3:0.5``, or none.  Indices count from 1 and rise within a line; a file
in which index 0 occurs counts from 0.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.checks import shown
from truerisk.inputs.records.rows import ahead
from truerisk.inputs.records.text_blocks import Block, TextFile

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
FEATURES = re.compile(rb"(?:[ \t]+\d+:" + NUMBER + rb")*[ \t\r]*")
FEATURE = re.compile(rb"\d+:" + NUMBER)
QUERY = re.compile(rb"[ \t]+qid:\S+")
LABELS = re.compile(r"[^\s:#]+[ \t\r]*(#.*)?")
VECTOR = re.compile(r"[^\s:#]*([ \t]+qid:\S+)?[ \t]+\d+:" + NUMBER.decode() + r"([ \t\r#].*)?")
ENDINGS = (".svm", ".svmlight", ".libsvm")
LARGEST_INDEX = 2**31 - 2  # columns are 32-bit integers


@dataclass
class Vectors:
    """The rows so far: labels as text, and the parts of a sparse matrix."""

    labels: list[tuple[str, ...]] = field(default_factory=list)
    indices: list[NDArray[np.int64]] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    queries: int = 0

    @property
    def from_zero(self) -> bool:
        """Whether index 0 occurs: indices then count from 0."""
        return any(part.size and part.min() == 0 for part in self.indices)

    def matrix(self) -> "csr_matrix":
        """Put the rows together."""
        from scipy.sparse import csr_matrix

        none = np.empty(0, np.int64)
        indices = np.concatenate([none, *self.indices])
        if not self.from_zero:
            indices -= 1
        ends = np.cumsum([0, *self.lengths])
        width = int(indices.max(initial=-1)) + 1
        values = np.concatenate([np.empty(0), *self.values])
        return csr_matrix(
            (values, indices.astype(np.int32), ends), shape=(len(self.lengths), width)
        )


def read_svmlight(source: TextFile) -> Vectors:
    """Read vectors from start to end; lines of nothing but a comment are left out."""
    vectors = Vectors()
    for block in ahead(source.blocks()):
        source.check(block)
        _read(block, vectors)
    return vectors


def is_svmlight(head: str, ending: str = "") -> bool:
    """Whether a text holds vectors, by the ending of its file or its first line with a feature."""
    if ending in ENDINGS:
        return True
    for line in head.split("\n"):
        if VECTOR.fullmatch(line) is not None:
            return True
        if line.strip() and not line.startswith("#") and LABELS.fullmatch(line) is None:
            return False
    return False


def _read(block: Block, vectors: Vectors) -> None:
    parts: list[bytes] = []
    lengths: list[int] = []
    rows: list[int] = []
    for row, line in enumerate(block.data.split(b"\n")[:-1]):
        content = line.partition(b"#")[0].rstrip(b" \t\r")
        if not content:
            if line.strip():
                continue
            raise block.refuse(row, "must have a vector in every line; this one is blank.")
        # A line may start with white space and have no label.
        match = re.match(rb"[^\s:]*(?=[ \t]|$)", content)
        label = match[0] if match is not None else b""
        features = content[len(label) :]
        query = QUERY.match(features)
        if query is not None:
            features = features[query.end() :]
            vectors.queries += 1
        if FEATURES.fullmatch(features) is None:
            wrong = next(one for one in features.split() if FEATURE.fullmatch(one) is None)
            raise block.refuse(
                row,
                "must have features index:value, a whole number and a number; "
                f"got {shown(wrong.decode())}.",
            )
        marks = label.decode().split(",") if label else []
        if "" in marks:
            raise block.refuse(row, f"must hold no empty label; got {shown(label.decode())}.")
        vectors.labels.append(tuple(dict.fromkeys(marks)))
        parts.append(features)
        lengths.append(features.count(b":"))
        rows.append(row)
    numbers = np.empty(0)
    if any(lengths):  # of white space alone `fromstring` makes a number
        numbers = np.fromstring(b" ".join(parts).replace(b":", b" "), sep=" ")
    indices, values = numbers[0::2], numbers[1::2].copy()
    _check(block, rows, np.repeat(np.arange(len(rows)), lengths), indices, values)
    vectors.indices.append(indices.astype(np.int64))
    vectors.values.append(values)
    vectors.lengths.extend(lengths)


def _check(block: Block, rows: list[int], row_of: Indices, indices: Array, values: Array) -> None:
    large = np.flatnonzero(indices > LARGEST_INDEX)
    if len(large):
        raise block.refuse(
            rows[row_of[large[0]]],
            f"must have indices up to {LARGEST_INDEX}; got {indices[large[0]]:.0f}.",
        )
    falls = np.flatnonzero((indices[1:] <= indices[:-1]) & (row_of[1:] == row_of[:-1]))
    if len(falls):
        at = falls[0]
        first, second = int(indices[at]), int(indices[at + 1])
        wrong = "twice" if first == second else f"after {first}"
        raise block.refuse(
            rows[row_of[at]],
            f"must have indices that rise within a line; got {second} {wrong}. Sort them.",
        )
    infinite = np.flatnonzero(~np.isfinite(values))
    if len(infinite):
        row = rows[row_of[infinite[0]]]
        raise block.refuse(row, f"must have finite values; got {values[infinite[0]]}.")
