import io
import re

import numpy as np
import pytest
from rich.console import Console

from truerisk.reporting.summary import print_summary


def printed(evaluation, width=80):
    page = io.StringIO()
    print_summary(evaluation, Console(file=page, width=width, highlight=False))
    return page.getvalue()


@pytest.mark.parametrize("n_classes", [2, 3, 5, 12, 13, 40])
def test_it_is_readable_at_80_columns(make_evaluation, n_classes):
    labels = tuple(f"class {at}" for at in range(n_classes))
    counts = np.arange(n_classes**2).reshape(n_classes, n_classes)
    text = printed(make_evaluation(labels, counts=counts))
    assert max(map(len, text.splitlines())) <= 80
    assert "class 1" in text


def test_the_verdict_comes_first_and_the_source_last(evaluation):
    text = printed(evaluation)
    places = [text.index(word) for word in ("misjudged", "Error rate", "rare", "predictions.csv")]
    assert places == sorted(places)


def test_every_measure_has_its_value_interval_method_and_n(evaluation):
    assert re.search(
        r"Precision +0\.556 +\[0\.447, 0\.661\] +clopper_pearson +90", printed(evaluation)
    )


def test_undefined_is_shown_with_its_reason(evaluation):
    text = printed(evaluation)
    assert re.search(r"Specificity +undefined", text)
    assert "Specificity is undefined: no example is negative" in text


def test_what_was_guessed_is_printed(evaluation):
    assert re.search(r"truth +column y_true \(guessed\)", printed(evaluation))


def test_classes_beyond_twenty_are_counted_not_shown(make_evaluation):
    labels = tuple(f"class {at}" for at in range(25))
    text = printed(make_evaluation(labels, counts=np.eye(25, dtype=int)))
    assert "5 classes more" in text
    assert "class 20 " not in text


def test_labels_are_texts_and_no_mark_up(make_evaluation):
    text = printed(make_evaluation(("[bold red]x[/]", "\x1b[31mred"), counts=((1, 2), (3, 4))))
    assert "[bold red]x[/]" in text
    assert "\x1b" not in text
    assert r"\x1b[31mred" in text
