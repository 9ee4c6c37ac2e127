import math

import numpy as np
import pytest

import truerisk as tr
from truerisk.estimation import audit as module
from truerisk.estimation.audit import AuditedInterval
from truerisk.reporting.results.audit import audit_table
from truerisk.results import Interval, has_code

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(2, size=600)
CALLED = TRUTH ^ (RNG.random(600) < 0.2)


def audited(covered, samples, measure="recall"):
    return AuditedInterval(
        measure=measure,
        label="",
        method="wilson",
        level=0.95,
        target="this model",
        value=0.5,
        covered=covered,
        samples=samples,
        undefined=0,
        width=0.1,
    )


def test_a_proportion_covers_as_often_as_the_binomial_says():
    # 150 wrong of 600: samples of 10 with replacement have Binomial(10, 0.25) errors, and
    # Clopper-Pearson contains 0.25 for 0 to 5 errors (k = 6 begins at 0.2624): P = 0.98027.
    called = TRUTH.copy()
    called[:150] = 1 - called[:150]
    found = tr.audit(
        TRUTH, called, size=10, samples=600, measures=["error_rate"], random_state=0, seconds=None
    )
    one = found["error_rate"]
    assert one.value == 0.25
    assert one.estimate.interval.covers(0.98027)
    assert (one.samples, one.undefined, one.method) == (600, 0, "clopper_pearson")


def test_an_interval_that_is_always_wrong_is_named(monkeypatch):
    monkeypatch.setattr(
        "truerisk.intervals.choose.binomial_interval",
        lambda *_, level, **__: Interval(0.999, 1.0, level, "wrong"),
    )
    found = tr.audit(TRUTH, CALLED, size=50, samples=20, measures=["accuracy"], random_state=0)
    assert found["accuracy"].coverage == 0
    assert found.too_short == (found["accuracy"],)
    assert has_code(found.verdict, "too_short")
    assert "Too short here: the 95 % interval of Accuracy covered 0.0 % of 20 samples" in str(found)


def test_chance_is_no_reason_to_call_an_interval_short():
    # P(X ≤ 92) for Binomial(100, 0.95) is 0.128, P(X ≤ 88) is 0.0043: short, alone and among ten.
    assert not audited(92, 100).falls_short_of(0.95, 1)
    assert audited(88, 100).falls_short_of(0.95, 1)
    assert audited(88, 100).falls_short_of(0.95, 10)
    assert not audited(88, 100).falls_short_of(0.95, 100)


def test_the_sentence_says_size_level_share_and_error():
    found = tr.audit(TRUTH, CALLED, size=50, samples=40, measures=["recall"], random_state=0)
    share, error = 100 * found["recall"].coverage, 100 * found["recall"].error
    assert found.verdict[0] == (
        f"On data like yours, at n = 50, the 95 % interval of Recall covered {share:.1f} % of 40 "
        f"samples (± {error:.1f})."
    )


def test_a_sample_is_the_same_however_many_there_are():
    few, many = (
        tr.audit(TRUTH, CALLED, size=30, samples=n, measures=["f1"], random_state=3)
        for n in (20, 40)
    )
    again = tr.audit(TRUTH, CALLED, size=30, samples=20, measures=["f1"], random_state=3)
    assert few == again
    assert few["f1"].covered <= many["f1"].covered <= few["f1"].covered + 20


def test_time_ends_it_after_twenty_samples(monkeypatch):
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    steps = []
    found = tr.audit(
        TRUTH,
        CALLED,
        size=20,
        samples=1000,
        seconds=50,
        measures=["accuracy"],
        random_state=0,
        progress=lambda *step: steps.append(step),
    )
    assert found.drawn == 20
    assert steps[0] == (1, 200, 1000)
    assert steps[-1] == (20, 1000, 1000)


def test_undefined_samples_count_neither_way():
    truth = np.zeros(400, dtype=int)
    truth[:8] = 1
    found = tr.audit(truth, truth, size=20, samples=200, measures=["recall"], random_state=0)
    one = found["recall"]
    # No positive among 20 with probability 0.98²⁰ = 0.668.
    assert one.undefined == pytest.approx(0.668 * 200, abs=25)
    assert one.samples + one.undefined == found.drawn == 200


def test_classes_have_their_own_intervals_and_rows():
    truth = np.arange(300) % 3
    called = np.where(RNG.random(300) < 0.7, truth, 0)
    found = tr.audit(truth, called, size=60, samples=20, random_state=0)
    assert set(found.by_class) == {"0", "1", "2"}
    rows = found.to_rows()
    assert len(rows) == len(found.all_intervals)
    assert {row["class"] for row in rows} == {"", "0", "1", "2"}
    row = next(row for row in rows if row["measure"] == "accuracy")
    one = found["accuracy"]
    assert (row["size"], row["value"], row["promised"]) == (60, one.coverage, 0.95)
    assert row["low"] <= one.coverage <= row["high"]


def test_groups_are_drawn_whole_and_are_units_of_their_own(monkeypatch):
    groups = np.repeat(np.arange(60), 10)
    seen = []
    monkeypatch.setattr(
        module, "evaluate_coded", lambda one, request: seen.append(one) or plain(one, request)
    )
    tr.audit(TRUTH, CALLED, groups=groups, size=100, samples=20, random_state=0)
    for sample in seen[1:]:
        assert np.bincount(sample.group).tolist() == [10] * 10


plain = module.evaluate_coded


def test_files_are_read_as_score_reads_them(tmp_path):
    path = tmp_path / "predictions.csv"
    rows = "\n".join(f"{a},{b}" for a, b in zip(TRUTH, CALLED, strict=True))
    path.write_text(f"y_true,y_pred\n{rows}\n", encoding="utf-8")
    settings = {"size": 40, "samples": 20, "random_state": 5}
    found = tr.audit_files(path, **settings)
    assert found.source["files"][0].rows == 600
    assert dict(found) == dict(tr.audit(TRUTH, CALLED, **settings))


def test_a_model_is_compared_with_what_it_does_on_the_other_rows():
    X = RNG.normal(size=(400, 2)) + 1.5 * TRUTH[:400, None]
    found = tr.audit_model(
        "logistic_regression",
        X,
        TRUTH[:400],
        size=100,
        samples=20,
        folds=5,
        repeats=2,
        random_state=0,
    )
    assert (found.subject, found.n, found.size) == ("logistic_regression", 400, 100)
    # 2 Φ(1.95996 / √(1 + 100 / 300)) − 1
    assert found.promised == pytest.approx(0.910375, abs=1e-6)
    assert found["error_rate"].coverage > 0.7
    assert found["error_rate"].value == pytest.approx(0.14, abs=0.04)
    assert not math.isnan(found["roc_auc"].coverage)


def test_the_learner_s_value_is_the_mean_over_the_samples():
    X = RNG.normal(size=(300, 1)) + TRUTH[:300, None]
    settings = {"size": 60, "samples": 20, "folds": 5, "repeats": 2, "random_state": 0}
    measures = ["error_rate"]
    one = tr.audit_model("tree", X, TRUTH[:300], measures=measures, **settings)["error_rate"]
    two = tr.audit_model(
        "tree", X, TRUTH[:300], measures=measures, interval="corrected_t", **settings
    )["error_rate"]
    assert (one.target, two.target) == ("this model", "the learner at this sample size")
    assert one.value == two.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 1}, "`size` must lie in"),
        ({"samples": 5}, "`samples` must lie in"),
        ({"seconds": -1.0}, "`seconds` must lie in"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words):
    with pytest.raises(tr.InputError, match=words):
        tr.audit(TRUTH, CALLED, **options)


def test_a_model_needs_rows_that_it_has_not_seen():
    with pytest.raises(tr.InputError, match="at most half of the 600 rows"):
        tr.audit_model("tree", np.zeros((600, 1)), TRUTH, size=301)


def test_samples_that_cannot_be_evaluated_are_counted():
    X, y = RNG.normal(size=(200, 1)), np.zeros(200, dtype=int)
    y[:12] = 1
    X[:12] += 3
    # Two folds need two of a class: some samples of 40 have fewer.
    found = tr.audit_model(
        "tree", X, y, size=40, samples=40, folds=2, repeats=1, random_state=2, seconds=None
    )
    assert 0 < found.failed < 40
    assert has_code(found.notes, "samples_failed")
    assert found["accuracy"].undefined == found.failed


def test_the_page_and_the_picture_show_the_coverages():
    found = tr.audit(TRUTH, CALLED, size=50, samples=20, random_state=0)
    page = found.report().html
    assert "Do the intervals keep their promise on these data?" in page
    assert "How often each interval covered" in page
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    assert found.plot(axes) is axes


def test_the_table_of_an_audit_names_the_measure():
    options = {"size": 20, "samples": 20, "random_state": 0, "measures": ["accuracy"]}
    found = tr.audit([0, 1] * 50, [0, 1, 1, 1] * 25, **options)
    assert audit_table(found, found.all_intervals).rows[0][0] == "Accuracy"
