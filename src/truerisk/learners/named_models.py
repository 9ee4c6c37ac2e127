"""Models by name: what ``--model svm`` means, how each is made, and what is never loaded."""

import difflib
import importlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from truerisk.checks import shown
from truerisk.errors import InputError

Kinds = Sequence[str] | None


def maker(module: str, name: str, **parameters: Any) -> Callable[[], Any]:
    """Say how a model is made; its module, slow to import, is loaded when it is."""
    return lambda: getattr(importlib.import_module(module), name)(**parameters)


def adaboost() -> Any:
    """Make 50 stumps."""
    stump = maker("sklearn.tree", "DecisionTreeClassifier", max_depth=1)()
    return maker("sklearn.ensemble", "AdaBoostClassifier", estimator=stump, n_estimators=50)()


def set_covering() -> Any:
    """Make a set covering machine for each class against the others, one for two classes."""
    machine = maker("truerisk.learners.concise", "SetCoveringMachine")()
    return maker("sklearn.multiclass", "OneVsRestClassifier", estimator=machine)()


def whose_columns(kinds: Kinds) -> dict[str, Any]:
    """Tell naive Bayes what each column is."""
    return {"kinds": None if kinds is None else tuple(kinds)}


def which_are_categories(kinds: Kinds) -> dict[str, Any]:
    """Tell gradient boosting which columns hold codes; with texts there are only features."""
    if kinds is None or "category" not in kinds or "text" in kinds:
        return {}
    return {"categorical_features": [kind == "category" for kind in kinds]}


PICKLES = (".pkl", ".pickle", ".joblib", ".sav", ".dill", ".pt", ".h5")
ALIASES = {"svm": "linear_svm"}
NO_CLASSIFIERS = ("regressor", "clusterer", "outlier_detector", "density_estimator", "transformer")


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A learner that the command line knows by name.

    `settings` is what it must know of the columns, `grid` what ``--tune`` chooses from, the
    simplest first, `form` what it takes (features, an array, codes, or columns), and `largest` how
    many examples it can be trained on in reasonable memory.
    """

    name: str
    title: str
    make: Callable[[], Any]
    settings: Callable[[Kinds], dict[str, Any]] = field(default=lambda _: {})
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scaled: bool = False
    form: Literal["features", "array", "codes", "columns"] = "features"
    largest: int | None = None


MODELS: dict[str, NamedModel] = {
    model.name: model
    for model in (
        NamedModel(
            name="linear_svm",
            title="Linear support vector machine",
            make=maker("truerisk.svm.linear", "LinearSVM", C=1.0),
            grid={"C": (0.01, 0.1, 1.0, 10.0)},
            scaled=True,
        ),
        NamedModel(
            name="rbf_svm",
            title="Support vector machine with the Gaussian kernel",
            make=maker("truerisk.svm.kernel", "KernelSVM", C=1.0, kernel="rbf", gamma="scale"),
            grid={"C": (0.1, 1.0, 10.0, 100.0), "gamma": (0.01, "scale", 0.1)},
            scaled=True,
            largest=9000,
        ),
        NamedModel(
            name="logistic_regression",
            title="Logistic regression",
            make=maker("sklearn.linear_model", "LogisticRegression", C=1.0, max_iter=5000),
            grid={"C": (0.01, 0.1, 1.0, 10.0)},
            scaled=True,
        ),
        NamedModel(
            name="naive_bayes",
            title="Naive Bayes",
            make=maker("truerisk.learners.naive_bayes", "NaiveBayes"),
            settings=whose_columns,
            grid={"smoothing": (2.0, 1.0, 0.5, 0.1)},
            form="columns",
        ),
        NamedModel(
            name="knn",
            title="Nearest neighbours",
            make=maker("sklearn.neighbors", "KNeighborsClassifier", n_neighbors=5),
            grid={"n_neighbors": (21, 11, 5, 3, 1)},
            scaled=True,
        ),
        NamedModel(
            name="tree",
            title="Decision tree",
            make=maker("sklearn.tree", "DecisionTreeClassifier"),
            grid={"ccp_alpha": (0.03, 0.01, 0.003, 0.001, 0.0)},
        ),
        NamedModel(
            name="random_forest",
            title="Random forest",
            make=maker("sklearn.ensemble", "RandomForestClassifier", n_estimators=100),
            grid={"min_samples_leaf": (10, 3, 1), "max_features": ("sqrt", 0.5)},
        ),
        NamedModel(
            name="gradient_boosting",
            title="Gradient boosting of trees",
            make=maker(
                "sklearn.ensemble", "HistGradientBoostingClassifier", categorical_features=None
            ),
            settings=which_are_categories,
            grid={"learning_rate": (0.03, 0.1, 0.3), "max_leaf_nodes": (7, 31)},
            form="codes",
        ),
        NamedModel(
            name="adaboost",
            title="AdaBoost of stumps",
            make=adaboost,
            grid={"n_estimators": (25, 50, 100, 200)},
        ),
        NamedModel(
            name="decision_list",
            title="Decision list",
            make=maker("truerisk.learners.concise", "DecisionList"),
            grid={"ccp_alpha": (0.03, 0.01, 0.003, 0.001, 0.0)},
            form="array",
        ),
        NamedModel(
            name="set_covering",
            title="Set covering machine",
            make=set_covering,
            grid={
                "estimator__max_balls": (1, 2, 4, 8, 16),
                "estimator__penalty": (0.5, 1.0, 2.0, math.inf),
                "estimator__kind": ("conjunction", "disjunction"),
            },
            scaled=True,
            form="array",
            largest=9000,
        ),
        NamedModel(
            name="majority",
            title="Majority class",
            make=maker("sklearn.dummy", "DummyClassifier", strategy="prior"),
        ),
    )
}


def models_by_name(models: Any) -> dict[str, Any]:
    """Give each learner its name: that in the mapping, its own, or that of its class.

    >>> list(models_by_name(["tree", "svm"]))
    ['tree', 'svm']
    """
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    several = models if isinstance(models, list | tuple) else [models]
    names = [one if isinstance(one, str) else type(one).__name__ for one in several]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"`models` must have one name each; got {name!r} {names.count(name)} times. "
                "Give a mapping of names to models."
            )
    return dict(zip(names, several, strict=True))


def as_learner(model: Any, X: Any = None, *, examples: int | None = None) -> Any:
    """Give the learner that is meant: a model of scikit-learn's kind, or the one of this name.

    A named model prepares the columns of `X` within each training part.  A model that does not
    train in `fit` is refused, alone or inside another: its refits would have seen what they
    predict.
    """
    if not isinstance(model, str):
        _check_learner(model)
        return model
    kinds = None
    if X is not None:
        from truerisk.learners.preprocessing import ColumnCodes, kinds_of

        kinds = kinds_of(X)
    learner = find_model(model, kinds, examples=examples)
    if kinds is not None:
        learner.steps.insert(0, ("codes", ColumnCodes(kinds)))
    return learner


def _check_learner(model: Any) -> None:
    # Of a model that delegates to others, the class has what the model has once it is trained.
    missing = [
        name
        for name in ("fit", "predict", "get_params")
        if not hasattr(model, name) and not hasattr(type(model), name)
    ]
    if missing or isinstance(model, type):
        what = (
            f"the class {model.__name__}; write {model.__name__}()"
            if isinstance(model, type)
            else f"a {type(model).__name__} without {', '.join(missing)}"
        )
        raise InputError(f"`model` must be a classifier of scikit-learn's kind; got {what}.")
    kind = model.__sklearn_tags__().estimator_type if hasattr(model, "__sklearn_tags__") else None
    if kind in NO_CLASSIFIERS:
        article = "an" if kind[0] in "aeiou" else "a"
        what = f"{type(model).__name__}, {article} {kind.replace('_', ' ')}"
        raise InputError(f"`model` must be a classifier; got {what}.")
    parameters = {"": model, **model.get_params(deep=True)}
    for name, value in parameters.items():
        last = name.rpartition("__")[2]
        is_setting = (last == "prefit" and value is True) or (last == "cv" and value == "prefit")
        if is_setting or (_is_frozen(value) and hasattr(value, "predict")):
            what = f"{last}={value!r}" if is_setting else type(value).__name__
            raise InputError(
                f"`model` must be trained anew in each refit; got {what}, which keeps what it has "
                "learned, perhaps from the examples that it would predict. Give the model as it is "
                "before training; for predictions of a trained model use tr.evaluate."
            )


def _is_frozen(value: Any) -> bool:
    """Tell whether cloning leaves a part of a model as it is, trained."""
    if not hasattr(value, "get_params") or isinstance(value, type):
        return False
    cloned, base = getattr(value, "__sklearn_clone__", None), sys.modules.get("sklearn.base")
    usual = base and base.BaseEstimator.__sklearn_clone__  # which makes a new model
    if cloned is None or (usual and getattr(cloned, "__func__", None) is usual):
        return False
    return bool(cloned() is value)


def find_model(
    name: str, kinds: Kinds = None, random_state: int | None = None, *, examples: int | None = None
) -> Any:
    """Make the untrained pipeline of a named model, preprocessing first.

    ``module:attribute`` names a class, called with no argument, or a model, which is cloned; it is
    searched in the current folder too, and gets imputed, encoded, unscaled features.
    """
    from sklearn.pipeline import Pipeline

    from truerisk.learners.preprocessing import Preprocessing

    kinds = None if kinds is None else tuple(kinds)
    if name not in MODELS and name not in ALIASES:
        model = _own_model(name)
        return Pipeline([("columns", Preprocessing(kinds, scale=False)), ("model", model)])
    known = MODELS[ALIASES.get(name, name)]
    if examples is not None and known.largest is not None and examples > known.largest:
        raise InputError(
            f"`model` must be one that can be trained on {examples} examples; {known.name} keeps a "
            f"matrix of all pairs and takes at most {known.largest}. Use linear_svm or "
            f"gradient_boosting, or fewer examples."
        )
    model = known.make().set_params(**known.settings(kinds))
    if "random_state" in model.get_params():
        model.set_params(random_state=random_state)
    if known.form == "columns":
        return Pipeline([("model", model)])
    # Words have no codes.
    form = "array" if known.form == "codes" and "text" in (kinds or ()) else known.form
    columns = Preprocessing(kinds, scale=known.scaled, form=form)
    return Pipeline([("columns", columns), ("model", model)])


def find_grid(name: str) -> dict[str, tuple[Any, ...]]:
    """Give what a named model is tuned over, as parameters of the pipeline of `find_model`."""
    known = MODELS.get(ALIASES.get(name, name))
    if known is None or not known.grid:
        raise InputError(
            f"`model` must have settings to choose from for --tune; {shown(name)} has none."
        )
    return {f"model__{setting}": tuple(values) for setting, values in known.grid.items()}


def _own_model(name: str) -> Any:
    from sklearn.base import clone

    module, colon, attribute = name.partition(":")
    _refuse_files(name, module)
    if not colon:
        close = difflib.get_close_matches(name, [*MODELS, *ALIASES], n=2, cutoff=0.5)
        nearest = f" Did you mean {' or '.join(close)}?" if close else ""
        raise InputError(
            f"`model` must be one of {', '.join(MODELS)}, or module:attribute; got {shown(name)}."
            f"{nearest}"
        )
    kind = _imported(name, module, attribute)
    model = _called(name, kind) if isinstance(kind, type) else kind
    for method in ("fit", "predict"):
        if not callable(getattr(model, method, None)):
            raise InputError(f"`model` must have fit and predict; {shown(name)} has no {method}.")
    try:
        return clone(model)
    except TypeError as error:
        raise InputError(
            f"`model` must be one that scikit-learn can clone; {shown(name)} is not ({error})."
        ) from None


def _called(name: str, kind: type) -> Any:
    try:
        return kind()
    except TypeError as error:
        raise InputError(
            f"`model` must be a model or a class; {shown(name)} cannot be called with no argument "
            f"({error}). Name a model that is made in the module."
        ) from None


def _refuse_files(name: str, module: str) -> None:
    is_pickle = name.lower().endswith(PICKLES)
    if is_pickle or Path(name).is_file():
        raise InputError(
            f"`model` must be a name or module:attribute; got the file {shown(name)}. Models are "
            f"never unpickled, as that runs whatever the file says."
        )
    if module.endswith(".py") or "/" in module:
        stem = Path(module).stem
        raise InputError(
            f"`model` must name a module, not its file; got {shown(name)}. "
            f"Write {stem}:attribute, in the folder of {stem}.py."
        )


def _imported(name: str, module: str, attribute: str) -> Any:
    # Last: no file of the folder hides an installed package.  It stays there, as workers
    # import the module again.
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        value: Any = importlib.import_module(module)
    except ImportError as error:
        raise InputError(
            f"`model` must name a module that can be imported; got {shown(name)} ({error})."
        ) from None
    for part in attribute.split("."):
        if not hasattr(value, part):
            names = [known for known in vars(value) if not known.startswith("_")]
            close = difflib.get_close_matches(part, names, n=1)
            nearest = f" Did you mean {close[0]}?" if close else ""
            raise InputError(
                f"`model` must name an attribute of its module; {module} has no {shown(part)}."
                f"{nearest}"
            )
        value = getattr(value, part)
    return value
