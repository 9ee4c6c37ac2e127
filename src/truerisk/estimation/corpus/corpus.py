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
from truerisk.checks import (
    check_choice,
    check_level,
    check_number,
    check_random_state,
    listed,
    shown,
)
from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.estimation.corpus.categories import (
    EFFORT,
    MAX_LISTED,
    Category,
    CategorySVMs,
    Progress,
    Trained,
    Training,
    train_svms,
)
from truerisk.estimation.svm.one_vs_rest_counts import MEASURES
from truerisk.results import Estimate, Evaluation, Finding, Row, as_plain

if TYPE_CHECKING:
    from truerisk.inputs.corpora import Corpus
    from truerisk.text.vectorizer import Vectorizer


METHODS = ("xi_alpha", "leave_one_out")
TEXT_RHO, PROVEN_RHO = 1.0, 2.0
WIDE = 0.5  # an interval of F1 wider than this says next to nothing

Labels = Sequence[Sequence[str]]

TRAIN, TEST = "train", "test"


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the rules look at; `drawn` says that what is held out was drawn at random."""

    main: Evaluation
    holdout: Evaluation | None
    trained: Trained
    rho: float
    drawn: bool = False
    one_label: Evaluation | None = None

    @property
    def exact(self) -> bool:
        """Whether the estimates are those of leave-one-out."""
        return bool(self.main.settings["method"] == "leave_one_out")


def verdict_of(findings: Findings) -> Iterator[Finding]:
    """Say in plain sentences what was found."""
    for rule in RULES:
        yield from rule(findings)


def how_good(findings: Findings) -> Iterator[Finding]:
    """Say what the averages are."""
    main, categories = findings.main, int(np.count_nonzero(findings.trained.averaged))
    wrong, micro, macro = (main[name] for name in ("hamming_loss", "f1_micro", "f1_macro"))
    if not wrong.is_defined:
        yield Finding(
            "There is no category that can be told from the rest.", code="no_category_told"
        )
        return
    yield Finding(
        f"Of the decisions whether a document carries a category, {_percent(wrong)} are wrong, by "
        f"the {main.n:,} training documents alone.",
        code="decisions_wrong",
    )
    yield Finding(
        f"Over {_categories(categories)}: micro F1 {_percent(micro)}, macro F1 {_percent(macro)}.",
        code="averages",
    )


def what_leans(findings: Findings) -> Iterator[Finding]:
    """Say what is proven, and to which side the estimates lean."""
    svms = findings.trained.svms
    if findings.exact:
        refits, ties = int(svms.refits.sum()), int(svms.ties.sum())
        yield Finding(
            "These count the errors of exact leave-one-out: nearly unbiased, as they are about "
            f"SVMs with one document less. {refits:,} documents were left out in earnest.",
            code="exact_leave_one_out",
        )
        if ties:
            yield Finding(
                f"{ties:,} of these calls are ties: the counts may differ by as many.",
                code="ties",
            )
        return
    radius = f"R² = {svms.squared_radius:.4g} ({svms.radius_rule})"
    if findings.rho >= PROVEN_RHO:
        yield Finding(
            f"Proven, with {radius}: where an SVM is stable, these estimates are never better "
            "than those of leave-one-out. Expect them to be worse than the truth.",
            code="proven",
        )
    else:
        yield Finding(
            f"They lean to the pessimistic side. ρ = {findings.rho:g} is the choice for text and "
            f"not proven; ρ = 2, given beside, is, with {radius}.",
            code="pessimistic",
        )


def beside_the_holdout(findings: Findings) -> Iterator[Finding]:
    """Compare the estimates with what was held out."""
    if findings.holdout is None:
        return
    parts = []
    for name in MEASURES:
        sign = 1.0 if name == "error_rate" else -1.0
        differences = [sign * (mine - theirs) for mine, theirs in _pairs(findings, name)]
        worse, better = (sum(side * one > 0 for one in differences) for side in (1, -1))
        title = {"error_rate": "error", "f1": "F1"}.get(name, name)
        parts.append(f"{title} {worse} (and {better}) of {len(differences)}")
    yield Finding(
        f"Beside the {findings.holdout.n:,} documents held out the estimate is worse (and better) "
        f"in so many categories: {'; '.join(parts)}.",
        code="beside_the_holdout",
    )
    apart = [
        label
        for label, row in findings.main.by_class.items()
        if _apart(row["f1"], findings.holdout.by_class[label]["f1"])
    ]
    if apart:
        what = "The two intervals of F1 do not meet" if findings.exact else "F1 is below its bound"
        # Parts that were drawn at random are of one kind.
        why = "the documents held out may be of another kind"
        if findings.drawn:
            why = "it is chance, or the estimate is off"
        yield Finding(f"{what} in {listed(apart, MAX_LISTED)}: there {why}.", code="holdout_apart")


def with_one_label(findings: Findings) -> Iterator[Finding]:
    """Say how often the class is right, where every document has one."""
    if findings.one_label is not None:
        yield Finding(
            "Every document has one label. The category with the largest decision value is right "
            f"for {_percent(findings.one_label['accuracy'])} of the documents held out.",
            code="one_label",
        )


def what_is_unstable(findings: Findings) -> Iterator[Finding]:
    """Name the categories whose bias is one of many."""
    trained = findings.trained
    unstable = [
        name for name, stable in zip(trained.names, trained.svms.stable, strict=True) if not stable
    ]
    if unstable:
        yield Finding(
            f"Unstable, as every support vector is at its bound: {listed(unstable, MAX_LISTED)}. "
            "Nothing is proven there; a larger C usually helps.",
            code="unstable_categories",
        )


def what_is_not_solved(findings: Findings) -> Iterator[Finding]:
    """Say so where a solver stopped before it was done."""
    gaps = findings.trained.svms.gap
    left = int(np.count_nonzero(gaps > EFFORT.tolerance))
    if left:
        yield Finding(
            f"The solver stopped early in {left} of {len(gaps)} categories, with a gap of up to "
            f"{gaps.max():.2g}: their estimates are rough. Scale the features, or lower C.",
            code="solver_stopped_early",
        )


def what_is_too_open(findings: Findings) -> Iterator[Finding]:
    """Name the categories that have too few documents to say anything."""
    counts = dict(zip(findings.trained.names, findings.trained.truth.sum(axis=1), strict=True))
    wide = [
        label
        for label, row in findings.main.by_class.items()
        if _width(row["f1"]) > WIDE and counts[label]
    ]
    if wide:
        most = max(int(counts[label]) for label in wide)
        yield Finding(
            f"Too few documents to say much (the interval of F1 is wider than {WIDE:g}): "
            f"{_categories(len(wide))} with at most {most} training documents, such as "
            f"{', '.join(map(shown, wide[:4]))}.",
            code="too_few_documents",
        )


def what_has_no_value(findings: Findings) -> Iterator[Finding]:
    """Count what is undefined."""
    untrained = sum(reason is not None for reason in findings.trained.reasons)
    if untrained:
        have = "has" if untrained == 1 else "have"
        yield Finding(
            f"{_categories(untrained)} {have} no estimate: see the notes.",
            code="categories_without_estimate",
        )


RULES = (
    how_good,
    what_leans,
    beside_the_holdout,
    with_one_label,
    what_is_unstable,
    what_is_not_solved,
    what_is_too_open,
    what_has_no_value,
)


def _pairs(findings: Findings, name: str) -> list[tuple[float, float]]:
    """Give the values of both sides in the categories that averages are over."""
    holdout, trained = findings.holdout, findings.trained
    if holdout is None:
        return []
    pairs = [
        (findings.main.by_class[label][name], holdout.by_class[label][name])
        for label, taken in zip(trained.names, trained.averaged, strict=True)
        if taken
    ]
    return [(a.value, b.value) for a, b in pairs if a.is_defined and b.is_defined]


def _apart(mine: Estimate, theirs: Estimate) -> bool:
    if mine.interval is None or theirs.interval is None:
        return False
    return mine.interval.high < theirs.interval.low or theirs.interval.high < mine.interval.low


def _width(estimate: Estimate) -> float:
    """Give the width of the interval; that of a bound is twice its distance."""
    ends = estimate.interval
    if ends is None:
        return 0.0
    return ends.width if ends.side == "both" else 2 * (estimate.value - ends.low)


def _percent(estimate: Estimate) -> str:
    if not estimate.is_defined:
        return "undefined"
    value = _short(estimate.value)
    if estimate.interval is None:
        return f"{value} %"
    ends, level = estimate.interval, f"{100 * estimate.interval.level:.10g} % confidence"
    if ends.side == "both":
        return f"{value} % ({_short(ends.low)} to {_short(ends.high)} % at {level})"
    return f"{value} % ({ends.words(_short)} % with {level})"


def _categories(count: int) -> str:
    return "1 category" if count == 1 else f"{count} categories"


def _short(share: float) -> str:
    """Write a share in percent; small ones need a second decimal."""
    return f"{100 * share:.1f}" if share >= 0.1 else f"{100 * share:.2f}"


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
        missing = [name for name in requested if name not in names]
        if missing or not requested:
            by_use = sorted(names, key=lambda name: (-used[name], name))
            raise InputError(
                f"`categories` must be carried by a document; got "
                f"{listed(missing, MAX_LISTED) if missing else 'none'}. "
                f"There are {listed(by_use, MAX_LISTED)}."
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
