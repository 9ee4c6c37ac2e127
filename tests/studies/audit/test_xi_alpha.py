import numpy as np
import pytest

from studies.audit import xi_alpha
from truerisk.errors import InputError


@pytest.fixture
def population(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2 == 1
    X = rng.normal(size=(600, 2)) + 1.5 * y[:, None]
    monkeypatch.setattr(xi_alpha, "population", lambda _: (X, y))


@pytest.mark.usefixtures("population")
def test_bounds_are_measured_for_every_rule_measure_and_target(tmp_path):
    cell = xi_alpha.XiAlphaCell(population="made", svm="linear", n=60)
    [(_, rows, biases)] = xi_alpha.measure_cells([cell], samples=24, folder=tmp_path)
    assert len(rows) == 3 * 4 * 2
    assert {row.method for row in rows} == {"xi_alpha_upper", "xi_alpha_lower"}
    assert all(row.coverage == 1.0 for row in rows if row.design == "ρ = 2")
    assert biases[1] >= biases[0] > 0


@pytest.mark.usefixtures("population")
@pytest.mark.parametrize(
    ("by", "methods"),
    [
        ("xi_alpha", ["xi_alpha_upper", "bootstrap_out_of_bag_upper"]),
        ("leave_one_out", ["clopper_pearson", "bootstrap_out_of_bag"]),
    ],
)
def test_a_choice_is_measured_as_it_was_won_and_corrected(by, methods):
    cell = xi_alpha.XiAlphaCell(population="made", svm=by, n=40)
    [(_, rows, _)] = xi_alpha.measure_cells([cell], samples=60)
    assert [row.method for row in rows[::2]] == methods
    assert {row.study for row in rows} == {"select"}


def test_the_folder_of_the_data_must_be_named(monkeypatch):
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    with pytest.raises(InputError, match="TRUERISK_DATA"):
        xi_alpha.data_folder()
