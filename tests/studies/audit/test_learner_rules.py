import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_rules import CHUNK, LinearDiscriminant, NaiveBayes, Rules

PEERS = {
    "linear discriminant": (LinearDiscriminant(), LinearDiscriminantAnalysis),
    "naive Bayes": (NaiveBayes(), GaussianNB),
}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@pytest.mark.parametrize("name", PEERS)
def test_each_refit_is_that_of_scikit_learn(problem, name):
    learner, peer = PEERS[name]
    rng = np.random.default_rng(1)
    X, y = problem.draw(90, rng)
    X += 100.0  # far from 0, where sums of squares lose digits
    parts = np.stack([rng.permutation(90) % 5 for _ in range(2)])
    kept = np.array([[0, 1, 1, 1, 1], [1, 0, 1, 1, 0]], dtype=bool)
    calls = learner.calls(X, y, parts, kept, rng)
    assert calls.shape == (2, 2, 90)
    for division, own in zip(parts, calls, strict=True):
        for keeps, called in zip(kept, own, strict=True):
            trained = keeps[division]
            expected = peer().fit(X[trained], y[trained]).predict(X)
            np.testing.assert_array_equal(called, expected)


def test_rules_of_several_fits_are_judged_as_one_by_one():
    rng = np.random.default_rng(1)
    for learner in (LinearDiscriminant(), NaiveBayes()):
        models = [learner.train(*PROBLEMS[2].draw(60, rng), rng) for _ in range(3)]
        X, y = PROBLEMS[2].draw(CHUNK + 5, rng)
        expected = [np.mean(model.calls(X)[0, 0] != y) for model in models]
        assert learner.errors(models, X, y) == pytest.approx(expected, abs=1e-12)


def test_the_error_of_a_linear_rule_on_fresh_examples_is_that_of_the_formula():
    rng = np.random.default_rng(1)
    learner, problem = LinearDiscriminant(), PROBLEMS[1]
    model = learner.train(*problem.draw(50, rng), rng)
    exact = problem.linear_error(model.weights[0, 0], float(model.constants[0, 0]))
    found = learner.errors([model], *problem.draw(200_000, rng))
    assert found[0] == pytest.approx(exact, abs=0.004)


def test_a_rule_is_squares_and_weights_and_a_constant():
    rules = Rules(np.array([[1.0], [0.0]]), np.array([[-1.0], [1.0]]), np.array([-2.0, -2.5]))
    # x² − x − 2 > 0 beyond −1 and 2; x − 2.5 > 0 beyond 2.5.
    calls = rules.calls(np.array([[-1.1], [0.0], [2.1], [2.6]]))
    assert calls.tolist() == [[True, False, True, True], [False, False, False, True]]
