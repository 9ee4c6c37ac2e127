"""
Values and bounds in Weights & Biases
=====================================

`to_metrics` gives every value and both ends of its interval as plain numbers.  Here they are logged
offline; without ``mode="offline"`` they go to the server.
"""

import os
import tempfile

import wandb

import truerisk as tr

os.environ["WANDB_SILENT"] = "true"
evaluation = tr.evaluate_counts([[50, 50], [40, 850]], measures=["recall", "precision", "f1"])
with (
    tempfile.TemporaryDirectory() as folder,
    wandb.init(mode="offline", project="truerisk", dir=folder) as run,
):
    run.log(evaluation.to_metrics())
    logged = {name: run.summary[name] for name in evaluation.to_metrics()}

for name, value in logged.items():
    print(f"{name:16} {value:.3f}")
