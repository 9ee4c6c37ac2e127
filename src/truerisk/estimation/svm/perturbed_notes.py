"""What is told beside an interval by perturbation: why it is another one, and what was cut."""

from typing import Any

from truerisk.estimation.svm.perturbed_losses import PerturbedLosses
from truerisk.intervals.perturbed import FORMS


def why_exact(
    asked: PerturbedLosses, value: float, examples: int, features: int | None
) -> str | None:
    """Say why the exact interval must do, if it must.

    Parameters
    ----------
    asked
        The losses that are perturbed.
    value
        The cross-validated error, which is another than theirs where they are those in training.
    examples
        How many are trained on, at least.
    features
        Of a linear machine; None where a kernel or a step of a pipeline makes others.
    """
    for error in (asked.error, value):
        if not 0 < error < 1:
            kind = "no errors" if error == 0 else "nothing but errors"
            return f"There are {kind} to perturb: the interval is the exact binomial one."
    if asked.is_degenerate:
        return "No weighting changes the losses: the interval is the exact binomial one."
    if features is not None and examples <= features:
        return (
            f"There are {examples} examples in training and {features} features, more than "
            "perturbation can tell from noise: the interval is the exact binomial one."
        )
    return None


def kind_of(model: Any) -> str:  # noqa: ANN401
    """Name the machine as the audit does.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> kind_of(SVC(kernel="poly", degree=3)), kind_of(SVC(kernel="linear"))
    ('cubic', 'linear')
    """
    last = model[-1] if hasattr(model, "steps") else model
    if not hasattr(last, "kernel"):
        return "logistic" if hasattr(last, "predict_log_proba") else "linear"
    is_cubic = last.kernel == "poly" and last.degree == 3
    return "cubic" if is_cubic else str(last.kernel)


def columns_of(X: Any) -> int:  # noqa: ANN401
    """Give the number of columns; 1 for a list of texts."""
    return int(X.shape[1]) if hasattr(X, "shape") and len(X.shape) > 1 else 1


def was_cut(form: str, value: float, asked: PerturbedLosses, level: float) -> str:
    """Say that an end of the interval was held back at 0 or 1; nothing if not."""
    low, high = FORMS[form](value, asked.spread, len(asked.wrong), level)
    if 0 <= low <= high <= 1:
        return ""
    return f"The interval reached {'below 0' if low < 0 else 'above 1'}, and was cut there."
