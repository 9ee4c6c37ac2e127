import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.labels import Spelling, check_same_spelling, plain_positive

texts = st.sets(st.sampled_from(["0", "1", "a", "b", "A", "a ", "1.0", "True", "0.5"]), min_size=1)


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        ("10", ["1.0", "0.0"], r"'0' and the predictions have '0\.0', which are the same number"),
        ("01", ["True", "False"], "which are the same number. Use --numeric-labels"),
        (["Yes", "No"], ["yes", "no"], "differ only in case. Use --map 'no' 'No'"),
        (["a", "b"], ["a ", "b"], r"differ only in white space. Use --strip \(strip=True"),
        ("01", ["<=50K", ">50K"], r"labels in common; .* Rename them with --map '<=50K' '0'"),
        ("01", ["0.3", "0.7"], "'0.3', '0.7' look like scores. Use --score"),
        ("01", ["0.3", "0", "1", "0.7", "0.95"], "'0.3', '0.7', '0.95' look like scores"),
    ],
)
def test_labels_that_are_spelt_in_two_ways_are_refused(true, predicted, message):
    with pytest.raises(InputError, match=message):
        check_same_spelling(set(true), set(predicted))


@pytest.mark.parametrize(
    ("true", "predicted", "known"),
    [
        (["a", "A"], ["a"], ()),  # both occur in the truth: two classes
        (["a", "b"], ["a", "c"], ()),
        (["1"], ["0"], ()),
        (["True"], ["False"], ()),
        (["a"], ["b"], ("a", "b")),
        (["0", "1"], ["0", "0.5", "1"], ()),
        (["0", "0.5"], ["0.5", "0.25", "0.75"], ()),
        (["a"], [], ()),
    ],
)
def test_other_labels_are_left_alone(true, predicted, known):
    check_same_spelling(set(true), set(predicted), known)


def test_of_two_labels_the_one_that_is_positive_makes_a_pair():
    check_same_spelling({"ham"}, {"spam"}, pos_label="spam")
    with pytest.raises(InputError, match="in common"):
        check_same_spelling({"ham"}, {"spam"})


@given(texts)
def test_labels_on_both_sides_are_never_in_question(labels):
    check_same_spelling(labels, labels)


@pytest.mark.parametrize(
    ("text", "spelt"),
    [("1.0", "1"), ("01", "1"), ("-0.0", "0"), ("True", "1"), ("1e3", "1000"), ("0.50", "0.5"),
     ("NA", "NA"), ("nan", "nan"), ("12345678901234567890", "12345678901234567890")],
)  # fmt: skip
def test_a_number_has_one_spelling(text, spelt):
    assert Spelling(numeric=True)(text) == spelt


def test_labels_are_trimmed_then_renamed_then_read_as_numbers():
    spelling = Spelling.of(strip=True, numeric_labels=True, label_map={"one": 1.0, 2: "two"})
    assert [spelling(text) for text in (" one ", "2", "3.0")] == ["1", "two", "3"]


def test_a_map_must_be_one():
    with pytest.raises(InputError, match="`label_map` must map labels to labels"):
        Spelling.of(label_map=["a"])


def test_the_positive_label_that_is_plain():
    assert plain_positive({"-1", "1"}) == "1"
    assert plain_positive({"ham", "spam"}) is None


@pytest.mark.parametrize(
    ("true", "predicted"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("a b", "a\u00a0b"),
        ("x1", "\uff581"),
        ("stra\u00dfe", "STRASSE"),
        ("a", "\u0430"),
        ("HO", "\u041d\u039f"),
    ],
)
def test_labels_that_look_the_same_in_other_characters_are_refused(true, predicted):
    with pytest.raises(InputError, match=r"--map ") as refused:
        check_same_spelling({true, "b"}, {predicted, "b"})
    assert ascii(true).strip("'") in str(refused.value)


@pytest.mark.parametrize("values", [("-2.3", "0.4", "3.1"), ("12.5", "97.25", "50")])
def test_decision_values_are_no_labels(values):
    with pytest.raises(InputError, match=r"look like scores\. Use --score"):
        check_same_spelling({"0", "1"}, values)


def test_other_numbers_stay_labels():
    with pytest.raises(InputError, match="must have labels in common"):
        check_same_spelling({"0", "1"}, {"2", "10", "2.5"})
