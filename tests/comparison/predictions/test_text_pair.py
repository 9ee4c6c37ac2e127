import pytest

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.text_tests import (
    macro_sign_test,
    micro_sign_test,
    proportion_test,
)

TRUTH = [{"a"}, {"a", "b"}, {"b"}, {"c"}, set(), {"a", "c"}]
FIRST = [{"a"}, {"a"}, {"c"}, {"c"}, {"b"}, {"a"}]
SECOND = [{"a"}, {"a", "b"}, {"b"}, {"c"}, set(), {"c"}]


def right(called):
    return [
        [(k in one) == (k in true) for k in "abc"] for one, true in zip(called, TRUTH, strict=True)
    ]


def beside(measure, **options):
    result = compare(TRUTH, FIRST, SECOND, multilabel=True, measures=[measure], **options)
    tests = result.beside.get((measure, "first", "second"), ())
    return {one.method: one for one in tests}


def test_the_micro_sign_test_counts_every_decision_of_every_document():
    expected = micro_sign_test(right(FIRST), right(SECOND))
    for measure in ("hamming_loss", "f1_micro", "recall_micro", "precision_micro"):
        assert beside(measure)["micro_sign_test"].p_value == expected.p_value


def test_the_p_test_stands_beside_shares_of_decisions():
    wrong = [sum(not one for row in right(called) for one in row) for called in (FIRST, SECOND)]
    expected = proportion_test(wrong[0], 18, wrong[1], 18).p_value
    assert beside("hamming_loss")["proportion_test"].p_value == expected
    # 4 of 7 labels are found by the first, 6 by the second.
    assert beside("recall_micro")["proportion_test"].p_value == proportion_test(4, 7, 6, 7).p_value
    assert "proportion_test" not in beside("f1_micro")


def test_the_macro_tests_stand_beside_the_macro_average_of_f1():
    found = beside("f1_macro")
    # F1 of a, b and c, category by category.
    expected = macro_sign_test([1.0, 0.0, 0.5], [0.8, 1.0, 1.0])
    assert found["macro_sign_test"].p_value == expected.p_value
    assert {"macro_t_test", "macro_t_on_ranks"} <= set(found)
    assert "categories" in found["macro_sign_test"].note


@pytest.mark.parametrize("options", [{"sample_weight": [1.0, 2, 1, 1, 1, 1]}], ids=["weighted"])
def test_weighted_documents_are_no_decisions_to_be_counted(options):
    assert not beside("hamming_loss", **options)
