"""
Values and bounds in MLflow
===========================

`to_metrics` gives every value and both ends of its interval as plain numbers.  MLflow plots and
compares them as it does any others; truerisk does not depend on it.
"""

import tempfile

import mlflow

import truerisk as tr

evaluation = tr.evaluate_counts([[50, 50], [40, 850]], measures=["recall", "precision", "f1"])
with tempfile.TemporaryDirectory() as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    with mlflow.start_run() as run:
        mlflow.log_metrics(evaluation.to_metrics())
    logged = mlflow.get_run(run.info.run_id).data.metrics

for name, value in logged.items():
    print(f"{name:16} {value:.3f}")
