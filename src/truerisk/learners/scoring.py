"""What `scoring=`, `sample_weight=` and `params=` of scikit-learn mean for refits.

A name that the registry knows is a measure of the registry, with its own interval.  Anything else
is a scorer: a function of the fitted model and the examples it is tested on, one number per refit.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.checks import did_you_mean, shown
from truerisk.errors import InputError
from truerisk.measures.registry import MEASURES, base_measure

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


@dataclass(frozen=True)
class Scoring:
    """Measures of the registry, scorers by name, and the name under which each was requested."""

    measures: tuple[str, ...] | None = None
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


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
    for own, one in requests:
        measure = _measure_of(one) if isinstance(one, str) else None
        name = measure or _scorer_name(own, one)
        if name in measures or name in scorers:
            raise InputError(f"`scoring` must name each measure once; got {shown(name)} twice.")
        if measure is None:
            scorers[name] = _scorer_of(one)
        else:
            measures.append(measure)
        requested = own or (one if isinstance(one, str) else name)
        if requested != name and not (own is None and requested.startswith("neg_")):
            names[requested] = name
    return Scoring(tuple(measures), scorers, names)


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


@dataclass(frozen=True)
class Metadata:
    """What reaches `fit` and the scorers beside X and y, and scikit-learn's settings for it.

    Values with one entry per example are divided as the examples are.
    """

    fit: Mapping[str, Any] = field(default_factory=dict)
    score: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    routing: bool = False


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
    from sklearn.utils.validation import has_fit_parameter

    last = model
    prefix = ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    if "sample_weight" in given:
        if not has_fit_parameter(last, "sample_weight"):
            raise InputError(
                f"`sample_weight` must be of use to the model; {type(last).__name__}.fit does not "
                "take it. Leave it out, or take another model."
            )
        given = {prefix * (name == "sample_weight") + name: one for name, one in given.items()}
    return Metadata(given)


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
