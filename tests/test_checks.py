import numpy as np
import pytest

from truerisk import checks
from truerisk.checks import did_you_mean
from truerisk.errors import InputError


@pytest.mark.parametrize(
    ("level", "remedy"),
    [(95, r"got 95\. Write 0\.95 for 95 %\."), (0, "got 0"), (1, "got 1"), (-1, "got -1")],
)
def test_a_level_that_is_none_is_refused(level, remedy):
    with pytest.raises(InputError, match=f"`level` must lie strictly between 0 and 1; {remedy}"):
        checks.check_level(level)


def test_a_level_of_nan_is_refused():
    with pytest.raises(InputError, match="got nan"):
        checks.check_level(float("nan"))


@pytest.mark.parametrize(
    ("k", "n", "message"),
    [
        (3, 2, "`k` must lie between 0 and `n`; got k = 3, n = 2"),
        (-1, 2, "got k = -1, n = 2"),
        (1.5, 2, r"`k` must be a whole number; got .*1\.5"),
        (1, float("nan"), "`n` must be a whole number; got .*nan"),
        (1, 2**54, r"`n` must be at most 2\*\*53"),
        ("1", 2, "`k` must be a whole number; got .*'1'"),
        ([1, 2, 9], [3, 3, 3], "got k = 9, n = 3"),
    ],
)
def test_counts_that_are_none_are_refused(k, n, message):
    with pytest.raises(InputError, match=message):
        checks.check_counts(k, n)


def test_counts_are_broadcast():
    k, n = checks.check_counts([0, 1], 5)
    assert k.tolist() == [0, 1]
    assert n.tolist() == [5, 5]


@pytest.mark.parametrize("value", [True, 1.5, -1, 11])
def test_a_whole_number_out_of_place_is_refused(value):
    with pytest.raises(InputError, match="`folds` must"):
        checks.check_whole_number(value, "folds", low=0, high=10)


def test_a_number_out_of_range_is_refused():
    with pytest.raises(InputError, match=r"`beta` must lie in \[0, 2\]; got nan"):
        checks.check_number(float("nan"), "beta", low=0, high=2)


def test_a_choice_is_spelt_in_full():
    assert checks.check_choice("wilson", ("wilson", "wald"), "method") == "wilson"
    with pytest.raises(InputError, match="`method` must be one of wilson, wald; got 'wils'"):
        checks.check_choice("wils", ("wilson", "wald"), "method")


def test_columns_of_different_length_are_named():
    with pytest.raises(InputError, match="`y_true` has 2, `y_pred` has 3"):
        checks.check_same_length(y_true=[1, 2], y_pred=[1, 2, 3], y_score=None)


def test_no_example_is_refused():
    with pytest.raises(InputError, match="`y_true` must have at least one example; got 0"):
        checks.check_same_length(y_true=[])


def test_a_long_value_is_cut():
    assert len(checks.shown("x" * 1000)) == checks.SHOWN_CHARACTERS


def test_a_generator_is_used_and_a_seed_repeats():
    rng = np.random.default_rng(3)
    assert checks.check_random_state(rng) is rng
    first, second = (checks.check_random_state(7).random() for _ in range(2))
    assert first == second
    with pytest.raises(InputError, match="`random_state` must"):
        checks.check_random_state(-1)


def test_the_nearest_name_is_suggested():
    assert did_you_mean("acuracy", ["accuracy", "recall"]) == " Did you mean 'accuracy'?"


def test_a_seed_that_is_stated_is_the_one_given_or_one_drawn():
    assert checks.stated_seed(7) == 7
    assert 0 <= checks.stated_seed(None) < 2**32
    rng = np.random.default_rng(3)
    drawn = int(np.random.default_rng(3).integers(2**32))
    assert checks.stated_seed(rng, generators=True) == drawn
    for wrong in (rng, "7", 1.5):
        with pytest.raises(InputError, match="`random_state` must be a whole number"):
            checks.stated_seed(wrong)
