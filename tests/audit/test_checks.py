import pytest

from truerisk.audit import checks
from truerisk.results import Interval


def test_this_installation_is_sound():
    results = checks.check_installation()
    assert len(results) == len(checks.EXTREMES) + 2
    assert [result.name for result in results if not result.passed] == []


def test_a_wrong_bound_is_noticed(monkeypatch):
    def wrong(k, n, *, level):
        del k, n
        return Interval(1.903e-06, 2e-06, level, "clopper_pearson")  # SciPy's for 1000 in 1e9

    monkeypatch.setattr(checks, "binomial_interval", wrong)
    results = checks.check_installation()
    assert not any(result.passed for result in results[: len(checks.EXTREMES)])


def test_a_wrong_test_is_noticed(monkeypatch):
    monkeypatch.setattr(checks, "binomial_test", lambda *_: 0.99)
    assert not checks.check_installation()[-1].passed


@pytest.mark.parametrize("row", checks.EXTREMES)
def test_the_expected_ends_enclose_the_share(row):
    k, n, _, low, high = row
    assert low <= k / n <= high
