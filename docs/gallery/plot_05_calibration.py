"""
Do the probabilities mean what they say?
========================================

Of the examples with scores about 0.8, eight in ten should be positive.  Naive Bayes is
overconfident: it treats correlated features as independent evidence.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :5], y, test_size=0.6, random_state=1)
scores = GaussianNB().fit(X_train, y_train).predict_proba(X_test)[:, 1]
curve = tr.calibration(y_test, scores, bins=6)

fig, ax = plt.subplots(layout="constrained")
tr.calibration_intervals(curve, level=0.95).plot(ax)
curve.plot(ax)
print(f"expected calibration error: {curve.expected_calibration_error:.3f}")
