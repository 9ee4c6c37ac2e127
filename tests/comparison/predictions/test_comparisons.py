import json

import numpy as np
import pytest
from click.testing import CliRunner

import truerisk as tr
from studies.audit.ledger import read_ledger
from studies.audit.slices import SliceShare
from truerisk.cli import main
from truerisk.comparison.predictions.compare import MEASURED, compare
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.results import has_code

N = 1500

TRUTH = [1, 1, 1, 0, 0, 0] * 5

FIRST = [1, 1, 0, 0, 1, 0] * 5

SECOND = [1, 1, 1, 0, 0, 0] * 5

THIRD = [0, 1, 1, 0, 0, 0] * 5


@pytest.fixture(scope="module")
def two():
    return compare(TRUTH, FIRST, SECOND, names=["<a>", "b"])


@pytest.fixture(scope="module")
def three():
    return compare(TRUTH, FIRST, SECOND, THIRD, names=["a", "b", "c"], measures=["f1", "recall"])


def test_two_models_are_looked_up_by_measure_and_more_by_names_too(two, three):
    assert two["f1"] is two["f1", "<a>", "b"]
    assert list(three) == [
        (measure, *pair)
        for measure in ("f1", "recall")
        for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    for key in ("f1", ("f1", "b", "a"), ("accuracy", "a", "b")):
        with pytest.raises(KeyError):
            _ = three[key]


def test_what_is_found_cannot_be_changed(two):
    with pytest.raises(TypeError):
        two.adjusted["x"] = 0.0
    with pytest.raises(AttributeError):
        two.names = ()


def test_plain_values_are_ready_for_json(two, three):
    for result in (two, three):
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert plain["names"] == list(result.names)
        assert len(plain["pairs"]) == len(result)
        assert plain["pairs"][0]["measure"] == next(iter(result.pairs)).measure
    adjusted = [pair.get("adjusted_p_value") for pair in three.to_dict()["pairs"]]
    assert adjusted == [*three.adjusted.values(), None, None, None]


def test_the_main_measure_is_the_first_requested_or_the_error_rate(two, three):
    assert two.measure == "error_rate"
    assert three.measure == "f1"
    assert two.measures[0] == "error_rate"


def test_text_tells_the_verdict_first(two):
    lines = str(two).splitlines()
    assert lines[0] == two.verdict[0]
    assert len(lines) == len(two.verdict) + len(two)


def test_html_shows_names_as_texts(two):
    page = two._repr_html_()
    assert "<a>" not in page
    assert "&lt;a&gt;" in page


def test_an_undefined_difference_is_listed():
    result = compare([0, 0, 0], [0, 0, 1], [0, 0, 0])
    assert "recall" in result.undefined
    assert "undefined" in result["recall"].verdict


LABELS = [1] * 40 + [0] * 60

WORSE = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10

BETTER = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6


def test_the_main_finding_comes_first_in_words():
    result = compare(LABELS, WORSE, BETTER, names=["a", "b"], measures=["error_rate"])
    assert result.verdict == (
        "b is better than a: its error rate is lower by 0.120 [0.070, 0.198].",
    )


def test_measures_with_another_finding_are_named():
    turned = [1] * 40 + [0] * 40 + [1] * 20
    result = compare(
        LABELS,
        WORSE,
        turned,
        names=["a", "b"],
        measures=["error_rate", "recall"],
    )
    assert result.verdict[0].startswith("No evidence either way")
    assert "b is better than a by recall" in result.verdict[1]


def test_of_several_models_only_those_told_apart_over_all_pairs_are_named():
    result = compare(
        LABELS,
        WORSE,
        BETTER,
        LABELS,
        names=["a", "b", "c"],
        measures=["error_rate"],
    )
    assert "are not all equally often right" in result.verdict[0]
    assert "b is better than a, c is better than a, c is better than b" in result.verdict[1]
    assert "The best of the 3 here is c" in result.verdict[2]


def test_several_models_that_cannot_be_told_apart_are_said_to_be_that():
    rng = np.random.default_rng(2)
    truth = rng.random(60) < 0.5
    called = [np.where(rng.random(60) < 0.7, truth, ~truth) for _ in range(3)]
    result = compare(truth, *called, measures=["f1"])
    assert "may all be equally good" in result.verdict[0]
    assert "no model is shown to be better" in result.verdict[1]


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    region = rng.choice(["east", "north", "south"], N)
    first = np.where(rng.random(N) < 0.8, truth, 1 - truth)
    right = np.where(region == "north", 0.6, 0.9)
    second = np.where(rng.random(N) < right, truth, 1 - truth)
    return truth, first, second, region


def test_a_slice_is_the_comparison_of_its_rows(drawn):
    truth, first, second, region = drawn
    result = tr.compare(truth, first, second, by={"region": region}, measures=["error_rate"])
    raw = []
    for one in result.slices:
        inside = region == one.slice.removeprefix("region=")
        alone = tr.compare(truth[inside], first[inside], second[inside], measures=["error_rate"])
        assert one.comparison.p_value == pytest.approx(alone["error_rate"].p_value)
        assert one.n == inside.sum()
        raw.append(one.comparison.p_value)
    assert [one.adjusted for one in result.slices] == pytest.approx(holm(raw))
    assert [one.listed for one in result.slices] == pytest.approx(benjamini_hochberg(raw))
    found = {one.slice: one.finding for one in result.slices}
    assert found == {"region=east": "better", "region=north": "worse", "region=south": "better"}
    assert has_code(result.verdict, "slice_worse")
    assert "In region=north second is worse than first by error rate: +0.2" in " ".join(
        result.verdict
    )


def test_simpsons_reversal_is_named():
    # Within a slice the first ranks better; the second knows the slice, and the slice the class.
    rng = np.random.default_rng(1)
    truth = np.repeat([1, 0, 1, 0], [300, 100, 100, 300])
    side = np.repeat(["u", "v"], 400)
    first = truth + rng.normal(size=800)
    second = 0.5 * truth + rng.normal(size=800) + 3 * (side == "u")
    options = {"first_score": first, "second_score": second, "measures": ["roc_auc"]}
    result = tr.compare(truth, None, None, **options, by=side)
    assert result["roc_auc"].difference.value > 0
    assert all(one.comparison.difference.value < 0 for one in result.slices)
    assert has_code(result.verdict, "simpson")
    words = " ".join(result.verdict)
    assert "second is better than first over all examples (+0." in words
    assert "worse in every slice by by" in words
    mixed = tr.compare(truth, None, None, **options, by=rng.choice(["u", "v"], 800))
    assert not has_code(mixed.verdict, "simpson")


def test_a_share_of_all_is_never_reversed(drawn):
    truth, first, second, region = drawn
    result = tr.compare(truth, first, second, by=region)
    assert not has_code(result.verdict, "simpson")


@pytest.mark.parametrize(
    "options",
    [
        {"groups": np.arange(N) // 5},
        {"sample_weight": np.r_[np.ones(N - 500), 2 * np.ones(500)]},
        {"names": ["a", "b"]},
    ],
    ids=str,
)
def test_with_options(drawn, options):
    truth, first, second, region = drawn
    result = tr.compare(truth, first, second, by=region, **options)
    assert {one.finding for one in result.slices} >= {"better", "worse"}


def test_several_models_and_classes_missing_in_a_slice():
    rng = np.random.default_rng(2)
    truth = rng.choice(list("abc"), 400)
    models = [np.where(rng.random(400) < p, truth, "a") for p in (0.5, 0.7, 0.9)]
    side = np.where(truth == "c", "v", rng.choice(["u", "v"], 400))
    result = tr.compare(truth, *models, by=side)
    pairs = {one.comparison.names for one in result.slices}
    assert len(pairs) == 3
    assert {one.slice for one in result.slices} == {"by=u", "by=v"}


def test_files_rows_json_and_page(drawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, first, second, region = drawn
    for name, called in (("old", first), ("new", second)):
        head = "id,y_true,y_pred" + (",region" if name == "old" else "")
        lines = [head]
        for at in range(N)[:: 1 if name == "old" else -1]:
            end = f",{region[at]}" if name == "old" else ""
            lines.append(f"{at},{truth[at]},{called[at]}{end}")
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    result = tr.compare_files(["old.csv", "new.csv"], by="region")
    expected = tr.compare(truth, first, second, by={"region": region})
    for one, other in zip(result.slices, expected.slices, strict=True):
        assert one.adjusted == pytest.approx(other.adjusted)
    rows = result.to_rows()
    assert all(list(row) == list(rows[0]) for row in rows)
    assert "region=north/new/old/error_rate" in result.to_metrics()
    run = CliRunner().invoke(
        main, ["compare", "old.csv", "new.csv", "--by", "region", "--html", "page.html"]
    )
    assert run.exit_code == 0, run.output
    assert "region=north" in run.output
    assert "Where is it better, where worse?" in (tmp_path / "page.html").read_text()
    plain = CliRunner().invoke(main, ["compare", "old.csv", "new.csv", "--by", "region", "--json"])
    assert json.loads(plain.output)["slices"][0]["slice"] == "region=east"


def test_what_is_quoted_is_what_was_measured(drawn):
    rows = [row for row in read_ledger(SliceShare, "slices") if row.design.startswith("two models")]
    shares = [row.worse for row in rows if np.isnan(row.named)]
    quoted = f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %"
    assert quoted in MEASURED
    truth, first, second, region = drawn
    result = tr.compare(truth, first, second, by={"region": region}, measures=["error_rate"])
    notes = result.notes
    assert any(quoted in note for note in notes if has_code([note], "slices_measured"))
