"""The learners behind the names: settings with which they converge, on one thread, seeds open."""

from collections.abc import Sequence
from typing import Any

Kinds = Sequence[str] | None


def linear_svm() -> Any:  # noqa: ANN401
    """Make `tr.LinearSVM`."""
    from truerisk.svm.linear import LinearSVM  # noqa: PLC0415  (loads scikit-learn)

    return LinearSVM(C=1.0)


def rbf_svm() -> Any:  # noqa: ANN401
    """Make `tr.KernelSVM` with γ = 1 / (features · variance)."""
    from truerisk.svm.kernel import KernelSVM  # noqa: PLC0415  (loads scikit-learn)

    return KernelSVM(C=1.0, kernel="rbf", gamma="scale")


def logistic_regression() -> Any:  # noqa: ANN401
    """Make scikit-learn's, with room to converge."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (slow to import)

    return LogisticRegression(C=1.0, max_iter=5000)


def naive_bayes() -> Any:  # noqa: ANN401
    """Make ours, which takes numbers, categories and texts together."""
    from truerisk.learners.naive_bayes import NaiveBayes  # noqa: PLC0415  (loads scikit-learn)

    return NaiveBayes()


def knn() -> Any:  # noqa: ANN401
    """Make the five nearest neighbours."""
    from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415  (slow to import)

    return KNeighborsClassifier(n_neighbors=5)


def tree() -> Any:  # noqa: ANN401
    """Make a decision tree that is grown to its end."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  (slow to import)

    return DecisionTreeClassifier()


def random_forest() -> Any:  # noqa: ANN401
    """Make a forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  (slow to import)

    return RandomForestClassifier(n_estimators=100)


def gradient_boosting() -> Any:  # noqa: ANN401
    """Make gradient boosting on histograms."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  (slow to import)

    return HistGradientBoostingClassifier(categorical_features=None)


def adaboost() -> Any:  # noqa: ANN401
    """Make 50 stumps."""
    from sklearn.ensemble import AdaBoostClassifier  # noqa: PLC0415  (slow to import)
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  (as above)

    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=50)


def majority() -> Any:  # noqa: ANN401
    """Make the model that always says the most frequent class, with the shares as scores."""
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415  (slow to import)

    return DummyClassifier(strategy="prior")


def whose_columns(kinds: Kinds) -> dict[str, Any]:
    """Tell naive Bayes what each column is.

    Examples
    --------
    >>> whose_columns(["number"])
    {'kinds': ('number',)}
    """
    return {"kinds": None if kinds is None else tuple(kinds)}


def which_are_categories(kinds: Kinds) -> dict[str, Any]:
    """Tell gradient boosting which columns hold codes; with texts there are only features.

    Examples
    --------
    >>> which_are_categories(["number", "category"]), which_are_categories(["text", "category"])
    ({'categorical_features': [False, True]}, {})
    """
    if kinds is None or "category" not in kinds or "text" in kinds:
        return {}
    return {"categorical_features": [kind == "category" for kind in kinds]}
