"""The gate as a pipeline runs it."""

from xml.etree import ElementTree as ET

import pytest

ROWS = "y_true,y_pred\n" + "1,1\n" * 57 + "1,0\n" * 3 + "0,0\n" * 60


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "new.csv").write_text(ROWS)
    return tmp_path


def written(folder, claim):
    path = folder / "gate.toml"
    path.write_text(f'[gate]\nname = "spam <b>"\nfiles = "new.csv"\n{claim}\n')
    return path


def test_an_open_gate_exits_with_0_and_a_closed_one_with_1(run, folder):
    done = run("gate", written(folder, 'recall = ">= 0.8"'))
    assert done.exit_code == 0
    assert "The gate is open: 1 of 1 claims shown." in done.output
    done = run("gate", written(folder, 'recall = ">= 0.9"'))
    assert done.exit_code == 1
    assert "recall ≥ 0.9 is not shown" in " ".join(done.output.split())


def test_junit_holds_one_case_per_claim(run, folder):
    place = folder / "results.xml"
    claims = 'recall = ">= 0.9"\nprecision = ">= 0.9"'
    assert run("gate", written(folder, claims), "--junit", place).exit_code == 1
    suites = ET.fromstring(place.read_text())  # noqa: S314  (our own file)
    assert suites.attrib == {"tests": "2", "failures": "1"}
    [suite] = suites
    assert suite.get("name") == "spam <b>"
    assert [len(case.findall("failure")) for case in suite] == [1, 0]


def test_the_summary_goes_where_github_wants_it(run, folder, monkeypatch):
    place = folder / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = run("gate", written(folder, 'recall = ">= 0.9"'))
    text = place.read_text()
    assert text.startswith("before\n")
    assert "The gate is closed" in text
    assert "| recall ≥ 0\\.9 | NOT SHOWN |" in text
    assert "::error title=truerisk gate%3A recall ≥ 0.9::the lower end" in done.output


def test_the_page_opens(run, folder):
    place = folder / "gate.html"
    assert run("gate", written(folder, 'recall = ">= 0.8"'), "--html", place).exit_code == 0
    assert "Does this model ship?" in place.read_text()


def test_a_wrong_key_is_refused_before_anything_is_read(run, folder):
    done = run("gate", written(folder, 'recal = ">= 0.8"'))
    assert done.exit_code == 3
    assert "Did you mean 'recall'?" in done.stderr
