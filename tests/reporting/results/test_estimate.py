import math
from dataclasses import replace

import numpy as np
import pytest

from truerisk import LinearSVM, perturbation
from truerisk.reporting.page import chapter_of, report_of
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.results.estimate import EstimatePresenter, PerturbationPresenter, histogram
from truerisk.results import Estimate, Interval, Resampled


@pytest.fixture
def resampled():
    """Give an error rate with its interval."""
    return Resampled(
        value=0.15,
        interval=Interval(0.1, 0.21, 0.9, "corrected_t"),
        measure="error_rate",
        method="cross_validation",
        n=200,
        replicates=(0.14, 0.16, 0.15),
        notes=("Three folds.",),
    )


def test_the_number_is_told_in_words_and_in_a_tile(resampled):
    chapter = EstimatePresenter().chapter(resampled)
    assert chapter.verdict == ("Error rate: 0.150; with 90 % confidence between 0.100 and 0.210.",)
    assert (chapter.tiles[0].value, chapter.tiles[0].interval) == ("0.150", "[0.100, 0.210]")
    assert chapter.notes == ("Three folds.",)


def test_few_refits_are_drawn_one_by_one(resampled):
    (section,) = EstimatePresenter().chapter(resampled).sections
    chart = svg_of(section.data["charts"][0])
    assert [shape["kind"] for shape in chart["shapes"]] == ["band", "line", "dots"]
    assert chart["caption"] == "3 refits, standard deviation 0.010."
    assert chart["description"].startswith("3 values from 0.140 to 0.160")


def test_many_refits_are_counted_in_bars(resampled):
    values = tuple(np.random.default_rng(0).normal(0.15, 0.02, 400).tolist())
    (section,) = EstimatePresenter().chapter(replace(resampled, replicates=values)).sections
    chart = svg_of(section.data["charts"][0])
    assert [shape["kind"] for shape in chart["shapes"]] == ["band", "bars", "upright"]


def test_bars_count_every_value_once(resampled):
    values = [0.1] * 3 + [0.2] * 5
    shape = histogram("t", resampled, values).shapes[1]
    assert int(np.sum(shape.heights)) == 8
    assert shape.edges[0] == pytest.approx(0.1)
    assert shape.edges[-1] == pytest.approx(0.2)


def test_outliers_do_not_make_hairs_of_the_bars(resampled):
    values = [*np.linspace(0.14, 0.16, 500).tolist(), 40.0]
    assert len(histogram("t", resampled, values).shapes[1].heights) <= 40


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": math.nan}, "Error rate is undefined on these examples."),
        ({"interval": None}, "Error rate: 0.150. There is no interval, so nobody knows how sure"),
    ],
)
def test_what_is_not_known_is_said(resampled, changes, words):
    assert EstimatePresenter().chapter(replace(resampled, **changes)).verdict[0].startswith(words)


def test_a_plain_estimate_has_a_page():
    one = Estimate(value=0.2, interval=None, measure="my<own>", method="holdout", n=10)
    page = report_of(one).html
    assert "my&lt;own&gt;" in page
    assert "<own>" not in page


@pytest.fixture(scope="module")
def examples():
    y = np.repeat([0, 1], 40)
    return np.random.default_rng(0).normal(size=(80, 2)) + 0.9 * y[:, None], y


@pytest.fixture(scope="module")
def perturbed(examples):
    return perturbation(
        LinearSVM(), *examples, replicates=200, interval="percentile", random_state=1
    )


def test_the_bars_stand_where_the_error_may_lie(perturbed):
    chapter = PerturbationPresenter().chapter(perturbed)
    section = chapter.sections[0]
    band, bars, upright = svg_of(section.data["charts"][0])["shapes"]
    assert (band["kind"], upright["words"]) == (
        "band",
        PerturbationPresenter().chapter(perturbed).tiles[0].value,
    )
    # By its own form, 95 % of the replicates lie within the interval.
    inside = perturbed.value - np.asarray(perturbed.replicates)
    share = np.mean((inside >= perturbed.interval.low) & (inside <= perturbed.interval.high))
    assert share == pytest.approx(0.95, abs=0.011)
    assert len(bars["boxes"]) > 3


def test_a_deviation_of_the_value_upwards_puts_the_truth_below_it(perturbed):
    above = replace(perturbed, replicates=tuple(np.linspace(0.001, 0.05, 60).tolist()))
    _, bars, upright = svg_of(PerturbationPresenter().chapter(above).sections[0].data["charts"][0])[
        "shapes"
    ]
    ends = [float(box["x"]) + float(box["width"]) for box in bars["boxes"]]
    assert max(ends) < float(upright["x"])


def test_every_form_is_listed_and_the_chosen_one_marked(perturbed):
    forest = PerturbationPresenter().chapter(perturbed).sections[1]
    rows = {row["title"]: row["summary"] for row in forest.data["groups"][0]["rows"]}
    assert rows["Perturbation: percentile"] == "the interval of this page"
    assert rows["Perturbation: normal"] == rows["Exact binomial"] == ""


def test_rivals_stand_beside_with_their_notes(perturbed):
    rival = Estimate(
        value=0.3, interval=None, measure="error_rate", method="bound", n=80, notes=("Loose.",)
    )
    chapter = PerturbationPresenter(rivals={"vc_bound": rival}).chapter(perturbed)
    assert chapter.sections[1].data["groups"][0]["rows"][-1]["title"] == "VC bound"
    assert chapter.notes[-1] == "VC bound: Loose."
    assert "VC bound" in report_of(perturbed, rivals={"vc_bound": rival}).html


def test_the_training_error_is_told_beside(perturbed):
    tile = PerturbationPresenter().chapter(perturbed).tiles[1]
    assert tile.value == f"{perturbed.training_error:.3f}"
    assert tile.note == "on the examples it was trained on"


def test_every_interval_on_the_page_is_told_what_was_measured_of_it(perturbed):
    ends = Interval(0.1, 0.4, 0.95, "agreement_binomial")
    agreed = Estimate(value=0.2, interval=ends, measure="error_rate", method="agreement", n=60)
    bound = replace(agreed, interval=replace(ends, method="vc_bound"), method="vc_bound")
    chapter = chapter_of(perturbed, rivals={"agreement": agreed, "vc_bound": bound})
    [promises] = [part for part in chapter.sections if part.title.startswith("Does each")]
    words = {row["name"]: row["words"] for row in promises.data["rows"]}
    assert set(words) == {
        "perturbation effective size", "perturbation percentile", "perturbation normal",
        "perturbation plug in",
        "clopper pearson", "agreement binomial", "vc bound",
    }  # fmt: skip
    assert "covered" in words["agreement binomial"]
    assert "not measured" in words["vc bound"]


def test_a_report_without_rivals_has_a_page(perturbed):
    assert "In training" in perturbed.report().html
