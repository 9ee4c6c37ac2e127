import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from truerisk.errors import InputError, ResourceError
from truerisk.execution import cluster, cluster_in_use, run_each, use_cluster


def process():
    def task(shared, item):  # noqa: ARG001
        import os

        from threadpoolctl import threadpool_info

        threads = [one["num_threads"] for one in threadpool_info()]
        return {"process": np.array(os.getpid()), "threads": np.array(threads)}

    return task


def processes_of(client):
    return set(client.run(lambda: __import__("os").getpid()).values())


def test_an_address_is_enough(client):
    with use_cluster(client.scheduler.address):
        result = list(run_each(process(), {}, range(10)))
    assert {int(one["process"]) for one in result} <= processes_of(client)
    assert all((one["threads"] == 1).all() for one in result)
    assert cluster_in_use() is None


def test_a_plain_call_holds_until_it_is_taken_back(client):
    use_cluster(client)
    [result] = run_each(process(), {}, [0])
    use_cluster(None)
    assert int(result["process"]) in processes_of(client)
    assert cluster_in_use() is None
    assert client.status == "running"


def test_an_inner_cluster_gives_the_outer_one_back(client):
    with use_cluster(client) as outer:
        with use_cluster(client.scheduler.address) as inner:
            assert cluster_in_use() is inner
        assert inner.client.status == "closed"
        assert cluster_in_use() is outer


def test_data_are_sent_once_and_let_go_of(client):
    with use_cluster(client):
        results = run_each(process(), {"X": np.zeros(1000)}, range(20))
        next(results)
        assert sum("tuple" in key for key in client.who_has()) == 1
        list(results)
    del results
    patience = time.monotonic() + 10  # the news that nobody needs the data travels by itself
    while any("tuple" in key for key in client.who_has()) and time.monotonic() < patience:
        time.sleep(0.05)
    assert not any("tuple" in key for key in client.who_has())


def test_what_a_task_raises_on_a_cluster_is_raised_here(client):
    def wrong(shared, item):  # noqa: ARG001
        raise LookupError(f"nothing known of {item}")

    with use_cluster(client), pytest.raises(LookupError, match="nothing known of 0"):
        list(run_each(wrong, {}, range(3)))


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'pip install "truerisk\[cluster\]"'):
        use_cluster("tcp://10.0.0.1:8786")


@pytest.mark.parametrize("wrong", [8786, "no address at all", "ftp://somewhere:1"])
def test_what_is_no_cluster_is_refused(wrong):
    with pytest.raises(InputError, match="`cluster` must be"):
        use_cluster(wrong)
    assert cluster_in_use() is None


def test_a_cluster_that_does_not_answer_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ResourceError, match=r"No cluster answers at 'tcp://127\.0\.0\.1:9'"):
        use_cluster("tcp://127.0.0.1:9")


class Addresses:
    """A client that knows addresses of workers, and how results are asked for."""

    def __init__(self, *addresses):
        self.addresses = addresses
        self.asked = []

    def nthreads(self):
        return dict.fromkeys(self.addresses, 1)

    def submit(self, *_, pure):
        assert not pure
        return SimpleNamespace(cancel=None)

    def gather(self, future, direct):
        self.asked.append(direct)
        return future


@pytest.mark.parametrize(
    ("addresses", "direct"),
    [
        (["tcp://127.0.0.1:4000", "tcp://127.0.0.1:4001"], True),
        (["tcp://127.0.0.1:4000", "tcp://10.0.0.2:4001"], None),
    ],
)
def test_only_workers_on_this_computer_are_asked_directly(addresses, direct):
    client = Addresses(*addresses)
    submit = cluster.Cluster(client, ours=False).submitting(("task", {}))
    wait, cancel = submit([1])
    assert wait().cancel is cancel
    assert client.asked == [direct]
