import pytest

from studies.audit.perturbation import PerturbationCoverage
from studies.audit.perturbation_page import perturbation_page

DEFAULT, AGREEMENT = "cross-validated, effective size", "agreement, 5 × 5"


def row(interval, *, model=0.95, width=0.2, classifier="linear", n=50):
    return PerturbationCoverage(
        classifier=classifier,
        features="normal",
        n=n,
        d=2,
        error=0.15,
        C=1.0,
        interval=interval,
        samples=300,
        random_state=7,
        replicates=250,
        folds=5,
        truth=0.17,
        of_model=model,
        of_learner=0.9,
        width=width,
    )


def rows_with(default, width):
    return [
        row("training, percentile", model=0.4, width=0.05),
        row(DEFAULT, model=default, width=width),
        row(AGREEMENT, model=0.99),
        row("training, percentile", model=0.5, width=0.05, classifier="rbf"),
        row(DEFAULT, model=0.95, width=width, classifier="rbf"),
        row(AGREEMENT, model=0.9, classifier="rbf"),
    ]


def lines(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


def test_each_interval_is_summed_up_for_both_truths():
    text = perturbation_page(rows_with(0.97, 0.3))
    model, learner = lines(text, f"| {DEFAULT} |")
    assert model == f"| {DEFAULT} | 0.960 | 0.950 | 0.970 | 1.00 | 1.00 | 1.50 |"
    assert learner == f"| {DEFAULT} | 0.900 | 0.900 | 0.900 | 0.00 | 1.00 | 1.50 |"


def test_the_published_form_is_told_in_short():
    [told] = lines(perturbation_page(rows_with(0.97, 0.3)), "- The published form")
    assert "covers this model's error in 0.450 of the data sets on average and 0.400" in told
    assert "its width is 0.25 × that of agreement" in told


@pytest.mark.parametrize(
    ("default", "width", "beats"), [(0.95, 0.2, True), (0.95, 0.3, False), (0.8, 0.2, False)]
)
def test_a_form_beats_agreement_only_in_coverage_and_width_together(default, width, beats):
    text = perturbation_page(rows_with(default, width))
    assert (f"`{DEFAULT}` beats the rule of agreement" in text) is beats
    assert ("No form of perturbation beats" in text) is not beats


def test_a_classifier_has_a_table_of_its_own():
    text = perturbation_page(rows_with(0.97, 0.3))
    linear, rbf = lines(text, "| 50 | 2 |")
    assert linear.startswith("| 50 | 2 | 0.15 | 1 | 0.170 | 0.400 / 0.900 (0.050) |")
    assert text.index("## Linear SVMs, C = 1") < text.index(linear)
    assert text.index("## Gaussian (RBF) kernel") < text.index(rbf)
    assert "## Cubic kernel" not in text


def test_the_page_says_what_was_measured():
    text = perturbation_page(rows_with(0.97, 0.3))
    assert "300 data sets are drawn in each of 2 cells" in text
    assert "250 weightings and 5 folds" in text
    assert "uncertain by ±0.025" in text
    assert "Seed: 7." in text
