"""A corpus of documents → the quality of an SVM for each of its categories."""

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import effective_n_jobs

from truerisk.aliases import Flags, Indices
from truerisk.checks import check_choice, check_level, check_number, check_random_state, shown
from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.estimation.corpus.categories import (
    EFFORT,
    Category,
    CategorySVMs,
    Progress,
    Trained,
    Training,
    listed,
    train_svms,
)
from truerisk.estimation.corpus.verdict import Findings, verdict_of
from truerisk.results import Evaluation, Finding, Row, as_plain

if TYPE_CHECKING:
    from truerisk.inputs.corpora import Corpus
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
    """Divide n documents as the corpus says, or at random, or not at all."""
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
        Finding(
            f"{count} document{' is' if count == 1 else 's are'} left out: "
            f"{'its' if count == 1 else 'their'} part is "
            f"{'not given' if not part else shown(part)}.",
            code="documents_left_out",
        )
        for part, count in left.items()
    )
    return Parts(
        train=np.flatnonzero(named == TRAIN), test=np.flatnonzero(named == TEST), notes=notes
    )


def categories_of(labels: Labels, parts: Parts, requested: Sequence[str] | None) -> tuple[str, ...]:
    """List the categories, that with most training documents first."""
    used = Counter(label for at in parts.train for label in dict.fromkeys(labels[at]))
    names = {*used, *(label for at in parts.test for label in labels[at])}
    if requested is not None:
        unnames = [name for name in requested if name not in names]
        if unnames or not requested:
            raise InputError(
                f"`categories` must be carried by a document; got "
                f"{listed(unnames) if unnames else 'none'}. "
                f"There are {listed(sorted(names, key=lambda name: (-used[name], name)))}."
            )
        names = set(requested)
    if not names:
        raise InputError("`labels` must give a category to at least one document; all are empty.")
    return tuple(sorted(names, key=lambda name: (-used[name], name)))


def truth_of(labels: Labels, which: Indices, names: Sequence[str]) -> Flags:
    """Say which of the chosen documents carry which category, one row per category."""
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
    from sklearn.base import clone

    from truerisk.text.vectorizer import Vectorizer

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


METHODS = ("xi_alpha", "leave_one_out")
TEXT_RHO, PROVEN_RHO = 1.0, 2.0
SAVED = ("verdict", "verdict_codes", "notes", "notes_codes", "settings", "source")


@dataclass(frozen=True, kw_only=True, repr=False)
class CorpusEvaluation(Evaluation):
    """The estimates for all categories of a corpus: averages, and `by_class` for each category.

    `at_rho` holds the ξα-estimates at ρ = 1, at ρ = 2, which is proven, and at the ρ asked for;
    `holdout` the measures on the documents held out, None when there are none; `categories` the
    facts of each category, that with most training documents first.  `one_label` has accuracy,
    macro averages and the confusion matrix of the documents held out, where every document has
    exactly one label: the class is the category with the largest decision value.

    Examples
    --------
    >>> result = CorpusEvaluation(estimates={}, n=0, level=0.95, labels=(), pos_label=None)
    >>> result.holdout is None, result.categories
    (True, ())
    """

    kind: ClassVar[str] = "corpus_evaluation"

    at_rho: Mapping[float, Evaluation] = field(default_factory=dict)
    holdout: Evaluation | None = None
    categories: tuple[Category, ...] = ()
    one_label: Evaluation | None = None

    @property
    def variants(self) -> Iterator[tuple[str, float, Evaluation]]:
        """Every estimate that was made: its method, its ρ (NaN where it has none), itself."""
        method = str(self.settings.get("method", ""))
        if method != "xi_alpha":
            yield method, math.nan, self
        for rho, evaluation in self.at_rho.items():
            yield "xi_alpha", rho, evaluation
        if self.holdout is not None:
            yield "holdout", math.nan, self.holdout

    def _rows(self) -> Iterator[Row]:
        for method, rho, evaluation in self.variants:
            for one in self.categories:
                documents = one.test_documents if method == "holdout" else one.documents
                head = {"category": one.name, "documents": documents, "estimate": method}
                for name, estimate in evaluation.by_class[one.name].items():
                    yield {**head, "rho": rho, **estimate.row(), "measure": name}
        for method, rho, evaluation in self.variants:
            head = {"category": "", "documents": evaluation.n, "estimate": method}
            for name, estimate in evaluation.items():
                yield {**head, "rho": rho, **estimate.row(), "measure": name}
        if self.one_label is not None:
            head = {"category": "", "documents": self.one_label.n, "estimate": "one_label"}
            for name, estimate in self.one_label.items():
                yield {**head, "rho": math.nan, **estimate.row(), "measure": name}

    def _content(self) -> dict[str, Any]:
        plain = super()._content()
        own = {name: plain[name] for name in SAVED}
        return {
            "documents": self.n,
            "documents_held_out": None if self.holdout is None else self.holdout.n,
            "level": self.level,
            "averages": {"estimates": as_plain(self.estimates), **self._others(None)},
            "categories": [
                {
                    **as_plain(one),
                    "estimates": as_plain(self.by_class[one.name]),
                    **self._others(one.name),
                }
                for one in self.categories
            ],
            "one_label": None if self.one_label is None else self._plain_one_label(self.one_label),
            **own,
        }

    @staticmethod
    def _plain_one_label(evaluation: Evaluation) -> dict[str, Any]:
        plain = evaluation.to_dict()
        return {name: plain[name] for name in ("estimates", "confusion")}

    def _others(self, category: str | None) -> dict[str, Any]:
        def of(evaluation: Evaluation | None) -> Any:
            if evaluation is None:
                return None
            return as_plain(
                evaluation.estimates if category is None else evaluation.by_class[category]
            )

        at_rho = {f"{rho:g}": of(evaluation) for rho, evaluation in self.at_rho.items()}
        return {"at_rho": at_rho, "holdout": of(self.holdout)}


def estimate_corpus(
    corpus: "Corpus",
    *,
    C: float = 0.5,
    rho: float = TEXT_RHO,
    level: float = 0.95,
    method: str = "xi_alpha",
    vectorizer: "Vectorizer | None" = None,
    min_documents: int | None = None,
    categories: Sequence[str] | None = None,
    holdout: float | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CorpusEvaluation:
    r"""Estimate how well each category of a corpus is told from the rest, with no resampling.

    For each category a linear SVM is trained on all training documents, those
    that carry the category against the rest.  Document i is at risk if
    :math:`\rho\,\alpha_i R^2 + \xi_i \ge 1`; with d of them, d₊ among the n₊ that carry it, [1]_

    .. math:: error = \frac dn, \quad recall = 1 - \frac{d_+}{n_+}, \quad
              precision = \frac{n_+ - d_+}{n_+ - d_+ + d_-}, \quad
              F_1 = \frac{2 (n_+ - d_+)}{2 n_+ - d_+ + d_-}

    At ρ = 2 no error of leave-one-out is missed, if the SVM is stable: the estimates are never
    better than those of leave-one-out, which is unbiased for n − 1 documents.  ρ = 1 is what text
    needs in practice; it still leans to the pessimistic side, and is not proven.  So each estimate
    by ξα has a one-sided bound, as in `tr.xi_alpha`, that takes documents as drawn independently.

    Parameters
    ----------
    corpus
        From `tr.read_corpus`.  Where it is split, only documents of "train" are trained on, and
        those of "test" are held out; others are left out.
    C
        The price of an error.
    rho
        ρ of the main estimates; those at 1 and 2 are given in any case.
    level
        Confidence level.
    method
        "xi_alpha", or "leave_one_out" for exact leave-one-out, which takes longer.
    vectorizer, min_documents
        How texts become vectors: a `tr.Vectorizer`, which is fitted anew on the training documents;
        or in how many of them a word must occur, 3 if not given.
    categories
        Only these; all that some document carries, when not given.
    holdout
        The share of the documents to hold out at random, of a corpus that is not split.
    random_state
        Seed of the random division.
    n_jobs
        How many categories are trained at a time; −1 takes all cores.
    progress
        Called after each category as `progress(done, done, total)`.

    References
    ----------
    .. [1] T. Joachims, "Estimating the generalization performance of an SVM efficiently",
       ICML 2000, 431-438.

    Examples
    --------
    >>> from truerisk.inputs.corpora import Corpus
    >>> texts = ("wheat corn rye", "corn wheat oats", "gold silver tin", "tin gold lead") * 3
    >>> labels = (("grain",), ("grain",), ("metal",), ("metal",)) * 3
    >>> corpus = Corpus(ids=tuple("abcdefghijkl"), texts=texts, labels=labels)
    >>> result = estimate_corpus(corpus)
    >>> print(result.by_class["grain"]["recall"].interval)
    at least 0.607 with 95 % confidence
    """
    check_choice(method, METHODS, "method")
    check_level(level)
    if n_jobs == 0:
        raise InputError("`n_jobs` must be a number of threads, or −1 for all cores; got 0.")
    training = Training(
        C=C,
        rhos=tuple(sorted({TEXT_RHO, PROVEN_RHO, check_number(rho, "rho", low=0.0)})),
        leave_one_out=method == "leave_one_out",
        workers=effective_n_jobs(n_jobs),
    ).checked()
    seed = _seed(random_state) if holdout is not None else random_state
    parts = parts_of(len(corpus.labels), corpus.split, holdout, seed)
    names = categories_of(corpus.labels, parts, categories)
    vectors = vectors_of(corpus, parts, vectorizer, min_documents)
    truth = truth_of(corpus.labels, parts.train, names)
    svms = train_svms(vectors.train, truth, training, test=vectors.test, progress=progress)
    _warn(svms)
    trained = Trained(
        names=names,
        truth=truth,
        test_truth=None if vectors.test is None else truth_of(corpus.labels, parts.test, names),
        svms=svms,
    )
    at_rho = {
        value: trained.estimates(wrong, "xi_alpha", level)
        for value, wrong in zip(training.rhos, svms.flagged, strict=True)
    }
    main = at_rho[rho]
    if training.leave_one_out:
        main = trained.estimates(svms.left_out, method, level)
    beside, one_label = trained.held_out(level), trained.one_label(level)
    drawn = {} if holdout is None else {"holdout": holdout, "random_state": _shown_seed(seed)}
    return CorpusEvaluation(
        estimates=main.estimates,
        by_class=main.by_class,
        n=len(parts.train),
        level=level,
        labels=names,
        pos_label=None,
        verdict=tuple(
            verdict_of(
                Findings(
                    main=main,
                    holdout=beside,
                    one_label=one_label,
                    trained=trained,
                    rho=rho,
                    drawn=holdout is not None,
                )
            )
        ),
        notes=(*corpus.notes, *parts.notes, *trained.notes()),
        settings={
            "method": method,
            "rho": rho,
            "C": C,
            **vectors.settings,
            "squared_radius": svms.squared_radius,
            "radius_rule": svms.radius_rule,
            **drawn,
        },
        source={} if corpus.source is None else {"files": [as_plain(corpus.source)]},
        at_rho=at_rho,
        holdout=beside,
        categories=trained.categories(),
        one_label=one_label,
    )


def _seed(random_state: int | np.random.Generator | None) -> int | np.random.Generator:
    """Draw a seed that the settings can show, if none is given."""
    return int(np.random.default_rng().integers(2**32)) if random_state is None else random_state


def _shown_seed(seed: int | np.random.Generator | None) -> int | str | None:
    return "a generator" if isinstance(seed, np.random.Generator) else seed


def _warn(svms: CategorySVMs) -> None:
    worst = float(svms.gap.max(initial=0.0))
    if worst > EFFORT.tolerance:
        warnings.warn(
            f"The solver stopped with a gap of {worst:.2g}; asked was {EFFORT.tolerance:g}. "
            "Scale the features, or lower `C`.",
            NotConvergedWarning,
            stacklevel=3,
        )
    unstable = int(np.count_nonzero(~svms.stable))
    if unstable:
        warnings.warn(
            f"Every support vector of {unstable} categories is at its bound: their biases are one "
            "of many that are as good. A larger `C` usually helps.",
            UnstableWarning,
            stacklevel=3,
        )
