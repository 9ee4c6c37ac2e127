"""How good a learner gets with more examples, and what that costs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truerisk.checks import (
    check_choice,
    check_level,
    check_random_state,
    check_same_length,
    check_whole_number,
)
from truerisk.errors import InputError
from truerisk.estimation.curves.checks import (
    check_machines,
    coded,
    held_out_of,
    named_models,
    positive_at,
    sized,
    sizes_of,
    units_of,
)
from truerisk.estimation.curves.points import Design, Refits, curve_of
from truerisk.estimation.curves.results import LearningCurve
from truerisk.estimation.curves.runs import CurvePlan, refit_at
from truerisk.execution import Checkpoint, fingerprint, run_each

ESTIMATES = ("cross_validation", "xi_alpha")
SEEDS = 2**32


def learning_curve(
    models: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    measure: str = "error_rate",
    repeats: int = 10,
    test_size: float = 0.25,
    level: float = 0.95,
    estimate: str | None = "cross_validation",
    pos_label: Any = None,  # noqa: ANN401
    groups: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    resume: Path | str | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> LearningCurve:
    r"""Measure learners at growing training sizes, on the same random divisions.

    In each repeat some examples are held out, with every class in proportion; the others stand in
    a random line, and each learner is trained on its first m, for every size m: the training sets
    of a repeat are nested.  The interval of the mean over J repeats is the corrected resampled t,

    .. math:: \bar v \pm t_{J-1}\,s\,\sqrt{\frac{1}{J} + \frac{n_{held}}{n - n_{held}}}

    whose ratio is that of the examples held out to all others, at every size: repeats share their
    test examples as often, however many of the others are trained on.  Its target is *the learner
    at this sample size*.  It is an approximation: at 95 %, and from two dozen training examples on,
    it was measured to cover in .91 to .99 of the samples.

    Parameters
    ----------
    models
        A model with fit and predict, or a mapping of names to models.  They are cloned.
    X, y
        Examples (dense, sparse, or a frame) and their labels.
    sizes
        Training sizes; eight on a log scale unless given, from two examples of every class to all
        that are not held out.
    measure
        What is measured: any measure of counts, as "error_rate", "f1", "f1_macro".
    repeats
        Random divisions, two at least.
    test_size
        The share of the examples to hold out.
    level
        Confidence level.
    estimate
        What the training part alone says, beside: "cross_validation" (five folds, fewer where a
        class is small), "xi_alpha" (support vector machines of two classes, no refit), or None.
    pos_label
        The positive label, for measures that have one.
    groups
        Which examples belong together: they are held out together.
    random_state
        A seed; drawn, and told in the result, when not given.
    n_jobs
        Processes; the values do not depend on it, the seconds do.
    resume
        A folder to keep the refits in: a run that was stopped goes on there.  Needs a seed.
    progress
        Called with (done, done, all) after each refit.

    References
    ----------
    .. [1] M. Kubat, "An Introduction to Machine Learning", ch. 11.4.
    .. [2] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = learning_curve(GaussianNB(), X, y, sizes=[10, 20, 40, 80], random_state=1)
    >>> [round(point.mean, 3) for point in found["GaussianNB"].points]
    [0.179, 0.084, 0.061, 0.053]
    """
    named = named_models(models)
    check_level(level)
    check_whole_number(repeats, "repeats", low=2, high=100_000)
    if estimate is not None:
        check_choice(estimate, ESTIMATES, "estimate")
    labels, codes = coded(y)
    units = units_of(groups)
    check_same_length(X=sized(X), y=codes, groups=units)
    at = positive_at(measure, labels, pos_label)
    if estimate == "xi_alpha":
        check_machines(named, labels)
    seed = random_state
    if not isinstance(seed, (int, np.integer)):
        seed = int(check_random_state(random_state).integers(SEEDS))
    check_whole_number(seed, "random_state")
    plan = CurvePlan(codes, units, held_out_of(codes, test_size), int(seed))
    tried = sizes_of(plan, repeats, sizes)
    design = Design(
        measure=measure,
        pos_label=at,
        level=level,
        n=len(codes),
        held_out=plan.held_out,
        sizes=tried,
        repeats=repeats,
        estimate=estimate,
        seed=int(seed),
    )
    shared = {
        "models": tuple(named.values()),
        "X": X if hasattr(X, "shape") else list(X),
        "y": np.asarray(y),
        "values": labels,
        "plan": plan,
        "sizes": tried,
        "estimate": estimate,
        "measure": measure,
        "pos_label": at,
    }
    # Sizes take turns, so that the time left is foreseen and a first call spoils one size only.
    items = [
        (model, repeat, size)
        for repeat in range(repeats)
        for size in range(len(tried))
        for model in range(len(named))
    ]
    refits = Refits(tuple(named), design, len(labels))
    with _checkpoint(resume, random_state, shared, design) as checkpoint:
        results = run_each(
            refit_at, shared, items, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
        )
        for item, result in zip(items, results, strict=True):
            refits.add(item, result)
    return curve_of(refits)


def _checkpoint(
    folder: Path | str | None,
    random_state: Any,  # noqa: ANN401
    shared: Mapping[str, Any],
    design: Design,
) -> Any:  # noqa: ANN401
    """Open the folder of a run that may have begun before; one with no seed cannot go on."""
    if folder is None:
        return nullcontext()
    if not isinstance(random_state, (int, np.integer)):
        raise InputError(
            "`random_state` must be a seed where `resume` is given, since another one would be "
            f"another run; got {random_state!r}."
        )
    facts = {
        "kind": "learning curve",
        "version": version("truerisk"),
        "data": fingerprint(shared["X"], shared["y"]),
        "groups": fingerprint(shared["plan"].groups),
        "models": [repr(model) for model in shared["models"]],
        **{name: getattr(design, name) for name in Design.__dataclass_fields__},
    }
    return Checkpoint.open(folder, facts | {"sizes": list(design.sizes)})
