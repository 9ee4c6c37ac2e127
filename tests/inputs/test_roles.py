import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.predictions import positive_of_pair
from truerisk.inputs.roles import (
    PREFIXES,
    USUAL_NAMES,
    CorpusColumns,
    ResolvedRoles,
    Roles,
    TableRoles,
    classes_of_columns,
    resolve_roles,
)


@pytest.mark.parametrize("role", ["truth", "pred", "score", "group", "weight", "id"])
def test_every_usual_name_is_found_without_regard_to_case(role):
    for name in USUAL_NAMES[role]:
        for spelt in (name, name.upper(), name.replace("_", " ").title()):
            others = [n for n in ("y_true", "y_pred") if role not in {"truth", "pred"}]
            others = ["y_pred"] if role == "truth" else ["y_true"] if role == "pred" else others
            assert getattr(resolve_roles([*others, spelt], Roles()), role) == spelt


def test_no_usual_name_belongs_to_two_roles():
    names = [name for usual in USUAL_NAMES.values() for name in usual]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_columns_with_a_prefix_are_the_scores_of_classes(prefix):
    roles = resolve_roles(["y", f"{prefix}Cat", f"{prefix}dog"], Roles())
    assert roles.score == (f"{prefix}Cat", f"{prefix}dog")
    assert roles.score_classes == ("Cat", "dog")


def test_score_columns_that_are_given_name_their_classes():
    roles = resolve_roles(["y", "cat", "dog"], Roles(score=("dog", "cat")))
    assert roles.score_classes == ("dog", "cat")
    assert roles.guessed == ("truth",)


def test_two_families_of_scores_are_refused():
    columns = ["y", "p_a", "p_b", "score_a", "score_b"]
    with pytest.raises(InputError, match=re.escape("'score_a + score_b', 'p_a + p_b'")):
        resolve_roles(columns, Roles())


def test_a_role_that_is_given_is_not_guessed_for_another():
    roles = resolve_roles(["label", "y"], Roles(pred="y"))
    assert roles == ResolvedRoles(truth="label", pred="y", guessed=("truth",))


def test_what_is_sliced_by_is_no_group_unless_it_is_named():
    columns = ["truth", "pred", "subject"]
    assert resolve_roles(columns, Roles()).group == "subject"
    assert resolve_roles(columns, Roles(by=("subject",))).group is None
    assert resolve_roles(columns, Roles(by=("subject",), group="subject")).group == "subject"


def test_a_role_that_is_not_to_be_used_is_not_guessed():
    roles = resolve_roles(["y_true", "y_pred", "id", "user"], Roles(id="", group=""))
    assert roles == ResolvedRoles(truth="y_true", pred="y_pred", guessed=("truth", "pred"))


def test_neither_predictions_nor_scores_is_refused():
    with pytest.raises(InputError, match=re.escape("`pred` must be the column with predicted")):
        resolve_roles(["y_true", "x"], Roles())


def test_no_column_at_all_is_refused():
    with pytest.raises(InputError, match="`truth` must be the column with the true labels"):
        resolve_roles([], Roles())


def test_a_long_list_of_columns_is_cut():
    columns = [f"x{place}" for place in range(1000)]
    with pytest.raises(InputError, match="'x19' and 980 more") as caught:
        resolve_roles(columns, Roles())
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "name", ["p_hat", "prob_1", "proba_pos", "y_prob", "y_proba", "confidence", "P_Hat"]
)
def test_one_column_of_the_positive_label_is_a_score(name):
    assert resolve_roles(["y_true", name], Roles()).score == name


def test_a_score_of_another_label_is_not_guessed():
    with pytest.raises(InputError, match="must be the column with predicted labels"):
        resolve_roles(["y_true", "prob_0"], Roles())


def test_two_columns_of_one_prefix_stay_a_family():
    roles = resolve_roles(["y_true", "prob_0", "prob_1"], Roles())
    assert roles.score == ("prob_0", "prob_1")
    assert roles.score_classes == ("0", "1")


@pytest.mark.parametrize(
    ("columns", "hint"),
    [(["y_ture", "y_pred"], "--truth y_ture"), (["y_true", "y_perd"], "--pred y_perd"),
     (["y_true", "probabilty"], "--score probabilty")],
)  # fmt: skip
def test_the_nearest_name_is_suggested(columns, hint):
    with pytest.raises(InputError, match=rf"Did you mean {hint}\?"):
        resolve_roles(columns, Roles())


def test_the_usual_names_are_found_in_any_case():
    result = CorpusColumns().settled(["Doc ID", "Body", "Topics", "Split", "other"])
    assert result == CorpusColumns(text="Body", labels="Topics", id="Doc ID", split="Split")


def test_a_given_name_is_taken_as_it_is():
    result = CorpusColumns(text="label", labels="text").settled(["text", "label"])
    assert (result.text, result.labels) == ("label", "text")


def test_an_empty_name_leaves_a_column_aside():
    result = CorpusColumns(id="", split="").settled(["id", "text", "labels", "split"])
    assert (result.id, result.split) == (None, None)


@pytest.mark.parametrize(
    ("given", "columns", "message"),
    [
        ({}, ["text", "body", "labels"], "`text` must be one column; the names 'text', 'body'"),
        ({}, ["text", "x"], "`labels` must be the column with the labels; none of the names"),
        ({}, ["x", "labels"], "`text` must be the column with the texts"),
        ({"text": "txt"}, ["text", "labels"], "got 'txt'. The columns are 'text', 'labels'. Did"),
        ({"id": "z"}, ["text", "labels"], "`id` must be a column of the file; got 'z'."),
        ({"text": "labels", "labels": "labels"}, ["labels"], "is named for two of them."),
        ({}, ["text", "labels", "text"], "'text' must appear once in the header; it appears 2"),
    ],
)
def test_columns_that_cannot_be_told_are_refused(given, columns, message):
    with pytest.raises(InputError, match=re.escape(message)):
        CorpusColumns(**given).settled(columns)


def test_columns_of_a_table_and_classes_of_score_columns():
    assert TableRoles(drop=("id",)).settled(["id", "age", "Class"]) == ("Class", ("age",))
    assert classes_of_columns(("proba_0", "proba_1")) == ("0", "1")
    assert classes_of_columns(("cat", "dog")) == ("cat", "dog")


def test_the_positive_one_of_two_score_columns():
    assert positive_of_pair(("0", "1"), None) == "1"
    assert positive_of_pair(("ham", "spam"), None) is None


@pytest.mark.parametrize("name", ["y_pred_proba", "predicted_proba", "prediction_score"])
def test_scores_named_after_predictions_are_scores(name):
    roles = resolve_roles(("y_true", name), Roles())
    assert roles.score == name
    assert roles.pred is None
