"""The learners behind the names, each with the settings that make it one: converged, one thread."""

from collections.abc import Sequence
from typing import Any


def linear_svm(*, random_state: int | None = None) -> Any:  # noqa: ANN401, ARG001 - draws nothing
    """Make `tr.LinearSVM`."""
    from truerisk.svm.linear import LinearSVM  # noqa: PLC0415  (loads scikit-learn)

    return LinearSVM(C=1.0)


def rbf_svm(*, random_state: int | None = None) -> Any:  # noqa: ANN401, ARG001 - draws nothing
    """Make `tr.KernelSVM` with γ = 1 / (features · variance)."""
    from truerisk.svm.kernel import KernelSVM  # noqa: PLC0415  (loads scikit-learn)

    return KernelSVM(C=1.0, kernel="rbf", gamma="scale")


def logistic_regression(*, random_state: int | None = None) -> Any:  # noqa: ANN401, ARG001
    """Make scikit-learn's, with room to converge."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (slow to import)

    return LogisticRegression(C=1.0, max_iter=5000)


def naive_bayes(
    *,
    kinds: Sequence[str] | None = None,
    random_state: int | None = None,  # noqa: ARG001
) -> Any:  # noqa: ANN401
    """Make ours, which takes numbers, categories and texts together."""
    from truerisk.estimation.naive_bayes import NaiveBayes  # noqa: PLC0415  (loads scikit-learn)

    return NaiveBayes(kinds)


def knn(*, random_state: int | None = None) -> Any:  # noqa: ANN401, ARG001 - draws nothing
    """Make the five nearest neighbours."""
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415  (slow to import)

    return KNeighborsClassifier(n_neighbors=5)


def tree(*, random_state: int | None = None) -> Any:  # noqa: ANN401
    """Make a decision tree that is grown to its end."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  (slow to import)

    return DecisionTreeClassifier(random_state=random_state)


def random_forest(*, random_state: int | None = None) -> Any:  # noqa: ANN401
    """Make a forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  (slow to import)

    return RandomForestClassifier(n_estimators=100, random_state=random_state)


def gradient_boosting(*, random_state: int | None = None) -> Any:  # noqa: ANN401
    """Make gradient boosting on histograms."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  (slow to import)

    return HistGradientBoostingClassifier(random_state=random_state)


def adaboost(*, random_state: int | None = None) -> Any:  # noqa: ANN401
    """Make 50 stumps."""
    from sklearn.ensemble import AdaBoostClassifier  # noqa: PLC0415  (slow to import)
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  (as above)

    stump = DecisionTreeClassifier(max_depth=1)
    return AdaBoostClassifier(stump, n_estimators=50, random_state=random_state)


def majority(*, random_state: int | None = None) -> Any:  # noqa: ANN401, ARG001 - draws nothing
    """Make the model that always says the most frequent class, with the shares as scores."""
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415  (slow to import)

    return DummyClassifier(strategy="prior")
