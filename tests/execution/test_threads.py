import sys
import threading
from types import ModuleType

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info, threadpool_limits

from truerisk.execution.threads import (
    MANY_EXAMPLES,
    few_blas_threads,
    hold_this_thread_to_one,
    libraries,
    one_thread,
)

np.linalg.inv(np.eye(2))  # loads BLAS


def threads():
    return {library["num_threads"] for library in threadpool_info()}


def test_a_task_has_one_thread_and_the_caller_has_its_own_again():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        for _ in range(2):
            with one_thread():
                assert threads() == {1}
            assert threads() == before


def test_threads_come_back_after_an_error():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with pytest.raises(KeyboardInterrupt), one_thread():
            raise KeyboardInterrupt
        assert threads() == before


def test_a_thread_of_a_worker_is_held_for_good():
    seen = []

    def work():
        with threadpool_limits(2, user_api="blas"):  # undoes what is done to other tests
            hold_this_thread_to_one()
            seen.append(threads())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [{1}]


def test_few_or_sparse_examples_have_one_blas_thread():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with few_blas_threads(np.empty(MANY_EXAMPLES - 1)):
            assert threads() == {1}
        with few_blas_threads(np.empty(MANY_EXAMPLES), workers=2):
            assert threads() == {1}
        with few_blas_threads(csr_array((MANY_EXAMPLES, 2))):
            assert threads() == {1}
        with few_blas_threads(np.empty(MANY_EXAMPLES)):
            assert threads() == before


@pytest.mark.parametrize(("file", "again"), [("new.py", False), ("new.so", True)])
def test_libraries_are_looked_for_again_after_a_compiled_module(monkeypatch, file, again):
    first = libraries()
    assert libraries() is first
    module = ModuleType("new")
    module.__file__ = file
    monkeypatch.setitem(sys.modules, "new", module)
    assert (libraries() is not first) == again
