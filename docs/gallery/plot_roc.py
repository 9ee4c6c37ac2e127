"""
ROC curve
=========

Recall against the false positive rate, over all thresholds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=1)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
scores = model.predict_proba(X_test)[:, 1]
fig, ax = plt.subplots()
tr.roc(y_test, scores).plot(ax)
