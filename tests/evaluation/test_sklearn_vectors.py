"""Numbers from scikit-learn's own test suite; each vector names its test."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import truerisk as tr

REFERENCE = Path(__file__).parents[1] / "reference" / "sklearn_counts.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]


def number(value):
    return math.nan if value == "NaN" else value


def evaluation_of(inputs):
    columns = [inputs.get("y_true", inputs.get("y1")), inputs.get("y_pred", inputs.get("y2"))]
    if columns[0] == "zeros(20,3)":
        columns = [np.zeros((20, 3), int)] * 2
    multilabel = not isinstance(columns[0][0], (int, str))
    options = {"zero_division": number(inputs.get("zero_division", "NaN")), "random_state": 1}
    if "labels" in inputs:
        options["labels"] = inputs["labels"]
    if "pos_label" in inputs:
        options["pos_label"] = str(inputs["pos_label"])
    if multilabel:
        columns = [np.array(column) for column in columns]
    return tr.evaluate(*columns, multilabel=multilabel, **options)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_agrees_with_the_tests_of_scikit_learn(vector):
    inputs, tolerance = vector["inputs"], vector["tolerance"]["abs"]
    if vector["method"] == "likelihood_ratios":
        table = [[inputs["tp"], inputs["fn"]], [inputs["fp"], inputs["tn"]]]
        evaluation = tr.evaluate_counts(table, random_state=1)
    else:
        evaluation = evaluation_of(inputs)
    names = {"lr_plus": "positive_likelihood_ratio", "lr_minus": "negative_likelihood_ratio"}
    names |= {"kappa": "cohen_kappa", "cohen_kappa": "cohen_kappa"}
    averages = ("micro", "macro", "weighted", "samples")
    for key, expected in vector["expected"].items():
        average = inputs.get("average", "") or ""
        measure = names.get(key, key)
        if key in (*averages, "per_class"):
            average, measure = key, vector["method"]
        if isinstance(expected, list):
            labels = inputs.get("labels") or range(len(expected))
            found = [evaluation.by_class[str(label)][measure].value for label in labels]
        else:
            found = evaluation[f"{measure}_{average}" if average else measure].value
            expected = number(expected)  # noqa: PLW2901
        wanted = [number(x) for x in expected] if isinstance(expected, list) else expected
        assert found == pytest.approx(wanted, abs=tolerance, nan_ok=True), key
