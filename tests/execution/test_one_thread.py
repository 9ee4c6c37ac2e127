import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from truerisk.execution.one_thread import OneThread, hold_this_thread_to_one

np.linalg.inv(np.eye(2))  # loads BLAS


def threads():
    return {library["num_threads"] for library in threadpool_info()}


def test_a_task_has_one_thread_and_the_caller_has_its_own_again():
    one_thread = OneThread()
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        for _ in range(2):
            with one_thread.held():
                assert threads() == {1}
            assert threads() == before


def test_threads_come_back_after_an_error():
    before = threads()
    with pytest.raises(KeyboardInterrupt), OneThread().held():
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
