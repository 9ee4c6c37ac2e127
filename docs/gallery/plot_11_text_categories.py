"""
Text: every category against the rest
=====================================

F1 of each category with its interval, rare ones below; no test set is needed.
"""

import matplotlib.pyplot as plt
import numpy as np

import truerisk as tr

topics = {
    "grain": ["wheat", "corn", "barley", "harvest", "crop"],
    "metal": ["gold", "silver", "copper", "mine", "smelter"],
    "money": ["dollar", "yen", "bank", "rate", "bond"],
    "ship": ["port", "tanker", "freight", "vessel", "strike"],
}
common = ["output", "prices", "exports", "minister", "record", "expected", "larger", "fell"]
stray = ["gold", "wheat", "bank", "port", "rate", "strike"]
rng = np.random.default_rng(1)
labels = rng.choice(list(topics), 300, p=[0.45, 0.3, 0.2, 0.05])
texts = [
    " ".join([*rng.choice(topics[label], 2), *rng.choice(common, 6), *rng.choice(stray, 2)])
    for label in labels
]
corpus = tr.Corpus(
    ids=tuple(map(str, range(300))),
    texts=tuple(texts),
    labels=tuple((str(label),) for label in labels),
)
evaluation = tr.estimate_corpus(corpus)

fig, ax = plt.subplots(layout="constrained")
evaluation.plot(ax)
