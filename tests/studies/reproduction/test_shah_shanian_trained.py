"""Table 2 trained: settings by folds, intervals by hand, and rows of the paper's order."""

import numpy as np
import pytest

from studies.reproduction import shah_shanian_trained as trained
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.shah_shanian import Printed, printed_rows
from truerisk import upper_bound
from truerisk.inputs.tables import read_table

ROW = Printed("Bupa", 100, "DT", "0.100", "0.049", "0.176", "0", "0")


def test_every_data_set_of_the_paper_has_its_sizes():
    sizes = {row.data_set: row.m for row in printed_rows()}
    assert list(sizes) == list(trained.DATA_SETS)
    assert list(trained.LEARNERS) == list(dict.fromkeys(row.classifier for row in printed_rows()))


def test_the_mean_of_the_other_divisions_is_what_an_interval_should_hold():
    row = trained.Trained(ROW, np.array([10, 10, 40]))
    exact = row.ends("clopper_pearson")
    assert exact[0, 1] == pytest.approx(upper_bound(10, 100, delta=0.025))
    # Others of the first: (.1 + .4)/2 = .25 > .176; of the last: .1 < its lower end.
    assert row.held(exact).tolist() == [False, False, False]
    assert row.held(row.single_loss_ends()).tolist() == [True, True, True]
    assert row.cells()[-2:] == ("0 of 3", "0 of 3")


@pytest.mark.parametrize("name", trained.LEARNERS)
def test_settings_are_chosen_and_errors_are_counted(name, tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 160))
    path = tmp_path / "table.csv"
    lines = [f"{x},{z},{'pq'[int(z > 0)]},{int(x > 0)}" for x, z in zip(a, b, strict=True)]
    path.write_text("\n".join(["a,b,c,target", *lines]), encoding="utf-8")
    table = read_table(path, target="target")
    y = (np.asarray(table.y) == "1").astype(np.intp)
    learner = trained.LEARNERS[name]
    wrong = trained.errors_of(learner, table.X[:100], y[:100], table.X[100:], y[100:], seed=0)
    assert 0 <= wrong < 15


def test_a_run_continues_from_its_folder(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(trained, "errors_of", lambda *_, **__: calls.append(1) or 3)
    X, y = np.zeros((20_000, 1)), np.zeros(20_000, np.intp)
    monkeypatch.setattr(trained, "table_of", lambda *_: (X, y))
    settings = JiangSettings(data=tmp_path, partitions=2, resume=tmp_path / "run")
    first = trained.reproduce(settings)
    assert len(calls) == 2 * 16 * 6
    assert len(first.rows) == 96
    assert trained.reproduce(settings) == first
    assert len(calls) == 2 * 16 * 6
