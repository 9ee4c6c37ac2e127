"""
How much data? A learning curve
===============================

Error on held-out examples for growing training sets; bands are intervals of the mean.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
learners = {"svm": make_pipeline(StandardScaler(), tr.LinearSVM()), "naive Bayes": GaussianNB()}
curve = tr.learning_curve(learners, X, y, estimate=None, random_state=1)

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
curve.plot(ax)

# %%
# How many examples would an error of 2 % take?

print(curve["svm"].extrapolate(0.02))
