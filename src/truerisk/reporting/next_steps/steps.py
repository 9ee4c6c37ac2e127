"""What to do next: a few imperative sentences, each with its reason, its number and its command.

The verdict says what is so; a step says what to do about it.  Where both speak of one thing, the
step reads the verdict, so that they cannot contradict each other.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

MAX_STEPS = 4
# What stands between backticks is set as code; a name from the data may hold a backtick, too.
CODE = re.compile(r"(`(?:truerisk |tr\.|CalibratedClassifierCV)[^`]*`)")
Rule = Callable[[Any], Iterator[str]]

# By the name of the type: the module of its rules is loaded only for it.
STEPS = {
    "Evaluation": "of_predictions:predictions_steps",
    "LearnerEvaluation": "of_learners:learner_steps",
    "BestOf": "of_learners:best_of_steps",
    "Selection": "of_learners:selection_steps",
    "SideBySide": "of_learners:side_by_side_steps",
    "XiAlpha": "of_learners:xi_alpha_steps",
    "LeaveOneOut": "of_learners:leave_one_out_steps",
    "CorpusEvaluation": "of_learners:corpus_steps",
    "Perturbed": "of_learners:perturbed_steps",
    "LearningCurve": "of_learners:curve_steps",
    "Comparisons": "of_comparisons:comparisons_steps",
    "Comparison": "of_comparisons:comparison_steps",
    "ModelComparisons": "of_comparisons:model_comparisons_steps",
    "OverDatasets": "of_comparisons:over_datasets_steps",
}


def next_steps(result: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Say what to do about a result: at most four steps, the most important first.

    None are given for results of other kinds.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> [step] = next_steps(evaluate_counts([[450, 50], [40, 860]]))
    >>> step.split(": ")[1]
    '`truerisk compare old.csv new.csv`.'
    """
    for kind in type(result).__mro__:
        if kind.__name__ in STEPS:
            module, name = STEPS[kind.__name__].split(":")
            steps: Iterable[str] = getattr(
                import_module(f"truerisk.reporting.next_steps.{module}"), name
            )(result)
            return tuple(map(_with_code_alone_in_backticks, islice(steps, MAX_STEPS)))
    return ()


def _with_code_alone_in_backticks(step: str) -> str:
    parts = CODE.split(step)
    parts[::2] = [words.replace("`", "'") for words in parts[::2]]
    return "".join(parts)


def by_rules(result: Any, rules: Sequence[Rule], otherwise: Rule) -> Iterator[str]:  # noqa: ANN401
    """Go through the rules in the order of their importance; `otherwise` if none holds."""
    steps = [step for rule in rules for step in rule(result)]
    yield from steps or otherwise(result)
