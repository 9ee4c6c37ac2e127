"""
How good is it? Every measure with its interval
===============================================

One call gives every measure of a set of predictions; the figure shows each with its interval.  The
longer the line, the less the test set says.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=1)
model = GaussianNB().fit(X_train, y_train)
scores = model.predict_proba(X_test)[:, 1]
evaluation = tr.evaluate(y_test, model.predict(X_test), y_score=scores)

fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
evaluation.plot(ax)

# %%
# The verdict in words:

for sentence in evaluation.verdict:
    print("•", sentence)
