import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from truerisk.execution.records import Damaged, decoded, encoded, framed, next_content

plain = st.sampled_from(["<i4", "<f8", "|b1", "<u8", "<c16", "<U3", "|S2", "<f4"])
results = st.dictionaries(
    st.text(min_size=1),
    plain.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, min_side=0, max_side=4))),
    max_size=4,
)


def contents(stored):
    file = io.BytesIO(stored)
    found = []
    while (content := next_content(file, len(stored) - file.tell())) is not None:
        found.append(content)
    return found


@given(result=results)
def test_a_result_comes_back_bit_for_bit(result):
    again = decoded(encoded(result))
    assert list(again) == list(result)
    for name, array in result.items():
        assert again[name].dtype == array.dtype
        assert again[name].shape == array.shape
        assert again[name].tobytes() == array.tobytes()
        assert again[name].flags.writeable


@given(parts=st.lists(st.binary(max_size=40), max_size=5), data=st.data())
def test_a_file_cut_anywhere_gives_the_records_before_the_cut(parts, data):
    frames = [framed(part) for part in parts]
    stored = b"".join(frames)
    cut = data.draw(st.integers(0, len(stored)))
    whole = sum(len(b"".join(frames[: at + 1])) <= cut for at in range(len(frames)))
    assert contents(stored[:cut]) == parts[:whole]


@given(parts=st.lists(st.binary(min_size=1, max_size=20), min_size=2, max_size=5), data=st.data())
def test_a_changed_byte_is_never_taken_for_a_result(parts, data):
    stored = bytearray(b"".join(map(framed, parts)))
    stored[data.draw(st.integers(0, len(stored) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        found = contents(bytes(stored))
    except Damaged:
        return
    assert found == parts[: len(found)]
    assert len(found) == len(parts) - 1  # only the last record may pass for one not finished


def test_zeros_that_a_loss_of_power_leaves_are_no_damage():
    stored = framed(b"whole")
    assert contents(stored + bytes(100)) == [b"whole"]
    with pytest.raises(Damaged):
        contents(stored + bytes(100) + framed(b"more"))


def described(head, arrays=b""):
    return len(head).to_bytes(4, "little") + head + arrays


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xff\xff\xff",
        described(b"no json"),
        described(b"3"),
        described(b'[["x", "<f8"]]'),
        described(b'[["x", "nonsense", [1]]]', bytes(8)),
        described(b'[["x", "O", [1]]]', bytes(8)),
        described(b'[["x", "<f8", [2]]]', bytes(8)),
        described(b'[["x", "<f8", [1]]]', bytes(9)),
        described(b'[["x", "<f8", [-1]]]'),
        described(b'[["x", "<f8", [1000000000000000]]]', bytes(8)),
        described(b'[["x", "<U0", [1000000000000000, 100000000000000]]]'),
        described(b"[" * 100_000),
    ],
    ids=range(13),
)
def test_a_record_made_by_somebody_else_is_refused(content):
    with pytest.raises(Damaged):
        decoded(content)


def test_objects_are_not_read_however_they_are_written():
    head = b"[[\"x\", \"[('a', 'O')]\", [1]]]"
    with pytest.raises(Damaged):
        decoded(described(head, bytes(8)))


def test_an_array_is_worked_out_by_hand():
    content = described(b'[["e", "<i4", [2]]]', bytes([1, 0, 0, 0, 255, 255, 255, 255]))
    assert decoded(content)["e"].tolist() == [1, -1]
    assert encoded({"e": np.array([1, -1], dtype=np.int32)}) == content
