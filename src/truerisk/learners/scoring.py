r"""What `cv=`, `scoring=`, `sample_weight=` and `params=` of scikit-learn mean for refits.

`cv=` is a number of folds, or divisions that a splitter or a list makes.

A name that the registry knows is a measure of the registry, with its own interval.  Anything else
is a scorer: a function of the fitted model and the examples it is tested on, one number per refit.

What each example adds to a scorer is found by leaving it out of what is scored.  A scorer gives one
number v for the b examples of a refit, and :math:`v_{-i}` without example i:

.. math:: p_i = b\,v - (b - 1)\,v_{-i}

These are Tukey's pseudo-values [1]_.  Of a mean of losses they are the losses themselves; of any
other smooth function of the examples p − v is near the influence of the example.  The model
predicts once: without an example the same predictions are scored.

References
----------
.. [1] J. W. Tukey, "Bias and confidence in not-quite large samples" (abstract), Annals of
   Mathematical Statistics 29, 614, 1958.
"""

import copy
import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.aliases import Array, Ends, Indices
from truerisk.checks import did_you_mean, shown
from truerisk.errors import InputError
from truerisk.measures.registry import (
    MEASURES,
    base_and_average,
    base_measure,
    find_measure,
    measure_of,
)
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import rank

RESPONSES = frozenset({"predict", "predict_proba", "predict_log_proba", "decision_function"})
MAX_LEFT_OUT = 300  # examples of a sample that are left out, each once per repetition

Score = Callable[[Any, Indices], float]  # model, positions of rows → value

Scorer = Callable[..., float]

# scikit-learn's names of measures that the registry has under another name.  A negative loss is
# the loss itself: each measure knows which end is the better one.
SAME_MEASURE = {
    "matthews_corrcoef": "matthews_correlation",
    "neg_brier_score": "brier_score",
    "neg_log_loss": "log_loss",
    "neg_negative_likelihood_ratio": "negative_likelihood_ratio",
    "roc_auc_ovr": "roc_auc_macro",
    "roc_auc_ovr_weighted": "roc_auc_weighted",
}


# Of scikit-learn's functions that score; a loss that is made to score has the opposite range.
FUNCTION_RANGES: dict[str, Ends] = {
    **dict.fromkeys(
        ("accuracy_score", "average_precision_score", "brier_score_loss", "f1_score",
         "fbeta_score", "hamming_loss", "jaccard_score", "ndcg_score", "precision_score",
         "recall_score", "roc_auc_score", "top_k_accuracy_score", "zero_one_loss"),
        (0.0, 1.0),
    ),
    **dict.fromkeys(("cohen_kappa_score", "matthews_corrcoef"), (-1.0, 1.0)),
    **dict.fromkeys(("hinge_loss", "log_loss"), (0.0, math.inf)),
}  # fmt: skip


KINDS = "a number of folds, a splitter of scikit-learn or a list of (train, test) positions"


def is_number_of_folds(cv: Any) -> bool:
    """Whether `cv` only says how many folds there are."""
    return isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)


def divisions_of(cv: Any, X: Any, y: Any, groups: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    """Give what a splitter or a list says; a splitter that draws gets the seed."""
    if isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(f"`cv` must be {KINDS}; got {shown(cv)}.")
    if not hasattr(cv, "split"):
        for one in cv:
            try:
                train, test = one
            except (TypeError, ValueError):
                raise InputError(f"`cv` must be {KINDS}; got {shown(one)} in it.") from None
            yield train, test
        return
    if getattr(cv, "random_state", 0) is None and getattr(cv, "shuffle", True):
        cv = copy.copy(cv)
        cv.random_state = int(np.random.SeedSequence(seed).generate_state(1)[0])
    try:
        with warnings.catch_warnings():
            # A splitter that ignores groups is refused where it tears one apart.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            divisions = iter(cv.split(X, y, groups))
            first = next(divisions, None)
        if first is not None:
            yield first
        yield from divisions
    except ValueError as problem:
        raise InputError(f"`cv` must be able to divide these examples: {problem}") from problem


def positions_of(side: Any, n: int, at: int) -> Indices:
    """Make positions of the examples of one side; marks are taken too, as scikit-learn does."""
    column = np.asarray(side)
    if column.dtype == bool and column.shape == (n,):
        column = np.flatnonzero(column)
    if column.ndim != 1 or not len(column) or column.dtype.kind not in "iu":
        raise InputError(
            f"`cv` must give positions of examples, some to train on and some to test; division "
            f"{at} has {shown(side)}."
        )
    if column.min() < 0 or column.max() >= n:
        wrong = column.min() if column.min() < 0 else column.max()
        raise InputError(f"`cv` must give positions from 0 to {n - 1}; division {at} has {wrong}.")
    if len(np.unique(column)) < len(column):
        raise InputError(
            f"`cv` must name an example once on a side; division {at} names some twice. For "
            "samples drawn with replacement take method='bootstrap'."
        )
    return column.astype(np.intp)


def chosen_to_leave_out(codes: Indices) -> tuple[Indices, Array]:
    """Give the examples to leave out, and of how many of their class each of them stands for.

    All of them, up to `MAX_LEFT_OUT`; of more, evenly over the order of each class, and all of a
    class that has no more than its share.

    Examples
    --------
    >>> rows, weights = chosen_to_leave_out(np.repeat([0, 1], [3000, 200]))
    >>> len(rows), weights[[0, -1]].round(2).tolist()
    (300, [20.0, 1.33])
    """
    n = len(codes)
    if n <= MAX_LEFT_OUT:
        return np.arange(n), np.ones(n)
    sizes = np.bincount(codes)
    left, taken = MAX_LEFT_OUT, np.zeros_like(sizes)
    for place, code in enumerate(np.argsort(sizes, kind="stable")):
        taken[code] = min(sizes[code], left // (len(sizes) - place))
        left -= taken[code]
    rows, weights = [], []
    for code in np.flatnonzero(taken):
        places = (np.arange(taken[code]) * sizes[code]) // taken[code]
        rows.append(np.flatnonzero(codes == code)[places])
        weights.append(np.full(taken[code], sizes[code] / taken[code]))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


def pseudo_values(
    score: Score, model: "RememberedModel", value: float, which: Indices, labels: Any = None
) -> Array:
    """Give the pseudo-values of some of the rows; infinite where the score without one is unusable.

    `score(model, rows)` scores some rows, and `value` is what it gives for all of them.  With
    `labels`, the true ones, the score depends on nothing but these and the predictions: rows that
    are alike in both are left out once.
    """
    size = model.size
    values = np.full(len(which), math.inf)
    if size < 2 or not math.isfinite(value):
        return values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a scorer warns of, it says of all rows
        judge: Any = model
        if _value(score, model, np.arange(size)) != value:
            judge, labels = model.itself, None  # the scorer looks at more than predictions
        known: dict[Any, float] = {}
        for at, row in enumerate(which):
            key = row if labels is None else (labels[row], *model.predictions_of(row))
            if key not in known:
                known[key] = _value(score, judge, np.delete(np.arange(size), row))
            if not math.isfinite(known[key]):
                return np.full(len(which), math.inf)
            values[at] = size * value - (size - 1) * known[key]
    return values


def _value(score: Score, model: Any, rows: Indices) -> float:
    """Score some rows; NaN where the scorer refuses them."""
    try:
        return score(model, rows)
    except Exception:  # noqa: BLE001  (a scorer may raise anything where a class is missing)
        return math.nan


class RememberedModel:
    """A trained model whose predictions for some rows of X are looked up; all else is the model's.

    `shows` tells it which rows are scored next; what is not these very rows goes to the model.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.itself, self._X = model, X
        self.size = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        self._responses: dict[str, Any] = {}
        self._shown: Any = None
        self._rows: Indices = np.arange(0)

    def shows(self, X: Any, rows: Indices) -> None:
        """Take X to be these rows of the examples."""
        self._shown, self._rows = X, rows

    def predictions_of(self, row: int) -> Iterator[bytes]:
        """Give what was predicted for a row, in a form that can be looked up."""
        return (one[row].tobytes() for one in self._responses.values())

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.itself, name)
        if name not in RESPONSES:
            return own

        def respond(X: Any, **options: Any) -> Any:
            if X is not self._shown or options:
                return own(X, **options)
            if name not in self._responses:
                self._responses[name] = np.asarray(own(self._X))
            return self._responses[name][self._rows]

        respond.__name__ = name  # by which scikit-learn asks for it again
        return respond


@dataclass(frozen=True)
class Scoring:
    """Measures of the registry, scorers by name, and the name under which each was requested.

    `order` names all of them, as they were given.
    """

    measures: tuple[str, ...] | None = None
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()


def scoring_of(scoring: Any) -> Scoring:
    """Take a name, a scorer, or several of them in a list or under names of one's own."""
    if scoring is None:
        return Scoring()
    if isinstance(scoring, Mapping):
        requests = list(scoring.items())
    elif isinstance(scoring, str) or callable(scoring):
        requests = [(None, scoring)]
    elif isinstance(scoring, Iterable):
        requests = [(None, one) for one in scoring]
    else:
        requests = []
    if not requests:
        raise InputError(f"`scoring` must be names, scorers or a dict of them; got {scoring!r}.")
    measures: list[str] = []
    scorers: dict[str, Scorer] = {}
    names: dict[str, str] = {}
    order: list[str] = []
    for own, one in requests:
        measure = _measure_of(one) if isinstance(one, str) else None
        name = measure or _scorer_name(own, one)
        if name in measures or name in scorers:
            raise InputError(f"`scoring` must name each measure once; got {shown(name)} twice.")
        if measure is None:
            scorers[name] = _scorer_of(one)
        else:
            measures.append(measure)
        order.append(name)
        requested = own or (one if isinstance(one, str) else name)
        if requested != name and not (own is None and requested.startswith("neg_")):
            names[requested] = name
    return Scoring(tuple(measures), scorers, names, tuple(order))


def single_scoring(measure: str | None, scoring: Any, default: str) -> tuple[str, Scorer | None]:
    """Take the one measure that settings are chosen by or a curve is of; or the one scorer."""
    if scoring is None:
        name = default if measure is None else measure
        base_measure(name)  # refuses names that are none
        return name, None
    if measure is not None:
        raise InputError("`scoring` must be left out where `measure` is given; got both.")
    requested = scoring_of(scoring)
    if len(requested.order) > 1:
        raise InputError(
            f"`scoring` must be one measure or scorer here; got {', '.join(requested.order)}."
        )
    (name,) = requested.order
    return name, requested.scorers.get(name)


def better_sign(name: str) -> float:
    """Give 1 where more is better, as of every scorer, and −1 for losses."""
    entry, _ = measure_of(name)
    if entry is not None and entry.higher_is_better is None:
        raise InputError(f"`measure` must have a better end; {name} has none.")
    return -1.0 if entry is not None and not entry.higher_is_better else 1.0


def range_of(name: str) -> tuple[float, float]:
    """Give the range of a measure; that of a scorer is not known."""
    entry, _ = measure_of(name)
    return (-math.inf, math.inf) if entry is None else entry.measure_range


def range_of_scorer(scorer: Scorer) -> Ends:
    """Give the range of a scorer made of a function of scikit-learn; of others it is not known.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> range_of_scorer(make_scorer(fbeta_score, beta=2))
    (0.0, 1.0)
    """
    function = getattr(scorer, "_score_func", None)
    # A sum of losses has another range than their mean.
    in_all = getattr(scorer, "_kwargs", {}).get("normalize") is False
    known = str(getattr(function, "__module__", "")).startswith("sklearn.") and not in_all
    ends = FUNCTION_RANGES.get(getattr(function, "__name__", "")) if known else None
    if ends is None:
        return -math.inf, math.inf
    return ends if getattr(scorer, "_sign", 1) > 0 else (-ends[1], -ends[0])


def is_of_counts(name: str) -> bool:
    """Whether a measure is made of counts; one of scores, or a scorer, has a value per refit."""
    entry, _ = measure_of(name)
    return entry is not None and entry.needs in {"binary counts", "class counts"}


def value_of_scores(
    name: str,
    truth: Indices,
    scores: Array,
    positive: int | None,
    complement: Array | None = None,
) -> float:
    """Give a measure of the scores of one part; of several classes, averaged over those it holds.

    `truth` are codes of classes; a single column of scores is of the second of two classes, and
    `positive` is the code of the positive one.  NaN where it is undefined.
    """
    base, average = base_and_average(name)
    measure = find_measure(base)
    if measure.needs == "probabilities":
        tally = ProbabilityTally().add(
            scores, truth == 1 if scores.ndim == 1 else truth, None, complement
        )
        return float(measure.value(tally))
    if measure.needs != "ranking" or average not in {None, "macro", "weighted"}:
        raise InputError(
            f"`measure` must be one of labels or scores to have a value in each refit; "
            f"got {shown(name)}. Take a scorer of scikit-learn: scoring=make_scorer(…)."
        )
    if scores.ndim == 1:
        # Scores are of the second class: those of the first are their opposites.
        signed = -scores if positive == 0 else scores
        return float(measure.value(rank(signed, truth == (0 if positive == 0 else 1))))
    counts = np.bincount(truth, minlength=scores.shape[1])
    occurring = np.flatnonzero((counts > 0) & (counts < len(truth)))
    if not len(occurring):
        return math.nan
    of_each = [
        float(measure.value(rank(np.ascontiguousarray(scores[:, code]), truth == code)))
        for code in occurring
    ]
    weights = counts[occurring] if average == "weighted" else None
    return float(np.average(of_each, weights=weights))


def scorer_value(name: str, scorer: Scorer, model: Any, X: Any, y: Any, **params: Any) -> float:
    """Let a scorer judge a trained model; it must give one number."""
    value = scorer(model, X, y, **params)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"`scoring` must give one number per refit; {name} gave {shown(value)}."
        ) from None


def _measure_of(name: str) -> str | None:
    """Give the measure of the registry that a name means; None if it has none."""
    name = SAME_MEASURE.get(name, name)
    try:
        base_measure(name)
    except InputError:
        return None
    return name


def _scorer_name(own: Any, scorer: Any) -> str:
    """Name a scorer as the user does, or by its function."""
    name = own
    if own is None:
        function = getattr(scorer, "_score_func", scorer)
        name = scorer if isinstance(scorer, str) else getattr(function, "__name__", "")
    name = str(name or type(scorer).__name__)
    if _measure_of(name) is not None:
        raise InputError(
            f"`scoring` must not give a scorer the name of another measure; got {shown(name)}. "
            "Give it a name of its own: scoring={'my_" + name + "': …}."
        )
    return name


def _scorer_of(scorer: Any) -> Scorer:
    if callable(scorer):
        return scorer  # type: ignore[no-any-return]
    if isinstance(scorer, str):
        from sklearn.metrics import get_scorer, get_scorer_names

        names = get_scorer_names()
        if scorer in names:
            return get_scorer(scorer)  # type: ignore[no-any-return]
        hint = did_you_mean(scorer, [*MEASURES, *names])
        raise InputError(
            f"`scoring` must be a measure of truerisk or a name of scikit-learn; got "
            f"{shown(scorer)}.{hint}"
        )
    raise InputError(
        f"`scoring` must be names or scorers (functions of model, X, y); got {shown(scorer)}."
    )


def without_address(value: Any) -> str:
    """Write an object down as the next run does, too."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def settings_of_scorers(scorers: Mapping[str, Scorer]) -> dict[str, str]:
    """Write down what each scorer is, to tell one run from another."""
    return {name: without_address(one) for name, one in scorers.items()}


@dataclass(frozen=True)
class Metadata:
    """What reaches `fit` and the scorers beside X and y, and scikit-learn's settings for it.

    Values with one entry per example are divided as the examples are.
    """

    fit: Mapping[str, Any] = field(default_factory=dict)
    score: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    routing: bool = False

    def applied(self, *, checked: bool = False) -> AbstractContextManager[Any]:
        """Route as the caller's configuration says; leave out what was `checked` for all refits."""
        config = {}
        if self.routing:
            config["enable_metadata_routing"] = True  # a worker does not know the caller's
        if checked:
            config |= {"assume_finite": True, "skip_parameter_validation": True}
        if not config:
            return nullcontext()
        from sklearn import config_context

        return config_context(**config)  # type: ignore[no-any-return]

    @property
    def arrays(self) -> list[Any]:
        """All values, to tell one run from another."""
        of_scorers = (value for one in self.score.values() for value in one.values())
        return [np.asarray(value) for value in (*self.fit.values(), *of_scorers)]

    @property
    def weighs(self) -> bool:
        """Whether weights reach the training."""
        return any(name.rpartition("__")[2] == "sample_weight" for name in self.fit)

    def of_scorer(self, name: str, rows: Indices, n: int) -> dict[str, Any]:
        """Give what a scorer takes beside the rows that it judges."""
        return rows_of_parameters(self.score.get(name, {}), rows, n)


def metadata_of(
    model: Any, scorers: Mapping[str, Scorer], params: Mapping[str, Any] | None, weight: Any, n: int
) -> Metadata:
    """Check weights and parameters, and find out what takes them.

    With `sklearn.set_config(enable_metadata_routing=True)` the model and the scorers say so
    themselves (`set_fit_request`, `set_score_request`); without, all goes to `fit`, in a pipeline
    to that of its last step.
    """
    given = dict(params or {})
    if weight is not None:
        if "sample_weight" in given:
            raise InputError("`sample_weight` must be given once, not in `params` as well.")
        given["sample_weight"] = weight
    if not given:
        return Metadata()
    given = {name: _column(name, value, n) for name, value in given.items()}
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return _routed(model, scorers, given)
    last = model
    prefix = ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if "sample_weight" in given:
        if not _takes_weights(last):
            raise InputError(
                f"`sample_weight` must be of use to the model; {type(last).__name__}.fit does not "
                "take it. Leave it out, or take another model."
            )
        given = {prefix * (name == "sample_weight") + name: one for name, one in given.items()}
    return Metadata(given)


def _takes_weights(model: Any) -> bool:
    """Whether `fit` takes weights; a search hands what it is given on to its model."""
    from sklearn.utils.validation import has_fit_parameter

    if has_fit_parameter(model, "sample_weight"):
        return True
    kinds = {one.kind for one in inspect.signature(model.fit).parameters.values()}
    inner = getattr(model, "estimator", getattr(model, "model", None))
    if inspect.Parameter.VAR_KEYWORD not in kinds or inner is None:
        return False
    return hasattr(inner, "steps") or _takes_weights(inner)


def _routed(model: Any, scorers: Mapping[str, Scorer], given: dict[str, Any]) -> Metadata:
    """Let scikit-learn say who takes what; it refuses what nobody said anything of."""
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

    mapping = MethodMapping().add(caller="fit", callee="fit")
    router = MetadataRouter(owner="truerisk").add(estimator=model, method_mapping=mapping)
    routable = {name: one for name, one in scorers.items() if hasattr(one, "get_metadata_routing")}
    for name, scorer in routable.items():
        of_score = MethodMapping().add(caller="fit", callee="score")
        router.add(**{f"scorer_{name}": scorer}, method_mapping=of_score)
    owner = _Routable(router)
    try:
        routed = process_routing(owner, "fit", **given)
    except (UnsetMetadataPassedError, TypeError) as problem:
        raise InputError(f"`params` must be requested: {problem}") from problem
    of_scorers = {name: dict(routed[f"scorer_{name}"].score) for name in routable}
    return Metadata(dict(routed["estimator"].fit), of_scorers, routing=True)


@dataclass(frozen=True)
class _Routable:
    """An owner of a router, as scikit-learn takes it."""

    router: Any

    def get_metadata_routing(self) -> Any:
        return self.router


def _column(name: str, value: Any, n: int) -> Any:
    """Make an array of what has one entry per example; leave the rest alone."""
    if name != "sample_weight":
        sized = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
        return np.asarray(value) if sized and len(value) == n else value
    weights = np.asarray(value, dtype=np.float64)
    if weights.shape != (n,):
        raise InputError(
            f"`sample_weight` must be one number for each of {n} examples; got shape "
            f"{weights.shape}."
        )
    if not np.isfinite(weights).all() or weights.min() < 0:
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise InputError(f"`sample_weight` must be finite and not negative; got {wrong:g}.")
    return weights


def rows_of_parameters(params: Mapping[str, Any], rows: Any, n: int) -> dict[str, Any]:
    """Give the entries of some examples; what is not of examples stays whole."""
    return {
        name: value[rows] if isinstance(value, np.ndarray) and value.shape[:1] == (n,) else value
        for name, value in params.items()
    }
