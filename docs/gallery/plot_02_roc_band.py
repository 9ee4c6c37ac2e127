"""
ROC curve, with a band for the whole curve
==========================================

The band contains the *whole* true curve in 95 of 100 samples, at every threshold at once; it is
therefore wider than intervals for a single threshold.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :5], y, test_size=0.4, random_state=1)
scores = GaussianNB().fit(X_train, y_train).predict_proba(X_test)[:, 1]

curve = tr.roc(y_test, scores)
fig, ax = plt.subplots(layout="constrained")
tr.confidence_band(curve, level=0.95).plot(ax)
curve.plot(ax)

# %%
# The area under it, with its own interval:

print(tr.evaluate(y_test, y_score=scores, measures=["roc_auc"])["roc_auc"])
