"""The explorer shows the very numbers that the library gives at its threshold."""

import math
import time

import numpy as np
import pytest
from scipy.special import ndtri

from truerisk.evaluation import evaluate, evaluate_counts
from truerisk.evaluation.best_threshold import choose_threshold, rejection
from truerisk.intervals.binomial import binomial_bounds, binomial_interval
from truerisk.measures.thresholds import Sweep, optimal_threshold
from truerisk.reporting.document import Chapter
from truerisk.reporting.render.html import rendered
from truerisk.reporting.sections.explorer import explorer_section
from truerisk.reporting.wording import count, written
from truerisk.results import Estimate, Evaluation, number
from truerisk.tallies.ranking import rank

BETAS = (2.0, 0.5)
COSTS = {"tp": -0.5, "fp": 1.0, "fn": 5.0, "tn": 0.1}
QUIET = 0.6  # seconds after which the address is kept

# Sets the address again and again, and each time gives all that the explorer shows.
VISIT = """
const [fragments, done] = arguments;
const panel = document.querySelectorAll(".explorer-panel")[0];
const words = (element) => element.textContent.trim();
function shown() {
  const measures = {};
  for (const line of panel.querySelectorAll("[data-measure]")) {
    if (line.offsetParent === null) continue;  // not to be seen
    measures[line.dataset.measure] =
      [words(line.querySelector(".num")), words(line.querySelector(".interval"))];
  }
  const cells = {};
  for (const cell of panel.querySelectorAll("[data-cell]")) {
    if (cell.offsetParent !== null) cells[cell.dataset.cell] = cell.firstChild.textContent.trim();
  }
  const marks = {};
  for (const button of panel.querySelectorAll("[data-mark]")) {
    const at = words(button.querySelector("output"));
    marks[button.dataset.mark] = at === "∞" ? "inf" : Number(at);
  }
  return {measures, cells, marks, words: words(panel.querySelector(".explorer-words"))};
}
(async () => {
  const all = [];
  for (const fragment of fragments) {
    if (location.hash !== "#" + fragment) {
      const changed = new Promise((done) => addEventListener("hashchange", done, {once: true}));
      location.hash = fragment;
      await changed;
    }
    all.push(shown());
  }
  done(all);
})();
"""


def visit(browser, *states):
    """Give what the explorer shows in each state."""
    fragments = ["&".join(f"{key}={value!r}" for key, value in one.items()) for one in states]
    return browser.execute_async_script(VISIT, fragments)


def page_of(path, *evaluations):
    """Write a page with an explorer for each evaluation."""
    chapters = [
        Chapter(title=f"Model {at}", subtitle="", sections=(explorer_section(one),))
        for at, one in enumerate(evaluations)
    ]
    path.write_text(rendered("Explorer", "", chapters), encoding="utf-8")
    return path


def scored(truth, score, **options):
    """Evaluate scores that are called positive from 0.5 on."""
    truth, score = np.asarray(truth), np.asarray(score, dtype=float)
    called = np.where(score >= 0.5, "yes", "no")
    named = np.where(truth, "yes", "no")
    return evaluate(named, called, y_score=score, pos_label="yes", replicates=100, **options)


def ordinary(n=160, rate=0.4, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < rate
    truth[:2] = True, False
    return truth, (1 / (1 + np.exp(-rng.normal(1.6 * truth - 0.8, 1.0)))).round(2)


SAMPLES = {
    "ordinary": ordinary(),
    "rare": ordinary(400, 0.01, seed=2),
    "perfect": (np.arange(60) < 20, np.where(np.arange(60) < 20, 0.9, 0.1)),
    "one score": (np.arange(50) < 20, np.full(50, 0.5)),
}


def library(truth, score, state):
    """Evaluate the labels that a threshold and a band make of the scores."""
    t, w = state["t"], state.get("w", 0.0)
    # With a band, scores nearer to t than w are called neither.
    called = np.where(np.abs(score - t) < w, "?", np.where(score >= t, "yes", "no"))
    return evaluate(
        np.where(truth, "yes", "no"),
        called,
        pos_label="yes",
        reject="?",
        betas=BETAS,
        costs={name: state.get(name, COSTS[name]) for name in COSTS},
    )


def in_words(evaluation):
    return {name: [written(one).value, written(one).interval] for name, one in evaluation.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_measure_is_what_the_library_gives_at_that_threshold(name, opened, tmp_path):
    truth, score = SAMPLES[name]
    browser = opened(
        page_of(tmp_path / "page.html", scored(truth, score, betas=BETAS, costs=COSTS))
    )
    thresholds = [*np.quantile(score, np.linspace(0, 1, 8)).round(4).tolist(), 0.5, 1.1]
    states = [{"t": t} for t in thresholds]
    states += [{"t": t, "w": 0.07} for t in thresholds[:-1]]
    states += [
        {"t": 0.4, "tp": 1.0, "fp": 2.5, "fn": 0.0, "tn": -1.0},
        {"t": 0.5, "w": 0.2, "fn": 9.0},
    ]
    for state, shown in zip(states, visit(browser, *states), strict=True):
        found = library(truth, score, state)
        expected = in_words(found)
        if set(expected) == {"rejection_rate"}:  # all are rejected: there is nothing to measure
            values = {name: value for name, (value, _) in shown["measures"].items()}
            assert values.pop("rejection_rate") == "1.000"
            assert set(values.values()) == {"undefined"}
            continue
        if state.get("w") and "rejection_rate" not in expected:
            none = binomial_interval(0, len(truth))
            zero = Estimate(
                value=0.0, interval=none, measure="rejection_rate", method="", n=len(truth)
            )
            expected["rejection_rate"] = [written(zero).value, written(zero).interval]
        assert shown["measures"] == expected, state
        (tn, fp), (fn, tp) = found.tallies.confusion()
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        assert {cell: shown["cells"][cell] for cell in counts} == {
            cell: count(one) for cell, one in counts.items()
        }


def test_a_million_examples_are_as_exact(opened, tmp_path):
    tp = np.array([0, 1200, 4300, 9875, 10000])
    fp = np.array([0, 7, 1005, 90003, 990000])
    table = Sweep(np.array([np.inf, 3.0, 2.0, 1.0, -1.0]), tp, fp, tp[-1] - tp, fp[-1] - fp)
    evaluation = Evaluation(
        estimates={},
        n=10**6,
        level=0.99,
        labels=("0", "1"),
        pos_label="1",
        curves={"thresholds": table},
    )
    browser = opened(page_of(tmp_path / "page.html", evaluation))
    states = [{"t": t} for t in (3.0, 2.0, 1.0, -1.0)]
    for row, shown in enumerate(visit(browser, *states), start=1):
        expected = evaluate_counts(
            [[table.tn[row], table.fp[row]], [table.fn[row], table.tp[row]]],
            labels=["0", "1"],
            pos_label="1",
            level=0.99,
            costs={"fp": 1, "fn": 1},
        )
        assert shown["measures"] == in_words(expected)


def test_marks_are_the_best_thresholds_of_the_library(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    browser = opened(page_of(tmp_path / "page.html", scored(truth, score)))
    ranking = rank(score, truth)
    costs = [{"fp": 1.0, "fn": 1.0}, {"fp": 1.0, "fn": 7.0}, {"fp": 9.0, "fn": 1.0, "tp": -2.0}]
    costs.append({"fp": -1.0, "fn": -1.0})  # mistakes that pay: the worst classifier is cheapest
    free = dict.fromkeys(COSTS, 0.0)
    for given, shown in zip(
        costs, visit(browser, *({**free, **one} for one in costs)), strict=True
    ):
        assert float(shown["marks"]["C"]) == optimal_threshold(ranking, by="cost", costs=given).at
        assert shown["marks"]["F"] == ranking.summary.best_f1_threshold
        assert shown["marks"]["B"] == ranking.summary.breakeven.threshold
        assert shown["marks"]["E"] == score[score >= 0.5].min()
        if "G" in shown["marks"]:
            (promise,) = choose_threshold(ranking, guarantee={"recall": 0.95}).guarantees
            assert shown["marks"]["G"] == promise.highest


def test_a_mark_is_gone_to_and_the_address_brings_a_colleague_there(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    path = page_of(tmp_path / "page.html", scored(truth, score))
    browser = opened(path)
    browser.find_element("css selector", '[data-control="fn"]').send_keys("5")  # makes 15 of 1
    browser.find_element("css selector", '[data-mark="C"]').send_keys("\ue007")  # Enter
    browser.find_element("css selector", '[data-control="band"]').send_keys("\ue014\ue014")  # →→
    time.sleep(QUIET)
    fragment = browser.execute_script("return location.hash").removeprefix("#")
    seen = browser.execute_async_script(VISIT, [fragment])
    best = optimal_threshold(rank(score, truth), by="cost", costs={"fp": 1.0, "fn": 15.0}).at
    assert dict(part.split("=") for part in fragment.split("&")) == {
        "t": f"{best:g}", "w": "0.02", "tp": "0", "fp": "1", "fn": "15", "tn": "0",
    }  # fmt: skip
    assert opened(path, fragment=fragment).execute_async_script(VISIT, [fragment]) == seen
    assert "rejection_rate" in seen[0]["measures"]


def test_arrow_keys_go_from_one_score_to_the_next(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    browser = opened(scored(truth, score).report().save(tmp_path / "page.html"))
    slider = browser.find_element("css selector", '[data-control="slider"]')
    field = browser.find_element("css selector", '[data-control="t"]')
    scores = np.unique(score)
    slider.send_keys("\ue011")  # Home
    assert float(field.get_property("value")) == scores[0]
    slider.send_keys("\ue014")  # →
    assert float(field.get_property("value")) == scores[1]
    field.send_keys("\ue013")  # ↑
    assert float(field.get_property("value")) == scores[2]
    assert slider.get_attribute("aria-valuetext").startswith(f"{scores[2]:g}: ")
    slider.send_keys("\ue010")  # End
    assert field.get_property("value") == ""
    time.sleep(QUIET)
    spoken = browser.find_element("css selector", '[role="status"]').get_property("textContent")
    assert spoken.startswith("Nothing is called yes.")
    assert "t=inf&" in browser.execute_script("return location.hash")


def test_nonsense_in_the_address_is_left_out_with_a_hint(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    path = page_of(tmp_path / "page.html", scored(truth, score))
    hint = ("css selector", ".explorer-hint")
    browser = opened(path, fragment="t=abc&w=-1&what=%3Cb%3E&fn=3")
    assert browser.find_element(*hint).text == (
        "Left out of the address, for it means nothing here: t=abc, w=-1, what=<b>."
    )
    fields = {
        name: browser.find_element("css selector", f'[data-control="{name}"]').get_property("value")
        for name in ("t", "w", "fn")
    }
    assert fields == {"t": "0.5", "w": "0", "fn": "3"}
    (before,) = visit(browser, {"t": 0.3})
    assert not browser.find_element(*hint).is_displayed()
    browser.execute_script("location.hash = 'section-1-1'")  # a place on the page says nothing
    time.sleep(0.1)
    assert browser.execute_async_script(VISIT, ["section-1-1"]) == [before]


def test_the_band_rejects_what_the_error_reject_curve_rejects(opened, tmp_path):
    truth = np.arange(90) % 3 == 0
    score = (np.arange(90) * 7 % 9) / 8.0  # exact numbers, and many of them at either end
    browser = opened(page_of(tmp_path / "page.html", scored(truth, score)))
    widths = [0.125, 0.25, 0.2, 0.5, 1e-20]
    curve = rejection(truth, score, threshold=0.5)
    for width, shown in zip(
        widths, visit(browser, *({"t": 0.5, "w": w} for w in widths)), strict=True
    ):
        point = curve.at(width)
        assert shown["cells"]["rejected"] == count(len(score) - point.accepted)
        assert shown["measures"]["error_rate"][0] == number(point.error_rate)


def test_the_way_back_leads_to_where_nothing_was_set(opened, tmp_path):
    path = page_of(tmp_path / "page.html", scored(*SAMPLES["ordinary"]), scored(*SAMPLES["rare"]))
    browser = opened(path)
    words = ("css selector", ".explorer-words")
    before = [one.text for one in browser.find_elements(*words)]
    visit(browser, {"t": 0.3, "fn": 7.0, "2.t": 0.05})
    moved = [one.text for one in browser.find_elements(*words)]
    assert not set(before) & set(moved)
    back = "const [done] = arguments; addEventListener('hashchange', () => done()); history.back()"
    browser.execute_async_script(back)
    assert [one.text for one in browser.find_elements(*words)] == before
    fields = browser.find_elements("css selector", '[data-control="t"]')
    assert [field.get_property("value") for field in fields] == ["0.5", "0.5"]


def test_costs_of_any_size_are_taken_up_to_the_end_of_the_library(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    browser = opened(page_of(tmp_path / "page.html", scored(truth, score)))
    large = {"t": 0.5, "fp": 1e24, "fn": 0.0, "tp": 0.0, "tn": 0.0}
    (shown,) = visit(browser, large)  # "1e+24", where "+" stands for a space
    expected = library(truth, score, large)["cost"]
    assert shown["measures"]["cost"][0] == written(expected).value
    browser.execute_async_script(VISIT, ["fp=1e301&fn=-1e308" + "&a=1" * 50])
    hint = browser.find_element("css selector", ".explorer-hint").text
    assert hint.endswith("here: fp=1e301, fn=-1e308, a=1, a=1, a=1, ….")


def test_the_command_names_the_threshold_to_its_last_digit(opened, tmp_path):
    score = np.array([0.1, 0.12345678901, 0.9])
    weighted = scored([False, True, True], score, sample_weight=[1.0, 2.0, 1.5])
    browser = opened(page_of(tmp_path / "page.html", weighted), fragment="t=0.12")
    command = ("css selector", '[data-shown="command"]')
    assert browser.find_element(*command).text == ("truerisk score FILE --threshold 0.12345678901")
    visit(browser, {"t": 2.0})
    assert browser.find_element(*command).text == "truerisk score FILE --threshold inf"


def test_two_explorers_on_a_page_are_two(opened, tmp_path):
    first, second = SAMPLES["ordinary"], SAMPLES["rare"]
    path = page_of(tmp_path / "page.html", scored(*first), scored(*second))
    browser = opened(path, fragment="t=0.3&2.t=0.7")
    fields = browser.find_elements("css selector", '[data-control="t"]')
    assert [field.get_property("value") for field in fields] == ["0.3", "0.7"]
    browser.find_elements("css selector", '[data-control="band"]')[1].send_keys("\ue014")
    time.sleep(QUIET)
    kept = browser.execute_script("return location.hash")
    assert kept.startswith("#t=0.3&2.t=0.7&2.w=0.0")
    hints = browser.find_elements("css selector", ".explorer-hint")
    assert [hint.get_property("textContent") for hint in hints] == ["", ""]
    matrices = browser.find_elements("css selector", ".matrix [data-cell=all]")
    assert [one.text for one in matrices] == ["160", "400"]


def test_weights_and_groups_get_values_without_intervals_and_are_told_why(opened, tmp_path):
    truth, score = SAMPLES["ordinary"]
    weight = np.random.default_rng(4).uniform(0.5, 2.0, len(truth))
    weighted = scored(truth, score, sample_weight=weight)
    grouped = scored(truth, score, groups=np.arange(len(truth)) // 4)
    browser = opened(page_of(tmp_path / "page.html", weighted, grouped))
    ((shown),) = visit(browser, {"t": 0.5})
    names = set(shown["measures"]) & set(weighted)
    assert {name: shown["measures"][name] for name in names} == {
        name: [number(weighted[name].value), "–"] for name in names
    }
    words = [one.text for one in browser.find_elements("css selector", ".explorer-panel")]
    assert "The examples are weighted:" in words[0]
    assert f" of {count(weight.sum())}. Of " in words[0]
    assert "These are sums of weights, not numbers of examples." in words[0]
    assert "truerisk score FILE --threshold 0.5" in words[0]
    assert " of 160 examples. Of " in words[1]
    assert "The examples come in groups:" in words[1]


def test_exact_intervals_are_those_of_the_library(opened, tmp_path):
    browser = opened(page_of(tmp_path / "page.html", scored(*SAMPLES["perfect"])))
    rng = np.random.default_rng(5)
    sizes = [1, 2, 7, 60, 999, 10**4, 10**6, 10**9]
    pairs = [(k, n) for n in sizes for k in {0, 1, n // 3, n - 1, n, *rng.integers(0, n + 1, 3)}]
    k, n = np.array(pairs).T
    for level in (0.5, 0.95, 0.999999):
        found = browser.execute_script(
            "const [pairs, level, z] = arguments;"
            "return pairs.map(([k, n]) => exactIntervals.clopperPearson(k, n, level, z));",
            np.column_stack([k, n]).tolist(),
            level,
            -float(ndtri((1 - level) / 2)),
        )
        expected = np.column_stack(binomial_bounds(k, n, level=level))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0)


def test_numbers_are_written_as_the_library_writes_them(opened, tmp_path):
    browser = opened(page_of(tmp_path / "page.html", scored(*SAMPLES["perfect"])))
    rng = np.random.default_rng(6)
    # Exactly between two decimals: one language goes up by habit, the other to the even digit.
    halves = [0.0625, 0.1875, 0.3125, -0.0625, 2.0**-14, 3 * 2.0**-15, 1 / 2048]
    plain = [0.0, 1.0, 0.25, 2.5e-7, 9.9996e-5, 1e-4, 1e-300, 1234.5678, *rng.random(40).tolist()]
    cases = [(value, decimals) for value in (*halves, *plain) for decimals in (3, 4, 9, 13, 15)]
    found = browser.execute_script(
        "return arguments[0].map(([value, decimals]) => intervalNumbers.number(value, decimals))",
        cases,
    )
    assert found == [number(value, decimals) for value, decimals in cases]
    ends = browser.execute_script(
        "return [NaN, Infinity, -Infinity].map((value) => intervalNumbers.number(value))"
    )
    assert ends == [number(value) for value in (math.nan, math.inf, -math.inf)]


def test_with_scripts_off_a_sentence_says_so(opened, browser, tmp_path):
    path = page_of(tmp_path / "page.html", scored(*SAMPLES["perfect"]))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        opened(path)
        assert "needs JavaScript" in browser.find_element("css selector", ".explorer-panel").text
        assert not browser.find_element("css selector", ".explorer-body").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_slice_shows_what_the_library_gives_of_it(browser, tmp_path):
    truth, score = ordinary(300)
    side = np.where(np.arange(300) % 3 == 0, "u", "v")
    evaluation = scored(truth, score, by={"side": side})
    page = page_of(tmp_path / "page.html", evaluation)
    browser.get(page.as_uri())
    for at, name in enumerate(("u", "v"), start=1):
        inside = side == name
        states = [{"t": t, "w": w, "s": at} for t in (0.2, 0.51, 0.9) for w in (0.0, 0.1)]
        for state, shown in zip(states, visit(browser, *states), strict=True):
            expected = library(truth[inside], score[inside], state)
            for measure in ("recall", "precision", "accuracy", "f1"):
                words = written(expected[measure])
                assert shown["measures"][measure] == [words.value, words.interval]
            assert shown["cells"]["all"] == count(int(inside.sum()))
            assert f"Only side={name}" in shown["words"]
    whole = visit(browser, {"t": 0.5})[0]
    assert whole["cells"]["all"] == "300"
    assert "Only" not in whole["words"]


def test_the_table_of_slices_leads_to_the_explorer(browser, tmp_path):
    truth, score = ordinary(300)
    side = np.where(np.arange(300) % 3 == 0, "u", "v")
    path = tmp_path / "page.html"
    scored(truth, score, by={"side": side}).report().save(path)
    browser.get(f"{path.as_uri()}#t=0.7")
    chosen = browser.execute_script(
        """
        const link = [...document.querySelectorAll("a[data-slice]")].find(
          (one) => one.textContent === "side=v");
        link.click();
        const panel = document.querySelector(".explorer-panel");
        return [panel.querySelector("select").value,
                panel.querySelector('[data-control="t"]').value,
                panel.querySelector('[data-cell="all"]').textContent];
        """
    )
    assert chosen == ["2", "0.7", "200"]
    sorted_names = browser.execute_script(
        """
        const table = document.querySelector("table.slices");
        const head = [...table.tHead.rows[0].cells].find(
          (one) => one.textContent.startsWith("Examples"));
        head.querySelector("button").click();
        return [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim());
        """
    )
    assert sorted_names == ["All", "side=u", "side=v"]
