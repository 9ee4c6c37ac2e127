import json
import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from truerisk.errors import InputError
from truerisk.estimation.refits.corrected_errors import (
    BootstrapTally,
    JackknifeTally,
    error_632,
    error_632plus,
    no_information_rate,
    relative_overfitting,
)
from truerisk.intervals.replicates import acceleration_of, replicate_interval

rates = st.floats(0, 1)


def test_the_no_information_rate_by_hand():
    # Classes 3/6, 2/6, 1/6; called 1/6, 2/6, 3/6: ½ · 5/6 + ⅓ · ⅔ + 1/6 · ½ = 26/36
    assert no_information_rate([0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 2, 2], 3) == 26 / 36


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


REFERENCE = json.loads(
    (Path(__file__).parents[2] / "reference" / "bootstrap_632.json").read_text(encoding="utf-8")
)
VECTORS = {vector["id"]: vector for vector in REFERENCE["vectors"]}


def codes(text):
    return np.array([int(digit) - 1 for digit in text])


def errors_of(inputs):
    y = codes(inputs["y"])
    tally = BootstrapTally(y, 2)
    for line, called in zip(
        inputs["bootstrap_indices_1based"],
        inputs["predictions_of_each_bootstrap_model_on_all_rows"],
        strict=True,
    ):
        indices = np.array(line.split(), dtype=int) - 1
        tally.add(np.bincount(indices, minlength=len(y)), codes(called))
    return tally.errors(codes(inputs["predictions_of_full_model"]))


def tables(*, least=2, most=6):
    """Draw refits at random: classes, how often each drew each example, and how it calls them."""

    @st.composite
    def draw_tables(draw):
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        n, refits = draw(st.integers(least, most)), draw(st.integers(1, 12))
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=refits)
        return (
            rng.integers(0, 3, n),
            drawn,
            rng.integers(0, 3, (refits, n)),
            rng.integers(0, 3, n),
        )

    return draw_tables()


def tally_of(y, drawn, predicted):
    tally = BootstrapTally(y, 3)
    for times, called in zip(drawn, predicted, strict=True):
        tally.add(times, called)
    return tally


@pytest.mark.parametrize("name", ["ipred-iris_vv_lda", "ipred-noinfo_1nn"])
def test_the_errors_of_ipred_and_bootpred(name):
    expected = VECTORS[name]["expected"]
    found = errors_of(VECTORS[name]["inputs"])
    ours = {
        "loo_bootstrap_error": found.left_out,
        "apparent_error": found.apparent,
        "error_632": found.values()["bootstrap_632"],
        "error_632plus": found.values()["bootstrap_632plus"],
        "optimism": found.optimism,
    }
    assert ours == pytest.approx(expected, abs=1e-12)


def test_mlxtends_numbers_are_not_efrons():
    # The same refits.  mlxtend: out-of-bag error averaged over refits, apparent error that of each
    # refit on all examples.  Efron: over examples, and that of the model trained on all.
    X, y = load_iris(return_X_y=True)
    rng = np.random.RandomState(123)
    tally, theirs = BootstrapTally(y, 3), []
    for _ in range(200):
        indices = rng.choice(150, size=150, replace=True)
        called = DecisionTreeClassifier(random_state=123).fit(X[indices], y[indices]).predict(X)
        drawn = np.bincount(indices, minlength=150)
        tally.add(drawn, called)
        apparent, out = np.mean(called != y), np.mean((called != y)[drawn == 0])
        no_information = 1 - sum(np.mean(y == k) * np.mean(called == k) for k in range(3))
        weight = 0.632 / (1 - 0.368 * (out - apparent) / (no_information - apparent))
        theirs.append((1 - weight) * apparent + weight * out)
    found = tally.errors(DecisionTreeClassifier(random_state=123).fit(X, y).predict(X))
    pooled = VECTORS["mlxtend-tree-iris-oob"]["expected"]["mean_accuracy"]
    plus = VECTORS["mlxtend-tree-iris-.632+"]["expected"]["mean_accuracy"]
    assert 1 - np.mean(found.replicates) == pytest.approx(pooled, abs=5.1e-6)
    assert 1 - np.mean(theirs) == pytest.approx(plus, abs=5.1e-6)
    assert abs(1 - found.left_out - pooled) > 1e-3
    assert abs(1 - found.values()["bootstrap_632plus"] - plus) > 5e-3


def test_the_mouse_data_have_the_acceleration_of_scipy():
    vector = VECTORS["mouse-acceleration-2samp"]
    z, y = (np.array(vector["inputs"][name]) for name in "zy")
    influence = np.concatenate([(z - z.mean()) / len(z), -(y - y.mean()) / len(y)])
    found = acceleration_of(influence, np.ones(16))
    assert found == pytest.approx(vector["expected"]["acceleration"], abs=1e-15)


def test_the_percentile_interval_of_r_boot():
    vector = VECTORS["R-boot-percentile"]
    x = np.array(vector["inputs"]["x"])
    rng = np.random.default_rng(1)
    means = rng.multinomial(16, np.full(16, 1 / 16), size=200_000) @ x / 16
    found, _ = replicate_interval(means, float(x.mean()), method="percentile")
    assert [found.low, found.high] == pytest.approx(vector["expected"]["interval"], rel=0.005)


def test_all_errors_by_hand():
    # Left out {3}, {0, 2}, {1, 3}; wrong calls {3}, {2, 1}, {}: per example 0/1, 0/1, 1/1, 1/2.
    tally = BootstrapTally([0, 0, 1, 1], 2)
    tally.add([2, 1, 1, 0], [0, 0, 1, 0])
    tally.add([0, 3, 0, 1], [0, 1, 0, 1])
    tally.add([1, 0, 3, 0], [0, 0, 1, 1])
    found = tally.errors([0, 0, 1, 0])
    assert found.judged.tolist() == [1, 1, 1, 2]
    assert found.apparent == 0.25
    assert found.left_out == 1.5 / 4
    assert found.replicates == (1.0, 0.5, 0.0)
    # Error on all minus error on one's own sample: 1/4 − 0, 2/4 − 3/4, 0 − 0
    assert found.optimisms == (0.25, -0.25, 0.0)
    assert found.optimism == 0.0
    assert found.no_information == 0.5  # ½ · (1 − ¾) + ½ · (1 − ¼)


@given(tables())
def test_the_sums_are_those_of_the_whole_table(table):
    y, drawn, predicted, by_all = table
    wrong, out = predicted != y, drawn == 0
    found = tally_of(y, drawn, predicted).errors(by_all)
    seen = out.any(axis=0)
    shares = (wrong & out).sum(axis=0)[seen] / out.sum(axis=0)[seen]
    left_out = shares.mean() if seen.any() else math.nan
    assert found.left_out == pytest.approx(left_out, nan_ok=True)
    inside = (wrong * drawn).sum(axis=1) / len(y)
    assert found.optimism == pytest.approx(np.mean(wrong.mean(axis=1) - inside), abs=1e-12)
    assert np.mean(found.optimisms) == pytest.approx(found.optimism, abs=1e-12)
    assert found.never_left_out == (~seen).sum()
    assert found.apparent == np.mean(by_all != y)


@pytest.mark.parametrize("name", ["ipred-iris_vv_lda", "ipred-noinfo_1nn"])
def test_the_hull_reaches_from_the_least_to_the_largest(name):
    found = errors_of(VECTORS[name]["inputs"])
    n, values = len(found.judged), found.values()
    for estimate in found.as_estimates(0.9).values():
        around = [estimate.value, values["bootstrap_632plus"], found.left_out]
        low, high = (n * end(around) for end in (min, max))
        assert estimate.interval.method == "jeffreys_hull"
        expected = beta.ppf(0.05, low + 0.5, n - low + 0.5)
        assert estimate.interval.low == pytest.approx(expected, rel=1e-9)
        expected = beta.ppf(0.95, high + 0.5, n - high + 0.5)
        assert estimate.interval.high == pytest.approx(expected, rel=1e-9)


def test_the_four_estimates_say_what_they_are():
    found = errors_of(VECTORS["ipred-iris_vv_lda"]["inputs"])
    estimates = found.as_estimates()
    assert list(estimates) == [
        "bootstrap_632plus",
        "bootstrap_632",
        "leave_one_out_bootstrap",
        "bootstrap_optimism",
    ]
    for name, estimate in estimates.items():
        assert (estimate.method, estimate.measure, estimate.n) == (name, "error_rate", 100)
        assert estimate.target == "the learner at this sample size"
        assert estimate.notes == ("25 bootstrap refits",)
        assert estimate.interval.covers(estimate.value)
    optimism = estimates["bootstrap_optimism"]
    assert optimism.value == pytest.approx(0.25 + 0.0292, abs=1e-12)
    assert np.mean(optimism.replicates) == pytest.approx(optimism.value, abs=1e-12)
    assert estimates["leave_one_out_bootstrap"].replicates == found.replicates


def test_an_example_that_every_refit_drew_is_told():
    tally = BootstrapTally([0, 1, 1], 2)
    tally.add([1, 2, 0], [0, 1, 0])
    tally.add([2, 1, 0], [0, 1, 1])
    found = tally.errors([0, 1, 1])
    assert found.never_left_out == 2
    assert found.left_out == 0.5
    notes = found.as_estimates()["bootstrap_632plus"].notes
    assert notes[1] == "2 examples were drawn by every refit and not predicted"


def test_where_nothing_was_left_out_only_the_optimism_is_known():
    tally = BootstrapTally([0, 1], 2)
    tally.add([1, 1], [0, 1])
    estimates = tally.errors([0, 0]).as_estimates()
    for name in ("bootstrap_632plus", "bootstrap_632", "leave_one_out_bootstrap"):
        assert not estimates[name].is_defined
        assert estimates[name].interval is None
    assert estimates["bootstrap_optimism"].value == 0.5


def test_no_error_at_all_leaves_an_interval():
    tally = BootstrapTally([0, 1, 1, 0], 2)
    for drawn in ([4, 0, 0, 0], [0, 0, 0, 4], [0, 2, 2, 0]):
        tally.add(drawn, [0, 1, 1, 0])
    interval = tally.errors([0, 1, 1, 0]).as_estimates()["bootstrap_632plus"].interval
    # Jeffreys at 0 of 4
    assert (interval.low, interval.high) == (0.0, pytest.approx(beta.ppf(0.975, 0.5, 4.5)))


def test_memory_does_not_grow_with_the_refits():
    n, rng = 10_000, np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    even = np.full(n, 1 / n)
    tracemalloc.start()
    tally, held = BootstrapTally(y, 2), []
    for _ in range(200):
        tally.add(rng.multinomial(n, even), rng.integers(0, 2, n))
        held.append(tracemalloc.get_traced_memory()[0])
    found = tally.errors(y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.judged.sum() == pytest.approx(200 * n / math.e, rel=0.01)
    assert peak < 25 * 8 * n  # one table of all votes would be 200 · 8 · n
    assert held[-1] - held[9] < 2 * 8 * n


@settings(max_examples=20)
@given(st.integers(1, 100))
def test_the_interval_grows_with_its_level(percent):
    found = errors_of(VECTORS["ipred-noinfo_1nn"]["inputs"])
    level = percent / 101
    narrow, wide = (
        found.as_estimates(at)["bootstrap_632plus"].interval for at in (level, (1 + level) / 2)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


@st.composite
def refits(draw):
    """Classes of n examples, how each refit without one calls them all, and the model of all."""
    n = draw(st.integers(2, 8))
    codes = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return draw(codes), draw(st.lists(codes, min_size=n, max_size=n)), draw(codes)


def jackknife_tally_of(y, predictions, which=None):
    tally = JackknifeTally(y)
    for i in range(len(y)) if which is None else which:
        tally.add(i, predictions[i])
    return tally


def test_it_is_right_by_hand():
    # Wrong calls: refit 0 of {0, 3}, 1 of {}, 2 of {2, 3}, 3 of {1}; the model of all of {3}.
    # Left out: 0 and 2 of 4; everywhere: (2 + 0 + 2 + 1)/16; bias 1/2 − 5/16; value 1/4 + 3/16.
    y = [0, 0, 1, 1]
    predictions = [[1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1]]
    found = jackknife_tally_of(y, predictions).errors([0, 0, 1, 0])
    assert (found.apparent, found.left_out, found.everywhere) == (0.25, 0.5, 5 / 16)
    assert (found.bias, found.value) == (3 / 16, 7 / 16)


@given(refits())
def test_it_is_the_jackknife_of_the_bootstraps_optimism(given_refits):
    # Efron 1982: R(P) = Σⱼ (1/n − Pⱼ) Qⱼ(P) is 0 at the sample itself, so that its jackknife is
    # (n − 1) times its mean over the samples that lack one example, where Pⱼ = 1/(n − 1).
    y, predictions, by_all = given_refits
    n = len(y)
    optimisms = []
    for i in range(n):
        wrong = np.array(predictions[i]) != y
        share = np.where(np.arange(n) == i, 0.0, 1 / (n - 1))
        optimisms.append(((1 / n - share) * wrong).sum())
    expected = (n - 1) * np.mean(optimisms)
    assert jackknife_tally_of(y, predictions).errors(by_all).bias == pytest.approx(
        expected, abs=1e-12
    )


@given(refits())
def test_it_differs_from_leave_one_out_by_what_the_refits_change(given_refits):
    y, predictions, by_all = given_refits
    found = jackknife_tally_of(y, predictions).errors(by_all)
    loo = np.mean([predictions[i][i] != y[i] for i in range(len(y))])
    change = found.apparent - np.mean(np.array(predictions) != y)
    assert found.left_out == pytest.approx(loo, abs=1e-15)
    assert found.value == pytest.approx(loo + change, abs=1e-12)


@given(refits())
def test_where_no_refit_changes_its_mind_all_three_agree(given_refits):
    y, _, by_all = given_refits
    found = jackknife_tally_of(y, [by_all] * len(y)).errors(by_all)
    assert found.value == found.left_out == found.apparent


def test_a_nearest_neighbour_is_judged_as_by_leave_one_out_nearly():
    # Each refit is wrong about at most the example it lacks: everywhere = left_out / n.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    tally = JackknifeTally(y)
    for i in range(60):
        kept = np.arange(60) != i
        tally.add(i, KNeighborsClassifier(1).fit(X[kept], y[kept]).predict(X))
    found = tally.errors(y)
    assert found.left_out > 0.3
    assert found.value == pytest.approx(found.left_out * 59 / 60, abs=1e-12)


def test_the_interval_is_exact_at_n_examples():
    y = [0, 0, 1, 1]
    predictions = [[1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 1]]
    estimate = jackknife_tally_of(y, predictions).errors([0, 0, 1, 0]).as_estimate(0.9)
    x = 4 * 7 / 16
    assert estimate.interval.low == pytest.approx(beta.ppf(0.05, x, 5 - x), rel=1e-9)
    assert estimate.interval.high == pytest.approx(beta.ppf(0.95, x + 1, 4 - x), rel=1e-9)
    assert (estimate.measure, estimate.method, estimate.n) == ("error_rate", "jackknife", 4)
    assert estimate.target == "the learner at this sample size"
    # Errors of the refits on their own three: 1/3, 0, 1/3, 1/3; (3/4) · (3/144 + 9/144) = 1/16.
    assert "bias of the apparent error 0.1875, jackknife variance 0.0625" in estimate.notes[0]


def test_a_value_outside_the_range_is_told_and_its_interval_is_not():
    # Every refit is wrong about all others and right about its own: 0 + 0 − 2/4
    found = jackknife_tally_of([0, 0], [[0, 1], [1, 0]]).errors([0, 0])
    assert found.value == -0.5
    assert found.as_estimate().interval.low == 0.0


def test_a_jackknife_with_a_refit_missing_is_refused():
    tally = JackknifeTally([0, 1])
    tally.add(0, [0, 1])
    with pytest.raises(InputError, match="must come after all 2 refits; got 1"):
        tally.errors([0, 1])
