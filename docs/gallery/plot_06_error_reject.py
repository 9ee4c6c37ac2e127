"""
What if it may refuse to decide?
================================

The error rate of the answers, against the share of rejected examples: the least certain are
rejected first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import truerisk as tr

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=1)
model = LogisticRegression().fit(X_train, y_train)
curve = tr.rejection(y_test, model.predict_proba(X_test), labels=range(10))

fig, ax = plt.subplots(layout="constrained")
curve.plot(ax)

# %%
# For one error in a hundred:

point = curve.threshold_for_error(0.01)
print(f"leave {point.rejection_rate:.1%} undecided")
