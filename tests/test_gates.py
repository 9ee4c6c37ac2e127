import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import truerisk as tr
from truerisk import InputError
from truerisk.gates import GateResult, at_least, at_most, is_better, is_not_worse, read_gates
from truerisk.results import Estimate, Interval


def estimate(value, low, high, n=100, measure="recall"):
    interval = Interval(low, high, 0.95, "clopper_pearson")
    return Estimate(value=value, interval=interval, measure=measure, method="holdout", n=n)


def test_the_end_of_the_interval_counts_and_not_the_value():
    one = estimate(0.8, 0.7, 0.87)
    assert at_least(one, 0.7).is_shown
    assert not at_least(one, 0.71).is_shown
    assert at_most(one, 0.87).is_shown
    assert not at_most(one, 0.86).is_shown


def test_the_distance_to_the_end_falls_as_the_root_of_n():
    # From 0.8 to 0.7 with 100 examples: half of that distance takes 4 times as many.
    assert "About 4.0 times as many examples" in at_least(estimate(0.8, 0.7, 0.87), 0.75).reason


def test_a_value_on_the_wrong_side_needs_another_model_not_more_examples():
    reason = at_least(estimate(0.8, 0.7, 0.87), 0.9).reason
    assert reason.endswith("The value itself, 0.800, does not meet it.")


def test_an_undefined_value_shows_nothing():
    one = estimate(math.nan, 0.0, 1.0)
    assert not at_least(one, 0.0).is_shown
    assert "undefined" in at_least(one, 0.0).reason


def test_without_an_interval_nothing_is_shown():
    one = Estimate(value=0.9, interval=None, measure="recall", method="holdout", n=9)
    assert str(at_least(one, 0.1)) == "recall ≥ 0.1 is not shown: it has no interval."


@given(
    value=st.floats(0.1, 0.9), below=st.floats(0.01, 0.1), above=st.floats(0.01, 0.1),
    bound=st.floats(0, 1),
)  # fmt: skip
def test_both_sides_mirror_each_other(value, below, above, bound):
    right = estimate(value, value - below, value + above)
    wrong = estimate(1 - value, 1 - (value + above), 1 - (value - below))
    gap = abs(bound - (value - below))
    if gap > 1e-9:
        assert at_least(right, bound).is_shown == at_most(wrong, 1 - bound).is_shown


TRUTH = [1] * 60 + [0] * 60
OLD = [1] * 40 + [0] * 20 + [0] * 40 + [1] * 20
NEW = [1] * 57 + [0] * 3 + [0] * 57 + [1] * 3


def test_better_needs_the_finding():
    assert is_better(tr.compare(TRUTH, OLD, NEW)).is_shown
    assert not is_better(tr.compare(TRUTH, NEW, OLD)).is_shown
    assert not is_better(tr.compare(TRUTH, OLD, OLD)).is_shown


def test_not_worse_takes_the_worse_end_in_the_direction_of_the_measure():
    errors = tr.compare(TRUTH, OLD, NEW, measures=["error_rate"])["error_rate"]
    right = tr.compare(TRUTH, OLD, NEW, measures=["accuracy"])["accuracy"]
    assert is_not_worse(errors, 0.0).is_shown
    assert is_not_worse(right, 0.0).is_shown
    back = tr.compare(TRUTH, NEW, OLD, measures=["error_rate"])["error_rate"]
    assert not is_not_worse(back, 0.1).is_shown
    assert is_not_worse(back, 0.9).is_shown


def test_not_worse_is_the_test_of_non_inferiority_where_it_was_made():
    same = tr.compare(TRUTH, OLD, OLD, region=0.03)
    test = next(t for t in same.beside["error_rate", "first", "second"] if "non_inf" in t.method)
    assert is_not_worse(same).is_shown == (test.p_value <= 0.05)
    assert f"p = {test.p_value:.6f}" in is_not_worse(same).reason


def test_not_worse_by_how_much_must_be_said():
    with pytest.raises(tr.InputError, match="`region` must be given: not worse by how much"):
        is_not_worse(tr.compare(TRUTH, OLD, NEW))


ROWS = "id,y_true,y_pred\n" + "".join(
    f"{at},{int(at < 60)},{int(at < 57 or at >= 117)}\n" for at in range(120)
)  # 3 of 60 positives are missed, 3 of 60 negatives are called positive


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "new.csv").write_text(ROWS)
    (tmp_path / "main.csv").write_text(ROWS)
    return tmp_path


def gate(folder, text, name="gate.toml"):
    path = folder / name
    path.write_text(text)
    return read_gates(path)


def test_claims_are_about_the_ends_of_intervals(folder):
    [one] = gate(folder, '[gate]\nfiles="new.csv"\nrecall=">= 0.86"\nerror_rate="<= 0.1"\n')
    result = one.run()
    # Clopper-Pearson for 57 of 60 is [0.861, 0.990], for 6 of 120 [0.019, 0.106].
    assert [check.is_shown for check in result.checks] == [True, False]
    assert not result.passed
    assert result.verdict == "The gate is closed: 1 of 2 claims shown."


def test_a_baseline_is_compared_on_the_same_examples(folder):
    text = '[gate]\nfiles="new.csv"\nnot_worse_than="main.csv"\nregion=0.05\n'
    assert gate(folder, text)[0].run().passed
    text = '[gate]\nfiles="new.csv"\nbetter_than="main.csv"\n'
    assert not gate(folder, text)[0].run().passed


def test_every_slice_must_show_its_bounds(folder):
    # In a 2 of 30 positives are missed, [0.779, 0.992]; in b 12 of 30, [0.406, 0.773].
    rows = ["y_true,y_pred,side"]
    for side, outcome in (("a", 28), ("b", 18)):
        rows += [f"1,{int(at < outcome)},{side}" for at in range(30)] + [f"0,0,{side}"] * 30
    (folder / "sides.csv").write_text("\n".join(rows) + "\n")
    text = '[gate]\nfiles="sides.csv"\n[gate.slices]\nby="side"\n'
    result = gate(folder, text + 'recall=">= 0.5"\n')[0].run()
    assert [(one.claim, one.is_shown) for one in result.checks] == [
        ("recall ≥ 0.5 in side=a", True),
        ("recall ≥ 0.5 in side=b", False),
    ]
    worse = gate(folder, text)[0].run()
    assert [one.claim for one in worse.checks] == ["no slice worse than the rest"]
    assert not worse.passed
    assert "recall is worse in side=b: -0.333333 against the rest" in worse.checks[0].reason
    even = [row.replace(",b", ",a") if at % 2 else row for at, row in enumerate(rows)]
    even = [row.replace(",a", ",b") if at and at % 2 == 0 else row for at, row in enumerate(even)]
    (folder / "even.csv").write_text("\n".join(even) + "\n")
    assert gate(folder, text.replace("sides.csv", "even.csv"))[0].run().passed


def test_pyproject_has_its_own_place(folder):
    text = '[tool.truerisk.gate]\nfiles=["new.csv"]\nrecall=">=0.5"\n'
    assert gate(folder, text, "pyproject.toml")[0].run().passed


def test_an_array_of_tables_is_several_gates(folder):
    one = 'files="new.csv"\nrecall=">=0.5"\n'
    gates = gate(folder, f'[[gate]]\nname="a"\n{one}[[gate]]\nname="b"\n{one}')
    assert [g.run().name for g in gates] == ["a", "b"]


def test_roles_and_reading_options_reach_the_reader(folder):
    (folder / "odd.csv").write_text(ROWS.replace(",", ";").replace("y_true", "Gold"))
    text = '[gate]\nfiles="odd.csv"\ntruth="Gold"\ndelimiter=";"\nlevel=0.9\nrecall=">=0.5"\n'
    [check] = gate(folder, text)[0].run().checks
    assert check.estimate.interval.level == 0.9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('files="new.csv"\nrecal=">=0.5"', "no setting 'recal'. Did you mean 'recall'"),
        ('files="new.csv"\ntreshold=0.5\nrecall=">=0"', "Did you mean 'threshold'"),
        ('files="new.csv"\nrecall="> 0.5"', "must be like recall"),
        ('files="new.csv"\nrecall=0.5', "must be like recall"),
        ('files="new.csv"\nrecall=">= 60"', "Write 0.6 for 60 %"),
        ('files="new.csv"', "must demand something"),
        ('recall=">=0.5"', "`files` of the gate must be a file"),
        ('files=[1]\nrecall=">=0.5"', "`files` of the gate must be a file"),
        ('files="new.csv"\nnot_worse_than="main.csv"', "must come with region"),
        ('files="new.csv"\nnot_worse_than=3\nregion=0.1', "`not_worse_than` of the gate"),
        ('files="new.csv"\nslices=3\n', "`slices` of the gate must be like by ="),
        ('files="new.csv"\n[gate.slices]\nrecall=">= 1"\n', "must be like by ="),
        ('files="new.csv"\n[gate.slices]\nby="id"\nrecal=">= 1"\n', "no setting 'recal'"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, text, message):
    with pytest.raises(InputError, match=message):
        gate(folder, f"[gate]\n{text}\n")


def test_a_file_without_the_table_is_refused(folder):
    with pytest.raises(InputError, match=r"must have a table \[gate\]"):
        gate(folder, "[other]\nx=1\n")
    with pytest.raises(InputError, match="must be TOML"):
        gate(folder, "[gate\n")


def test_the_result_is_a_result(folder):
    result = gate(folder, '[gate]\nfiles="new.csv"\nrecall=">=0.5"\n')[0].run()
    assert isinstance(result, GateResult)
    assert json.loads(json.dumps(result.to_dict()))["checks"][0]["is_shown"] is True
    assert result.to_rows()[0]["claim"] == "recall ≥ 0.5"
    assert result.to_metrics()["recall ≥ 0.5/True/recall"] == 0.95
    assert "Does this model ship?" in str(result.report().html)
