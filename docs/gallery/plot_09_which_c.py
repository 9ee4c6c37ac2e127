"""
Which C? ξα beside exact leave-one-out
======================================

ξα needs one training and no refit, and is pessimistic.  Leave-one-out is exact: most examples need
no refit, and for the others the path of solutions is followed as the example is removed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
costs = np.geomspace(0.003, 1, 9)
svms = [tr.LinearSVM(C=C).fit(X, y) for C in costs]
lines = {
    "ξα": [tr.xi_alpha(svm, X, y)["error_rate"].value for svm in svms],
    "leave-one-out": [tr.leave_one_out(svm, X, y)["error_rate"].value for svm in svms],
    "training error": [np.mean(svm.predict(X) != y) for svm in svms],
}

fig, ax = plt.subplots(layout="constrained")
for (name, values), style in zip(lines.items(), ["o-", "s-", "x:"], strict=True):
    ax.semilogx(costs, values, style, label=name)
ax.set_xlabel("C")
ax.set_ylabel("error rate")
ax.legend()
