"""Workers on other computers, by Dask distributed.

Batches are submitted one by one.  joblib's Dask backend would run ahead of the caller without
bound, and sends the data again with each call; here they are sent to every worker once.  Workers
need the same packages and no common disk.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.execution.batches import (
    Finished,
    Result,
    Submitted,
    Task,
    WorkerDied,
    in_order,
    run_batch,
)

SECONDS_TO_CONNECT = 30
# Workers elsewhere may hide from the caller behind their scheduler.
REACHED_DIRECTLY = ("tcp://127.0.0.1:", "inproc:")


class Cluster(AbstractContextManager["Cluster"]):
    """A Dask cluster that `run_each` goes to; leaving it gives back what was in use before."""

    def __init__(self, client: Any, *, ours: bool) -> None:
        self.client = client
        self._ours = ours

    def workers(self) -> int:
        """Count how many tasks the cluster runs at a time; wait for the first worker."""
        from distributed import TimeoutError as NobodyCame

        try:
            self.client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        except (NobodyCame, OSError) as error:
            raise ResourceError(
                f"The cluster {self._address()} has no workers. Start some, or leave the cluster "
                "out to run here."
            ) from error
        return max(1, int(sum(self.client.nthreads().values())))

    def run(
        self, task: Task, shared: Mapping[str, Any], items: Sequence[Any], workers: int
    ) -> Iterator[Result]:
        """Run the task on each item on the cluster; give the results in order."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            [content] = self.client.scatter([(task, dict(shared))], broadcast=True, hash=False)
            yield from in_order(self.submitting(content), items, workers)
        except (KilledWorker, CancelledError, CommClosedError) as error:
            raise WorkerDied(str(error)) from error
        except ModuleNotFoundError as error:
            raise InputError(
                f"The workers of the cluster must have every module that is used; {error}. "
                "Install it there, or put it where they start."
            ) from error

    def is_here(self) -> bool:
        """Whether all workers are on this computer."""
        return all(address.startswith(REACHED_DIRECTLY) for address in self.client.nthreads())

    def submitting(self, content: Any) -> Callable[[Sequence[Any]], Submitted]:
        """Give the function that sends a batch to the cluster.

        Results come from the worker itself, if it is on this computer: by way of the scheduler they
        would be sent, and taken apart, twice.
        """
        direct = self.is_here() or None

        def submit(batch: Sequence[Any]) -> Submitted:
            future = self.client.submit(_run, content, batch, pure=False)
            return partial(self.client.gather, future, direct=direct), future.cancel

        return submit

    def close(self) -> None:
        """Let go of the connection, if it was made here."""
        if self._ours:
            self.client.close()

    def _address(self) -> str:
        return str(self.client.scheduler.address)

    def __exit__(self, *error: object) -> None:
        if self in _in_use:
            _in_use.remove(self)
        self.close()


_in_use: list[Cluster] = []  # the last one counts; a `with` inside another comes back to the outer


def use_cluster(cluster: Any) -> AbstractContextManager[Any]:
    """Run refits and tallies of files on a Dask cluster from now on, or within a `with`.

    The results are those of a run here, to the last bit.  Needs the extra ``truerisk[cluster]``;
    workers need the same versions of all packages.

    Parameters
    ----------
    cluster
        A `distributed.Client`, the address of a scheduler such as ``"tcp://10.0.0.1:8786"``, or
        None to run here again.

    Examples
    --------
    >>> import truerisk as tr
    >>> with tr.use_cluster("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     evaluation = tr.estimate(model, X, y)
    """
    if cluster is None:
        while _in_use:
            _in_use.pop().close()
        return nullcontext()
    _in_use.append(_connected(cluster))
    return _in_use[-1]


def cluster_in_use() -> Cluster | None:
    """Return the cluster that `use_cluster` named last."""
    return _in_use[-1] if _in_use else None


def _connected(cluster: Any) -> Cluster:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            f"`cluster` must be reached by Dask, which is not installed; got {shown(cluster)}. "
            'Install it: pip install "truerisk[cluster]".'
        ) from None
    if isinstance(cluster, Client):
        return Cluster(cluster, ours=False)
    if not isinstance(cluster, str):
        raise InputError(
            "`cluster` must be a distributed.Client, the address of a scheduler, or None; got "
            f"{shown(cluster)}."
        )
    try:
        client = Client(cluster, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except ValueError as error:
        raise InputError(
            "`cluster` must be the address of a scheduler, such as tcp://10.0.0.1:8786; got "
            f"{shown(cluster)}."
        ) from error
    except OSError as error:
        raise ResourceError(
            f"No cluster answers at {shown(cluster)} within {SECONDS_TO_CONNECT} s. Start one "
            "(dask scheduler), or correct the address."
        ) from error
    return Cluster(client, ours=True)


def _run(content: tuple[Task, Mapping[str, Any]], items: Sequence[Any]) -> Finished:
    task, shared = content
    return run_batch(task, shared, items)
