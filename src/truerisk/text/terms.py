"""Words → terms: stop words left out, words stemmed, neighbours joined to n-grams.

The compiled sweep counts words.  Terms are therefore written back as texts whose words are the
terms; the words of an n-gram are joined by a letter that no text has.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from truerisk.errors import InputError, ResourceError
from truerisk.text.tokens import words_of

JOINER = "\u02d0"  # a letter of phonetic script, so that an n-gram is one word of every kind
NO_STEMMER = (
    "`stem` must be None without the package snowballstemmer, which is not installed: "
    "pip install truerisk[stem]"
)


def stemmer_of(language: str) -> Callable[[str], str]:
    """Give the Snowball stemmer of a language; "porter" is Porter's own."""
    try:
        import snowballstemmer
    except ImportError:
        raise ResourceError(NO_STEMMER) from None
    known = snowballstemmer.algorithms()
    if language not in known:
        raise InputError(f"`stem` must be None or one of {', '.join(known)}; got {language!r}.")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem


def stop_words_of(words: str | Collection[str] | None) -> frozenset[str]:
    """Give the words that are left out: a list, or scikit-learn's of "english"."""
    if words is None:
        return frozenset()
    if isinstance(words, str):
        if words != "english":
            raise InputError(f"`stop_words` must be None, 'english' or a list; got {words!r}.")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(words)


@dataclass(frozen=True)
class Terms:
    """How the words of a text become terms."""

    kind: str
    lowercase: bool
    stem: str | None = None
    stop_words: frozenset[str] = frozenset()
    ngrams: int = 1

    @cached_property
    def _stems(self) -> dict[str, str]:
        return {}

    def rewritten(self, documents: Sequence[str]) -> Sequence[str]:
        """Write the terms of each document as the words of a text; as it is if words are terms."""
        if self.stem is None and not self.stop_words and self.ngrams == 1:
            return documents
        stem = None if self.stem is None else stemmer_of(self.stem)
        return [" ".join(self._terms(document, stem)) for document in documents]

    def _terms(self, document: str, stem: Callable[[str], str] | None) -> list[str]:
        words = [
            word
            for word in words_of(document, self.kind, lowercase=self.lowercase)
            if word not in self.stop_words
        ]
        if stem is not None:
            stems = self._stems
            for word in words:
                if word not in stems:
                    stems[word] = stem(word)
            words = [stems[word] for word in words]
        terms = list(words)
        for size in range(2, self.ngrams + 1):
            runs = zip(*(words[start:] for start in range(size)), strict=False)
            terms += [JOINER.join(run) for run in runs]
        return terms
