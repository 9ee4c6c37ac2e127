"""
Which C? ξα beside exact leave-one-out
======================================

ξα costs one training and no refit, and leans to the bad side.  Leave-one-out is exact: most of it
needs no refit, and elsewhere the path of solutions is followed as the example leaves.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import truerisk as tr

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
costs = np.geomspace(0.003, 1, 9)
machines = [tr.LinearSVM(C=C).fit(X, y) for C in costs]
lines = {
    "ξα": [tr.xi_alpha(svm, X, y)["error_rate"].value for svm in machines],
    "leave-one-out": [tr.leave_one_out(svm, X, y)["error_rate"].value for svm in machines],
    "training error": [np.mean(svm.predict(X) != y) for svm in machines],
}

fig, ax = plt.subplots(layout="constrained")
for (name, values), style in zip(lines.items(), ["o-", "s-", "x:"], strict=True):
    ax.semilogx(costs, values, style, label=name)
ax.set_xlabel("C")
ax.set_ylabel("error rate")
ax.legend()
