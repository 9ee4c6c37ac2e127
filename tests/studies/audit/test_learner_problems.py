import dataclasses
import math

import numpy as np
import pytest
from scipy.special import stdtr

from studies.audit.learner_problems import PROBLEMS, Cloud, Problem

FAR = Cloud(positive=True, share=0.25, centre=(3.0, 4.0), deviation=2.0)
NEAR = Cloud(positive=False, share=0.75, centre=(0.0, 0.0))


def phi(x):
    return (1 + math.erf(x / math.sqrt(2))) / 2


def test_the_error_of_a_line_is_the_sum_over_the_clouds():
    # w = (0.6, 0.8) has length 1 and w·(3, 4) = 5: the line lies 2 from 0, 3 from the other centre.
    problem = Problem(name="by hand", clouds=(FAR, NEAR))
    expected = 0.25 * phi(-3 / 2) + 0.75 * phi(-2)
    assert problem.linear_error([0.6, 0.8], -2.0) == pytest.approx(expected, abs=1e-12)
    flipped = dataclasses.replace(problem, flipped=0.1)
    by_hand = 0.9 * expected + 0.1 * (1 - expected)
    assert flipped.linear_error([0.6, 0.8], -2.0) == pytest.approx(by_hand, abs=1e-12)
    heavy = dataclasses.replace(problem, degrees=3.0)
    by_hand = 0.25 * stdtr(3, -3 / 2) + 0.75 * stdtr(3, -2)
    assert heavy.linear_error([0.6, 0.8], -2.0) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_what_is_drawn_has_the_error_that_the_formula_gives(problem):
    rng = np.random.default_rng(1)
    X, y = problem.draw(100_000, rng)
    weights, constant = rng.standard_normal(problem.features) + 0.5, -1.0
    error = problem.linear_error(weights, constant)
    found = np.mean((X @ weights + constant > 0) != y)
    assert found == pytest.approx(error, abs=4 * math.sqrt(error * (1 - error) / 100_000))
    assert math.fsum(cloud.share for cloud in problem.clouds) == pytest.approx(1)


def test_every_sample_has_two_of_either_class():
    rare = Problem(name="rare", clouds=(dataclasses.replace(FAR, share=0.02), NEAR, NEAR))
    clouds = (rare.clouds[0], dataclasses.replace(NEAR, share=0.98))
    rare = dataclasses.replace(rare, clouds=clouds)
    rng = np.random.default_rng(1)
    counts = [np.count_nonzero(rare.draw(20, rng)[1]) for _ in range(50)]
    assert min(counts) == 2


def test_the_problems_have_names_of_their_own():
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS) >= 6
