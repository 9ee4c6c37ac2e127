"""A real cluster on this machine: a scheduler, and two workers in processes of their own."""

import logging

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def client():
    cluster = LocalCluster(
        n_workers=2,
        processes=True,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port: tests run side by side
        silence_logs=logging.CRITICAL,
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client
