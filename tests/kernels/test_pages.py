"""The compiled readers of Parquet pages: examples by hand, and beside themselves uncompiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.kernels import pages as compiled
from truerisk.kernels import uncompiled

plain = uncompiled("pages")
ABSENT = -(2**62)


def as_array(data):
    """Give bytes as the uncompiled twin needs them."""
    return np.frombuffer(data, np.uint8)


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def packed(places, width):
    """Pack groups of eight places, the lowest bits first."""
    whole = sum(place << (width * at) for at, place in enumerate(places))
    return whole.to_bytes(-(-len(places) // 8) * width, "little")


def looked_up(kernel, data, dictionary, n):
    return read(kernel, data, [[0, len(data), 0, n, 0]], dictionary, n)


def read(kernel, data, pages, dictionary, n, *, optional=False):
    """Read pages, each given by its begin, its end, the end of its levels, its values, its kind."""
    values = np.zeros(n, dictionary.dtype)
    table = np.array(pages, np.int64)
    return kernel.read_pages(as_array(data), table, optional, dictionary, values), values.tolist()


def all_present(kernel, levels, n):
    """Put a page of n bits behind the levels, and tell whether it can be read."""
    data = levels + bytes(-(-n // 8))
    pages = [[0, len(data), len(levels), n, 2]]
    return read(kernel, data, pages, np.zeros(0, np.uint8), n, optional=True)[0]


def headers_of(kernel, data, rows=4, size_field=3):
    headers = np.full((rows, 8 * 9), ABSENT)
    used, after = kernel.page_headers(as_array(data), 0, size_field, headers)
    return used, after, headers[:used].tolist()


def test_a_header_by_hand():
    # type 0, expanded 100, stored 3, checksum −2, a data page of 7 values in encoding 8 with
    # statistics, which hold a text and are passed over; then the three bytes of the page.
    statistics = bytes([0x58, 2, 65, 66, 0x16, 4, 0])
    data_page = bytes([0x15, 14, 0x15, 16, 0x3C]) + statistics + bytes([0])
    header = bytes([0x15, 0, 0x15, 200, 1, 0x15, 6, 0x15, 3, 0x1C]) + data_page + bytes([0])
    page = header + b"xyz"
    used, after, (fields,) = headers_of(compiled, page)
    assert (used, after) == (1, len(page))
    expected = {0: len(header), 1: 0, 2: 100, 3: 3, 4: -2, 41: 7, 42: 8}
    assert {at: value for at, value in enumerate(fields) if value != ABSENT} == expected
    assert headers_of(compiled, page + page)[0] == 2
    assert headers_of(compiled, page[:-1])[1] == -1  # the page ends too early
    for end in range(1, len(header)):
        assert headers_of(compiled, header[:end])[1] == -1


@given(data=st.binary(max_size=60))
def test_no_bytes_are_read_beyond_the_end(data):
    assert headers_of(compiled, data) == headers_of(plain, data)
    for n in (0, 1, 9, 40):
        assert all_present(compiled, data, n) == all_present(plain, data, n)
        for kind in (np.uint8, np.uint64):
            dictionary = np.arange(3, 8, dtype=kind)
            assert looked_up(compiled, data, dictionary, n) == looked_up(plain, data, dictionary, n)


def test_levels_by_hand():
    ones = varint(20 << 1) + b"\x01"  # twenty times 1
    assert all_present(compiled, ones, 20)
    assert all_present(compiled, ones, 19)
    assert not all_present(compiled, ones, 21)
    assert not all_present(compiled, varint(20 << 1) + b"\x00", 20)
    two_groups = varint(2 << 1 | 1)
    assert all_present(compiled, two_groups + b"\xff\x0f", 12)
    assert not all_present(compiled, two_groups + b"\xff\x07", 12)
    assert not all_present(compiled, two_groups + b"\xff", 12)
    assert all_present(compiled, varint(1 << 1 | 1) + b"\xff" + varint(4 << 1) + b"\x01", 12)
    assert not all_present(compiled, b"", 1)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 18, 25, 32])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 37, 64])
def test_packed_places_and_runs(kind, width, n):
    rng = np.random.default_rng(width * n)
    size = min(2**width, 200)
    dictionary = rng.integers(0, 256, size).astype(kind)
    places = rng.integers(0, size, n).tolist()
    again = int(rng.integers(size))
    groups = -(-n // 8)
    data = bytes([width]) + varint(groups << 1 | 1) + packed(places, width)
    expected = [int(dictionary[place]) for place in places]
    for kernel in (compiled, plain):
        assert looked_up(kernel, data, dictionary, n) == (True, expected)
    # A run before it, and all of it cut short.
    run = varint(5 << 1) + again.to_bytes(-(-width // 8), "little")
    longer = bytes([width]) + run + data[1:]
    both = [int(dictionary[again])] * 5 + expected
    for kernel in (compiled, plain):
        assert looked_up(kernel, longer, dictionary, n + 5) == (True, both)
        assert not looked_up(kernel, longer, dictionary, 3)[0]  # values are left over
        assert not looked_up(kernel, longer + b"\0", dictionary, n + 5)[0]
        assert not looked_up(kernel, longer[:-width], dictionary, n + 5)[0]
        if size < 2**width:
            assert not looked_up(kernel, longer, dictionary[: max([*places, again])], n + 5)[0]


def test_a_dictionary_of_one_word_takes_no_bits():
    data = bytes([0]) + varint(3 << 1)
    for kernel in (compiled, plain):
        assert looked_up(kernel, data, np.array([7], np.uint32), 3) == (True, [7, 7, 7])
        assert not looked_up(kernel, data, np.array([7], np.uint32), 4)[0]
        assert not looked_up(kernel, bytes([33]) + data[1:], np.array([7], np.uint32), 3)[0]


@pytest.mark.parametrize("kernel", [compiled, plain])
def test_pages_one_after_the_other(kernel):
    # Two values as they are, after levels whose length stands before them; two by the dictionary.
    first = (2).to_bytes(4, "little") + varint(2 << 1) + b"\x01" + bytes([1, 2, 0, 0, 3, 0, 0, 0])
    second = varint(2 << 1) + b"\x01" + bytes([1]) + varint(1 << 1 | 1) + b"\x02"
    data = first + second
    end = len(first)
    pages = [[0, end, -1, 2, 1], [end, len(data), end + 2, 2, 0]]
    dictionary = np.array([7, 9], np.uint32)
    values = [0x201, 3, 7, 9]
    assert read(kernel, data, pages, dictionary, 4, optional=True) == (True, values)
    assert not read(kernel, data, pages, dictionary, 5, optional=True)[0]
    assert not read(kernel, data, pages, dictionary, 3, optional=True)[0]
    assert not read(kernel, data, pages, dictionary[:0], 4, optional=True)[0]
    pages[0][1] -= 1  # one byte of a value is missing
    assert not read(kernel, data, pages, dictionary, 4, optional=True)[0]


def test_bits_are_read_from_the_lowest():
    for kernel in (compiled, plain):
        out = read(kernel, b"\x05\x01", [[0, 2, 0, 9, 2]], np.zeros(0, np.uint8), 9)
        assert out == (True, [1, 0, 1, 0, 0, 0, 0, 0, 1])
        assert not read(kernel, b"\x05", [[0, 1, 0, 9, 2]], np.zeros(0, np.uint8), 9)[0]
