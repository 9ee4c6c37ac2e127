"""docs/conventions.md is made of the rows below; each is a call that is run, or a test that exists.

With TRUERISK_REFRESH_DOCS=1 the page is written again.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import truerisk as tr

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conventions.md"
WAYS = "test_every_way_gives_what_lists_give"

# Part of the page: (convention, a call or a test that shows it).
ROWS = {
    "Inputs": [
        ("lists, NumPy arrays", "tr.evaluate(list(y), pred)"),
        ("pandas", "tr.evaluate(pd.Series(y), pd.Series(pred))"),
        ("polars", "tr.evaluate(pl.Series(y), pl.Series(pred))"),
        ("Arrow", "tr.evaluate(pa.array(y), pa.array(pred))"),
        ("a whole frame", "tr.evaluate_frame(pd.DataFrame({'y_true': y, 'y_pred': pred}))"),
        ("sparse sets of labels", "tr.evaluate(sp.csr_matrix(sets), sets, multilabel=True)"),
        ("`predict_proba` as it is", "tr.evaluate(y, y_score=np.c_[1 - score, score])"),
        ("CSV, JSON lines, Parquet, Arrow files, folders, stdin, URIs", WAYS),
        ("DuckDB, ADBC and Hugging Face tables", WAYS),
        ("`s3://`", "test_a_file_is_read_from_s3"),
        ("`https://`", "test_a_file_is_read_by_http"),
        ("`gs://`", "test_files_and_folders_are_read_from_google"),
        ("`hf://`", "test_files_and_folders_are_read_from_a_hub_of_hugging_face"),
        (
            "folders of these stores",
            "test_a_folder_is_read_from_s3_as_one_on_this_disk_is",
        ),
        (
            "logs of lm-evaluation-harness",
            "test_the_only_metric_of_lm_eval_is_read_without_options",
        ),
        (
            "logs of inspect_ai",
            "test_logs_of_inspect_are_read_in_every_form",
        ),
        ("pickled models or tables", ""),
    ],
    "scikit-learn": [
        ("a fitted model", "tr.evaluate_model(model.fit(X, y), X, y)"),
        ("any classifier, pipelines", "tr.estimate(make_pipeline(StandardScaler(), model), X, y)"),
        ("any splitter in `cv=`", "tr.estimate(model, X, y, cv=StratifiedKFold(5))"),
        ("an int or a list of divisions in `cv=`", "tr.estimate(model, X, y, cv=5)"),
        ("names in `scoring=`", "tr.estimate(model, X, y, cv=5, scoring='neg_log_loss')"),
        (
            "any scorer in `scoring=`",
            "tr.estimate(model, X, y, cv=5, scoring=make_scorer(fbeta_score, beta=3))",
        ),
        (
            "`scoring=` in a choice, a curve, a search",
            "tr.learning_curve(model, X, y, scoring='neg_log_loss')",
        ),
        (
            "`sample_weight=` reaches `fit`",
            "tr.estimate(model, X, y, cv=5, sample_weight=np.ones(len(y)))",
        ),
        (
            "metadata routing",
            "test_metadata_routing_reaches_fit_and_the_scorer_that_requests_it",
        ),
        (
            "the result of `cross_validate`",
            "tr.summarise(cross_validate(model, X, y), measure='accuracy', folds=5)",
        ),
        (
            "our learners pass its checks",
            "test_it_keeps_the_contract_of_scikit_learn",
        ),
        ("our SVMs in its searches", "GridSearchCV(tr.LinearSVM(), {'C': [0.1, 1]}).fit(X, y)"),
        ("regressors", ""),
    ],
    "Results": [
        ("a number", "float(evaluation['f1'])"),
        ("a frame", "evaluation.to_frame()"),
        ("plain values", "evaluation.to_dict()"),
        ("metrics for trackers", "evaluation.to_metrics()"),
        ("logged by MLflow", "test_mlflow_logs_every_number"),
        ("logged by Weights & Biases", "test_wandb_logs_every_number_offline"),
        ("JSON with a published schema", "test_every_result_is_as_its_schema_says"),
        ("a page of one file that loads nothing", "evaluation.report().html"),
        ("Jupyter", "test_jupyter_runs_and_exports_a_result"),
        ("marimo", "test_marimo_shows_a_result_as_html"),
        ("other notebooks (HTML or Markdown)", "evaluation._repr_markdown_()"),
        ("a picture by matplotlib", "evaluation.plot()"),
    ],
    "Pipelines": [
        ("an exit code for each outcome", "test_help_lists_the_exit_codes"),
        ("limits on bounds in a TOML file",
         "test_an_open_gate_exits_with_0_and_a_closed_one_with_1"),
        ("JUnit XML", "test_junit_holds_one_case_per_claim"),
        ("a hook of pre-commit", "test_pre_commit_runs_the_hook"),
        ("a composite action", "test_the_steps_of_the_action_run_as_in_a_job_of_github"),
        ("GitHub's job summary",
         "test_the_summary_goes_where_github_wants_it"),
        ("assertions for pytest", "__import__('truerisk.testing').testing.assert_at_least"),
        ("type hints", "test_a_typed_client_passes_and_its_mistakes_are_found"),
        ("a Dask cluster",
         "test_the_workers_of_a_cluster_give_what_lists_give"),
        ("Spark", ""),
    ],
}  # fmt: skip


def page():
    """Give the page as the rows make it."""
    lines = [
        "# Which conventions are followed?",
        "",
        "The tests run every call in the last column, and every test that is named there.",
    ]
    for part, rows in ROWS.items():
        lines += ["", f"## {part}", "", "| convention | | shown by |", "|---|---|---|"]
        for convention, shown in rows:
            lines.append(f"| {convention} | {'yes' if shown else 'no'} | {_cell(shown)} |")
    return "\n".join(lines) + "\n"


def _cell(shown):
    return f"`{shown}`" if shown else ""


def _is_test(shown):
    return shown.startswith("test_")


CALLS = [shown for rows in ROWS.values() for _, shown in rows if shown and not _is_test(shown)]
TESTS = [shown for rows in ROWS.values() for _, shown in rows if _is_test(shown)]


@pytest.fixture(scope="module")
def names():
    draw = np.random.default_rng(3)
    X = draw.normal(size=(120, 3))
    y = (X[:, 0] + draw.normal(size=120) > 0).astype(int)
    score = 1 / (1 + np.exp(-X[:, 0]))
    pred = (score > 0.5).astype(int)
    own = {
        "X": X,
        "y": y,
        "score": score,
        "pred": pred,
        "sets": (draw.random((40, 3)) < 0.4).astype(int),
        "model": GaussianNB(),  # quick to train
        "evaluation": tr.evaluate(y, pred, y_score=score),
    }
    tools = (tr, np, pd, pl, pa, sp)
    short = ("tr", "np", "pd", "pl", "pa", "sp")
    functions = (GridSearchCV, StandardScaler, StratifiedKFold, cross_validate,
                 make_pipeline, make_scorer, fbeta_score)  # fmt: skip
    return {**dict(zip(short, tools, strict=True)), **own,
            **{one.__name__: one for one in functions}}  # fmt: skip


def test_the_page_is_made_of_the_rows():
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
    assert len(CALLS) + len(TESTS) > 35


@pytest.mark.parametrize("call", CALLS)
def test_a_call_runs(call, names):
    assert eval(call, names) is not None  # noqa: S307 - the page is ours


def test_every_test_that_is_named_exists():
    everything = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    for name in TESTS:
        assert f"def {name}(" in everything, name
