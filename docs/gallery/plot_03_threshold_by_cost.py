"""
Which threshold? The cheapest one
=================================

A missed tumour costs twenty times a false alarm.  The cheapest threshold is then far from one half,
and the curve shows how much a wrong choice would cost.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
malignant = y == 0
X_train, X_test, y_train, y_test = train_test_split(
    X[:, :5], malignant, test_size=0.4, random_state=1
)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
curve = tr.cost(y_test, model.predict_proba(X_test)[:, 1], {"fp": 1, "fn": 20})

fig, ax = plt.subplots(layout="constrained")
curve.plot(ax)

# %%
# The threshold was chosen on these examples and looks better on them than it is: test it on others.

print(f"cheapest from {curve.best.at:.3f} on, at {curve.best.value:.3f} per example")
