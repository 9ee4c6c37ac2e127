"""What each question was worth: right or wrong, or a score in a known range; no labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Ends, Indices
from truerisk.checks import check_whole_number, shown
from truerisk.errors import InputError

RIGHT_OR_WRONG: Ends = (0.0, 1.0)


@dataclass(frozen=True)
class QuestionValues:
    """One value per question, within `value_range`; `groups` numbers what belongs together.

    `is_correct` says that every sample is right (1) or wrong (0).  `samples` counts the rows.
    """

    values: Array
    value_range: Ends = RIGHT_OR_WRONG
    groups: Indices | None = None
    is_correct: bool = False
    samples: int = 0
    pass_at: int | None = None

    @classmethod
    def of(
        cls,
        values: Array,
        *,
        questions: NDArray[Any] | None = None,
        groups: Indices | None = None,
        value_range: Ends | None = None,
        pass_at: int | None = None,
        name: str = "values",
    ) -> "QuestionValues":
        """Check values; several samples of one question become their mean, or its pass@k.

        Questions keep the order in which they first come.

        Without a `value_range` every value must be 0 or 1.
        """
        column = np.asarray(values, dtype=np.float64)
        _check_values(column, value_range, name)
        span = RIGHT_OR_WRONG if value_range is None else check_range(value_range)
        whole = cls(column, span, groups, value_range is None, len(column))
        if pass_at is not None:
            check_whole_number(pass_at, "pass_at", low=1)
            if value_range is not None or questions is None:
                raise InputError(
                    "`pass_at` must come with samples that are right or wrong, and with the "
                    "question of each; got "
                    + ("scores in a range." if value_range is not None else "no questions.")
                )
        if questions is None:
            return whole
        return whole.by_question(question_codes(questions), pass_at)

    def by_question(self, codes: Indices, pass_at: int | None = None) -> "QuestionValues":
        """Put the samples of each question together; codes are from 0 on."""
        sizes = np.bincount(codes)
        sums = np.bincount(codes, weights=self.values).astype(np.float64)
        if pass_at is None:
            values = sums / sizes
        else:
            if sizes.min() < pass_at:
                raise InputError(
                    f"`pass_at` must be at most the number of samples of every question; got "
                    f"{pass_at}, and a question with {sizes.min()}."
                )
            values = pass_at_k(sums, sizes.astype(np.float64), pass_at)
        groups = None
        if self.groups is not None:
            groups = np.empty(len(sizes), dtype=np.intp)
            groups[codes] = self.groups
            if (groups[codes] != self.groups).any():
                raise InputError("`groups` must hold each question in one group; one is in two.")
        return replace(self, values=values, groups=groups, pass_at=pass_at)

    def taken(self, rows: Indices) -> "QuestionValues":
        """Give some of the questions, their groups numbered from 0."""
        groups = self.groups
        if groups is not None:
            groups = np.unique(groups[rows], return_inverse=True)[1].astype(np.intp)
        # Whether there are several samples of a question is of all of them.
        samples = len(rows) if self.samples == self.n else self.samples
        return replace(self, values=self.values[rows], groups=groups, samples=samples)

    @property
    def n(self) -> int:
        """How many questions there are."""
        return len(self.values)

    @property
    def width(self) -> float:
        """How far apart two values can be."""
        return self.value_range[1] - self.value_range[0]

    @property
    def is_binary(self) -> bool:
        """Whether every question is one sample that is right or wrong."""
        return self.is_correct and self.samples == self.n and self.pass_at is None

    @property
    def measure(self) -> str:
        """What their mean is called."""
        return "accuracy" if self.is_correct and self.pass_at is None else "mean_value"

    @property
    def mean(self) -> float:
        """The mean over the questions; NaN without any."""
        return math.fsum(self.values) / self.n if self.n else math.nan


def question_codes(questions: NDArray[Any]) -> Indices:
    """Give each row the number of its question, in the order in which they first come."""
    book: dict[Any, int] = {}
    codes = [book.setdefault(one, len(book)) for one in questions.tolist()]
    return np.array(codes, dtype=np.intp)


def columns_of_questions(
    columns: Mapping[str, NDArray[Any]], questions: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Give the entry of each question in columns that have one per row; it must be the same."""
    if questions is None:
        return dict(columns)
    codes = question_codes(questions)
    first = np.unique(codes, return_index=True)[1]
    for name, column in columns.items():
        words = column.astype(str)
        if (words[first][codes] != words).any():
            raise InputError(
                f"`by` must hold each question in one slice; {shown(name)} has two values for one "
                "question."
            )
    return {name: column[first] for name, column in columns.items()}


def pass_at_k(correct: Array, samples: Array, k: int) -> Array:
    r"""Give the chance that one of k samples is right, from c right ones of n, without bias.

    .. math:: 1 - \binom{n - c}{k} \Big/ \binom{n}{k}
              = 1 - \prod_{i=0}^{k-1} \frac{n - c - i}{n - i}

    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374,
    2021, equation 1.

    Examples
    --------
    >>> pass_at_k(np.array([1.0]), np.array([4.0]), 2).tolist()
    [0.5]
    """
    missed = np.ones(len(samples))
    for i in range(k):
        missed *= np.maximum(samples - correct - i, 0.0) / (samples - i)
    return 1 - missed


def check_range(value_range: Any) -> Ends:
    """Return a range if it is two finite numbers, the smaller first."""
    try:
        low, high = map(float, value_range)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"`value_range` must be the smallest and the largest possible value, such as (0, 1); "
            f"got {shown(value_range)}."
        )
    return low, high


def _check_values(values: Array, value_range: Ends | None, name: str) -> None:
    if values.ndim != 1:
        raise InputError(f"`{name}` must be one number per row; got shape {values.shape}.")
    if not len(values):
        raise InputError(f"`{name}` must hold at least one value; got none.")
    if value_range is None:
        wrong = values[(values != 0) & (values != 1)]
        if len(wrong):
            raise InputError(
                f"`{name}` must be 0 or 1, wrong or right; got {shown(float(wrong[0]))}. A score "
                "has a range: `value_range` (--value COLUMN --range LOW HIGH)."
            )
        return
    low, high = check_range(value_range)
    wrong = values[~((values >= low) & (values <= high))]
    if len(wrong):
        raise InputError(
            f"`{name}` must lie in [{low:g}, {high:g}]; got {shown(float(wrong[0]))} "
            f"({len(wrong)} such values). State the range that holds for all values."
        )
