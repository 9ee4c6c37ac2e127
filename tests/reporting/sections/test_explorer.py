import io
import json
import re
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import truerisk as tr
from truerisk.evaluation import evaluate
from truerisk.evaluation.best_threshold import choose_threshold
from truerisk.measures import registry
from truerisk.measures.registry import LIVE
from truerisk.measures.thresholds import Sweep, mean_cost, optimal_threshold, sweep
from truerisk.reporting.render.formats import formatted
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.sections.explorer import MAX_THRESHOLDS, explorer_rows, explorer_section
from truerisk.tallies.cells import BinaryCounts, Proportion
from truerisk.tallies.ranking import rank

TRUTH = ["no", "yes", "no", "yes", "yes"]
SCORE = [0.1, 0.4, 0.35, 0.8, 0.3]


def section_of(truth=TRUTH, score=SCORE, predicted=None, **options):
    listed = {"pos_label": "yes", "replicates": 100} | options
    return explorer_section(evaluate(truth, predicted, y_score=score, **listed))


def numbers_of(section):
    return json.loads(section.data["json"])


def test_a_few_scores_are_all_kept_with_their_counts():
    numbers = numbers_of(section_of(threshold=0.35))
    assert numbers["threshold"] == ["Infinity", 0.8, 0.4, 0.35, 0.3, 0.1]
    assert numbers["tp"] == [0, 1, 2, 2, 3, 3]
    assert numbers["fp"] == [0, 0, 0, 1, 1, 2]
    assert (numbers["positives"], numbers["negatives"]) == (3, 2)
    # F1 at the five scores: 2/4, 4/5, 4/6, 6/7, 6/8; three are found, as many as there are, at 0.35
    assert numbers["marks"] == {"C": None, "F": 4, "B": 3, "E": 3}
    assert numbers["start"] == 0.35


def test_it_starts_where_the_predictions_were_made():
    predicted = ["no", "yes", "no", "yes", "no"]
    section = section_of(predicted=predicted)
    assert numbers_of(section)["start"] == 0.4
    assert section.data["marks"][-1]["explained"] == "the counts of the predicted labels"
    other = section_of(predicted=["yes", "yes", "no", "no", "no"])  # no threshold makes these
    assert [mark["words"] for mark in other.data["marks"]] == ["Cheapest", "Best F1", "Breakeven"]


@pytest.mark.parametrize(
    ("truth", "options"),
    [
        (["a", "b", "c", "a", "b"], {"pos_label": "a"}),
        (["yes"] * 5, {"pos_label": "yes"}),
    ],
    ids=["three classes", "one class"],
)
def test_there_is_none_unless_there_are_two_classes(truth, options):
    assert section_of(truth, SCORE, **options) is None


def test_there_is_none_without_scores():
    assert explorer_section(evaluate(TRUTH, TRUTH, pos_label="yes")) is None


def test_the_marks_of_many_scores_are_exact():
    rng = np.random.default_rng(3)
    truth = rng.random(5000) < 0.3
    score = rng.normal(size=5000) + truth
    section = section_of(np.where(truth, "yes", "no"), score)
    numbers, ranking = numbers_of(section), rank(score, truth)
    marked = {key: row and numbers["threshold"][row] for key, row in numbers["marks"].items()}
    best = optimal_threshold(ranking)
    assert marked["F"] == best.at
    assert marked["B"] == ranking.summary.breakeven.threshold
    row = numbers["marks"]["F"]
    assert (numbers["tp"][row], numbers["fp"][row]) == (best.tp, best.fp)
    assert len(section.data["json"]) < 60_000
    assert "steps, with exact counts at each" in section.data["steps"]
    (promise,) = choose_threshold(ranking, guarantee={"recall": 0.95}).guarantees
    assert marked["G"] == promise.highest


def test_recall_is_guaranteed_where_the_examples_suffice_and_are_independent():
    rng = np.random.default_rng(3)
    truth = np.where(np.arange(100) < 60, "yes", "no")  # 59 positives are enough
    score = rng.random(100)
    (mark,) = (mark for mark in section_of(truth, score).data["marks"] if mark["letter"] == "G")
    assert mark["words"] == "Recall of at least 95 %"
    assert mark["explained"] == "on new examples, too, with 95 % confidence"
    groups = np.arange(100) // 2
    letters = [
        [mark["letter"] for mark in section.data["marks"]]
        for section in (section_of(truth[3:], score[3:]), section_of(truth, score, groups=groups))
    ]
    assert not any("G" in some for some in letters)


def test_costs_are_those_asked_for_however_they_were_given():
    by_outcome = numbers_of(section_of(threshold=0.35, costs={"fp": 1, "fn": 5}))
    by_pair = numbers_of(section_of(threshold=0.35, costs={("no", "yes"): 1, ("yes", "no"): 5}))
    assert by_outcome["costs"] == {"tp": 0, "fp": 1, "fn": 5, "tn": 0} == by_pair["costs"]
    assert numbers_of(section_of())["costs"] == {"tp": 0, "fp": 1, "fn": 1, "tn": 0}
    assert by_outcome["cost_order"] == ["tn", "fp", "fn", "tp"]
    other = numbers_of(section_of(pos_label="no"))
    assert other["cost_order"] == ["tp", "fn", "fp", "tn"]


def test_the_measures_are_those_of_an_evaluation_and_in_its_order():
    evaluation = evaluate(
        TRUTH,
        ["no", "yes", "?", "yes", "no"],
        pos_label="yes",
        y_score=SCORE,
        reject="?",
        betas=(2.0, 0.5),
        costs={"fp": 1},
        replicates=100,
    )
    names = [measure["name"] for measure in numbers_of(explorer_section(evaluation))["measures"]]
    assert names == list(evaluation)[: len(names)]
    assert {"rejection_rate", "cost", "f2", "e0.5"} <= set(names)


def test_infinite_scores_and_one_score_have_thresholds_too():
    numbers = numbers_of(section_of(score=[np.inf, 0.4, -np.inf, np.inf, 0.3], allow_inf=True))
    assert numbers["threshold"] == ["Infinity", 0.4, 0.3, "-Infinity"]
    assert numbers["tp"] == [1, 2, 3, 3]
    assert numbers["band_step"] > 0
    constant = numbers_of(section_of(score=[2.0] * 5))
    assert constant["threshold"] == ["Infinity", 2.0]
    assert constant["band_step"] > 0


@pytest.mark.parametrize("scale", [1e-300, 1.0, 3e307])
def test_the_step_of_the_band_fits_the_scores(scale):
    numbers = numbers_of(section_of(score=(np.array(SCORE) * 5 * scale).tolist()))
    assert 40 <= 3.5 * scale / numbers["band_step"] <= 100


def test_names_of_others_stay_texts():
    nasty = "</script><b>&"
    section = section_of([nasty, "no", nasty, "no", nasty], pos_label=nasty)
    assert "<" not in section.data["json"]
    assert numbers_of(section)["positive"] == nasty


def test_weights_groups_and_refits_say_why_there_is_no_interval():
    weighted = section_of(threshold=0.35, sample_weight=[1, 2, 1, 1, 1])
    grouped = section_of(groups=[0, 0, 1, 1, 2])  # no predicted labels: the scores tell
    assert weighted.data["intervals"].startswith("The examples are weighted:")
    assert grouped.data["intervals"].startswith("The examples come in groups:")
    assert not numbers_of(weighted)["has_intervals"]
    assert "95 % intervals" in section_of().data["intervals"]


def test_what_was_evaluated_is_exact_among_any_number_of_scores():
    rng = np.random.default_rng(7)
    truth = rng.random(100_000) < 0.3
    score = rng.normal(size=100_000) + truth
    numbers = numbers_of(
        explorer_section(evaluate(truth, y_score=score, threshold=0.47, measures=["recall"]))
    )
    at = numbers["marks"]["E"]
    assert numbers["threshold"][at] == numbers["start"] == 0.47
    assert numbers["tp"][at] == np.count_nonzero(truth & (score >= 0.47))
    assert numbers["fp"][at] == np.count_nonzero(~truth & (score >= 0.47))


def test_above_an_infinite_score_there_is_no_step():
    section = section_of(score=[1.0, np.inf, 2.0, 3.0, 4.0], allow_inf=True)
    assert section.data["steps"] == "5 steps: every distinct score."


def long_ranking(seed=0, n=6000):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    return rank(rng.normal(size=n) + 1.5 * truth, truth)


@given(
    seed=st.integers(0, 50),
    costs=st.tuples(*[st.integers(-9, 9)] * 4),
    rows=st.lists(st.integers(0, 6000), max_size=4),
)
@settings(max_examples=15, deadline=None)
def test_of_many_scores_a_thousand_are_kept_and_the_cheapest_is_always_among_them(
    seed, costs, rows
):
    table = sweep(long_ranking(seed))
    remaining = explorer_rows(table, rows)
    assert len(remaining) <= MAX_THRESHOLDS
    assert {0, len(table) - 1, *rows} <= set(remaining.tolist())
    assert (np.diff(remaining) > 0).all()
    cost = mean_cost(table, dict(zip(("tp", "fp", "fn", "tn"), costs, strict=True)))
    assert cost[remaining].min() == pytest.approx(cost.min(), abs=1e-12)


def test_what_lies_between_two_kept_thresholds_is_little():
    table = sweep(long_ranking())
    remaining = explorer_rows(table, [])
    assert len(remaining) > 0.9 * MAX_THRESHOLDS
    for result in (table.tp, table.fp):
        assert np.diff(result[remaining]).max() <= max(1, 0.004 * result[-1])


def test_a_hull_of_too_many_corners_is_thinned():
    # Each step of a convex curve is flatter than the one before: every point is a corner.
    steps = np.arange(1, 1501)
    fp, tp = np.cumsum(steps), np.cumsum(steps[::-1])
    table = Sweep(
        -np.arange(len(fp) + 1.0),
        np.concatenate([[0], tp]),
        np.concatenate([[0], fp]),
        tp[-1] - np.concatenate([[0], tp]),
        fp[-1] - np.concatenate([[0], fp]),
    )
    remaining = explorer_rows(table, [77])
    assert len(remaining) <= MAX_THRESHOLDS
    assert {0, 77, 1500} <= set(remaining.tolist())


def test_the_page_holds_the_formula_of_every_live_measure_and_of_no_other():
    script = files("truerisk.reporting").joinpath("templates/interval_numbers.js").read_text()
    body = script[script.index("const SHARES = {") : script.index("const OUTCOMES")]
    assert set(re.findall(r"^    (\w+): \(c", body, re.MULTILINE)) == LIVE


@pytest.fixture
def added(monkeypatch):
    """Add a measure as a user of the registry would: a formula and its line."""
    monkeypatch.setattr(registry, "MEASURES", dict(registry.MEASURES))

    @registry.measure(title="Share called positive", higher_is_better=None, undefined="no example")
    def share_called(counts: BinaryCounts) -> Proportion:
        """Share of the examples which are called positive."""
        return Proportion(counts.tp + counts.fp, counts.tp + counts.fp + counts.fn + counts.tn)


@pytest.mark.usefixtures("added")
def test_a_measure_that_is_added_is_everywhere_and_named_below_the_explorer(tmp_path):
    truth, score = [0, 1] * 20, np.linspace(0, 1, 40)
    result = tr.evaluate(truth, y_score=score, threshold=0.5, random_state=1)
    assert result["share_called"].value == 0.5
    assert result.to_dict()["estimates"]["share_called"]["value"] == 0.5
    assert "share_called,," in formatted(result, "csv")
    assert "Share called positive" in formatted(result, "markdown")
    terminal = io.StringIO()
    print_result(result, Console(file=terminal, width=100, markup=False))
    assert "Share called positive" in terminal.getvalue()
    data = explorer_section(result).data
    assert "share_called" not in {one["name"] for one in data["measures"]}
    assert data["left_out"] == "Share called positive"
    page = result.report().save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "for want of a formula on this page: Share called positive." in page
    assert page.count("Share called positive") >= 2
