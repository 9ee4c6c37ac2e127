import numpy as np
import pytest

import truerisk as tr
from studies.audit import sentences
from studies.audit.sentences import SCENARIOS, all_parts, as_constant, codes_of, measure
from truerisk.results import Evaluation, Finding

BETTER = Finding("Sure: that is better.", code="better_than_constant")
WORSE = Finding("Sure: that is worse.", code="worse_than_constant")


def test_only_the_codes_that_are_looked_at_count():
    assert codes_of([BETTER, "plain words", WORSE], ["worse_than_constant"]) == [
        "worse_than_constant"
    ]


@pytest.mark.parametrize(
    ("right", "said", "false"),
    [
        ((0.5, 0.5), [BETTER], ["better_than_constant"]),
        ((0.5, 0.5), [WORSE], ["worse_than_constant"]),
        ((0.9, 0.9), [BETTER], []),
        ((0.9, 0.9), [WORSE], ["worse_than_constant"]),
        ((0.5, 0.5), [], []),
    ],
)
def test_a_sentence_is_false_by_what_is_true_of_the_population(monkeypatch, right, said, false):
    def evaluate(*_, **__):
        return Evaluation(
            estimates={}, n=20, level=0.95, labels=("a", "b"), pos_label=None, verdict=tuple(said)
        )

    monkeypatch.setattr(tr, "evaluate", evaluate)
    assert as_constant((0.5, 0.5), right)(20, np.random.default_rng(0)) == false


def test_predictions_are_right_as_often_as_a_constant(monkeypatch):
    # 0.7 · 0.85 + 0.3 · 0.35 = 0.7, which is the share of the commonest class.
    seen = []
    monkeypatch.setattr(tr, "evaluate", lambda y, called, **_: seen.append((y, called)) or EMPTY)
    as_constant(*sentences.SEVEN_IN_TEN)(40_000, np.random.default_rng(0))
    y, called = (np.array(one) for one in seen[0])
    assert np.mean(y == called) == pytest.approx(0.7, abs=0.01)
    assert np.mean(y == "class 0") == pytest.approx(0.7, abs=0.01)


EMPTY = Evaluation(estimates={}, n=1, level=0.95, labels=("a", "b"), pos_label=None)


def test_every_scenario_has_its_name_and_a_run_continues(tmp_path, monkeypatch):
    names = [(one.where, one.name) for one in SCENARIOS]
    assert len(set(names)) == len(names)
    monkeypatch.setattr(sentences, "BLOCK", 2)
    parts = [part for part in all_parts() if part[0].name == "two classes, even"][:1]
    [first] = measure(parts, samples=4, folder=tmp_path)
    assert (first.samples, first.method, first.n) == (4, "tr.evaluate", 50)
    assert len(list(tmp_path.iterdir())) == 2
    monkeypatch.setattr(tr, "evaluate", lambda *_, **__: pytest.fail("was run again"))
    assert str(list(measure(parts, samples=4, folder=tmp_path))) == str([first])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.where}-{one.name}")
def test_every_scenario_can_be_drawn(scenario):
    said = scenario.draw(min(scenario.sizes), np.random.default_rng(0))
    assert isinstance(list(said), list)
