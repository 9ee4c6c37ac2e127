from studies.audit.learner_coverage import AGREEMENT, YARDSTICK, LearnerCoverage
from studies.audit.learner_page import learner_page, summarise_learners
from studies.audit.learner_refits import Cell


def row(interval, *, n=50, model=0.95, learner=0.95, width=1.0, defined=500, measure="error_rate"):
    cell = Cell(problem="crescent", n=n, learner="naive Bayes", samples=500, random_state=7)
    return LearnerCoverage(
        cell=cell,
        measure=measure,
        interval=interval,
        defined=defined,
        model=model,
        learner=learner,
        mean_width=0.2 * width,
        relative_width=width,
        truth=0.17,
    )


ROWS = [
    row(AGREEMENT, model=0.93, learner=0.99, width=0.9),
    row(YARDSTICK, model=0.86, learner=0.5, defined=400),
    row(AGREEMENT, n=100, model=0.986, learner=0.96, width=1.1),
    row(YARDSTICK, n=100, model=0.95, learner=0.96),
]


def page_of(rows):
    return learner_page(summarise_learners(rows))


def lines(text, start):
    return [line for line in text.splitlines() if line.startswith(f"| {start} |")]


def test_each_interval_is_summed_up_for_both_truths():
    model, learner = lines(page_of(ROWS), AGREEMENT)
    # .93 is in range, .986 of 500 is not but may be; the widths are .9 and 1.1.
    assert model.startswith(f"| {AGREEMENT} | 0.958 | 0.930 | 0.986 | 0.50 | 1.00 | 0 | 1.000 |")
    assert learner.startswith(f"| {AGREEMENT} | 0.975 | 0.960 | 0.990 | 0.50 | 1.00 | 0 |")
    model, learner = lines(page_of(ROWS), YARDSTICK)
    # .86 of 400 is under .87 and not by chance out of range; a hundred of a thousand have none.
    assert model.endswith("| 0.50 | 0.50 | 1 | 1.000 | 0.100 | 2 |")
    assert learner.endswith("| 0.50 | 0.50 | 1 | 1.000 | 0.100 | 2 |")


def test_the_default_is_told_in_short():
    text = page_of(ROWS)
    told = "- The learner's error: `agreement` covers 0.975 on average and 0.960 at least; 0.50 of "
    assert f"{told}its 2 cells lie in [0.93, 0.98], 1.00 within Monte Carlo error, 0 under" in text


def test_the_page_says_what_was_measured():
    text = page_of(ROWS)
    assert "500 samples of each of 1 problems" in text
    assert "1,000,000 fresh examples" in text
    assert "uncertain by ±0.019" in text
    assert "Seed: 7." in text
    assert "| crescent | 2 | 0.50 | normal | 0.00 |" in text


def test_other_measures_are_summed_up_by_size():
    more = [row(AGREEMENT, measure="recall"), row(AGREEMENT, measure="recall", n=100, model=0.9)]
    text = page_of([*ROWS, *more])
    assert "| measure | n = 50 | n = 100 | in range | within Monte Carlo error |" in text
    model, learner = lines(text, "recall")
    assert model == "| recall | 0.950 / 0.950 | 0.900 / 0.900 | 0.50 | 0.50 | 0.000 |"
    assert learner == "| recall | 0.950 / 0.950 | 0.950 / 0.950 | 1.00 | 1.00 | 0.000 |"


def test_every_cell_has_a_line():
    text = page_of([*ROWS, row("another", n=100, model=0.9, learner=0.91)])
    head = "| crescent | naive Bayes"
    first, second = [line for line in text.splitlines() if line.startswith(head)]
    assert first == f"{head} | 50 | 0.170 | 0.180 | 0.200 | 0.930 / 0.990 | 0.860 / 0.500 | – |"
    assert second.startswith(f"{head} | 100 | 0.170 | 0.220 |")
    assert second.endswith("| 0.900 / 0.910 |")
