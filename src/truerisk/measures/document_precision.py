"""11-point average precision of documents that rank categories."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from truerisk.measures.registry import measure
from truerisk.tallies.documents import LEVELS, DocumentTally


@dataclass(frozen=True)
class DocumentPrecision:
    """The eleven averages, their average, and what it is worth.

    `standard_error` is that of the mean over documents.  `undefined` documents have no correct
    category; they are counted here and left out of everything else.
    """

    value: float
    by_recall: tuple[float, ...]
    standard_error: float
    documents: int
    undefined: int


@measure(
    title="11-point average precision (by document)",
    needs="documents",
    higher_is_better=True,
    undefined="no document has a correct category",
    intervals=("delta",),
)
def eleven_point_documents(tally: DocumentTally) -> float:
    r"""Interpolated precision at recall 0, .1, …, 1 of each document's ranking, averaged.

    .. math:: \frac{1}{11} \sum_{j=0}^{10} \frac{1}{n} \sum_{d=1}^{n} P_d(j/10)

    With weights, a weighted mean.  Documents with no correct category are left out.  Undefined when
    none has one.
    """
    return summarise_documents(tally).value


def document_precision(scores: ArrayLike, truth: ArrayLike) -> DocumentPrecision:
    r"""Average the precision of documents over eleven levels of recall.

    Each document ranks the categories.  Its precision and recall are taken at each rank that holds
    a correct category; each interval of recall from 0.0, 0.1, …, 1.0 is represented by the highest
    precision in it, an empty one by 0; each is replaced by the highest of it and the higher ones;
    these are averaged over documents, and the eleven averages are averaged.  If documents are drawn
    independently, the value is a mean of independent numbers in [0, 1].

    Erratum: the intervals are printed as "0.0, 1.0, …, 0.9, 1.0"; 0.0, 0.1, … is meant.

    Parameters
    ----------
    scores
        (documents, categories): larger means more relevant.
    truth
        The same shape, booleans: which categories are correct.

    References
    ----------
    .. [1] Y. Yang, "An evaluation of statistical approaches to text categorization",
       Information Retrieval 1, 69-90, 1999. https://doi.org/10.1023/A:1009982220290

    Examples
    --------
    >>> found = document_precision([[0.9, 0.5, 0.1]], [[True, False, True]])
    >>> [round(value, 3) for value in found.by_recall]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.667, 0.667, 0.667, 0.667, 0.667]
    >>> round(found.value, 4)
    0.8485
    """
    return summarise_documents(DocumentTally().add(scores, truth))


def summarise_documents(tally: DocumentTally) -> DocumentPrecision:
    """Turn the sums of a tally into averages."""
    n = tally.documents
    if n == 0:
        return DocumentPrecision(math.nan, (math.nan,) * LEVELS, math.nan, 0, tally.undefined)
    total = tally.weights.value
    by_recall = tuple(level.value / total for level in tally.precision)
    value = math.fsum(by_recall) / LEVELS
    spread = (
        tally.squares.value
        - 2 * value * tally.crossed.value
        + value**2 * tally.square_weights.value
    )
    error = math.sqrt(max(spread, 0.0) * n / (n - 1)) / total if n > 1 else math.nan
    return DocumentPrecision(value, by_recall, error, n, tally.undefined)
