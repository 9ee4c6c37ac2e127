import os
import signal
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from truerisk.errors import InputError, ResourceError
from truerisk.execution import Checkpoint, processes, run_each, use_cluster
from truerisk.execution.running import workers_of


@pytest.fixture(autouse=True, scope="module")
def two_threads_and_no_processes_left():
    """Give what runs here two threads, for the one thread of a task to be seen."""
    processes.stop_processes()
    with pytest.MonkeyPatch.context() as environment, threadpool_limits(2):
        environment.setenv("OMP_NUM_THREADS", "2")
        environment.setenv("OPENBLAS_NUM_THREADS", "2")
        yield
    processes.stop_processes()


# Workers cannot import a test, so each task is a function within a function: sent as it is.


def resampled_products():
    def task(shared, item):
        rng = np.random.default_rng((shared["seed"], item))
        rows = rng.integers(0, len(shared["X"]), len(shared["X"]))
        product = shared["X"][rows].T @ shared["X"][rows]
        return {"product": product.T, "sparse": (shared["S"][rows] @ product[0]).cumsum()}

    return task


def product_data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 40))
    S = sparse.random(700, 40, density=0.1, format="csr", random_state=1)
    return {"X": X, "S": S, "seed": 7}


def bits(results):
    return [{name: array.tobytes() for name, array in result.items()} for result in results]


def test_results_are_the_same_bits_wherever_they_are_computed(client):
    task, shared, items = resampled_products(), product_data(), range(40)
    expected = bits(run_each(task, shared, items))
    assert len({one["product"] for one in expected}) == 40
    for n_jobs in (2, 4):
        assert bits(run_each(task, shared, items, n_jobs=n_jobs)) == expected
    with use_cluster(client):
        assert bits(run_each(task, shared, items)) == expected


def test_items_may_be_anything_small_and_none_at_all():
    def double(shared, item):
        return {"double": np.array(shared["factor"] * item)}

    results = run_each(double, {"factor": 2}, ("a", "b"))
    assert [str(result["double"]) for result in results] == ["aa", "bb"]
    assert list(run_each(double, {}, [], n_jobs=2)) == []


def test_progress_is_told_after_each_item():
    def nothing(shared, item):  # noqa: ARG001
        return {}

    seen = []
    list(run_each(nothing, {}, range(3), progress=lambda *told: seen.append(told)))
    assert seen == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]


def where_it_runs():
    def task(shared, item):  # noqa: ARG001
        import mmap

        from threadpoolctl import threadpool_info

        owner = shared["X"]
        while isinstance(owner, np.ndarray):
            owner = owner.base
        return {
            "process": np.array(os.getpid()),
            "mapped": np.array(isinstance(owner, memoryview) and isinstance(owner.obj, mmap.mmap)),
            "threads": np.array([one["num_threads"] for one in threadpool_info()]),
        }

    return task


def test_workers_map_the_data_and_have_one_thread():
    result = list(run_each(where_it_runs(), {"X": np.zeros(1000)}, range(8), n_jobs=2))
    assert os.getpid() not in {int(one["process"]) for one in result}
    assert all(one["mapped"] for one in result)
    assert all((one["threads"] == 1).all() for one in result)


def test_a_pool_is_used_again_by_the_next_run():
    def process(shared, item):  # noqa: ARG001
        return {"process": np.array(os.getpid())}

    first, second = (
        {int(one["process"]) for one in run_each(process, {}, range(20), n_jobs=2)}
        for _ in range(2)
    )
    assert first & second


def slow_process():
    def task(shared, item):
        import time

        time.sleep(shared["seconds"])
        return {"item": np.array(item), "process": np.array(os.getpid())}

    return task


def test_little_work_stays_in_this_process():
    processes.stop_processes()
    result = list(run_each(slow_process(), {"seconds": 0.01}, range(20), n_jobs=2, begin_here=True))
    assert [int(one["item"]) for one in result] == list(range(20))
    assert {int(one["process"]) for one in result} == {os.getpid()}


def test_long_work_begins_here_and_goes_on_in_processes_once_they_are_ready(tmp_path):
    processes.stop_processes()
    with Checkpoint.open(tmp_path / "run", {}) as checkpoint:
        result = list(
            run_each(
                slow_process(),
                {"seconds": 0.2},
                range(60),
                n_jobs=2,
                begin_here=True,
                checkpoint=checkpoint,
            )
        )
    assert [int(one["item"]) for one in result] == list(range(60))
    places = [int(one["process"]) for one in result]
    here = places.count(os.getpid())
    assert 0 < here < 60
    assert places[:here] == [os.getpid()] * here
    again = run_each(slow_process(), {"seconds": 0.1}, range(15), n_jobs=2, begin_here=True)
    there = [int(one["process"]) for one in again]
    assert there[0] == os.getpid() != there[-1]  # processes that wait are sent smaller work, too


def raises_at(wrong):
    def task(shared, item):  # noqa: ARG001
        if item == wrong:
            raise LookupError(f"nothing known of {item}")
        return {"item": np.array(item)}

    return task


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_task_raises_is_raised_after_the_results_before_it(n_jobs):
    results = run_each(raises_at(2), {}, range(5), n_jobs=n_jobs)
    assert [int(next(results)["item"]) for _ in range(2)] == [0, 1]
    with pytest.raises(LookupError, match="nothing known of 2"):
        next(results)


def folders(monkeypatch, tmp_path):
    monkeypatch.setattr("truerisk.execution.processes.IN_MEMORY", tmp_path)
    return lambda: list(tmp_path.iterdir())


def test_nothing_temporary_is_left(monkeypatch, tmp_path):
    left = folders(monkeypatch, tmp_path)
    results = run_each(resampled_products(), product_data(), range(9), n_jobs=2)
    next(results)
    assert len(left()) == 1
    list(results)
    assert left() == []
    with pytest.raises(LookupError):
        list(run_each(raises_at(1), {}, range(3), n_jobs=2))
    assert left() == []


def test_a_run_left_early_ends_its_workers_and_leaves_nothing(monkeypatch, tmp_path):
    def slow(shared, item):  # noqa: ARG001
        import time

        time.sleep(0.0 if item == 0 else 60.0)
        return {"process": np.array(os.getpid())}

    left = folders(monkeypatch, tmp_path)
    results = run_each(slow, {}, range(6), n_jobs=2)
    process = int(next(results)["process"])
    results.close()
    assert left() == []
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def killed_once(marker):
    def task(shared, item):  # noqa: ARG001
        if item == 3 and not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"item": np.array(item * 1.5)}

    return task


def test_a_killed_worker_changes_nothing(tmp_path):
    results = run_each(killed_once(tmp_path / "killed"), {}, range(8), n_jobs=2)
    assert [float(one["item"]) for one in results] == [1.5 * item for item in range(8)]
    assert (tmp_path / "killed").exists()


def test_a_killed_worker_of_a_cluster_changes_nothing(client, tmp_path):
    with use_cluster(client):
        results = run_each(killed_once(tmp_path / "killed"), {}, range(8))
        assert [float(one["item"]) for one in results] == [1.5 * item for item in range(8)]
    assert (tmp_path / "killed").exists()


def test_a_worker_killed_twice_is_told_with_what_is_kept(tmp_path):
    def task(shared, item):
        import signal

        if item == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"item": np.array(shared["factor"] * item)}

    with Checkpoint.open(tmp_path / "run", {"seed": 1}) as checkpoint:
        results = run_each(task, {"factor": 2}, range(6), n_jobs=2, checkpoint=checkpoint)
        with pytest.raises(
            ResourceError, match=r"ended from outside twice, at item .* of 6"
        ) as words:
            list(results)
    assert f"results are kept in {tmp_path / 'run'}" in str(words.value)


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, np.nan])
def test_a_number_of_workers_that_is_none_is_refused(n_jobs):
    with pytest.raises(InputError, match="`n_jobs` must be a"):
        run_each(raises_at(0), {}, range(3), n_jobs=n_jobs)


def test_all_processors_may_be_asked_for():
    assert workers_of(-1) >= 1
