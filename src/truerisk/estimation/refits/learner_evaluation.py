"""What a learner is worth on examples it has not seen: an evaluation that knows its refits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.estimation.refits.judging import Costs
from truerisk.results import Estimate, Evaluation


@dataclass(frozen=True, kw_only=True, repr=False)
class LearnerEvaluation(Evaluation):
    """The measures of a learner, estimated by refits that judge examples they did not train on.

    `method` names the resampling, `refits` counts them; `baseline` is what always answering the
    commonest class is worth, on the same plan; `variants` holds further estimates of the error rate
    that the method gives (bootstrap: .632, leave-one-out bootstrap, optimism).  `called` holds, for
    each repetition, the label position given to each example (−1 where it was not judged), `scores`
    the scores in the same places (NaN where there are none).  `costs` are seconds; they differ from
    run to run and are therefore not part of what is saved or compared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import estimate
    >>> found = estimate("tree", *load_iris(return_X_y=True), method="holdout", random_state=1)
    >>> found.method, found.refits, round(found.baseline["error_rate"].value, 2)
    ('holdout', 1, 0.68)
    """

    kind: ClassVar[str] = "learner_evaluation"

    model: str = ""
    method: str = ""
    refits: int = 0
    baseline: Mapping[str, Estimate] = field(default_factory=dict)
    variants: Mapping[str, Estimate] = field(default_factory=dict)
    called: NDArray[np.int32] | None = field(default=None, compare=False)
    scores: NDArray[np.float64] | None = field(default=None, compare=False)
    costs: Costs | None = field(default=None, compare=False)
