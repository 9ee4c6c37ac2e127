"""Documents → sparse vectors: words weighted by how rare they are in the training documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from truerisk.aliases import Array, Codes
from truerisk.checks import check_choice, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.kernels import in_threads, threads_for
from truerisk.kernels import words as kernel
from truerisk.text.words import (
    JOINER,
    WORD_KINDS,
    Counts,
    Terms,
    Vocabulary,
    chosen_words,
    count_blocks,
    stemmer_of,
    stop_words_of,
    words_from,
)

Weighting = Literal["tfidf", "log_tfidf", "tf", "log_tf", "binary"]
WEIGHTINGS = ("tfidf", "log_tfidf", "tf", "log_tf", "binary")
SETTINGS = (
    "min_documents", "weighting", "unit_length", "lowercase", "words", "stem", "stop_words",
    "ngrams",
)  # fmt: skip
MAX_NGRAM = 8
PLAIN_KEYS = {"format", "settings", "n_documents", "words", "document_counts"}
PLAIN_FORMAT = "truerisk vectorizer 1"


class Vectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Turn documents into vectors of word weights, as text categorization does since the 1990s.

    A feature is a word that occurs in at least `min_documents` of the n documents of `fit`; unless
    requested, there is no stemming and no list of stop words.  The weight of a word that occurs TF
    times in a document is

    .. math:: TF \cdot \log \frac{n}{DF}

    with DF the number of documents of `fit` in which it occurs, and every vector is then divided by
    its length.  So a word that occurs in all of them has weight 0, and a document with no word
    that counts stays a vector of zeros.  Nothing is ever learnt from the documents of `transform`.
    The result does not depend on the number of threads, nor on the order of the documents.

    Parameters
    ----------
    min_documents
        In how many documents of `fit` a word must occur.
    weighting
        "tfidf" as above, "tf" for the count alone, "log_tfidf" and "log_tf" with 1 + log TF in its
        place, "binary" for 1 where a word occurs.
    unit_length
        Whether each vector is divided by its length.  Vectors of unit length without negative
        entries are what the bound R² = 1 of `xi_alpha` needs.
    lowercase
        Whether "Bank" and "bank" are one word.
    words
        What a word is: a run of "letters", or "alphanumeric" for a run of letters, digits and
        underscores; in all scripts, ``[^\W\d_]+`` and ``\w+`` of Python's regular expressions.
        Letters alone come nearest to the errors that [2]_'s author published for Reuters-21578.
    stem
        "porter" for Porter's stemmer, "english", "german", … for Snowball's of a language; it
        needs the extra `stem`.  None leaves words as they are.
    stop_words
        Words that are left out: a list, or "english" for scikit-learn's; matched before stemming.
    ngrams
        The longest run of neighbouring words that is a feature; 2 adds pairs.

    Attributes
    ----------
    words_
        The words, sorted; a word's place is its column.
    document_counts_
        DF, in how many documents of `fit` each word occurs.
    n_documents_
        n, the number of documents of `fit`.
    word_weights_
        What a count is multiplied by: log(n / DF), or 1.

    References
    ----------
    .. [1] G. Salton and C. Buckley, "Term-weighting approaches in automatic text retrieval",
       Information Processing & Management 24(5), 513-523, 1988.
    .. [2] T. Joachims, "Text categorization with support vector machines: learning with many
       relevant features", ECML 1998, 137-142.

    Examples
    --------
    >>> vectorizer = Vectorizer(min_documents=1)
    >>> X = vectorizer.fit_transform(["wheat and corn", "corn and corn", "gold"])
    >>> vectorizer.get_feature_names_out()
    array(['and', 'corn', 'gold', 'wheat'], dtype=object)
    >>> X.toarray().round(2)
    array([[0.33, 0.33, 0.  , 0.89],
           [0.45, 0.89, 0.  , 0.  ],
           [0.  , 0.  , 1.  , 0.  ]])
    >>> vectorizer.transform(["Corn!"]).toarray()
    array([[0., 1., 0., 0.]])
    """

    def __init__(
        self,
        *,
        min_documents: int = 3,
        weighting: Weighting = "tfidf",
        unit_length: bool = True,
        lowercase: bool = True,
        words: str = "letters",
        stem: str | None = None,
        stop_words: str | Sequence[str] | None = None,
        ngrams: int = 1,
    ) -> None:
        self.min_documents = min_documents
        self.weighting = weighting
        self.unit_length = unit_length
        self.lowercase = lowercase
        self.words = words
        self.stem = stem
        self.stop_words = stop_words
        self.ngrams = ngrams

    def fit(self, X: Iterable[str], y: object = None) -> "Vectorizer":  # noqa: ARG002
        """Learn the words and in how many documents each occurs; `y` is not used."""
        self._learn(self._documents(X))
        return self

    def fit_transform(self, X: Iterable[str], y: object = None) -> csr_matrix:  # noqa: ARG002
        """Do `fit` and `transform` in one pass over the documents; `y` is not used."""
        blocks, columns = self._learn(self._documents(X))
        return self._matrix(blocks, columns)

    def transform(self, X: Iterable[str]) -> csr_matrix:
        """Give the vectors of documents, a row each: float64, columns sorted, no stored zero."""
        check_is_fitted(self)
        documents = self._documents(X, may_be_none=True)
        blocks = self._counted(documents)
        return self._matrix(blocks, [self._vocabulary.columns(block.words) for block in blocks])

    def get_feature_names_out(
        self,
        input_features: object = None,  # noqa: ARG002
    ) -> NDArray[np.object_]:
        """Give the words in the order of the columns; `input_features` is not used."""
        check_is_fitted(self)
        return np.array(self.words_, dtype=object)

    def as_plain(self) -> dict[str, Any]:
        """Give all that was learnt as plain data, to be saved as JSON.

        Examples
        --------
        >>> plain = Vectorizer(min_documents=1).fit(["wheat and corn", "corn"]).as_plain()
        >>> plain["words"], plain["document_counts"], plain["n_documents"]
        (['and', 'corn', 'wheat'], [1, 2, 1], 2)
        """
        check_is_fitted(self)
        return {
            "format": PLAIN_FORMAT,
            "settings": {name: _plain(getattr(self, name)) for name in SETTINGS},
            "n_documents": self.n_documents_,
            "words": list(self.words_),
            "document_counts": self.document_counts_.tolist(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Vectorizer":
        """Make the vectorizer again that `as_plain` gave; anything else is refused.

        Examples
        --------
        >>> plain = Vectorizer(min_documents=1).fit(["wheat and corn", "corn"]).as_plain()
        >>> Vectorizer.from_plain(plain).transform(["wheat"]).toarray()
        array([[0., 0., 1.]])
        """
        _check_plain(plain)
        made = cls(**plain["settings"])
        made._check_settings()
        words, counts = plain["words"], plain["document_counts"]
        n = check_whole_number(plain["n_documents"], "n_documents", low=1)
        for count in counts:
            check_whole_number(count, "document_counts", low=made.min_documents, high=n)
        joined = [word.replace(" ", JOINER) for word in words]
        vocabulary = words_from(joined, made.words)
        folded = not made.lowercase or all(word == word.lower() for word in words)
        if vocabulary is None or not folded or joined != sorted(joined):
            raise InputError(
                "`words` must be distinct, sorted, and each one word by the settings; "
                f"got {shown(words)}."
            )
        made._keep(Vocabulary.of(vocabulary), np.array(counts, np.int64), n)
        return made

    def _documents(self, X: Iterable[str], *, may_be_none: bool = False) -> Sequence[str]:
        self._check_settings()
        if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
            raise InputError(
                f"`X` must be a sequence of documents, each a string; got {shown(X)}. "
                "Put a single document in a list."
            )
        documents = list(X)
        if set(map(type, documents)) - {str}:
            for place, document in enumerate(documents):
                if not isinstance(document, str):
                    raise InputError(
                        f"`X` must hold strings; got {shown(document)} at place {place}. "
                        "Decode bytes first, and use '' for a document without text."
                    )
        if not documents and not may_be_none:
            raise InputError("`X` must hold at least one document; got 0.")
        return documents

    def _check_settings(self) -> None:
        check_whole_number(self.min_documents, "min_documents", low=1)
        check_choice(self.weighting, WEIGHTINGS, "weighting")
        check_choice(self.words, WORD_KINDS, "words")
        check_whole_number(self.ngrams, "ngrams", low=1, high=MAX_NGRAM)
        if self.stem is not None:
            stemmer_of(self.stem)
        stop_words_of(self.stop_words)
        for name in ("unit_length", "lowercase"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(
                    f"`{name}` must be True or False; got {shown(getattr(self, name))}."
                )

    def _counted(self, documents: Sequence[str]) -> list[Counts]:
        terms = Terms(
            self.words,
            lowercase=bool(self.lowercase),
            stem=self.stem,
            stop_words=stop_words_of(self.stop_words),
            ngrams=self.ngrams,
        )
        return count_blocks(terms.rewritten(documents), self.words, lowercase=self.lowercase)

    def _learn(self, documents: Sequence[str]) -> tuple[list[Counts], list[Codes]]:
        blocks = self._counted(documents)
        vocabulary, counts, columns = chosen_words(blocks, self.min_documents)
        if len(vocabulary) == 0:
            raise InputError(
                f"`min_documents` must leave at least one word; none of the words of the "
                f"{len(documents)} documents occurs in {self.min_documents} of them. Lower it."
            )
        self._keep(vocabulary, counts, len(documents))
        return blocks, columns

    def _keep(self, vocabulary: Vocabulary, counts: NDArray[np.int64], n: int) -> None:
        self._vocabulary = vocabulary
        self.words_ = tuple(text.replace(JOINER, " ") for text in vocabulary.texts())
        self.document_counts_ = counts
        self.n_documents_ = n
        by_rarity = self.weighting in {"tfidf", "log_tfidf"}
        self.word_weights_: Array = np.log(n / counts) if by_rarity else np.ones(len(counts))

    def _matrix(self, blocks: Sequence[Counts], columns: Sequence[Codes]) -> csr_matrix:
        weights = self.word_weights_

        def rows(place: int) -> tuple[Array, Codes, NDArray[np.int64]]:
            numbers = columns[place]
            # A weight of 0 is not stored.
            weightless = (numbers >= 0) & (weights[numbers] == 0.0)
            indices, counts, ends = blocks[place].rows(np.where(weightless, np.int32(-1), numbers))
            data = weights[indices]
            if self.weighting in {"log_tfidf", "log_tf"}:
                data *= 1.0 + np.log(counts)
            elif self.weighting != "binary":
                data *= counts
            if self.unit_length:
                kernel.scale_to_unit_length(data, ends)
            return data, indices, ends

        entries = sum(len(block.entry_words) for block in blocks)
        made = in_threads(rows, range(len(blocks)), threads=threads_for(entries))
        starts = np.cumsum([0, *(len(data) for data, _, _ in made)])
        ends = [ends + start for (_, _, ends), start in zip(made, starts, strict=False)]
        return csr_matrix(
            (
                np.concatenate([data for data, _, _ in made] or [np.empty(0)]),
                np.concatenate([indices for _, indices, _ in made] or [np.empty(0, np.int32)]),
                np.concatenate([[0], *ends]),
            ),
            shape=(sum(map(len, ends)), len(self.words_)),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _plain(setting: Any) -> Any:
    is_list = isinstance(setting, Sequence) and not isinstance(setting, str)
    return list(setting) if is_list else setting


def _check_plain(plain: Any) -> None:
    if not isinstance(plain, Mapping) or plain.get("format") != PLAIN_FORMAT:
        raise InputError(f"`plain` must be what `as_plain` gave; got {shown(plain)}.")
    if set(plain) != PLAIN_KEYS:
        keys = ", ".join(sorted(PLAIN_KEYS))
        raise InputError(f"`plain` must have the keys {keys}; got {shown(sorted(plain))}.")
    settings, words, counts = plain["settings"], plain["words"], plain["document_counts"]
    if not isinstance(settings, Mapping) or set(settings) != set(SETTINGS):
        raise InputError(f"`settings` must have {', '.join(SETTINGS)}; got {shown(settings)}.")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"`words` must be a list of strings; got {shown(words)}.")
    if not isinstance(counts, list) or len(counts) != len(words) or not words:
        raise InputError(
            f"`document_counts` must be a list with a count for each word; got {shown(counts)}."
        )
