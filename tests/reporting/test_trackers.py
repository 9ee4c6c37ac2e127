"""`to_metrics()` as MLflow and W&B take it, with the real tools where they are installed."""

import pytest

import truerisk as tr

METRICS = tr.evaluate_counts([[50, 50], [40, 850]], measures=("recall", "f1")).to_metrics()


@pytest.mark.filterwarnings("ignore")
def test_mlflow_logs_every_number(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    with mlflow.start_run() as run:
        mlflow.log_metrics(METRICS)
    assert mlflow.get_run(run.info.run_id).data.metrics == METRICS


@pytest.mark.filterwarnings("ignore")
def test_wandb_logs_every_number_offline(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(mode="offline", project="truerisk", dir=str(tmp_path))
    run.log(METRICS)
    logged = {name: run.summary[name] for name in METRICS}
    run.finish()
    assert logged == METRICS
