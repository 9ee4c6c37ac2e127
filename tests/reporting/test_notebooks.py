"""Results in a notebook that Jupyter runs and exports, and in marimo."""

import pytest

import truerisk as tr

RESULT = "tr.evaluate_counts([[50, 50], [40, 850]], measures=('recall', 'precision'))"


def test_a_result_has_html_and_markdown():
    result = tr.evaluate_counts([[50, 50], [40, 850]], measures=("recall", "precision"))
    assert "How good is this classifier?" in result._repr_html_()
    assert "| Recall |" in result._repr_markdown_()


def test_jupyter_runs_and_exports_a_result(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    nbconvert = pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    cells = ["import truerisk as tr", RESULT, f"{RESULT}.report()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = notebook.cells[1].outputs[0].data
    assert set(shown) >= {"text/html", "text/markdown", "text/plain"}
    assert shown["text/plain"].startswith("<Evaluation: 2 measures")
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "How good is this classifier?" in page
    assert "<iframe" in page
    text, _ = nbconvert.MarkdownExporter().from_notebook_node(notebook)
    assert "Recall" in text


def test_marimo_shows_a_result_as_html():
    formatting = pytest.importorskip("marimo._output.formatting")
    result = tr.evaluate_counts([[50, 50], [40, 850]], measures=("recall", "precision"))
    kind, content = formatting.get_formatter(result)(result)
    assert kind == "text/html"
    assert "How good is this classifier?" in content
