import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.comparison.predictions.cochran import cochran_q
from truerisk.comparison.predictions.mcnemar import mcnemar
from truerisk.errors import InputError

REFERENCE = Path(__file__).parents[2] / "reference" / "paired_tests.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]

tables = st.integers(2, 5).flatmap(
    lambda models: st.lists(
        st.lists(st.integers(0, 1), min_size=models, max_size=models), min_size=1, max_size=40
    )
)


def test_it_gives_the_numbers_of_others():
    (vector,) = (vector for vector in VECTORS if vector["method"] == "cochran_q")
    inputs = vector["inputs"]
    test = cochran_q(np.repeat(inputs["patterns"], inputs["counts"], axis=0))
    found = {"statistic": test.statistic, "pvalue": test.p_value}
    assert found == pytest.approx(vector["expected"], **vector["tolerance"])
    assert (test.degrees, test.method) == (2, "cochran_q")


def test_by_hand():
    # G = 5, 4, 1; N = 10; L = 2, 1, 2, 3, 1, 1: 2 (3 · 42 − 100) / (30 − 20) = 5.2
    test = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    assert test.statistic == pytest.approx(5.2, rel=1e-14)
    assert test.p_value == pytest.approx(np.exp(-2.6), rel=1e-12)  # χ² with two degrees


def test_where_no_example_tells_the_models_apart_the_p_value_is_1():
    test = cochran_q([[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert (test.statistic, test.p_value) == (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(table=tables)
def test_order_and_examples_on_which_all_agree_do_not_matter(table):
    right = np.array(table)
    test = cochran_q(right)
    assert 0 <= test.p_value <= 1
    assert cochran_q(right[::-1, ::-1]) == test
    assert cochran_q(1 - right) == test
    assert cochran_q(np.vstack([right, np.ones_like(right), np.zeros_like(right)])) == test


@settings(max_examples=20, deadline=None)
@given(only_first=st.integers(0, 30), only_second=st.integers(0, 30), both=st.integers(1, 9))
def test_for_two_models_it_is_mcnemars_asymptotic_test(only_first, only_second, both):
    right = np.repeat([[1, 1], [1, 0], [0, 1]], [both, only_first, only_second], axis=0)
    expected = mcnemar(only_first, only_second, method="asymptotic")
    assert cochran_q(right == 1).p_value == pytest.approx(expected, rel=1e-12)


def test_what_is_no_table_of_right_answers_is_refused():
    with pytest.raises(InputError, match=r"two models or more; got the shape \(3, 1\)\."):
        cochran_q([[1], [0], [1]])
    with pytest.raises(InputError, match=r"`right` must hold 0 and 1 only; got 2\."):
        cochran_q([[1, 2], [0, 1]])
    with pytest.raises(InputError, match=r"`right` must hold 0 and 1 only; got 'yes'\."):
        cochran_q([["yes", "no"]])
