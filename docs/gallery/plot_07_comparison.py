"""
Is B better than A?
===================

Both models predict the same examples.  The figure shows the difference of each measure with its
interval, and the region in which a difference is too small to matter.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import truerisk as tr

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y == 8, test_size=0.5, random_state=1)
linear = LinearDiscriminantAnalysis().fit(X_train, y_train).predict(X_test)
logistic = LogisticRegression().fit(X_train, y_train).predict(X_test)
comparison = tr.compare(y_test, linear, logistic, names=["discriminant", "logistic"], region=0.02)

fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
comparison.plot(ax)

# %%

print(comparison["error_rate"])
