"""What the demo is about: generated mail filters and news, the same on every machine.

Only `Random.random` is drawn from: of all generators it alone is promised to stay the same.
"""

import random
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerisk.inputs.corpora.corpora import Corpus

MAILS = 1500
SHARE_OF_SPAM = 0.14
SEPARATION = 2.2  # how far apart the two classes lie, in standard deviations
BETTER_SEPARATION = 2.8
LIKENESS = 0.8  # correlation of what the two filters see in a mail
SEED = 4

DOCUMENTS = 700
WORDS = 30  # of a document
ON_TOPIC = 0.2  # of the words of a document are of its topics
SECOND_TOPIC = 0.15  # of the documents have one
COMMON_WORDS = tuple(
    first + second
    for first in ("ba", "de", "fi", "go", "ku", "la", "me", "no", "pu", "ra", "se", "ti", "vo")
    for second in ("", "l", "n", "ra", "ste", "ton", "ver", "x")
)
TOPICS = {
    "earnings": "profit loss dividend quarter net share results revenue payout",
    "takeovers": "bid stake merger acquire offer shareholders board buyout deal",
    "grain": "wheat corn harvest tonnes crop maize export barley acreage",
    "crude": "oil barrel opec refinery petroleum output drilling price well",
    "trade": "tariff deficit surplus imports exports quota dispute talks goods",
    "shipping": "vessel port strike cargo tanker freight gulf seamen canal",
    "gold": "ounce mine reef ore bullion troy mint deposit gram",
    "coffee": "beans roaster brazil colombia bags quota growers arabica",
}
FREQUENCIES = (0.34, 0.22, 0.13, 0.1, 0.08, 0.06, 0.04, 0.03)


def spam_filter() -> tuple[list[str], list[float]]:
    """Generate the true labels and the scores of a filter that is good, and not perfect."""
    truth, places = _mails()
    return truth, [_probability(place, SEPARATION, label) for place, label in _of(places, truth)]


def better_filter() -> list[float]:
    """Generate the scores that a better filter gives the same mails."""
    source, normal = random.Random(SEED + 1), NormalDist()  # noqa: S311  (an example, no secret)
    truth, places = _mails()
    scores = []
    for place, label in _of(places, truth):
        own = normal.inv_cdf(_inside(source.random()))
        mixed = LIKENESS * place + (1 - LIKENESS**2) ** 0.5 * own
        scores.append(_probability(mixed, BETTER_SEPARATION, label))
    return scores


def news() -> "Corpus":
    """Generate short news of eight topics, some of them of two, the frequent topics first."""
    from truerisk.inputs.corpora.corpora import Corpus  # noqa: PLC0415  (costs start-up time)

    source = random.Random(SEED)  # noqa: S311  (an example, no secret)
    texts, labels = [], []
    for _ in range(DOCUMENTS):
        topics = {_drawn(source, tuple(TOPICS), FREQUENCIES)}
        if source.random() < SECOND_TOPIC:
            topics.add(_drawn(source, tuple(TOPICS), FREQUENCIES))
        own = [word for topic in sorted(topics) for word in TOPICS[topic].split()]
        words = [
            _any(source, own) if source.random() < ON_TOPIC else _any(source, COMMON_WORDS)
            for _ in range(WORDS)
        ]
        texts.append(" ".join(words))
        labels.append(tuple(sorted(topics)))
    return Corpus(
        ids=tuple(map(str, range(DOCUMENTS))), texts=tuple(texts), labels=tuple(labels), source=None
    )


def _mails() -> tuple[list[str], list[float]]:
    source, normal = random.Random(SEED), NormalDist()  # noqa: S311  (an example, no secret)
    truth, places = [], []
    for _ in range(MAILS):
        truth.append("spam" if source.random() < SHARE_OF_SPAM else "ham")
        places.append(normal.inv_cdf(_inside(source.random())))
    return truth, places


def _of(places: list[float], truth: list[str]) -> "Sequence[tuple[float, str]]":
    return list(zip(places, truth, strict=True))


def _probability(place: float, separation: float, label: str) -> float:
    """Give the probability of spam at a place on the axis of evidence, by Bayes' rule."""
    normal = NormalDist()
    evidence = place + (separation if label == "spam" else 0.0)
    likelihood = normal.pdf(evidence - separation) * SHARE_OF_SPAM
    other = normal.pdf(evidence) * (1 - SHARE_OF_SPAM)
    return round(likelihood / (likelihood + other), 6)


def _inside(share: float) -> float:
    return min(max(share, 1e-9), 1 - 1e-9)


def _any(source: random.Random, words: "Sequence[str]") -> str:
    return words[int(source.random() * len(words))]


def _drawn(source: random.Random, names: "Sequence[str]", shares: "Sequence[float]") -> str:
    left = source.random()
    for name, share in zip(names, shares, strict=True):
        left -= share
        if left < 0:
            return name
    return names[-1]
