import numpy as np
import pytest

from studies.audit.values import MEANS, PAIRS, differences, first_tier, grouped, means, tiers


@pytest.mark.parametrize("problem", MEANS)
def test_the_truth_is_the_mean_of_the_population(problem):
    draw, truth = MEANS[problem]
    values = draw(np.random.default_rng(0), 200_000)
    assert values.mean() == pytest.approx(truth, abs=5 * values.std() / np.sqrt(len(values)))
    assert 0 <= values.min() <= values.max() <= 1


@pytest.mark.parametrize("problem", PAIRS)
def test_a_table_of_two_models_is_a_distribution(problem):
    assert PAIRS[problem].sum() == pytest.approx(1)
    assert PAIRS[problem].min() >= 0


def test_each_part_gives_whether_and_how_wide():
    parts = [means("uniform", 20, 2), differences("often equal", 20, 2), grouped(5, 2)]
    for make in (*parts, tiers("3 equal models", 100, 2)):
        for shares in make().values():
            assert shares.shape == (2, 4)
            assert set(shares[:, 0]) <= {0.0, 1.0}


def test_a_model_that_is_always_wrong_is_not_in_the_first_tier():
    right = np.column_stack([np.ones(50), np.zeros(50), np.ones(50)])
    assert first_tier(right) == [0, 2]
