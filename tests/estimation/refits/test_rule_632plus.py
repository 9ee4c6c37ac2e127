import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.estimation.refits.rule_632plus import (
    error_632,
    error_632plus,
    no_information_rate,
    relative_overfitting,
)

rates = st.floats(0, 1)


def test_the_no_information_rate_by_hand():
    # Classes 3/6, 2/6, 1/6; called 1/6, 2/6, 3/6: ½ · 5/6 + ⅓ · ⅔ + 1/6 · ½ = 26/36
    assert no_information_rate([0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 2, 2], 3) == 26 / 36


def test_a_prediction_of_no_class_is_never_right_by_chance():
    # ½ · (1 − ¼) + ½ · (1 − ½)
    assert no_information_rate([0, 0, 1, 1], [0, 1, 1, 7], 2) == 0.625
    assert no_information_rate([0, 0, 1, 1], [0, 1, 1, -1], 2) == 0.625


def test_the_relative_overfitting_by_hand():
    # (.3 − .1) / (.5 − .1)
    assert relative_overfitting(0.1, 0.3, 0.5) == pytest.approx(0.5)
    assert relative_overfitting(0.1, 0.6, 0.5) == pytest.approx(1.25)
    assert relative_overfitting(0.4, 0.55, 0.45) == 4 / 3  # not 3, which is beyond the pole


@pytest.mark.parametrize(
    ("apparent", "left_out", "no_information"),
    [(0.3, 0.2, 0.5), (0.3, 0.3, 0.5), (0.3, 0.4, 0.2), (0.3, 0.4, 0.3)],
)
def test_a_model_that_does_not_overfit_gets_the_632_estimate(apparent, left_out, no_information):
    assert relative_overfitting(apparent, left_out, no_information) == 0.0
    plus = error_632plus(apparent, left_out, no_information)
    assert plus == error_632(apparent, left_out)
    assert plus == pytest.approx(0.368 * apparent + 0.632 * left_out, abs=1e-15)


def test_632plus_by_hand():
    # R = ½; .632 estimate .0368 + .1896 = .2264; .2 · .368 · .632 · ½ / (1 − .184) = .0285020
    assert error_632plus(0.1, 0.3, 0.5) == pytest.approx(0.2264 + 0.0285020, abs=1e-7)
    # As it is usually written: weight .632 / (1 − .368 R) of what is left out
    weight = 0.632 / (1 - 0.368 * 0.5)
    assert error_632plus(0.1, 0.3, 0.5) == pytest.approx((1 - weight) * 0.1 + weight * 0.3)


def test_where_nothing_is_learned_the_apparent_error_does_not_count():
    assert error_632plus(0.0, 0.5, 0.5) == pytest.approx(0.5, abs=1e-15)
    assert error_632(0.0, 0.5) == 0.316


@given(apparent=rates, left_out=rates, no_information=rates)
def test_632plus_lies_between_632_and_what_is_left_out(apparent, left_out, no_information):
    plus = error_632plus(apparent, left_out, no_information)
    least = error_632(apparent, left_out)
    assert least - 1e-12 <= plus <= 1
    if left_out <= no_information:
        assert plus <= max(left_out, least) + 1e-12


@given(apparent=rates, left_out=rates, no_information=rates)
def test_it_is_as_printed_up_to_four_thirds(apparent, left_out, no_information):
    if min(left_out, no_information) <= apparent:
        return
    r = (left_out - apparent) / (no_information - apparent)
    if r <= 4 / 3:
        weight = 0.368 * 0.632 * r / (1 - 0.368 * r)
        excess = min(left_out, no_information) - apparent
        printed = 0.368 * apparent + 0.632 * left_out + excess * weight
        assert error_632plus(apparent, left_out, no_information) == pytest.approx(min(printed, 1))


def test_far_beyond_no_information_the_pole_is_not_met():
    # R = 3 printed gives less than .2; held at 4/3: .147200 + .347600 + .05 · .310101 / .509333
    assert error_632plus(0.4, 0.55, 0.45) == pytest.approx(0.4948 + 0.0304419, abs=1e-6)


def test_undefined_stays_undefined():
    assert math.isnan(error_632(0.1, math.nan))
    assert math.isnan(error_632plus(0.1, math.nan, 0.5))


@pytest.mark.parametrize(
    ("y", "predicted", "message"),
    [
        ([0, 2], [0, 1], r"`y_codes` must lie in \[0, 1\]; got 2"),
        ([-1, 0], [0, 1], r"`y_codes` must lie in \[0, 1\]; got -1"),
        ([], [], "`y_codes` must be a column of class codes"),
        ([0.0, 1.0], [0, 1], "`y_codes` must be a column of class codes"),
        ([0, 1], [0, 1, 1], "`predicted` must hold a whole number for each of 2 examples"),
        ([0, 1], [0.5, 1.0], "`predicted` must hold a whole number for each of 2 examples"),
    ],
)
def test_what_are_no_codes_is_refused(y, predicted, message):
    with pytest.raises(InputError, match=message):
        no_information_rate(y, predicted, 2)
