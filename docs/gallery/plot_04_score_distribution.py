"""
Which threshold? The scores of both classes
===========================================

Where the two classes overlap, every threshold makes mistakes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import truerisk as tr

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y == 8, test_size=0.5, random_state=1)
svm = tr.LinearSVM(C=0.001).fit(X_train, y_train)

fig, ax = plt.subplots(layout="constrained")
tr.score_distribution(y_test, svm.decision_function(X_test)).plot(ax)
ax.legend()
