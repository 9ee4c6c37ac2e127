"""Which documents of a corpus are trained on, which are held out, and what carries what."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.aliases import Flags, Indices
from truerisk.checks import check_number, check_random_state, shown
from truerisk.errors import InputError
from truerisk.estimation.corpus.category_estimates import listed

if TYPE_CHECKING:
    from truerisk.inputs.corpora.corpora import Corpus
    from truerisk.text.vectorizer import Vectorizer

Labels = Sequence[Sequence[str]]

TRAIN, TEST = "train", "test"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The places of the documents to train on and to test on; the latter may be none."""

    train: Indices
    test: Indices
    notes: tuple[str, ...] = ()


def parts_of(
    n: int,
    split: Sequence[str | None] | None,
    holdout: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Parts:
    """Divide n documents as the corpus says, or at random, or not at all.

    Examples
    --------
    >>> parts = parts_of(4, ["train", "test", "unused", "train"])
    >>> parts.train, parts.test, parts.notes
    (array([0, 3]), array([1]), ("1 document is left out: its part is 'unused'.",))
    """
    if split is not None:
        if holdout is not None:
            raise InputError(
                f"`holdout` must not be given for a corpus that is split already; got {holdout!r}. "
                "Read the corpus without its split."
            )
        return _as_said(split)
    if holdout is None:
        return Parts(train=np.arange(n), test=np.arange(0))
    share = check_number(holdout, "holdout", low=0.0, high=1.0)
    held = round(share * n)
    if not 0 < held < n:
        raise InputError(
            f"`holdout` must leave documents on both sides; got {holdout!r} of {n} documents."
        )
    order = check_random_state(random_state).permutation(n)
    return Parts(train=np.sort(order[held:]), test=np.sort(order[:held]))


def _as_said(split: Sequence[str | None]) -> Parts:
    counts = Counter(split)
    if not counts[TRAIN]:
        raise InputError(
            f"`split` must say {TRAIN!r} of the documents to train on; "
            f"got {', '.join(shown(part) for part in list(counts)[:5])}."
        )
    named = np.array([part or "" for part in split], dtype=object)
    left = {part: count for part, count in counts.items() if part not in {TRAIN, TEST}}
    notes = tuple(
        f"{count} document{' is' if count == 1 else 's are'} left out: "
        f"{'its' if count == 1 else 'their'} part is {'not given' if not part else shown(part)}."
        for part, count in left.items()
    )
    return Parts(
        train=np.flatnonzero(named == TRAIN), test=np.flatnonzero(named == TEST), notes=notes
    )


def categories_of(labels: Labels, parts: Parts, asked: Sequence[str] | None) -> tuple[str, ...]:
    """List the categories, that with most training documents first.

    Examples
    --------
    >>> categories_of([["a"], ["a", "b"], [], ["c"]], parts_of(4, None), None)
    ('a', 'b', 'c')
    """
    used = Counter(label for at in parts.train for label in dict.fromkeys(labels[at]))
    known = {*used, *(label for at in parts.test for label in labels[at])}
    if asked is not None:
        unknown = [name for name in asked if name not in known]
        if unknown or not asked:
            raise InputError(
                f"`categories` must be carried by a document; got "
                f"{listed(unknown) if unknown else 'none'}. "
                f"There are {listed(sorted(known, key=lambda name: (-used[name], name)))}."
            )
        known = set(asked)
    if not known:
        raise InputError("`labels` must give a category to at least one document; all are empty.")
    return tuple(sorted(known, key=lambda name: (-used[name], name)))


def truth_of(labels: Labels, which: Indices, names: Sequence[str]) -> Flags:
    """Say which of the chosen documents carry which category, a row a category."""
    place = {name: at for at, name in enumerate(names)}
    truth = np.zeros((len(names), len(which)), dtype=bool)
    for column, at in enumerate(which):
        for label in labels[at]:
            if label in place:
                truth[place[label], column] = True
    return truth


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Documents as rows of numbers, and how they came to be."""

    train: Any
    test: Any
    settings: dict[str, Any]


def vectors_of(
    corpus: "Corpus", parts: Parts, vectorizer: "Vectorizer | None", min_documents: int | None
) -> Vectors:
    """Turn texts into vectors by the statistics of the training documents alone."""
    held_out = len(parts.test) > 0
    if corpus.texts is None:
        _refuse_words(vectorizer, min_documents)
        matrix: Any = corpus.matrix
        return Vectors(
            train=matrix[parts.train],
            test=matrix[parts.test] if held_out else None,
            settings={"features": matrix.shape[1]},
        )
    words = _vectorizer(vectorizer, min_documents)
    texts = corpus.texts
    train = words.fit_transform([texts[at] for at in parts.train])
    test = words.transform([texts[at] for at in parts.test]) if held_out else None
    return Vectors(
        train=train, test=test, settings={**words.get_params(), "features": train.shape[1]}
    )


def _vectorizer(vectorizer: "Vectorizer | None", min_documents: int | None) -> "Vectorizer":
    from sklearn.base import clone  # noqa: PLC0415  (only texts need it)

    from truerisk.text.vectorizer import Vectorizer  # noqa: PLC0415

    if vectorizer is None:
        return Vectorizer() if min_documents is None else Vectorizer(min_documents=min_documents)
    if min_documents is not None:
        raise InputError(
            f"`min_documents` must not be given beside `vectorizer`; got {min_documents!r}. "
            "Set it in the vectorizer."
        )
    cloned: Vectorizer = clone(vectorizer)
    return cloned


def _refuse_words(vectorizer: "Vectorizer | None", min_documents: int | None) -> None:
    for name, value in (("vectorizer", vectorizer), ("min_documents", min_documents)):
        if value is not None:
            raise InputError(
                f"`{name}` must not be given for a corpus of vectors; got {shown(value)}."
            )
