import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.reporting.presenter import MAX_STEPS, by_rules, next_steps


def test_no_more_than_four_steps_are_given_and_the_first_ones():
    def rule(name):
        return lambda _: iter([name])

    result = list(by_rules([rule(name) for name in "abcde"], rule("otherwise"))(None))
    assert result == list("abcde")
    table = [[3, 4, 0, 1], [0, 5, 9, 2], [9, 1, 2, 1], [1, 3, 0, 2]]
    assert 1 <= len(next_steps(tr.evaluate_counts(table, labels=list("abcd")))) <= MAX_STEPS


def test_otherwise_is_said_only_if_no_rule_holds():
    nothing, something = (lambda _: iter([])), (lambda _: iter(["otherwise"]))
    assert list(by_rules([nothing, nothing], something)(None)) == ["otherwise"]


def test_what_is_no_result_is_refused():
    with pytest.raises(InputError, match="`result` must be a result of truerisk; got <object"):
        next_steps(object())


@pytest.mark.parametrize("table", [[[450, 50], [40, 860]], [[6, 4], [3, 87]], [[10, 90], [90, 10]]])
def test_every_step_has_a_number_or_nothing_to_count_and_a_command(table):
    for step in next_steps(tr.evaluate_counts(table)):
        assert "`truerisk " in step
        assert step.endswith(".")
        assert step[0].isupper()


@pytest.mark.parametrize("name", ["a`b", "`", "``c", "`truerisk`"])
def test_a_backtick_in_a_name_leaves_the_commands_what_they_are(name):
    truth = [0, 1] * 20
    predicted = truth[:30] + [0] * 10, [1] * 12 + truth[12:]
    plain, odd = (
        next_steps(tr.compare(truth, *predicted, names=(one, "b"), measures=["error_rate"]))
        for one in ("plain", name)
    )
    assert any("plain" in step for step in plain)
    assert [step.split("`")[1::2] for step in odd] == [step.split("`")[1::2] for step in plain]
