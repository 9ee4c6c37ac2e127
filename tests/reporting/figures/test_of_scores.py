import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.spatial import KDTree

from truerisk.evaluation.curve_bands import confidence_band
from truerisk.evaluation.evaluate import evaluate
from truerisk.measures.curves import roc
from truerisk.reporting.figures.of_scores import MAX_PLACES, curve_drawings, score_drawings

ALL = ["roc", "precision-recall", "normalised-cost", "scores", "calibration", "error-reject"]


def _scored(n=120, **options):
    y_true = np.arange(n) % 3 == 0
    y_score = 0.6 * (np.arange(n) * 7 % n / n) + 0.4 * y_true
    return evaluate(y_true, y_score >= 0.5, y_score=y_score, random_state=1, **options)


@pytest.fixture(scope="module")
def scored():
    return _scored()


def _drawn(evaluation, name):
    ax = Figure().subplots()
    dict(score_drawings(evaluation))[name](ax)
    return ax


def test_probabilities_have_every_picture(scored):
    assert [name for name, _ in score_drawings(scored)] == ALL


@pytest.mark.parametrize(
    ("name", "curve"), [("roc", "roc"), ("precision-recall", "precision_recall")]
)
def test_a_curve_lies_on_its_band_of_the_level_asked_for(name, curve):
    evaluation = _scored(level=0.8)
    ax = _drawn(evaluation, name)
    (band,) = ax.collections
    expected = confidence_band(evaluation.curves[curve], level=0.8)
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (expected.low.min(), expected.high.max())
    assert any(
        np.array_equal(heights[1 : len(expected.x) + 1], e) for e in (expected.low, expected.high)
    )
    assert len(ax.lines) == 2


def test_weighted_examples_have_a_curve_and_no_band():
    evaluation = _scored(sample_weight=np.linspace(1, 2, 120))
    for name in ("roc", "precision-recall", "calibration"):
        ax = _drawn(evaluation, name)
        assert not ax.collections
        assert len(ax.lines) == 2


def test_bins_of_probabilities_stand_on_their_intervals(scored):
    ax = _drawn(scored, "calibration")
    assert len(ax.collections[0].get_segments()) == len(ax.lines[1].get_xdata()) == 10


def test_both_classes_are_named_beside_their_scores(scored):
    legend = _drawn(scored, "scores").get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["negative", "positive"]


def test_the_error_at_no_rejection_is_that_of_the_classifier(scored):
    (line,) = _drawn(scored, "error-reject").lines
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (0, scored["error_rate"].value)


def test_scores_that_are_no_probabilities_are_not_calibrated():
    truth = [0, 1] * 20
    evaluation = evaluate(truth, y_score=np.arange(40.0) - 20, random_state=1)
    assert "calibration" not in dict(score_drawings(evaluation))


@pytest.mark.parametrize("infinite", [False, True])
def test_one_class_has_what_one_class_can_have(infinite):
    scores = np.full(4, np.inf) if infinite else np.arange(4.0)
    evaluation = evaluate([0] * 4, y_score=scores, pos_label=1, allow_inf=True, random_state=1)
    for _, draw in score_drawings(evaluation):
        draw(Figure().subplots())


def test_predictions_without_scores_have_no_such_picture(evaluation):
    assert not list(score_drawings(evaluation))


def test_curves_are_drawn_by_their_names_and_tables_left_out(scored):
    assert [name for name, _ in curve_drawings(scored.curves, 0.95)] == ALL[:2]


def test_a_band_of_many_places_is_drawn_by_few_from_end_to_end():
    y_true = np.arange(20_000) % 3 == 0
    y_score = 0.6 * np.random.default_rng(0).random(20_000) + 0.4 * y_true
    curve = roc(y_true, y_score)
    ax = Figure().subplots()
    dict(curve_drawings({"roc": curve}, 0.95))["roc"](ax)
    drawn = ax.collections[0].get_paths()[0].vertices
    band = confidence_band(curve)
    assert len(drawn) < 2 * MAX_PLACES + 10 < len(band.x)
    for ends in (band.low, band.high):
        shown = drawn[np.isin(drawn[:, 1], ends)]
        assert (shown[:, 0].min(), shown[:, 0].max()) == (0, 1)
    # Every corner of the band has one that is drawn within one share of the way along it.
    way = sum(np.abs(np.diff(one)).sum() for one in (band.x, band.low, band.high))
    for ends in (band.low, band.high):
        distances, _ = KDTree(drawn).query(np.column_stack([band.x, ends]), p=np.inf)
        assert distances.max() <= way / (MAX_PLACES - 1) < 0.003
