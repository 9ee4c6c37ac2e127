import pytest

from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.results.leave_one_out import leave_one_out_chapter
from truerisk.svm.linear import LinearSVM


@pytest.fixture(scope="module")
def found():
    return leave_one_out(LinearSVM(C=10), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_it_says_what_it_is_and_what_it_took(found):
    chapter = leave_one_out_chapter(found)
    assert chapter.subtitle.startswith("leave-one-out, exact · 4 examples")
    facts = dict(facts_of(found))
    assert facts["called wrong by the model trained without them"] == "1 example"
    assert facts["margin exactly 0, so that the call is arbitrary"] == "2 examples"
    assert facts["refits; the other calls follow from the training on all"] == "2"


def test_the_page_is_made(found):
    assert "leave-one-out, exact" in report_of(found).html
