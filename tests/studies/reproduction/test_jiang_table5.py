"""Table 5 in the small: reading isolates, coding sites, and a site that decides everything."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from studies.reproduction import JiangSettings, jiang_table5
from studies.reproduction.jiang_printed import printed_rows
from studies.reproduction.jiang_table5 import (
    COLUMNS,
    FILE,
    encoded,
    finding,
    one_drug,
    read_isolates,
    reproduce,
)
from studies.reproduction.jiang_trials import Perturbing
from truerisk import InputError

DRUGS = [line["drug"] for line in printed_rows(5)]


@pytest.fixture
def folder(tmp_path):
    """Write isolates whose resistance to every drug hangs on site 90, site 30 saying little."""
    rng = np.random.default_rng(0)
    sites = [f"P{site}" for site in range(1, 100)]
    lines = [",".join(["IsolateName", "PseudoName", "MedlineID", *DRUGS, *sites])]
    for at in range(60):
        mutated = rng.random() < 0.5
        cells = ["-"] * 99
        cells[89] = "M" if mutated else "-"
        cells[29] = rng.choice(["N", "-", "DN", "."])
        factors = ["10.5" if mutated else "1.0"] * 6 + ["" if at % 3 else "7.0"]
        lines.append(",".join([f"CA{at}", f"P{at // 2}", "1", *factors, *cells]))
    with gzip.open(tmp_path / FILE, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return tmp_path


def test_isolates_without_a_factor_are_left_out(folder):
    assert len(read_isolates(folder, "APV").factor) == 60
    found = read_isolates(folder, "SQV")
    assert len(found.factor) == 20
    assert found.patient.max() + 1 == len(set(found.patient))
    assert all(len(row) == 99 for row in found.letters)


def test_isolates_of_one_patient_share_a_number(folder):
    patient = read_isolates(folder, "APV").patient
    assert (patient[0::2] == patient[1::2]).all()
    assert len(set(patient)) == 30


def test_a_folder_without_the_file_is_told(tmp_path):
    with pytest.raises(InputError, match=f"`data` must hold {FILE}"):
        read_isolates(tmp_path, "APV")


def test_indicators_see_no_difference_between_amino_acids_which_the_others_do():
    letters = [["I"], ["V"], ["-"], ["IV"]]
    assert encoded(letters, [1], "indicators").ravel().tolist() == [1, 1, 0, 1]
    assert encoded(letters, [1], "amino_acids").tolist() == [[1, 0], [0, 1], [0, 0], [1, 1]]


def test_sites_that_nobody_has_changed_make_no_feature_of_amino_acids():
    letters = [["-", "-"], ["-", "M"]]
    assert encoded(letters, [1, 2], "amino_acids").shape == (2, 1)
    assert encoded(letters, [1, 2], "indicators").shape == (2, 2)


def test_the_finding_is_about_the_machine_with_the_site():
    assert finding((-0.2, -0.1)) == "better"
    assert finding((-0.1, 0.0)) == "no evidence"
    assert finding((0.1, 0.2)) == "worse"


@pytest.mark.parametrize("grouped", [False, True])
def test_the_interval_is_that_of_with_less_without(grouped):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=50)
    X = rng.normal(size=(50, 3)) + np.array([0.4, 0.0, 0.7]) * y[:, None]
    groups = np.arange(50) // 5
    shared = {"seed": 2, "replicates": 40, "losses": ("training",)}
    shared |= {"y0": y, "groups0": groups, "without0": X[:, :2], "with0": X}
    found = one_drug(shared, (0, grouped))
    design = Perturbing.of(
        y,
        np.random.default_rng([2, 5, 0]),
        folds=10,
        replicates=40,
        groups=groups if grouped else None,
    )
    without, beside = (design.spread(part, "training") for part in (X[:, :2], X))
    errors = [design.error(X[:, :2]), design.error(X)]
    assert found["errors"].tolist() == errors
    values = (errors[0], errors[1], errors[1] - errors[0])
    for ends, value, moved in zip(
        found["training"], values, (without, beside, beside - without), strict=True
    ):
        low, high = np.quantile(moved, [0.025, 0.975])
        np.testing.assert_allclose(ends, [value - high, value - low], atol=1e-12)


def test_the_whole_table_in_the_small(folder, monkeypatch):
    monkeypatch.setattr(jiang_table5, "printed_rows", lambda _: printed_rows(5)[:2])
    settings = JiangSettings(data=folder, replicates=40, sites=(30,), losses=("training",))
    table = reproduce(settings)
    cells = [dict(zip(COLUMNS, row, strict=False)) for row in table.rows]
    assert [(row[0], row[7]) for row in table.rows] == [
        (drug, grouped) for drug in DRUGS[:2] for grouped in ("no", "by patient")
    ]
    assert {(row["n"], row["patients"]) for row in cells} == {("60", "30")}
    assert {row[-1] for row in table.rows} == {"better"}
    resistant = np.mean(read_isolates(folder, "APV").factor > 3)
    assert {row[5] for row in table.rows} == {f"{resistant:.3f}"}
    assert resistant != 0.5
    assert [row[13] for row in table.rows] == ["0.000"] * 4  # with site 90 nothing is wrong
    text = "\n".join(table.conclusion)
    assert "grouped by patient: site 90 makes the prediction better for APV, ATV." in text
    assert "the ten sites (here 30), the cut-offs (here a factor above 3 for every drug)" in text


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_the_file_of_isolates_has_what_its_readme_says():
    found = read_isolates(Path(os.environ["TRUERISK_DATA"]), "APV")
    assert len(found.factor) == 768
    assert np.mean(found.factor > 3.0) == pytest.approx(0.382812, abs=1e-6)
