from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, recall_score
from sklearn.svm import SVC

from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.estimation.corpus import corpus as module
from truerisk.estimation.corpus.categories import CategorySVMs, Trained
from truerisk.estimation.corpus.corpus import (
    Findings,
    categories_of,
    estimate_corpus,
    parts_of,
    truth_of,
    vectors_of,
    verdict_of,
)
from truerisk.estimation.svm.one_vs_rest_counts import MEASURES
from truerisk.inputs.corpora import Corpus, read_corpus
from truerisk.results import as_plain, has_code
from truerisk.text.vectorizer import Vectorizer

N = 200

WORDS = ("wheat corn", "corn rye", "gold tin", "tin lead")


@given(n=st.integers(2, 60), share=st.floats(0.01, 0.99), seed=st.integers(0, 9))
def test_a_random_division_takes_every_document_once(n, share, seed):
    held = round(share * n)
    if not 0 < held < n:
        with pytest.raises(InputError, match="`holdout` must leave documents on both sides"):
            parts_of(n, None, share, seed)
        return
    parts = parts_of(n, None, share, seed)
    assert sorted([*parts.train, *parts.test]) == list(range(n))
    assert len(parts.test) == held
    assert np.array_equal(parts.test, parts_of(n, None, share, seed).test)


def test_without_a_split_all_documents_are_trained_on():
    parts = parts_of(3, None)
    assert (parts.train.tolist(), parts.test.tolist()) == ([0, 1, 2], [])


def test_documents_of_other_parts_are_left_out_and_counted():
    parts = parts_of(5, ["train", "unused", None, "test", "unused"])
    assert (parts.train.tolist(), parts.test.tolist()) == ([0], [3])
    assert parts.notes == (
        "2 documents are left out: their part is 'unused'.",
        "1 document is left out: its part is not given.",
    )


def test_a_split_that_trains_on_nothing_is_refused():
    with pytest.raises(InputError, match=r"`split` must say 'train' .*; got 'Train', 'test'"):
        parts_of(2, ["Train", "test"])


def test_a_second_division_is_refused():
    with pytest.raises(InputError, match="`holdout` must not be given for a corpus that is split"):
        parts_of(2, ["train", "test"], 0.5)


@pytest.mark.parametrize("share", [-0.1, 1.5, "half", float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match=r"`holdout` must lie in \[0, 1\]"):
        parts_of(10, None, share)


LABELS = [("b", "a"), ("b",), (), ("c", "b"), ("d",)]


def test_categories_stand_by_their_training_documents_then_by_name():
    parts = parts_of(5, ["train", "train", "train", "train", "test"])
    assert categories_of(LABELS, parts, None) == ("b", "a", "c", "d")
    assert categories_of(LABELS, parts, ["d", "b"]) == ("b", "d")


def test_a_category_that_no_document_carries_is_refused():
    parts = parts_of(5, None)
    with pytest.raises(InputError, match=r"got 'e'.* There are 'b', 'a', 'c', 'd'"):
        categories_of(LABELS, parts, ["a", "e"])
    with pytest.raises(InputError, match="got none"):
        categories_of(LABELS, parts, [])
    with pytest.raises(InputError, match="`labels` must give a category"):
        categories_of([(), ()], parts_of(2, None), None)


def test_truth_has_a_row_a_category_and_a_column_a_chosen_document():
    truth = truth_of(LABELS, np.array([0, 3]), ["c", "b", "a"])
    assert truth.tolist() == [[False, True], [True, True], [True, False]]


def parts_corpus(**fields):
    return SimpleNamespace(**{"texts": WORDS, "matrix": None, **fields})


def test_words_are_learnt_from_the_training_documents_alone():
    parts = parts_of(4, ["train", "train", "train", "test"])
    vectors = vectors_of(parts_corpus(), parts, None, 1)
    known = Vectorizer(min_documents=1).fit(WORDS[:3])
    assert (vectors.train != known.transform(WORDS[:3])).nnz == 0
    assert (vectors.test != known.transform(WORDS[3:])).nnz == 0
    assert vectors.settings["min_documents"] == 1
    assert vectors.settings["features"] == 5


def test_a_vectorizer_that_is_handed_over_is_not_changed():
    given_one = Vectorizer(min_documents=1, weighting="binary")
    vectors = vectors_of(parts_corpus(), parts_of(4, None), given_one, None)
    assert vectors.settings["weighting"] == "binary"
    assert not hasattr(given_one, "words_")
    with pytest.raises(InputError, match="`min_documents` must not be given beside `vectorizer`"):
        vectors_of(parts_corpus(), parts_of(4, None), given_one, 2)


def test_vectors_are_taken_as_they_are():
    matrix = csr_matrix(np.arange(8.0).reshape(4, 2))
    parts = parts_of(4, ["test", "train", "train", "test"])
    vectors = vectors_of(parts_corpus(texts=None, matrix=matrix), parts, None, None)
    assert vectors.train.toarray().tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert vectors.test.toarray().tolist() == [[0.0, 1.0], [6.0, 7.0]]
    assert (
        vectors_of(parts_corpus(texts=None, matrix=matrix), parts_of(4, None), None, None).test
        is None
    )
    with pytest.raises(InputError, match="`min_documents` must not be given for a corpus of vec"):
        vectors_of(parts_corpus(texts=None, matrix=matrix), parts, None, 3)


TOPICS = {
    "grain": ["wheat", "corn", "rye", "oats", "barley", "harvest", "farm", "silo"],
    "metal": ["gold", "silver", "tin", "lead", "zinc", "copper", "mine", "ore"],
    "ship": ["port", "vessel", "cargo", "crew", "harbour", "tanker", "dock", "sea"],
}
SHARED = ["the", "of", "and", "price", "said", "year", "market", "trade", "week", "tonnes"]


def made_corpus(n=120, seed=1, **fields):
    """Make documents of nine words each: four of each of their topics, the rest shared."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        own = [topic for topic, share in zip(TOPICS, (0.4, 0.3, 0.15), strict=True)
               if rng.random() < share]  # fmt: skip
        words = list(rng.choice(SHARED, 9))
        for topic in own:
            words += list(rng.choice(TOPICS[topic], 2))
        words += list(rng.choice([word for topic in TOPICS.values() for word in topic], 1))
        texts.append(" ".join(words))
        labels.append(tuple(own))
    given = {
        "ids": tuple(map(str, range(n))),
        "texts": tuple(texts),
        "labels": tuple(labels),
    }
    return Corpus(**{**given, **fields})


@pytest.fixture(scope="module")
def corpus():
    return made_corpus()


@pytest.fixture(scope="module")
def split_corpus():
    return made_corpus(split=("train",) * 80 + ("test",) * 38 + ("spare",) * 2)


def test_each_category_is_counted_as_the_paper_says(corpus):
    found = estimate_corpus(corpus)
    X = Vectorizer().fit_transform(corpus.texts)
    for name in TOPICS:
        carries = np.array([name in labels for labels in corpus.labels])
        svc = SVC(C=0.5, kernel="linear", tol=1e-9).fit(X, carries)
        alpha = np.zeros(len(carries))
        alpha[svc.support_] = np.abs(svc.dual_coef_.toarray()[0])
        slack = np.maximum(0, 1 - np.where(carries, 1, -1) * svc.decision_function(X))
        for rho in (1.0, 2.0):
            # Text has unit length: R = 1.  Those at 1 up to rounding are at risk.
            risk = rho * alpha + slack >= 1 - 1e-6
            d, plus, minus = risk.sum(), risk[carries].sum(), risk[~carries].sum()
            positives = carries.sum()
            row = found.at_rho[rho].by_class[name]
            assert row["error_rate"].value == pytest.approx(d / len(carries))
            assert row["recall"].value == pytest.approx(1 - plus / positives)
            right = positives - plus
            assert row["f1"].value == pytest.approx(2 * right / (2 * positives - plus + minus))
            if right + minus:
                assert row["precision"].value == pytest.approx(right / (right + minus))
    assert found.by_class == found.at_rho[1.0].by_class
    assert found.estimates == found.at_rho[1.0].estimates


def test_rho_2_is_never_better_than_leave_one_out_and_that_never_than_training(corpus):
    exact = estimate_corpus(corpus, method="leave_one_out", n_jobs=2)
    for name, row in exact.by_class.items():
        assert exact.at_rho[2.0].by_class[name]["error_rate"].value >= row["error_rate"].value
        assert exact.at_rho[2.0].by_class[name]["recall"].value <= row["recall"].value
    assert exact["f1_micro"].method == "leave_one_out"
    assert exact["f1_micro"].target == "the learner at this sample size"
    assert any("left out in earnest" in sentence for sentence in exact.verdict)


def test_the_documents_held_out_are_called_by_the_machine_of_the_others(split_corpus):
    found = estimate_corpus(split_corpus)
    words = Vectorizer()
    X = words.fit_transform(split_corpus.texts[:80])
    test = words.transform(split_corpus.texts[80:118])
    for name in TOPICS:
        carries = np.array([name in labels for labels in split_corpus.labels])
        svc = SVC(C=0.5, kernel="linear", tol=1e-9).fit(X, carries[:80])
        called = svc.decision_function(test) > 0
        row = found.holdout.by_class[name]
        assert row["error_rate"].value == pytest.approx(np.mean(called != carries[80:118]))
        assert row["recall"].value == pytest.approx(called[carries[80:118]].mean())
        assert row["recall"].target == "this model"
    assert (found.n, found.holdout.n) == (80, 38)
    assert found.notes[0] == "2 documents are left out: their part is 'spare'."
    assert "eleven_point_documents" in found.holdout


def single_corpus(n=90, **fields):
    """Give each document the first of its topics, or ship."""
    made = made_corpus(n)
    labels = tuple((own or ("ship",))[:1] for own in made.labels)
    given = {"ids": made.ids, "texts": made.texts, "labels": labels}
    return Corpus(**{**given, "split": ("train",) * 60 + ("test",) * (n - 60), **fields})


@pytest.mark.parametrize("topics", [3, 2])
def test_one_label_per_document_is_a_problem_of_several_classes(topics):
    corpus = single_corpus()
    if topics == 2:
        merged = tuple(("metal" if one == ("ship",) else one[0],) for one in corpus.labels)
        corpus = single_corpus(labels=merged)
    found = estimate_corpus(corpus)
    words = Vectorizer()
    X = words.fit_transform(corpus.texts[:60])
    test = words.transform(corpus.texts[60:])
    truth = np.array([labels[0] for labels in corpus.labels])
    names = sorted(set(truth))
    values = [
        SVC(C=0.5, kernel="linear", tol=1e-9).fit(X, truth[:60] == name).decision_function(test)
        for name in names
    ]
    called = np.array(names)[np.argmax(values, axis=0)]
    assert found.one_label["accuracy"].value == accuracy_score(truth[60:], called)
    for name, score in (("f1_macro", f1_score), ("recall_macro", recall_score)):
        expected = score(truth[60:], called, average="macro")
        assert found.one_label[name].value == pytest.approx(expected)
    labels, counts = found.one_label.confusion
    assert counts.tolist() == confusion_matrix(truth[60:], called, labels=labels).tolist()
    assert 0 < found.one_label["accuracy"].value < 1
    assert (found.one_label["accuracy"].method, found.one_label.n) == ("holdout", 30)
    plain = found.to_dict()["one_label"]
    assert plain["confusion"]["counts"] == counts.tolist()
    assert plain["estimates"]["accuracy"]["value"] == found.one_label["accuracy"].value
    rows = [row for row in found.to_rows() if row["estimate"] == "one_label"]
    assert [row["measure"] for row in rows] == [*found.one_label]
    assert all("not measured" not in row["measured"] for row in rows)
    assert has_code(found.verdict, "one_label")


def test_one_label_needs_one_label_and_documents_held_out(split_corpus):
    assert estimate_corpus(split_corpus).one_label is None
    assert estimate_corpus(split_corpus).to_dict()["one_label"] is None
    assert estimate_corpus(single_corpus(split=None)).one_label is None
    labels = single_corpus().labels
    for double in (0, 89):  # of training, held out
        some = tuple(("grain", "metal") if at == double else one for at, one in enumerate(labels))
        assert estimate_corpus(single_corpus(labels=some)).one_label is None
    alone = (*labels[:60], *(("grain",),) * 30)
    assert estimate_corpus(single_corpus(labels=alone)).one_label is None


def test_a_class_without_a_training_document_is_never_called():
    labels = single_corpus().labels
    found = estimate_corpus(single_corpus(labels=(*labels[:89], ("late",)))).one_label
    names, counts = found.confusion
    assert counts[names.index("late")].sum() == 1
    assert counts[:, names.index("late")].sum() == 0


def test_categories_stand_by_size_with_their_facts(split_corpus):
    found = estimate_corpus(split_corpus)
    sizes = [category.documents for category in found.categories]
    assert sizes == sorted(sizes, reverse=True)
    assert found.labels == tuple(category.name for category in found.categories)
    assert all(category.stable and category.reason is None for category in found.categories)
    assert found.categories[0].test_documents == sum(
        "grain" in labels for labels in split_corpus.labels[80:118]
    )


def test_a_category_that_no_training_document_carries_is_listed_with_the_reason(split_corpus):
    labels = [*split_corpus.labels[:80], *((*one, "late") for one in split_corpus.labels[80:])]
    found = estimate_corpus(made_corpus(labels=tuple(labels), split=split_corpus.split))
    row = found.by_class["late"]
    assert [row[name].is_defined for name in MEASURES] == [False] * 4
    assert row["f1"].notes == ("undefined: no training document carries it",)
    assert found.holdout.by_class["late"]["f1"].notes == row["f1"].notes
    assert found["f1_macro"].notes == ("over the 3 classes asked for",)
    assert "1 category has no estimate: see the notes." in found.verdict
    assert "Not estimated, as no training document carries it: 'late'." in found.notes


def test_both_sides_are_averaged_over_the_same_categories(split_corpus):
    rare = tuple(("rare",) if at < 4 else labels for at, labels in enumerate(split_corpus.labels))
    found = estimate_corpus(made_corpus(labels=rare, split=split_corpus.split))
    assert found.by_class["rare"]["recall"].is_defined
    assert found["f1_macro"].notes == found.holdout["f1_macro"].notes
    assert any(note.startswith("In no average, as no document held out") for note in found.notes)


def test_a_random_division_is_told_and_can_be_repeated(corpus):
    found = estimate_corpus(corpus, holdout=0.25)
    assert (found.n, found.holdout.n) == (90, 30)
    again = estimate_corpus(corpus, holdout=0.25, random_state=found.settings["random_state"])
    assert as_plain(again) == as_plain(found)
    drawn = estimate_corpus(corpus, holdout=0.25, random_state=np.random.default_rng(1))
    assert drawn.settings["random_state"] == "a generator"


def test_neither_threads_nor_the_order_of_categories_change_anything(corpus):
    once = estimate_corpus(corpus, rho=1.5)
    assert list(once.at_rho) == [1.0, 1.5, 2.0]
    assert once.by_class == once.at_rho[1.5].by_class
    assert as_plain(estimate_corpus(corpus, rho=1.5, n_jobs=2)) == as_plain(once)
    two = estimate_corpus(corpus, rho=1.5, categories=["ship", "grain"])
    assert list(two.by_class) == ["grain", "ship"]
    assert two.by_class["ship"] == once.by_class["ship"]


def test_vectors_take_the_place_of_texts(corpus):
    matrix = Vectorizer().fit_transform(corpus.texts)
    found = estimate_corpus(made_corpus(texts=None, matrix=matrix))
    assert found.by_class == estimate_corpus(corpus).by_class
    assert found.settings["radius_rule"].startswith("unit length")
    scaled = estimate_corpus(made_corpus(texts=None, matrix=csr_matrix(matrix * -2)))
    assert scaled.settings["squared_radius"] > 1


def test_a_price_so_small_that_no_bias_is_pinned_down_is_warned_of():
    texts = ("wheat corn", "wheat corn", "gold tin", "gold tin")
    small = Corpus(
        ids=tuple("1234"), texts=texts, labels=(("a",), ("a",), ("b",), ("b",)), matrix=None
    )
    with pytest.warns(UnstableWarning, match="2 categories"):
        found = estimate_corpus(small, C=0.01, min_documents=1)
    assert any(sentence.startswith("Unstable") for sentence in found.verdict)
    assert [category.stable for category in found.categories] == [False, False]


def test_a_solver_that_stops_early_is_warned_of(corpus, monkeypatch):
    trained = module.train_svms

    def stopped(*arguments, **options):
        svms = trained(*arguments, **options)
        svms.gap[0] = 0.5
        return svms

    monkeypatch.setattr(module, "train_svms", stopped)
    with pytest.warns(NotConvergedWarning, match="a gap of 0.5; asked was 1e-06"):
        found = estimate_corpus(corpus)
    assert found.categories[0].gap == 0.5
    assert any("stopped" in sentence for sentence in found.verdict)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "folds"}, "`method` must be one of xi_alpha, leave_one_out; got 'folds'"),
        ({"level": 95}, "Write 0.95 for 95 %"),
        ({"C": 0}, "`C` must be positive"),
        ({"rho": 0}, "`rho` must be positive"),
        ({"rho": "2"}, "`rho` must lie in"),
        ({"categories": ["grian"]}, "`categories` must be carried by a document; got 'grian'"),
        ({"holdout": 0.001}, "`holdout` must leave documents on both sides"),
        ({"n_jobs": 0}, "`n_jobs` must be a number of threads"),
        ({"min_documents": 0}, "`min_documents` must lie in"),
    ],
)
def test_what_cannot_be_meant_is_refused(corpus, options, message):
    with pytest.raises(InputError, match=message):
        estimate_corpus(corpus, **options)


def test_a_corpus_that_is_read_tells_its_file(write):
    lines = "".join(
        f'{{"text": "{text}", "labels": {list(labels)}}}\n'.replace("'", '"')
        for text, labels in zip(made_corpus().texts, made_corpus().labels, strict=True)
    )
    found = estimate_corpus(read_corpus(write(lines, "corpus.jsonl")))
    assert found.source["files"][0]["format"] == "json lines"
    assert found.by_class == estimate_corpus(made_corpus()).by_class


@pytest.fixture
def make():
    """Make findings on two categories, of 80 and 4 of 200 documents, from what went wrong."""

    def make(*, rho=1.0, method="xi_alpha", wrong=None, decision=None, **fields):
        truth = np.zeros((2, N), dtype=bool)
        truth[0, :80], truth[1, 80:84] = True, True
        given = {
            "flagged": np.zeros((1, 2, N), dtype=bool),
            "left_out": np.zeros((2, 0), dtype=bool),
            "decision": np.zeros((2, 0)) if decision is None else decision,
            "stable": np.ones(2, dtype=bool),
            "gap": np.zeros(2),
            "refits": np.array([30, 4]),
            "ties": np.zeros(2, dtype=int),
            "squared_radius": 1.0,
            "radius_rule": "unit length",
        }
        trained = Trained(
            names=("large", "small"),
            truth=truth,
            test_truth=None if decision is None else truth,
            svms=CategorySVMs(**{**given, **fields}),
        )
        flags = np.zeros((2, N), dtype=bool) if wrong is None else wrong
        main = trained.estimates(flags, method, 0.95)
        return Findings(main=main, holdout=trained.held_out(0.95), trained=trained, rho=rho)

    return make


def told(findings, start):
    found = [sentence for sentence in verdict_of(findings) if sentence.startswith(start)]
    assert len(found) == 1, list(verdict_of(findings))
    return found[0]


def test_the_first_sentences_are_the_averages(make):
    wrong = np.zeros((2, N), dtype=bool)
    wrong[0, 70:90] = True  # 10 positives and 10 negatives of the large one
    first, second, *_ = verdict_of(make(wrong=wrong))
    assert first.startswith("Of the decisions whether a document carries a category, 5.00 % (")
    assert first.endswith("by the 200 training documents alone.")
    # micro: TP 74, FP 10, FN 10; macro: (140 / 160 + 1) / 2
    assert second.startswith("Over 2 categories: micro F1 88.1 % (")
    assert ", macro F1 93.8 % (" in second


@pytest.mark.parametrize(
    ("rho", "start"), [(1.0, "They lean to the pessimistic side. ρ = 1 is"), (2.0, "Proven, with")]
)
def test_what_is_proven_depends_on_rho(make, rho, start):
    assert "R² = 1 (unit length)" in told(make(rho=rho), start)


def test_leave_one_out_tells_its_refits_and_ties(make):
    findings = make(method="leave_one_out", ties=np.array([2, 1]))
    assert "34 documents were left out" in told(findings, "These count the errors of exact")
    told(findings, "3 of these calls are ties")


def test_the_hold_out_is_counted_category_by_category(make):
    decision = np.full((2, N), -1.0)
    decision[0, :60] = 1.0  # misses 20 of 80: recall .75, precision 1
    decision[1, 80:84] = 1.0
    wrong = np.zeros((2, N), dtype=bool)
    wrong[0, :70] = True  # recall 1/8
    findings = make(wrong=wrong, decision=decision)
    sentence = told(findings, "Beside the 200 documents held out")
    assert "error 1 (and 0) of 2; recall 1 (and 0) of 2; precision 0 (and 0) of 2" in sentence
    assert not [one for one in verdict_of(findings) if one.code == "holdout_apart"]


def test_a_bound_that_the_hold_out_breaks_is_named(make):
    decision = np.full((2, N), -1.0)
    decision[0, :10] = 1.0  # finds 10 of 80: F1 .22, where no training document is at risk
    findings = make(wrong=np.zeros((2, N), dtype=bool), decision=decision)
    assert told(findings, "F1 is below its bound").startswith("F1 is below its bound in 'large'")
    assert "of another kind" in told(findings, "F1 is below its bound")
    drawn = replace(findings, drawn=True)
    assert told(drawn, "F1 is below its bound").endswith("it is chance, or the estimate is off.")


def test_few_documents_are_said_to_be_too_few(make):
    wrong = np.zeros((2, N), dtype=bool)
    wrong[1, 80:82] = True
    sentence = told(make(wrong=wrong), "Too few documents")
    assert sentence.endswith("1 category with at most 4 training documents, such as 'small'.")


def test_unstable_and_unsolved_machines_are_named(make):
    findings = make(stable=np.array([True, False]), gap=np.array([1e-3, 0.0]))
    assert "'small'" in told(findings, "Unstable")
    assert "in 1 of 2 categories, with a gap of up to 0.001" in told(findings, "The solver stopped")


def test_nothing_to_tell_is_told():
    nothing = Trained(
        names=("all",),
        truth=np.ones((1, 5), dtype=bool),
        test_truth=None,
        svms=CategorySVMs(
            flagged=np.zeros((1, 1, 5), dtype=bool),
            left_out=np.zeros((1, 0), dtype=bool),
            decision=np.zeros((1, 0)),
            stable=np.ones(1, dtype=bool),
            gap=np.zeros(1),
            refits=np.zeros(1, dtype=int),
            ties=np.zeros(1, dtype=int),
            squared_radius=1.0,
            radius_rule="unit length",
        ),
    )
    main = nothing.estimates(np.zeros((1, 5), dtype=bool), "xi_alpha", 0.95)
    findings = Findings(main=main, holdout=None, trained=nothing, rho=1.0)
    assert next(verdict_of(findings)) == "There is no category that can be told from the rest."
    assert told(findings, "1 category has no estimate")
