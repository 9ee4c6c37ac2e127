import threading

import pytest

from truerisk.inputs.records.rows import ahead, in_order


def failing_after(count):
    yield from range(count)
    raise ValueError("broken")


def keep(items, got):
    for item in items:
        got.append(item)


def test_order_is_kept():
    assert list(in_order(lambda x: -x, ahead(range(100)))) == [-x for x in range(100)]


@pytest.mark.parametrize("run", [ahead, lambda items: in_order(abs, items)])
def test_what_came_before_a_failure_comes_before_it(run):
    got = []
    with pytest.raises(ValueError, match="broken"):
        keep(run(failing_after(5)), got)
    assert got == [0, 1, 2, 3, 4]


def test_the_first_failure_is_the_one_that_is_raised():
    def fail(item):
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"):
        list(in_order(fail, failing_after(1)))


def test_no_thread_is_left_when_reading_stops_in_the_middle():
    before = threading.active_count()
    items = in_order(abs, ahead(iter(range(10**6))))
    next(items)
    items.close()
    assert threading.active_count() == before
