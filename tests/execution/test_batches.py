import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.execution.batches import (
    UNDER_WAY,
    as_stored,
    in_order,
    read_only,
    run_batch,
)


class Computed:
    """A batch that is run when it is waited for."""

    def __init__(self, items, log, seconds):
        self.items, self.log, self.seconds = items, log, seconds
        log.append(("submitted", list(items)))

    def result(self):
        self.log.append(("waited for", list(self.items)))
        return [{"item": np.array(item)} for item in self.items], self.seconds * len(self.items)

    def cancel(self):
        self.log.append(("cancelled", list(self.items)))


def submitting(log, seconds):
    def submit(items):
        batch = Computed(items, log, seconds)
        return batch.result, batch.cancel

    return submit


def listed(log, what):
    return [items for name, items in log if name == what]


@given(n=st.integers(0, 300), workers=st.integers(1, 5), seconds=st.floats(1e-7, 10))
def test_every_item_comes_once_and_in_its_order(n, workers, seconds):
    log = []
    results = in_order(submitting(log, seconds), range(n), workers)
    assert [int(result["item"]) for result in results] == list(range(n))
    assert not listed(log, "cancelled")


def test_the_caller_is_never_more_than_a_few_batches_behind():
    log = []
    results = in_order(submitting(log, 1.0), range(1000), 2)
    for requests, _ in zip(range(1, 100), results, strict=False):
        assert len(listed(log, "submitted")) - requests < UNDER_WAY * 2


def test_short_tasks_go_in_large_batches_and_long_ones_alone():
    log = []
    list(in_order(submitting(log, 1e-4), range(10_000), 2))
    assert len(listed(log, "submitted")) < 60
    log.clear()
    list(in_order(submitting(log, 5.0), range(50), 2))
    assert {len(items) for items in listed(log, "submitted")} == {1}


def test_what_nobody_asks_for_any_more_is_cancelled():
    log = []
    results = in_order(submitting(log, 1.0), range(20), 2)
    next(results)
    results.close()
    submitted = listed(log, "submitted")
    assert listed(log, "cancelled") == submitted[1:]


def test_results_are_laid_out_by_rows_and_keep_shape_and_type():
    by_columns = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    stored = as_stored({"table": by_columns, "number": np.float64(0.5)})
    assert stored["table"].flags.c_contiguous
    assert stored["table"].dtype == np.int32
    assert stored["number"].shape == ()


def test_python_objects_are_no_result():
    with pytest.raises(TypeError, match="Python objects as 'names'"):
        as_stored({"names": np.array(["a", None], dtype=object)})


def test_a_task_cannot_change_what_it_shares():
    x = np.arange(3.0)

    def change(shared, item):
        shared["x"][item] = 0.0

    with pytest.raises(ValueError, match="read-only"):
        run_batch(change, {"x": x}, [1])
    assert x.flags.writeable


def test_arrays_with_gaps_are_seen_without_them():
    seen = read_only({"every_other": np.arange(10)[::2], "name": "kept"})
    assert seen["every_other"].flags.c_contiguous
    assert seen["every_other"].tolist() == [0, 2, 4, 6, 8]
    assert seen["name"] == "kept"


def test_a_model_that_asks_for_workers_gets_none():
    def workers(shared, item):  # noqa: ARG001
        return {"workers": np.array(joblib.effective_n_jobs(-1))}

    [result], _ = run_batch(workers, {}, [0])
    assert result["workers"] == 1
