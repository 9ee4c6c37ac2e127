import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_trees import DecisionTree, grow

LEAVES = 2**31 - 1


def test_the_best_split_lies_in_the_middle():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [0.0, 8.0]])
    y = np.array([False, False, True, True])
    split, threshold, child, call = DecisionTree().train(X, y, np.random.default_rng(1))
    assert split.tolist() == [1, -1, -1]
    assert threshold[0] == 3.0
    assert child[0] == 1
    assert call.tolist() == [False, False, True]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_shallow_tree_is_that_of_scikit_learn(problem):
    # Where several splits are equally good, its own choice depends on the seed, and any will do.
    rng = np.random.default_rng(1)
    X, y = problem.draw(150, rng)
    X = X.astype(np.float32).astype(np.float64)
    parts = (rng.permutation(150) % 5)[np.newaxis]
    kept = ~np.eye(5, dtype=bool)
    calls = DecisionTree(depth=2).calls(X, y, parts, kept, rng)[0]
    for fold in range(5):
        trained = parts[0] != fold
        peers = [
            DecisionTreeClassifier(max_depth=2, random_state=seed).fit(X[trained], y[trained])
            for seed in range(10)
        ]
        possible = [peer.predict(X[~trained]).tolist() for peer in peers]
        assert calls[fold, ~trained].tolist() in possible


def test_a_tree_grown_in_full_is_as_large_and_as_good_as_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    ours, theirs = [], []
    fresh, truth = PROBLEMS[5].draw(5000, rng)
    for _ in range(20):
        X, y = PROBLEMS[5].draw(200, rng)
        tree = DecisionTree().train(X, y, rng)
        assert DecisionTree().errors([tree], X, y)[0] == 0
        peer = DecisionTreeClassifier(random_state=0).fit(X, y)
        mistakes = DecisionTree().errors([tree], fresh, truth)[0]
        ours.append((len(tree[0]), mistakes))
        theirs.append((peer.tree_.node_count, np.mean(peer.predict(fresh) != truth)))
    nodes, errors = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    assert abs(nodes) < 2
    assert abs(errors) < 0.005


def test_equal_examples_of_both_classes_end_in_one_leaf():
    X, y = np.ones((5, 2)), np.array([True, True, True, False, False])
    split, _, _, call = DecisionTree().train(X, y, np.random.default_rng(1))
    assert split.tolist() == [-1]
    assert call.tolist() == [True]


def test_neighbouring_numbers_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    y = np.array([False, True])
    tree = DecisionTree().train(X, y, np.random.default_rng(1))
    assert DecisionTree().errors([tree], X, y)[0] == 0


def test_the_compiled_tree_is_the_one_of_its_source():
    rng = np.random.default_rng(1)
    X, y = PROBLEMS[0].draw(40, rng)
    features = np.arange(X.shape[1], dtype=np.int32)
    found = []
    for one in (grow, grow.py_func):
        ordered = np.argsort(X, axis=0, kind="stable").T.astype(np.int32).copy()
        split, child = np.zeros((2, 80), dtype=np.int32)
        threshold, call = np.zeros(80), np.zeros(80, dtype=bool)
        nodes = one(X, y, ordered, features, LEAVES, split, threshold, child, call)
        found.append((nodes, split.tolist(), threshold.tolist(), child.tolist(), call.tolist()))
    assert found[0] == found[1]
