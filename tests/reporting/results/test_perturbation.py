from dataclasses import replace

import numpy as np
import pytest

from truerisk import LinearSVM, perturbation
from truerisk.reporting.page import chapter_of, report_of
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.results.perturbation import perturbed_chapter
from truerisk.results import Estimate, Interval


@pytest.fixture(scope="module")
def examples():
    y = np.repeat([0, 1], 40)
    return np.random.default_rng(0).normal(size=(80, 2)) + 0.9 * y[:, None], y


@pytest.fixture(scope="module")
def found(examples):
    return perturbation(
        LinearSVM(), *examples, replicates=200, interval="percentile", random_state=1
    )


def test_the_bars_stand_where_the_error_may_lie(found):
    section = perturbed_chapter(found).sections[0]
    band, bars, upright = svg_of(section.data["charts"][0])["shapes"]
    assert (band["kind"], upright["words"]) == ("band", perturbed_chapter(found).tiles[0].value)
    # By its own form, 95 % of the replicates lie within the interval.
    inside = found.value - np.asarray(found.replicates)
    share = np.mean((inside >= found.interval.low) & (inside <= found.interval.high))
    assert share == pytest.approx(0.95, abs=0.011)
    assert len(bars["boxes"]) > 3


def test_a_deviation_of_the_value_upwards_puts_the_truth_below_it(found):
    above = replace(found, replicates=tuple(np.linspace(0.001, 0.05, 60).tolist()))
    _, bars, upright = svg_of(perturbed_chapter(above).sections[0].data["charts"][0])["shapes"]
    ends = [float(box["x"]) + float(box["width"]) for box in bars["boxes"]]
    assert max(ends) < float(upright["x"])


def test_every_form_is_listed_and_the_chosen_one_marked(found):
    forest = perturbed_chapter(found).sections[1]
    rows = {row["title"]: row["summary"] for row in forest.data["groups"][0]["rows"]}
    assert rows["Perturbation: percentile"] == "the interval of this page"
    assert rows["Perturbation: normal"] == rows["Exact binomial"] == ""


def test_rivals_stand_beside_with_their_notes(found):
    rival = Estimate(
        value=0.3, interval=None, measure="error_rate", method="bound", n=80, notes=("Loose.",)
    )
    chapter = perturbed_chapter(found, rivals={"vc_bound": rival})
    assert chapter.sections[1].data["groups"][0]["rows"][-1]["title"] == "VC bound"
    assert chapter.notes[-1] == "VC bound: Loose."
    assert "VC bound" in report_of(found, rivals={"vc_bound": rival}).html


def test_the_training_error_is_told_beside(found):
    tile = perturbed_chapter(found).tiles[1]
    assert tile.value == f"{found.training_error:.3f}"
    assert tile.note == "on the examples it was trained on"


def test_every_interval_on_the_page_is_told_what_was_measured_of_it(found):
    ends = Interval(0.1, 0.4, 0.95, "agreement_binomial")
    agreed = Estimate(value=0.2, interval=ends, measure="error_rate", method="agreement", n=60)
    bound = replace(agreed, interval=replace(ends, method="vc_bound"), method="vc_bound")
    chapter = chapter_of(found, rivals={"agreement": agreed, "vc_bound": bound})
    [promises] = [part for part in chapter.sections if part.title.startswith("Does each")]
    told = {row["name"]: row["words"] for row in promises.data["rows"]}
    assert set(told) == {
        "perturbation effective size", "perturbation percentile", "perturbation normal",
        "perturbation plug in",
        "clopper pearson", "agreement binomial", "vc bound",
    }  # fmt: skip
    assert "covered" in told["agreement binomial"]
    assert "not measured" in told["vc bound"]
