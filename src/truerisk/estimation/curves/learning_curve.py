"""How good learners get with more examples, and what that costs."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.aliases import ArrayLike, Indices
from truerisk.checks import (
    check_choice,
    check_level,
    check_number,
    check_whole_number,
    shown,
    stated_seed,
)
from truerisk.errors import InputError
from truerisk.estimation.curves.laws import Design
from truerisk.estimation.curves.points import (
    MIN_OF_A_CLASS,
    CurvePlan,
    Refits,
    curve_of,
    refit_at,
)
from truerisk.estimation.curves.results import LearningCurve
from truerisk.estimation.refits.cv import plan_of, refuse_beside_divisions
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import Folds, Plan, repeated_folds
from truerisk.execution import Checkpoint, fingerprint, run_each
from truerisk.labels import label_among, positive_of_two
from truerisk.learners.named_models import as_learner, models_by_name
from truerisk.learners.scoring import (
    is_number_of_folds,
    is_of_counts,
    metadata_of,
    range_of,
    single_scoring,
    without_address,
)
from truerisk.measures.registry import measure_of

SIZES = 8
MIN_SIZES = 5  # of those chosen here
SMALLEST_SIZE = 10


def named_models(models: Any, X: Any, examples: int) -> dict[str, Any]:
    """Give each learner its name, ready to be trained."""
    named = models_by_name(models)
    if not named:
        raise InputError("`models` must hold at least one model; got none.")
    return {name: as_learner(one, X, examples=examples) for name, one in named.items()}


def check_enough(examples: Examples) -> None:
    """Refuse classes of which too few are left to train on."""
    counts = np.bincount(examples.codes)
    if counts.min() <= MIN_OF_A_CLASS:
        raise InputError(
            f"`y` must hold {MIN_OF_A_CLASS + 1} examples of every class, to train on and to "
            f"hold out; got {counts.min()} of {shown(examples.labels[counts.argmin()])}. Leave "
            "rare classes out, or join them."
        )


def positive_at(measure: str, names: Sequence[str], pos_label: str | None) -> int:
    """Give the position of the positive label; of the last one where the measure has none."""
    entry, average = measure_of(measure)
    unbounded = not all(map(math.isfinite, range_of(measure)))  # costs too, which are not given
    if is_of_counts(measure) and unbounded:
        raise InputError(f"`measure` must have a bounded range; got {measure!r}, which has none.")
    has_positive = entry is not None and entry.needs in {"binary counts", "ranking"}
    if not has_positive or average or (not is_of_counts(measure) and len(names) > 2):
        return len(names) - 1 if pos_label is None else names.index(pos_label)
    if len(names) > 2:
        raise InputError(
            f"`measure` must be one of several classes; got {measure!r}, which is of one of two. "
            f"Take {measure}_macro or {measure}_micro."
        )
    return names.index(positive_of_two(names, pos_label))


def check_svms(models: Mapping[str, Any], labels: Sequence[str], measure: str) -> None:
    """Refuse ξα where no model, no problem or no measure has it."""
    from truerisk.svm.dual_of import is_readable

    if not is_of_counts(measure):
        raise InputError(
            f"`estimate` 'xi_alpha' must be of a measure of counts; got {measure}. Take "
            "'cross_validation'."
        )
    if len(labels) > 2:
        raise InputError(
            f"`estimate` 'xi_alpha' must have two classes; got {len(labels)}. Take "
            "'cross_validation'."
        )
    if not any(map(is_readable, models.values())):
        raise InputError(
            "`estimate` 'xi_alpha' must have an SVM among the models; got "
            f"{', '.join(models)}. Take 'cross_validation'."
        )


def units_of(groups: ArrayLike | None) -> Indices | None:
    """Give each example the number of its group."""
    if groups is None:
        return None
    codes = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    if codes.max() < 2:
        raise InputError(
            f"`groups` must be three at least, to hold out and to train on; got {codes.max() + 1}."
        )
    return codes


def held_out_of(codes: Indices, test_size: float) -> int:
    """Give how many examples to hold out."""
    check_number(test_size, "test_size", low=0.0, high=1.0)
    held = round(test_size * len(codes))
    if not 0 < held < len(codes):
        raise InputError(
            f"`test_size` must leave some of {len(codes)} examples on both sides; got "
            f"{shown(test_size)}."
        )
    return held


def sizes_of(plan: CurvePlan, repeats: int, requested: Sequence[int] | None) -> tuple[int, ...]:
    """Choose the training sizes, or check those requested."""
    # Only groups and given divisions can make the lines of repeats differ in length and classes.
    differ = plan.groups is not None or plan.given is not None
    lines = [plan.division(at)[0] for at in range(repeats if differ else 1)]
    least, largest = max(map(plan.shortest, lines)), min(map(len, lines))
    if min(map(plan.shortest, lines)) == 0:
        raise InputError(
            "`groups` must leave two groups, and two examples of every class, to train on in every "
            "repeat; they do not. Hold out less, or make the groups smaller."
        )
    if requested is not None:
        chosen = sorted(check_whole_number(size, "sizes", low=1) for size in requested)
        if len(set(chosen)) < max(2, len(chosen)):
            raise InputError(
                f"`sizes` must be two different numbers at least; got {shown(requested)}."
            )
        for size in (chosen[0], chosen[-1]):
            if not least <= size <= largest:
                raise InputError(
                    f"`sizes` must lie in [{least}, {largest}]: two examples of every class, and "
                    f"those that are not held out; got {size}."
                )
        return tuple(chosen)
    first = max(least, min(SMALLEST_SIZE, largest))
    grid = sorted(set(np.geomspace(first, largest, SIZES).round().astype(int).tolist()))
    if len(grid) < MIN_SIZES:
        raise InputError(
            f"`y` must hold enough examples for a curve: from {first} (two of every class) to "
            f"{largest} (not held out) there are too few sizes. Get more examples, or give `sizes`."
        )
    return tuple(grid)


ESTIMATES = ("cross_validation", "xi_alpha")


def learning_curve(
    models: Any,
    X: Any,
    y: ArrayLike,
    *,
    sizes: Sequence[int] | None = None,
    measure: str | None = None,
    scoring: Any = None,
    cv: Any = None,
    repeats: int | None = None,
    test_size: float | None = None,
    level: float = 0.95,
    estimate: str | None = "cross_validation",
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
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
        A classifier, the name of one ("svm", "tree", …), a list of these, or a mapping of names to
        them.  They are cloned.
    X, y
        Examples (dense, sparse, or a frame) and their labels.
    sizes
        Training sizes; eight on a log scale unless given, from two examples of every class to all
        that are not held out.
    measure
        What is measured: error_rate unless given; a measure of labels ("f1", "f1_macro") or of
        scores ("roc_auc", "log_loss").
    scoring
        As for `tr.estimate`, instead of `measure`: one name or scorer.  Of a scorer more is better,
        and no law is fitted.
    cv
        The divisions, instead of random ones: a number of folds, a splitter of scikit-learn or a
        list of (train, test) positions; folds, or divisions of one size that leave nothing out.
    repeats
        Random divisions, two at least; 10 unless given.
    test_size
        The share of the examples to hold out; a quarter unless given.
    level
        Confidence level.
    estimate
        What the training part alone says, beside: "cross_validation" (five folds, fewer where a
        class is small), "xi_alpha" (SVMs of two classes, no refit), or None.
    pos_label
        The positive label, for measures that have one.
    groups
        Which examples belong together: they are held out together.
    sample_weight, params
        As for `tr.estimate`: they reach `fit`; held-out examples count once.
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
    >>> result = learning_curve(GaussianNB(), X, y, sizes=[10, 20, 40, 80], random_state=1)
    >>> [round(point.mean, 3) for point in result["GaussianNB"].points]
    [0.179, 0.084, 0.061, 0.053]
    """
    check_level(level)
    if repeats is not None:
        check_whole_number(repeats, "repeats", low=2, high=100_000)
    if estimate is not None:
        check_choice(estimate, ESTIMATES, "estimate")
    measure, scorer = single_scoring(measure, scoring, "error_rate")
    examples = Examples.of(
        X, y, groups, pos_label, needs_positive=False, sample_weight=sample_weight
    )
    check_enough(examples)
    labels, codes, units = examples.labels, examples.codes.astype(np.intp), units_of(groups)
    at = positive_at(measure, labels, None if pos_label is None else label_among(pos_label, labels))
    seed = stated_seed(random_state, generators=True)
    if cv is None:
        share = 0.25 if test_size is None else test_size
        plan = CurvePlan(codes, units, held_out_of(codes, share), seed)
        repeats = repeats or 10
    else:
        beside = {"repeats": repeats, "test_size": test_size}
        refuse_beside_divisions({name: one for name, one in beside.items() if one is not None})
        given = _given_divisions(cv, examples, groups, seed)
        plan = CurvePlan(codes, units, len(given.train_and_test(0)[1]), seed, given)
        repeats = len(given)
    tried = sizes_of(plan, repeats, sizes)
    named = named_models(models, examples.X, tried[-1])
    if estimate == "xi_alpha":
        check_svms(named, labels, measure)
    scorers = {} if scorer is None else {measure: scorer}
    metadata = tuple(
        metadata_of(one, scorers, params, sample_weight, len(codes)) for one in named.values()
    )
    design = Design(
        measure=measure,
        pos_label=at,
        level=level,
        n=len(codes),
        held_out=plan.held_out,
        sizes=tried,
        repeats=repeats,
        estimate=estimate,
        seed=seed,
    )
    shared = {
        "models": tuple(named.values()),
        "X": examples.X,
        "y": examples.y,
        "values": examples.values,
        "plan": plan,
        "sizes": tried,
        "estimate": estimate,
        "measure": measure,
        "scorer": scorer,
        "metadata": metadata,
        "pos_label": at,
    }
    # Sizes take turns: the time left can be foreseen, and a slow first call affects one size only.
    items = [
        (model, repeat, size)
        for repeat in range(repeats)
        for size in range(len(tried))
        for model in range(len(named))
    ]
    weighs = any(one.weighs for one in metadata)
    refits = Refits(tuple(named), design, len(labels), weighs=weighs)
    with _checkpoint(resume, random_state, shared, design) as checkpoint:
        results = run_each(
            refit_at, shared, items, n_jobs=n_jobs, checkpoint=checkpoint, progress=progress
        )
        for item, result in zip(items, results, strict=True):
            refits.add(item, result)
    return curve_of(refits)


def _given_divisions(cv: Any, examples: Examples, groups: Any, seed: int) -> Plan:
    """Take folds, or divisions of one size: the interval is of these."""
    if is_number_of_folds(cv):
        rng = np.random.default_rng([seed, 0])
        return repeated_folds(examples.codes, int(cv), 1, rng, groups=examples.groups)
    method, _, plan = plan_of(cv, examples, seed, groups)
    complete = isinstance(plan, Folds) or plan.trained is None
    if method.name not in {"cross_validation", "subsampling"} or not complete:
        raise InputError(
            "`cv` must make folds, or two random divisions of one size or more that leave no "
            f"example out, for a learning curve; got {shown(cv)}."
        )
    return plan


def _checkpoint(
    folder: Path | str | None, random_state: Any, shared: Mapping[str, Any], design: Design
) -> Any:
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
        "data": fingerprint(
            shared["X"], shared["y"], *(array for one in shared["metadata"] for array in one.arrays)
        ),
        "scorer": without_address(shared["scorer"]),
        "groups": fingerprint(shared["plan"].groups),
        "divisions": fingerprint(*(shared["plan"].division(at)[1] for at in range(design.repeats))),
        "models": [repr(model) for model in shared["models"]],
        **{name: getattr(design, name) for name in Design.__dataclass_fields__},
    }
    return Checkpoint.open(folder, facts | {"sizes": list(design.sizes)})
