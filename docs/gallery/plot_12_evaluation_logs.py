"""
Which language model is better, and where?
==========================================

A log says of each question whether the answer is right.  Three logs of the same questions are
compared pair by pair; slices by subject say where a model is worse.
"""

import matplotlib.pyplot as plt
import numpy as np

import truerisk as tr

rng = np.random.default_rng(1)
subject = rng.choice(["algebra", "law", "physics"], 900)
hard = rng.random(900)
skill = {"small": 0.55, "medium": 0.68, "large": 0.70}
right = {name: (hard + rng.random(900)) / 2 < value for name, value in skill.items()}
right["large"] &= (subject != "law") | (rng.random(900) < 0.7)
comparison = tr.compare_values(*right.values(), names=list(right), by={"subject": subject})

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
comparison.plot(ax)

# %%

print(*comparison.verdict, sep="\n")

# %%

evaluation = tr.evaluate_values(right["large"], by={"subject": subject})
print(evaluation.verdict[-1])
