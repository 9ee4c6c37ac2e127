"""What measures are called where people read: in columns, on axes, in sentences."""

from truerisk.errors import InputError
from truerisk.measures.averages import base_and_average
from truerisk.measures.registry import Measure, find_measure

SHORT_TITLES = {"roc_auc": "ROC AUC", "eleven_point_precision": "11-point precision"}
NAMESAKES = ("Matthews", "Cohen", "Hamming", "Jaccard", "Youden", "Kolmogorov", "Brier")
SPOKEN_AVERAGES = {"samples": "per-example"}


def measure_of(name: str) -> tuple[Measure | None, str]:
    """Give the registry's entry for a name such as `f1_macro`, and the average's name.

    Examples
    --------
    >>> found, average = measure_of("f1_macro")
    >>> found.title, average
    ('F1', 'macro')
    """
    base, average = base_and_average(name)
    try:
        return find_measure(base), average or ""
    except InputError:
        return None, average or ""


def title_of(name: str) -> str:
    """Give the title of a measure, short enough for a column.

    Examples
    --------
    >>> title_of("recall"), title_of("f1_macro"), title_of("f2"), title_of("of_my_own")
    ('Recall', 'F1, macro', 'F2', 'of_my_own')
    """
    found, average = measure_of(name)
    if found is None:
        return name
    return f"{_short(found)}, {average}" if average else _short(found)


def spoken_title(name: str) -> str:
    """Write the title of a measure as it stands within a sentence.

    Examples
    --------
    >>> spoken_title("error_rate"), spoken_title("f1_macro"), spoken_title("roc_auc")
    ('error rate', 'macro F1', 'ROC AUC')
    """
    found, average = measure_of(name)
    if found is None:
        return name.replace("_", " ")
    title = _short(found)
    # Of abbreviations and of people the capital stays.
    if title[1:2].isascii() and title[1:2].islower() and not title.startswith(NAMESAKES):
        title = title[0].lower() + title[1:]
    return f"{SPOKEN_AVERAGES.get(average, average)} {title}" if average else title


def _short(measure: Measure) -> str:
    return SHORT_TITLES.get(measure.name, measure.title.split(" (")[0])
