import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC

from truerisk.errors import InputError, UnstableWarning
from truerisk.estimation.svm.xi_alpha import (
    as_bound,
    at_risk,
    flags_of,
    two_sided_level,
    worst_slack,
    xi_alpha,
)
from truerisk.evaluation import evaluate_counts
from truerisk.results import as_plain
from truerisk.svm.dual_of import FittedDual, duals_of
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import Kernel, TrainingKernel
from truerisk.svm.solution import Solution


@pytest.mark.parametrize(
    ("alpha", "slack", "squared_radius", "rho", "expected"),
    [
        (0.5, 0.0, 1.0, 2.0, True),  # exactly 1 counts
        (0.5, 0.0, 1.0 - 1e-12, 2.0, True),  # and so does 1 but for rounding
        (0.5, 0.0, 1.0, 1.9, False),
        (0.0, 1.0, 1.0, 2.0, True),
        (0.25, 0.5, 2.0, 1.0, True),
        (0.25, 0.4, 2.0, 1.0, False),
    ],
)
def test_an_example_is_at_risk_by_the_formula(alpha, slack, squared_radius, rho, expected):
    assert at_risk(np.array([alpha]), np.array([slack]), squared_radius, rho)[0] == expected


def pair(alpha, decision, upper=0.1):
    return Solution(
        y=np.array([1.0, -1.0]),
        upper=np.full(2, upper),
        alpha=np.full(2, alpha),
        bias=0.0,
        decision=np.array(decision),
        gap=0.0,
        passes=1,
    )


def test_a_bias_that_is_pinned_down_is_taken_as_it_is():
    free = pair(0.05, [0.3, -1.2])
    assert worst_slack(free).tolist() == free.slack.tolist() == [0.7, 0.0]


def test_a_loose_bias_is_taken_at_its_worst_end():
    # Both at their bounds: f may move by δ with 0.2 + δ ≤ 1 and −0.5 + δ ≥ −1.
    assert worst_slack(pair(0.1, [0.2, -0.5])) == pytest.approx([1.3, 1.3])


def test_a_machine_that_always_says_the_same_is_taken_as_it_is():
    assert worst_slack(pair(0.0, [-1.0, -1.0])).tolist() == [2.0, 0.0]


@pytest.mark.parametrize("rho", [1.0, 2.0])
def test_a_search_counts_between_rho_and_the_span(rho):
    X, y = load_breast_cancer(return_X_y=True)
    (dual,) = duals_of(SVC(gamma=0.01).fit(scale(X), y), scale(X), y)
    plain, span = flags_of(dual, rho), flags_of(dual, rho, "span")
    before = plain
    for depth in (1, 2, 5, 20):
        flags = flags_of(dual, rho, "search", depth)
        assert (flags <= before).all()
        assert (flags >= (span & plain)).all()
        before = flags
    assert before.sum() < plain.sum()


def test_a_depth_belongs_to_a_search():
    X, y = load_breast_cancer(return_X_y=True)
    svm = SVC(gamma=0.01).fit(scale(X), y)
    found = xi_alpha(svm, scale(X), y, refine="search", depth=3)
    assert found.settings["depth"] == 3
    assert xi_alpha(svm, scale(X), y, refine="search").settings["depth"] == 10
    assert found["error_rate"].value < found.at_rho[1.0]["error_rate"].value
    assert "refined by a search of depth 3" in found.notes[0]
    with pytest.raises(InputError, match="`depth` must be left out unless refine='search'"):
        xi_alpha(svm, scale(X), y, depth=3)
    with pytest.raises(InputError, match="`depth` must"):
        xi_alpha(svm, scale(X), y, refine="search", depth=0)


def test_the_span_only_decides_what_is_in_doubt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    (dual,) = duals_of(SVC(gamma=0.5).fit(X, y), X, y)
    refined, plain = flags_of(dual, 1.0, "span"), flags_of(dual, 2.0)
    wrong = dual.solution.slack >= 1.0
    assert (refined <= plain).all()
    assert (refined >= wrong).all()
    assert wrong.sum() < refined.sum() < plain.sum()


def test_the_span_may_reach_twice_the_squared_radius():
    # Two free support vectors at 1 and −1: R² = 2, and S² = 4 to the only other one.
    solution = pair(0.2, [0.7, -0.7], upper=9.0)
    dual = FittedDual(
        label=1,
        rest=0,
        solution=solution,
        squared_radius=2.0,
        radius_rule="",
        proven_rho=2.0,
        kernel=TrainingKernel(Kernel("linear"), np.array([[1.0], [-1.0]])),
    )
    assert flags_of(dual, 1.0).tolist() == [False, False]  # 0.2 · 2 + 0.3
    assert flags_of(dual, 1.0, "span").tolist() == [True, True]  # 0.2 · 4 + 0.3


REFERENCE = Path(__file__).parents[2] / "reference" / "svm_xialpha.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
FLOWERS, KINDS = load_iris(return_X_y=True)
TWO = KINDS > 0
TUMOURS, MALIGNANT = load_breast_cancer(return_X_y=True)


def reference_data(name):
    if name.startswith("iris"):
        return scale(FLOWERS[TWO]), KINDS[TWO] - 1
    X = scale(TUMOURS)[:200]
    return X / np.linalg.norm(X, axis=1).max(), MALIGNANT[:200]


def left_out_errors(machine, X, y):
    """Refit without each example in turn: the definition."""
    wrong = np.zeros(len(y), dtype=bool)
    for t in range(len(y)):
        rest = np.arange(len(y)) != t
        wrong[t] = machine.fit(X[rest], y[rest]).predict(X[t : t + 1])[0] != y[t]
    return wrong


def test_the_estimates_of_an_example_worked_by_hand():
    # The four points 0, 1 | 3, 4 on a line: w = 1, b = −2, α = ½ at 1 and 3, half the squared
    # diameter 8.  At ρ = 1 these two are at risk, since 8 · ½ ≥ 1; of four examples and two
    # positives that is an error of ½, a recall of ½ and a precision of ½.
    X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    found = xi_alpha(SVC(kernel="linear").fit(X, y), X, y, pos_label="yes")
    assert found.at_risk == ((1, 2),)
    assert {name: one.value for name, one in found.items()} == {
        "error_rate": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    # ρ · 8 · ½ < 1 for ρ below ¼.
    assert xi_alpha(SVC(kernel="linear").fit(X, y), X, y, pos_label="yes", rho=0.2).at_risk == ((),)


def test_the_counts_of_svm_light_give_the_figures_it_prints():
    (vector,) = (one for one in VECTORS if one["method"] == "xi_alpha_from_counts")
    given, expected = vector["inputs"], vector["expected"]
    n_neg = given["n"] - given["n_pos"]
    table = [
        [given["n_pos"] - given["flagged_pos"], given["flagged_pos"]],
        [given["flagged_neg"], n_neg - given["flagged_neg"]],
    ]
    found = evaluate_counts(table)
    for name in ("error", "recall", "precision"):
        value = 100 * found["error_rate" if name == "error" else name].value
        assert value == pytest.approx(expected[f"{name}_pct"], abs=vector["tolerance"]["abs"])


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if "loo_errors" in one["expected"]], ids=lambda one: one["id"]
)
def test_the_flags_noted_in_the_reference_come_out_and_hold_the_errors(vector):
    X, y = reference_data(vector["id"])
    given, expected = vector["inputs"], vector["expected"]
    machine = SVC(C=given["C"], kernel=given["kernel"], gamma=given["gamma"], tol=1e-8)
    wrong = left_out_errors(machine, X, y)
    machine.fit(X, y)
    (dual,) = duals_of(machine, X, y)
    alpha, slack = dual.solution.alpha, dual.solution.slack
    gram = dual.kernel.block(np.arange(len(y)), np.arange(len(y)))
    widest, longest = np.diagonal(gram).max() - gram.min(), np.diagonal(gram).max()
    assert widest == pytest.approx(expected["max_minus_min"], rel=1e-5)
    assert at_risk(alpha, slack, widest, 2.0).sum() == expected["flags_rho2"]
    assert at_risk(alpha, slack, longest, 1.0).sum() == expected["flags_rho1_origin"]
    assert (slack > 1).sum() == expected["training_errors"]
    assert wrong.sum() == expected["loo_errors"]
    ours = at_risk(alpha, slack, dual.squared_radius, 2.0)
    assert dual.squared_radius <= widest + 1e-12
    assert not (wrong & ~ours).any()


@pytest.mark.filterwarnings("ignore::truerisk.errors.UnstableWarning")
@pytest.mark.parametrize("cost", [0.03, 0.3, 3.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", range(4))
def test_no_error_of_leave_one_out_escapes_at_rho_two(kernel, cost, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(31, 2))
    y = np.where(rng.random(31) < 0.5, X[:, 0] > 0, X[:, 1] > 0.5).astype(int)
    machine = SVC(kernel=kernel, C=cost, gamma=0.7, tol=1e-7)
    wrong = left_out_errors(machine, X, y)
    found = xi_alpha(machine.fit(X, y), X, y, rho=2.0)
    assert set(np.flatnonzero(wrong)) <= set(found.at_risk[0])
    assert found["error_rate"].value >= wrong.mean()


def test_no_error_of_leave_one_out_escapes_a_machine_without_free_bias_at_rho_one():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0.5).astype(int)
    machine = LinearSVC(loss="hinge", C=0.3, tol=1e-8, max_iter=10**6)
    wrong = left_out_errors(machine, X, y)
    found = xi_alpha(machine.fit(X, y), X, y, rho=1.0)
    assert set(np.flatnonzero(wrong)) <= set(found.at_risk[0])
    assert found.notes[1] == "proven: ρ ≥ 1 leaves no leave-one-out error out"


@pytest.mark.parametrize(("kernel", "cost"), [("rbf", 0.3), ("rbf", 3.0), ("linear", 0.1)])
def test_the_span_takes_away_most_of_the_bias(kernel, cost):
    rng = np.random.default_rng(8)
    rows = rng.choice(len(MALIGNANT), 120, replace=False)
    X, y = scale(TUMOURS)[rows], MALIGNANT[rows]
    machine = SVC(kernel=kernel, C=cost, gamma=1 / 30, tol=1e-6)
    wrong = left_out_errors(machine, X, y).sum()
    machine.fit(X, y)
    plain = len(xi_alpha(machine, X, y).at_risk[0])
    refined = len(xi_alpha(machine, X, y, refine="span").at_risk[0])
    assert abs(refined - wrong) <= max(2, 0.2 * (plain - wrong))


def test_the_span_works_without_a_free_bias():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=60) > 0).astype(int)
    machine = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=10**6)
    wrong = left_out_errors(machine, X, y).sum()
    found = xi_alpha(machine.fit(X, y), X, y, refine="span")
    assert abs(len(found.at_risk[0]) - wrong) <= 2
    assert found.notes[0].startswith("refined by the span: near leave-one-out")


def test_both_rhos_and_the_one_asked_for_are_reported():
    X, y = scale(FLOWERS[TWO]), KINDS[TWO]
    found = xi_alpha(SVC().fit(X, y), X, y, pos_label=2, rho=1.5)
    assert sorted(found.at_rho) == [1.0, 1.5, 2.0]
    errors = [found.at_rho[rho]["error_rate"].value for rho in (1.0, 1.5, 2.0)]
    assert errors == sorted(errors)
    assert found["error_rate"].value == errors[1]
    assert list(found) == ["error_rate", "precision", "recall", "f1"]


def test_the_bound_is_one_sided_and_exact_by_hand():
    # 3 of 10 at risk: P(X ≤ 3 | p) = .05 at p = .6066, P(X ≥ 7 of 10 | p) = .05 at p = .3934.
    table = evaluate_counts([[7, 3], [0, 10]], measures=["recall", "accuracy"], level=0.9)
    recall = as_bound(table["recall"], 0.95)
    assert recall.interval.side == "lower"
    assert recall.interval.low == pytest.approx(0.39338, abs=1e-5)
    assert (recall.interval.high, recall.interval.level) == (1.0, 0.95)
    assert binom.sf(6, 10, recall.interval.low) == pytest.approx(0.05, abs=1e-9)


def test_no_interval_of_xi_alpha_has_two_sides():
    X, y = load_breast_cancer(return_X_y=True)
    found = xi_alpha(SVC(gamma=0.01).fit(scale(X), y), scale(X), y, level=0.9)
    assert found.level == 0.9
    sides = {name: one.interval.side for name, one in found.items()}
    assert sides == {"error_rate": "upper", **dict.fromkeys(("precision", "recall", "f1"), "lower")}
    assert found["error_rate"].interval.low == 0.0
    assert str(found["error_rate"]).count("at most") == 1
    assert "[" not in "\n".join(map(str, found.values()))
    plain = found.to_dict()["estimates"]["recall"]["interval"]
    assert (plain["side"], plain["high"], plain["method"]) == ("lower", 1.0, "xi_alpha_lower")
    assert [one.code for one in found.verdict] == ["xi_alpha_bounds"]


def test_a_bound_needs_a_level_above_one_half():
    with pytest.raises(InputError, match="must exceed 0"):
        two_sided_level(0.5)


def test_each_estimate_says_what_it_is_about():
    X, y = scale(FLOWERS[TWO]), KINDS[TWO]
    found = xi_alpha(SVC(gamma=0.5).fit(X, y), X, y, pos_label=2, level=0.9)
    for estimate in [*found.values(), *found.at_rho[2.0].values()]:
        assert estimate.method == "xi_alpha"
        assert estimate.target == "the learner at this sample size"
        assert estimate.interval.level == 0.9
        assert estimate.interval.covers(estimate.value)
    assert found.notes[0] == "ρ = 1, R² = 1 (RBF: 1 − exact minimum)"
    assert found.notes[1] == "ρ = 1 is not proven (ρ = 2 is); the choice for text"
    assert found.settings["target"] == "the learner at this sample size"
    assert (found.settings["rho"], found.settings["refine"]) == (1.0, None)
    assert found.source["radius_rule"] == "RBF: 1 − exact minimum"
    assert json.dumps(as_plain(found))


def test_the_positive_label_may_be_either():
    X, y = scale(FLOWERS[TWO]), np.where(KINDS[TWO] == 2, "virginica", "versicolor")
    machine = SVC().fit(X, y)
    first, second = (
        xi_alpha(machine, X, y, pos_label=name) for name in ("virginica", "versicolor")
    )
    assert first.at_risk == second.at_risk
    flagged = np.isin(np.arange(100), first.at_risk[0])
    for found, name in ((first, "virginica"), (second, "versicolor")):
        assert found["recall"].value == pytest.approx(1 - flagged[y == name].mean())
        assert found.pos_label == name
    with pytest.raises(InputError, match="`pos_label` must be given"):
        xi_alpha(machine, X, y)
    with pytest.raises(
        InputError, match="`pos_label` must be a label, 'virginica' or 'versicolor'"
    ):
        xi_alpha(machine, X, y, pos_label="setosa")


@pytest.mark.parametrize("machine", [KernelSVM(gamma=0.5), OneVsRestClassifier(SVC(gamma=0.5))])
def test_several_classes_are_estimated_one_by_one_and_averaged(machine):
    X, y = scale(FLOWERS), np.array(["a", "b", "c"])[KINDS]
    found = xi_alpha(machine.fit(X, y), X, y)
    assert list(found.by_class) == ["a", "b", "c"]
    wrong = np.array([np.isin(np.arange(150), flagged) for flagged in found.at_risk])
    truth = np.array([y == name for name in "abc"])
    for k, name in enumerate("abc"):
        assert found.by_class[name]["error_rate"].value == pytest.approx(wrong[k].mean())
        recall = 1 - wrong[k][truth[k]].mean()
        assert found.by_class[name]["recall"].value == pytest.approx(recall)
    hits, misses = (truth & ~wrong).sum(), (truth & wrong).sum()
    assert found["recall_micro"].value == pytest.approx(hits / (hits + misses))
    assert found["recall_macro"].value == pytest.approx(
        np.mean([one["recall"].value for one in found.by_class.values()])
    )
    assert found["hamming_loss"].value == pytest.approx(wrong.mean())
    assert found.notes[-1].startswith("each class is a yes-or-no decision")


def test_other_measures_may_be_asked_for():
    X, y = scale(FLOWERS), KINDS
    machine = OneVsRestClassifier(SVC()).fit(X, y)
    found = xi_alpha(machine, X, y, measures=["f1_macro", "hamming_loss"])
    assert list(found) == ["hamming_loss", "f1_macro"]
    assert list(found.by_class["0"]) == ["error_rate", "f1"]
    binary = xi_alpha(SVC().fit(X[TWO], y[TWO]), X[TWO], y[TWO], pos_label=1, measures=["gmean"])
    assert list(binary) == ["gmean"]


def test_a_pipeline_is_read_through():
    machine = make_pipeline(StandardScaler(), SVC()).fit(FLOWERS[TWO], KINDS[TWO])
    found = xi_alpha(machine, FLOWERS[TWO], KINDS[TWO], pos_label=2)
    scaled = scale(FLOWERS[TWO])
    direct = xi_alpha(SVC().fit(scaled, KINDS[TWO]), scaled, KINDS[TWO], pos_label=2)
    assert found.at_risk == direct.at_risk


def test_weighted_examples_are_not_proven_and_the_note_says_so():
    X, y = scale(FLOWERS[TWO]), KINDS[TWO]
    found = xi_alpha(SVC(class_weight={2: 2.0}).fit(X, y), X, y, pos_label=2, rho=2.0)
    assert "not proven for any ρ, since examples have different bounds of α" in found.notes


def test_weights_can_let_an_error_escape_rho_two():
    # Positive examples at 0.5 and 2 bounded by 0.3, four negative ones by 0.1.  As α of the last
    # falls below 0.1 all others are at their bounds, 0.3 + 0.1 = 4 · 0.1, and the bias jumps from
    # 1 to −1; at the start 2·α·R² + ξ = 2 · 0.1167 · 3.125 = 0.73.
    X = np.array([[0.5], [1.0], [0.25], [2.5], [0.0], [2.0]])
    y = np.array([1, 0, 0, 0, 0, 1])
    machine = SVC(kernel="linear", C=0.1, class_weight={1: 3.0}, tol=1e-8)
    found = xi_alpha(machine.fit(X, y), X, y, rho=2.0)
    assert 5 not in found.at_risk[0]
    assert left_out_errors(machine, X, y)[5]


def test_a_machine_whose_bias_is_loose_warns_and_takes_the_worst_bias():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    machine = SVC(kernel="linear", C=0.01).fit(X, y)
    with pytest.warns(UnstableWarning, match="Every support vector of 1 is at its bound"):
        found = xi_alpha(machine, X, y)
    assert found.at_risk == ((0, 1, 2, 3),)
    assert "Every support vector" in found.notes[-1]
    (dual,) = duals_of(machine, X, y)
    slack = worst_slack(dual.solution)
    assert (slack >= dual.solution.slack).all()
    assert slack.max() > 1.9


def test_what_is_not_a_rho_or_a_refinement_is_refused():
    X, y = FLOWERS[TWO], KINDS[TWO]
    machine = SVC().fit(X, y)
    with pytest.raises(InputError, match="`rho` must lie in"):
        xi_alpha(machine, X, y, rho=-1.0)
    with pytest.raises(InputError, match="`refine` must be one of span"):
        xi_alpha(machine, X, y, refine="depth")


def test_a_measure_may_be_undefined():
    # Every positive example is at risk and no negative one is: nothing is called positive.
    X, y = np.array([[0.0], [0.1], [0.2], [5.0], [6.0], [7.0]]), np.array([0, 1, 0, 0, 0, 0])
    found = xi_alpha(SVC(kernel="rbf", gamma=1.0, C=0.1).fit(X, y), X, y)
    assert found.at_risk == ((1,),)
    assert found.undefined == ("precision",)
    assert found["recall"].value == 0.0


def test_the_estimate_keeps_its_promises_on_samples_of_a_known_population():
    # Two normals in five dimensions: the true error of a linear rule is known exactly.
    rng = np.random.default_rng(11)
    plain, refined, truth = [], [], []
    for _ in range(100):
        y = rng.integers(0, 2, 60)
        X = rng.normal(size=(60, 5)) + 0.6 * (2 * y[:, None] - 1)
        machine = SVC(kernel="rbf", gamma=0.1, C=1.0).fit(X, y)
        labels = rng.integers(0, 2, 2000)
        fresh = rng.normal(size=(2000, 5)) + 0.6 * (2 * labels[:, None] - 1)
        truth.append(np.mean(machine.predict(fresh) != labels))
        found = xi_alpha(machine, X, y, refine="span", measures=["error_rate"])
        plain.append(found.at_rho[2.0]["error_rate"])
        refined.append(found["error_rate"])
    own = np.mean([one.value for one in plain])
    assert own > np.mean(truth)
    assert np.mean([one.interval.covers(own) for one in plain]) > 0.93
    highest = [np.array([one.interval.high for one in ones]) for ones in (plain, refined)]
    assert (highest[0] >= truth).all()
    assert np.mean(highest[1] >= truth) > 0.93
    assert abs(np.mean([one.value for one in refined]) - np.mean(truth)) < 0.02
