"""The tests of Yang and Liu beside a comparison of two text categorizers."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from truerisk.comparison.predictions.comparisons import Beside
from truerisk.comparison.predictions.text_tests import (
    TextTest,
    macro_sign_test,
    macro_t_on_ranks,
    macro_t_test,
    micro_sign_test,
    proportion_test,
)
from truerisk.measures.registry import find_measure
from truerisk.tallies.cells import Cells, ClassCounts

Tests = Callable[[Cells, Cells], Iterator[TextTest]]


def text_tests(name: str, first: Cells, second: Cells) -> list[Beside]:
    """Give the tests that Yang and Liu made for the kind of measure; none for others.

    The micro sign test stands beside the Hamming loss and micro averages, with the p-test where the
    measure is a proportion; the macro tests beside the macro average of F1.
    """
    found = TESTS.get(name)
    if found is None:
        return []
    return [Beside(one.method, one.p_value, one.assumes) for one in found(first, second)]


def _decisions(first: Cells, second: Cells) -> Iterator[TextTest]:
    """Test every decision of a document and a category: all examples of a joint cell at once."""
    rows = np.repeat(np.arange(len(first.rows)), first.rows)
    yield micro_sign_test(*((cells.truth == cells.predicted)[rows] for cells in (first, second)))


def _share_of(numerator: str, denominator: str) -> Tests:
    def tests(first: Cells, second: Cells) -> Iterator[TextTest]:
        yield from _decisions(first, second)
        counts = [cells.class_counts() for cells in (first, second)]
        shares = [
            int(getattr(one, part).sum()) for one in counts for part in (numerator, denominator)
        ]
        yield proportion_test(*shares)

    return tests


def _errors(first: Cells, second: Cells) -> Iterator[TextTest]:
    yield from _decisions(first, second)
    decisions = first.n * len(first.labels)
    wrong = [_wrong_decisions(cells.class_counts()) for cells in (first, second)]
    yield proportion_test(wrong[0], decisions, wrong[1], decisions)


def _wrong_decisions(counts: ClassCounts) -> int:
    return int((counts.truth + counts.predicted - 2 * counts.tp).sum())


def _of_categories(first: Cells, second: Cells) -> Iterator[TextTest]:
    values = [_f1_of_categories(cells) for cells in (first, second)]
    for test in (macro_sign_test, macro_t_test, macro_t_on_ranks):
        yield test(*values)


def _f1_of_categories(cells: Cells) -> NDArray[np.float64]:
    return np.asarray(find_measure("f1").value(cells.class_counts().one_vs_rest), dtype=np.float64)


TESTS: dict[str, Tests] = {
    "hamming_loss": _errors,
    "recall_micro": _share_of("tp", "truth"),
    "precision_micro": _share_of("tp", "predicted"),
    "f1_micro": _decisions,
    "f1_macro": _of_categories,
}
