"""Two learners + data → Comparison: which is better on examples not seen."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from truerisk.checks import check_choice, check_level, check_number, check_whole_number, shown
from truerisk.comparison.learners.learner_differences import MEAN_LOSSES, Asked, Progress
from truerisk.comparison.learners.learner_findings import WAYS, said_anew
from truerisk.comparison.learners.model_comparisons import ModelComparisons
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.methods import METHODS
from truerisk.learners.named_models import as_learner
from truerisk.results import Comparison

DEFAULT = "cautious_t"
PERTURBATION = "perturbation"
CHOICES = (*WAYS, PERTURBATION)
FOLDS, REPEATS = 10, 10
LARGEST_SEED = 2**32 - 1
OF_DIVISION = ("folds", "repeats", "stratified", "allow_small_classes")
OF_PERTURBATION = ("folds", "replicates", "losses", "interval", "second_X")
PASSED_ON = ("names", "region", "level", "random_state", "n_jobs", "progress")
OF_MEASURES = ("betas", "costs", "average_over")


@overload
def compare_models(
    first: Any,  # noqa: ANN401
    second: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    measures: str = ...,
    **settings: Any,  # noqa: ANN401
) -> Comparison: ...
@overload
def compare_models(
    first: Any,  # noqa: ANN401
    second: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    measures: list[str] | tuple[str, ...],
    **settings: Any,  # noqa: ANN401
) -> ModelComparisons: ...
def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    method: str = DEFAULT,
    measures: str | Sequence[str] = "error_rate",
    groups: Any = None,
    region: float | None = None,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    pos_label: Any = None,
    random_state: int | None = None,
    n_jobs: int | None = 1,
    resume: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison | ModelComparisons:
    r"""Say whether the second of two learners is better than the first on examples not seen.

    Copies of both are trained on the same parts of the examples and judge the same others: by
    default K = 10 folds, R = 10 times over.  With d the R·K differences second − first, and s their
    standard deviation, the interval is the corrected resampled t with the degrees of freedom that
    one cross-validation has:

    .. math:: \bar d \pm t_{K-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    It speaks of the learners at this sample size (less the fold that refits lack).  It is an
    approximation: no unbiased estimate of the variance exists.  Measured over four
    pairs of equally good learners (docs/which-learner-is-better.md), share of p ≤ .05, least to
    most over the pairs, and power where the error rates differ by .04 to .05:

    =======================  ============  ============  ============
    method                   size n = 300  n = 1000      power 300
    =======================  ============  ============  ============
    cautious_t               .003 to .037  .003 to .035  .22 to .33
    corrected_t              .006 to .069  .005 to .058  .30 to .42
    agreement                .003 to .064  .003 to .057  .31 to .44
    nested_cross_validation  .022 to .070  –             .24 to .31
    five_by_two_f            .008 to .052  .020 to .037  .05 to .28
    five_by_two_t            .019 to .045  .013 to .028  .04 to .21
    resampled_t              .40 to .59    .43 to .56    –
    =======================  ============  ============  ============

    The default is the most powerful whose size is at most .06 everywhere; stumps are what the
    others fail on.  Measures other than the error rate, groups and more classes were not measured.

    Parameters
    ----------
    first, second
        Learners as `tr.estimate` takes them: classifiers of scikit-learn's kind, or names.  They
        are cloned, never changed.
    X, y, groups, positive
        As for `tr.estimate`.  Groups stay on one side of every division.
    method
        `cautious_t`, as above; `corrected_t`, the same with R·K − 1 degrees, as published;
        `bayesian`, the correlated t posterior (no test: `probabilities` of better, equivalent,
        worse); `five_by_two_t` and `five_by_two_f`, which train on half the examples;
        `nested_cross_validation` and `agreement`, of error rate and accuracy; `perturbation`, of
        two support vector machines; `resampled_t`, invalid, for comparison only.
    measures
        One measure, or a list of several, which gives a mapping from measure to comparison.
    region
        The largest difference that does not matter, in units of the measure.
    level
        Confidence level.
    names
        What to call the two.
    random_state
        Seed; drawn, and told in `notes`, when not given.
    n_jobs, resume, progress
        As for `tr.estimate`.  A refit that fails is never left out: the two would no longer have
        had the same.
    **options
        folds=10, repeats=10, stratified, allow_small_classes; betas, costs, average_over.  With
        `perturbation`: folds, replicates, losses, interval, second_X of
        `tr.perturbation_difference`.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366
    .. [2] R. R. Bouckaert, "Choosing between two learning algorithms based on calibrated tests",
       ICML 2003, 51-58.
    .. [3] R. R. Bouckaert and E. Frank, "Evaluating the replicability of significance tests for
       comparing learning algorithms", PAKDD 2004, 3-12.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> stump, tree = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)
    >>> print(compare_models(stump, tree, X, y, names=("stump", "tree"), random_state=1))
    error_rate: tree − stump = -0.272 [-0.318, -0.226] at 95 %, p = 2.92e-07 (cautious_t)
    tree is better than stump: its error rate is lower by 0.272 [0.226, 0.318].
    """
    check_choice(method, CHOICES, "method")
    check_level(level)
    if region is not None:
        check_number(region, "region", low=np.finfo(float).tiny)
    wanted = (measures,) if isinstance(measures, str) else tuple(measures)
    called = _names(first, second, names)
    _check_measures(wanted, method)
    if resume is not None and random_state is None:
        raise InputError("`random_state` must be given with `resume`: a drawn one is another run.")
    # The error rate does not depend on which class is the positive one.
    examples = Examples.of(X, y, groups, pos_label, needs_positive=method != PERTURBATION)
    if examples.groups is not None and examples.groups.max() == examples.n - 1:
        examples = replace(examples, groups=None)  # groups of one are single examples
    if method == PERTURBATION:
        if resume is not None:
            raise InputError("`resume` must be left out for perturbation: it keeps nothing.")
        machine = _by_perturbation(
            (first, second),
            examples,
            names=called,
            region=region,
            level=level,
            random_state=_seed(random_state),
            n_jobs=n_jobs,
            progress=_of_two(progress),
            **options,
        )
        return (
            machine
            if isinstance(measures, str)
            else ModelComparisons(comparisons={wanted[0]: machine})
        )
    way = WAYS[method]
    asked = Asked(
        models=(first, second),
        names=called,
        examples=examples,
        resampling=way.resampling,
        design=_design(options, way.resampling, method),
        request={name: options[name] for name in OF_MEASURES if name in options},
        measures=wanted,
        level=float(level),
        seed=_seed(random_state),
        n_jobs=n_jobs,
        resume=None if resume is None else Path(resume),
        progress=progress,
    )
    found = list(way.found(asked, region))
    if isinstance(measures, str):
        return found[0]
    return ModelComparisons(comparisons=dict(zip(wanted, found, strict=True)))


def _by_perturbation(models: tuple[Any, Any], examples: Examples, **settings: Any) -> Comparison:  # noqa: ANN401
    """Compare two machines under the same random weights."""
    # Compiles its solvers when it is loaded.
    from truerisk.comparison.learners import perturbed as road  # noqa: PLC0415

    unknown = sorted(set(settings) - {*OF_PERTURBATION, *PASSED_ON})
    if unknown:
        raise InputError(
            f"`compare_models` must be given options that perturbation knows "
            f"({', '.join(OF_PERTURBATION)}); got {', '.join(unknown)}."
        )
    first, second = (as_learner(one, examples.X, examples=examples.n) for one in models)
    found = road.perturbation_difference(
        first, second, examples.X, examples.y, groups=examples.groups, **settings
    )
    told = f"Both machines on the same weights and folds; seed {settings['random_state']}."
    return said_anew(replace(found, notes=(told, *found.notes)))


def _of_two(progress: Progress | None) -> Callable[[int, int], None] | None:
    """Tell the refits done as the refits seen, too: none are kept from before."""
    return None if progress is None else lambda done, total: progress(done, done, total)


def _names(first: Any, second: Any, names: Sequence[str] | None) -> tuple[str, str]:  # noqa: ANN401
    if names is not None:
        if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
            raise InputError(f"`names` must be two different names; got {shown(names)}.")
        return str(names[0]), str(names[1])
    found = (_name_of(first), _name_of(second))
    return found if found[0] != found[1] else (f"{found[0]} (first)", f"{found[0]} (second)")


def _name_of(model: Any) -> str:  # noqa: ANN401
    """Name a learner by its class, a pipeline by that of its last step."""
    if isinstance(model, str):
        return model
    return type(model[-1] if hasattr(model, "named_steps") else model).__name__


def _check_measures(measures: tuple[str, ...], method: str) -> None:
    """Refuse measures that the method cannot compare, before anything is trained."""
    if not measures or len(set(measures)) < len(measures):
        raise InputError(f"`measures` must name each measure once; got {shown(measures)}.")
    allowed = MEAN_LOSSES[:1] if method == PERTURBATION else MEAN_LOSSES
    of_losses = method == PERTURBATION or WAYS[method].of_losses
    for measure in measures:
        if of_losses and measure not in allowed:
            raise InputError(
                f"`measures` must be {' or '.join(allowed)} for {method}, a test of losses; "
                f"got {shown(measure)}. Take {DEFAULT} for others."
            )


def _design(options: dict[str, Any], resampling: str, method: str) -> dict[str, Any]:
    """Take what is said about the division out of the options; refuse what is not known."""
    unknown = sorted(set(options) - {*OF_DIVISION, *OF_MEASURES})
    if unknown:
        raise InputError(
            f"`compare_models` must be given options it knows ({', '.join(OF_DIVISION)}, "
            f"{', '.join(OF_MEASURES)}); got {', '.join(unknown)}."
        )
    uses = METHODS[resampling].uses
    for name in ("folds", "repeats"):
        if name in options and name not in uses:
            raise InputError(
                f"`{name}` must be left out for {method}, which has five times two halves; "
                f"got {shown(options[name])}."
            )
    standard = {"folds": FOLDS, "repeats": REPEATS}
    return {
        **{name: value for name, value in standard.items() if name in uses},
        **{name: options[name] for name in OF_DIVISION if name in options},
    }


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(LARGEST_SEED))
    return check_whole_number(random_state, "random_state")
