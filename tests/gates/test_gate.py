import json

import pytest

from truerisk import InputError
from truerisk.gates.gate import GateResult, read_gates

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
