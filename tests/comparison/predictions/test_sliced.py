import json

import numpy as np
import pytest
from click.testing import CliRunner

import truerisk as tr
from studies.audit.ledger import read_ledger
from studies.audit.slices import SliceShare
from truerisk.cli import main
from truerisk.comparison.predictions.sliced import MEASURED
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.results import has_code

N = 1500


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
