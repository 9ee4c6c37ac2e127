"""Which of several models is really better, from their predictions of the same examples."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from truerisk.aliases import ArrayLike
from truerisk.checks import check_choice, shown
from truerisk.comparison.predictions.choice import chosen_here
from truerisk.comparison.predictions.comparisons import (
    Comparisons,
    verdict_of,
    with_slices_compared,
)
from truerisk.comparison.predictions.joined import MANY_CLASSES, JoinedPredictions, join_arrays
from truerisk.comparison.predictions.paired_measures import PairedMeasures
from truerisk.comparison.predictions.right_answers import (
    PAIRED_DIFFERENCES,
    OmnibusTest,
    PairedMethod,
    Region,
    cochran_q,
    margins_of,
)
from truerisk.errors import InputError
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.request import Request
from truerisk.evaluation.slicing import columns_of, sliced
from truerisk.intervals.multiplicity import holm
from truerisk.labels import Spelling
from truerisk.results import Evaluation, Finding
from truerisk.tallies.cells import MAX_CLASSES

MAIN = ("error_rate", "accuracy", "roc_auc")  # the first of these that all models have
BESIDE = ("f1", "f1_macro", "roc_auc")  # compared in slices beside the main measure
MEASURED = Finding(
    "Measured: of 5 slices in which two models are equally good one or more is called different in "
    "0.7 to 3.3 % of simulated data sets (docs/slices.md).",
    code="slices_measured",
)

Progress = Callable[[int, int, int], None]


def compare(
    y_true: Any,
    first: Any,
    second: Any,
    *others: Any,
    first_score: ArrayLike | None = None,
    second_score: ArrayLike | None = None,
    scores: Sequence[ArrayLike | None] | None = None,
    names: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    region: Region = None,
    level: float = 0.95,
    interval: PairedMethod = "tango",
    replicates: int = 1000,
    random_state: int | None = 0,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
    strip: bool = False,
    numeric_labels: bool = False,
    label_map: Mapping[Any, Any] | None = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    max_classes: int = MAX_CLASSES,
    by: Any = None,
) -> Comparisons:
    r"""Compare models by their predictions of the same examples: every measure, every pair.

    The difference is second − first, and findings are about the second model: "better" or "worse"
    where interval and test both say so, "equivalent" where a difference of `region` or more is
    excluded, "no evidence" elsewhere.  It is about *these* trained models, on ever more examples
    drawn as these were; the examples must not have been used to train or to choose them.

    ======================  ==================================================================
    measure                 test of its difference
    ======================  ==================================================================
    accuracy, error_rate    McNemar's mid-p test (exact and asymptotic beside it), Tango's
                            interval
    other measures of       delta method on the joint cells (truth, first, second), half an
    counts, and averages    example added to each kind of discord; t, degrees by class
    roc_auc                 paired DeLong, on Student's t with degrees of freedom by class (the
                            normal test beside it)
    log_loss, brier_score,  mean of the differences of the examples
    eleven_point_documents
    other rankings, and     influences of the examples, as DeLong's of the area, on Student's t
    averages of rankings    with degrees of freedom by class
    ======================  ==================================================================

    With groups every measure is compared by the jackknife over groups
    (`intervals/group_jackknife.py`), test and interval alike.  How often each test errs is measured
    in docs/size-of-tests.md.  The p-values of the pairs by the main measure (the first of
    `measures`; else the error rate) are adjusted by Holm, and the best model's value for its having
    been chosen; neither is adjusted for the number of measures.  Models that agree on every example
    have p = 1 and an interval around 0 that narrows with the number of examples.

    Parameters
    ----------
    y_true
        Labels, as for `evaluate`.
    first, second, *others
        The models' predictions; None for a model with scores only.
    first_score, second_score
        Scores of the first two models, n of them or an n × K matrix.
    scores
        Instead of these two: the scores of all models, None for a model without.
    names
        The names of the models.
    measures
        Only these measures, the main one first; all that two models have if absent.
    pos_label, groups, sample_weight, multilabel, labels, strip, numeric_labels, label_map
        As for `evaluate`.
    region
        The smallest difference that matters, in units of the measure: one for all measures, or one
        for each by name.
    level
        Confidence level.
    interval
        Of the difference of error rates: "tango", "newcombe", "bonett_price" or "wald".  With
        groups: "mover" for differences of areas of very good models.
    random_state
        Of the correction of the best model.
    betas, costs, replicates, binomial, cell_interval, zero_division, average_over, probabilities
        As for `evaluate`.
    threshold
        As for `evaluate`.
    max_classes
        As for `evaluate`.
    by
        Columns to slice by, as for `evaluate`: where is a model better, where worse?  The p-values
        of all slices are adjusted together; a reversal between slices and the whole is named.

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data: mid-p and asymptotic are better than exact conditional", BMC Medical Research
       Methodology 13:91, 2013. https://doi.org/10.1186/1471-2288-13-91
    .. [2] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.
    .. [3] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44(3), 837-845, 1988.
       https://doi.org/10.2307/2531595
    .. [4] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> truth = [1] * 40 + [0] * 60
    >>> a = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
    >>> b = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6
    >>> result = compare(truth, a, b, names=["a", "b"])
    >>> print(result["error_rate"])
    error_rate: b − a = -0.120 [-0.198, -0.070] at 95 %, p = 0.000244 (mcnemar_mid_p)
    b is better than a: its error rate is lower by 0.120 [0.070, 0.198].
    """
    request = Request.of(locals())
    predictions = [first, second, *others]
    joined = join_arrays(
        y_true,
        predictions,
        _score_columns(scores, first_score, second_score, len(predictions)),
        names=names,
        groups=groups,
        sample_weight=sample_weight,
        multilabel=multilabel,
        labels=labels,
        spelling=Spelling.of(strip=strip, numeric_labels=numeric_labels, label_map=label_map),
    )
    return compare_joined(joined, request, region=region, interval=interval, by=by)


def compare_joined(
    joined: JoinedPredictions,
    request: Request,
    *,
    region: Region = None,
    interval: PairedMethod = "tango",
    progress: Progress | None = None,
    by: Any = None,
) -> Comparisons:
    """Compare models whose predictions are coded alike, from arrays or files."""
    if by is not None:
        how: dict[str, Any] = {"region": region, "interval": interval}
        whole = compare_joined(joined, request, **how, progress=progress)
        return _with_slices(whole, joined, request, by, how)
    check_choice(interval, (*PAIRED_DIFFERENCES, "mover"), "interval")
    if interval == "mover" and joined.shared.group is None:
        raise InputError(
            "`interval` must not be 'mover' without groups: it is the interval of a difference of "
            "areas of rows in groups."
        )
    if request.reject is not None:
        raise InputError(
            "`reject` must not be given to a comparison: models that refuse different examples are "
            "not tested on the same ones."
        )
    joined = joined.with_made_predictions(request)
    tallies = tuple(joined.tallies(at, request) for at in range(len(joined.names)))
    evaluations = {
        name: assemble(one, request) for name, one in zip(joined.names, tallies, strict=True)
    }
    paired = PairedMeasures(joined, request, tallies, evaluations, interval)
    every = list(combinations(range(len(joined.names)), 2))
    planned = _planned(paired, every, request)
    margins = margins_of(region, [name for _, name in planned])
    pairs, beside = [], {}
    for done, (pair, name) in enumerate(planned, start=1):
        comparison, others = paired.compare(pair, name, margins.get(name))
        pairs.append(comparison)
        beside[name, *comparison.names] = others
        if progress is not None:
            progress(done, done, len(planned))
    main = _main(planned, request)
    raw = {one.names: one.p_value for one in pairs if one.measure == main}
    adjusted = dict(zip(raw, holm(list(raw.values())).tolist(), strict=True))
    tables = [table for table in map(paired.table, every) if table is not None]
    result = Comparisons(
        names=joined.names,
        n=joined.n,
        level=request.level,
        measure=main,
        evaluations=evaluations,
        pairs=tuple(pairs),
        adjusted=adjusted,
        beside={key: tests for key, tests in beside.items() if tests},
        tables=tuple(tables),
        omnibus=_omnibus(paired),
        best=chosen_here(paired, main),
        notes=(*joined.notes, *_notes(paired, evaluations)),
        settings=_settings(joined, request, region, _interval_used(paired)),
        source=joined.source,
    )
    return replace(result, verdict=tuple(verdict_of(result)))


def _with_slices(
    result: Comparisons, joined: JoinedPredictions, request: Request, by: Any, how: dict[str, Any]
) -> Comparisons:
    """Compare the models in each slice, too, and say where the finding is another one."""
    weight = joined.shared.weight
    counts = np.ones(joined.n, bool) if weight is None else weight > 0
    columns = columns_of(by, joined.n)
    measures = request.measures or (
        result.measure,
        *(name for name in BESIDE if name in result.measures and name != result.measure),
    )
    positive = next(iter(result.evaluations.values())).pos_label
    own = replace(request, measures=measures, pos_label=positive or request.pos_label)
    if joined.shared.classes is None and len(joined.labels) >= MANY_CLASSES:
        joined = joined.sharing(classes=joined.labels)
    compared = with_slices_compared(
        result,
        list(sliced(columns, counts=counts, group=joined.shared.group)),
        tuple(columns),
        lambda rows: compare_joined(joined.taken(rows), own, **how),
    )
    return replace(compared, notes=(*compared.notes, MEASURED))


def _score_columns(
    scores: Sequence[ArrayLike | None] | None,
    first: ArrayLike | None,
    second: ArrayLike | None,
    models: int,
) -> list[ArrayLike | None]:
    if scores is None:
        return [first, second, *[None] * (models - 2)]
    if first is not None or second is not None:
        raise InputError("`scores` must not be given beside `first_score` and `second_score`.")
    if len(scores) != models:
        raise InputError(
            f"`scores` must hold {models} entries, one per model, None for a model without; "
            f"got {len(scores)}."
        )
    return list(scores)


def _planned(
    paired: PairedMeasures, every: list[tuple[int, int]], request: Request
) -> list[tuple[tuple[int, int], str]]:
    """List the pairs and measures to be compared, measure by measure."""
    of_pair = {pair: paired.measures(pair) for pair in every}
    names = list(dict.fromkeys(name for one in of_pair.values() for name in one))
    requested = names if request.measures is None else list(request.measures)
    for name in requested:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise InputError(
                f"`measures` must be ones that two models have here ({listed}); got {shown(name)}. "
                "Measures of counts need predictions of both, measures of rankings scores of both."
            )
    if not requested:
        raise InputError(
            "Two models must have predictions, or scores, to be compared by; no two of these do."
        )
    return [(pair, name) for name in requested for pair in every if name in of_pair[pair]]


def _main(planned: list[tuple[tuple[int, int], str]], request: Request) -> str:
    names = [name for _, name in planned]
    if request.measures is not None:
        return names[0]
    return next((name for name in MAIN if name in names), names[0])


def _omnibus(paired: PairedMeasures) -> OmnibusTest | None:
    right = [one for one in paired.right if one is not None]
    if len(right) < max(3, len(paired.right)) or _by_other_rules(paired):
        return None
    return cochran_q(np.column_stack(right))


def _by_other_rules(paired: PairedMeasures) -> bool:
    """Whether examples are not all for themselves and alike, as tables of counts need them."""
    rows = paired.rows.shared
    return rows.group is not None or rows.weight is not None


def _interval_used(paired: PairedMeasures) -> PairedMethod | None:
    """Name the interval that was chosen, where the choice makes a difference."""
    return None if _by_other_rules(paired) and paired.interval != "mover" else paired.interval


def _notes(paired: PairedMeasures, evaluations: Mapping[str, Evaluation]) -> Iterator[str]:
    """Give the notes of the single evaluations, each once, and whose they are."""
    models: dict[str, list[str]] = {}
    for name, evaluation in evaluations.items():
        for note in evaluation.notes:
            models.setdefault(note, []).append(name)
    for note, names in models.items():
        if len(names) == len(evaluations):
            yield note
        else:
            text = f"{', '.join(names)}: {note}"
            yield Finding(text, code=note.code) if isinstance(note, Finding) else text
    every = zip(paired.rows.names, paired.rows.models, strict=True)
    without = [name for name, model in every if model.score is None]
    if without and len(without) < len(evaluations):
        text = f"No scores of {', '.join(without)}: not compared by measures of rankings."
        yield Finding(text, code="no_scores")


def _settings(
    joined: JoinedPredictions, request: Request, region: Region, interval: PairedMethod | None
) -> dict[str, Any]:
    group = joined.shared.group
    settings: dict[str, Any] = {
        "level": request.level,
        "interval": interval,
        "replicates": request.replicates,
        "random_state": request.random_state,
        "pos_label": request.pos_label,
        "groups": None if group is None else int(group.max()) + 1,
        "region": region,
    }
    for name in ("costs", "threshold", "average_over"):
        if getattr(request, name) is not None:
            settings[name] = getattr(request, name)
    return settings
