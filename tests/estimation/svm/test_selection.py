"""Choosing without folds: the estimates are those of the single machines, the best one wins."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.selection import columns_alike, select, setting_text
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM
from truerisk.text.vectorizer import Vectorizer

mpl.use("Agg")

IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = IRIS[50:], SPECIES[50:] - 1
OVER = {"C": [10.0, 0.1, 1.0], "gamma": [0.1, 1.0]}


@pytest.mark.parametrize("rows", [3, 33, 70])
def test_columns_alike_are_of_one_kind(rows):
    # a column for each single flag, and all of them once more in another order
    flags = np.eye(rows, dtype=bool)[:, [*range(rows), *reversed(range(rows))]]
    first, kind = columns_alike(flags)
    assert sorted(first) == list(range(rows))
    np.testing.assert_array_equal(kind[rows:], kind[:rows][::-1])
    np.testing.assert_array_equal(flags[:, first[kind]], flags)


def test_every_setting_has_the_estimate_it_has_alone():
    chosen = select(KernelSVM(), X, Y, over=OVER, measure="f1", replicates=20)
    assert len(chosen.candidates) == 6
    for candidate in chosen.candidates:
        alone = xi_alpha(KernelSVM(**candidate.parameters).fit(X, Y), X, Y)["f1"]
        assert candidate.estimate.value == pytest.approx(alone.value)
        assert candidate.estimate.interval == alone.interval
    best = max(chosen.candidates, key=lambda one: one.estimate.value)
    assert chosen.estimate.value == best.estimate.value
    assert chosen.best == best.parameters


def test_leave_one_out_chooses_by_exact_errors():
    chosen = select(KernelSVM(), X, Y, over=OVER, by="leave_one_out", replicates=20)
    for candidate in chosen.candidates:
        alone = leave_one_out(KernelSVM(**candidate.parameters), X, Y)["error_rate"]
        assert candidate.estimate.value == alone.value
        assert candidate.estimate.method == "leave_one_out"
    assert chosen.estimate.value == min(one.estimate.value for one in chosen.candidates)


def test_without_settings_five_costs_are_tried():
    chosen = select(LinearSVM(), X, Y, replicates=20)
    costs = [candidate.parameters["C"] for candidate in chosen.candidates]
    assert costs == [0.01, 0.1, 1.0, 10.0, 100.0]


def test_workers_change_nothing():
    one = select(LinearSVM(), X, Y, over={"C": [0.1, 1, 10]}, replicates=20)
    two = select(LinearSVM(), X, Y, over={"C": [0.1, 1, 10]}, replicates=20, n_jobs=2)
    assert one == two


def test_of_equal_settings_the_smallest_cost_wins():
    easy = np.array([[0.0], [0.1], [5.0], [5.1]])
    chosen = select(LinearSVM(), easy, [0, 0, 1, 1], over={"C": [8.0, 4.0, 2.0]}, replicates=20)
    assert chosen.best == {"C": 2.0}


def test_preprocessing_is_chosen_too():
    rng = np.random.default_rng(0)
    common = ["the", "of", "and", "to"]
    texts = [
        " ".join(rng.choice([*common, *(["wheat", "corn"] if i % 2 else ["bank", "rate"])], 30))
        for i in range(60)
    ]
    chosen = select(
        LinearSVM(),
        texts,
        [i % 2 for i in range(60)],
        over={"vectorizer": [Vectorizer(), Vectorizer(weighting="binary")], "C": [0.5]},
        replicates=20,
    )
    assert len(chosen.candidates) == 2
    assert isinstance(chosen.best["vectorizer"], Vectorizer)


def test_classes_are_averaged():
    chosen = select(
        LinearSVM(), IRIS, SPECIES, over={"C": [0.1, 10.0]}, measure="f1_macro", replicates=20
    )
    assert chosen.estimate.measure == "f1_macro"
    assert chosen.best == {"C": 10.0}


def test_the_winner_of_useless_settings_is_not_called_good():
    rng = np.random.default_rng(1)
    noise, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    over = {"C": [0.1, 1.0, 10.0], "gamma": [0.03, 0.1, 0.3, 1.0, 3.0]}
    chosen = select(KernelSVM(), noise, labels, over=over, by="leave_one_out")
    assert chosen.corrected.value > chosen.estimate.value
    assert chosen.corrected.interval.covers(chosen.corrected.value)


@pytest.mark.parametrize(
    ("by", "sides", "codes"),
    [
        ("xi_alpha", {"upper"}, ["best_of_many", "chosen_by_upper_estimate"]),
        ("leave_one_out", {"both"}, ["best_of_many"]),
    ],
)
def test_a_choice_says_which_way_its_numbers_lean(by, sides, codes):
    X, y = load_iris(return_X_y=True)
    found = select(KernelSVM(), X, y == 1, over={"C": [0.1, 10]}, by=by, replicates=50)
    assert [note.code for note in found.notes] == codes
    estimates = [found.estimate, found.corrected, *(one.estimate for one in found.candidates)]
    assert {one.interval.side for one in estimates} == sides
    assert {one.interval.level for one in estimates} == {0.95}


def test_the_picture_shows_a_line_for_each_setting():
    chosen = select(KernelSVM(), X, Y, over=OVER, replicates=20)
    ax = chosen.plot(Figure().subplots())
    assert ax.get_xscale() == "log"
    names = {text.get_text() for text in ax.get_legend().get_texts()}
    assert names == {"gamma=0.1", "gamma=1.0"}


def test_what_was_chosen_is_printed():
    chosen = select(LinearSVM(), X, Y, over={"C": [0.1, 1.0]}, replicates=20)
    assert "→ C=" in str(chosen)
    assert "corrected for the choice" in str(chosen)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": {"C": []}}, "a list of values of C"),
        ({"over": {"c": [1]}}, "`over` must be one of"),
        ({"over": {"C": [1]}, "by": "folds"}, "`by` must be one of xi_alpha, leave_one_out"),
        ({"over": {"C": [1]}, "measure": "auc"}, "measure"),
        ({"over": {"C": [-1]}}, "`C` must lie in"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        select(LinearSVM(), X, Y, **options)


def test_another_model_is_refused():
    data = make_classification(20, random_state=0)
    with pytest.raises(InputError, match=r"must be a fitted SVM \(LinearSVM"):
        select(DecisionTreeClassifier(), *data, over={"max_depth": [1]})
    with pytest.raises(InputError, match="must decide between two classes"):
        select(SVC(), IRIS, SPECIES, over={"C": [1]})


@pytest.mark.parametrize("by", ["xi_alpha", "leave_one_out"])
@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        (SVC(), ""),
        (OneVsRestClassifier(SVC()), "estimator__"),
        (make_pipeline(SVC()), ""),
        (make_pipeline(SVC()), "svc__"),
    ],
    ids=["alone", "one against the rest", "in a pipeline", "by the name of its step"],
)
def test_scikit_learns_svm_is_chosen_as_ours_is(model, prefix, by):
    over = {f"{prefix}{name}": values for name, values in OVER.items()}
    found = select(model, X, Y, over=over, by=by, replicates=20)
    ours = select(KernelSVM(), X, Y, over=OVER, by=by, replicates=20)
    assert [one.estimate for one in found.candidates] == [one.estimate for one in ours.candidates]
    assert found.best["C"] == ours.best["C"]
    assert found.corrected == ours.corrected


@pytest.mark.parametrize("by", ["xi_alpha", "leave_one_out"])
def test_an_svm_without_a_twin_is_trained_and_read(by):
    svm = LinearSVC(loss="hinge", tol=1e-6, max_iter=200_000)
    found = select(svm, X, Y, over={"C": [0.1, 1.0]}, by=by, replicates=20)
    for one in found.candidates:
        alone = clone(svm).set_params(**one.parameters)
        expected = (
            xi_alpha(alone.fit(X, Y), X, Y) if by == "xi_alpha" else leave_one_out(alone, X, Y)
        )
        assert one.estimate.value == expected["error_rate"].value
    nu = select(NuSVC(), X, Y, over={"nu": [0.2, 0.4]}, by=by, replicates=20)
    assert nu.best in [{"nu": 0.2}, {"nu": 0.4}]
    assert nu.plot(Figure().add_subplot()) is not None


def test_steps_of_a_pipeline_are_settings_too():
    model = make_pipeline(StandardScaler(), SVC(gamma=0.3))
    over = {"C": [1.0], "standardscaler__with_std": [True, False]}
    scaled, plain = select(model, X * 9, Y, over=over, replicates=20).candidates
    for one, rows in ((scaled, scale(X)), (plain, scale(X * 9, with_std=False))):
        alone = select(SVC(gamma=0.3), rows, Y, over={"C": [1.0]}, replicates=20)
        assert one.estimate == alone.estimate
    with pytest.raises(InputError, match="must have no step that uses the labels"):
        select(make_pipeline(SelectKBest(k=1), SVC()), X, Y, over={"C": [1.0]})


def test_a_name_is_chosen_with_its_preparation():
    found = select("linear_svm", X, Y, over={"C": [0.1, 1.0]}, replicates=20)
    ours = select(LinearSVM(), scale(X), Y, over={"C": [0.1, 1.0]}, replicates=20)
    assert [one.estimate for one in found.candidates] == [one.estimate for one in ours.candidates]


def test_a_setting_on_one_line():
    assert setting_text({"kernel": "rbf", "C": 0.5}) == "kernel=rbf, C=0.5"
