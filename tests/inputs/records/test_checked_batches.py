import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.inputs.records.checked_batches import UniqueIds
from truerisk.inputs.records.columns import Strings


def hashes(texts):
    return Strings.of(texts).hashes()


@given(st.lists(st.text(max_size=20), min_size=1))
def test_equal_texts_and_only_they_have_equal_hashes(texts):
    found = hashes(texts).tolist()
    assert len(set(found)) == len(set(texts))
    assert found == [hashes([text])[0] for text in texts]


def test_a_slice_hashes_like_a_copy():
    texts = ["", "a", "abcdefgh", "abcdefghi", "é"]
    assert Strings.of(texts)[np.arange(2, 5)].hashes().tolist() == hashes(texts[2:]).tolist()


def test_the_length_of_a_text_is_part_of_its_hash():
    texts = ["a", "a\0", "a\0\0", "", "\1", "\0\2", "\0\0\3"]
    assert len(set(hashes(texts).tolist())) == len(texts)


def test_neighbouring_numbers_do_not_collide():
    texts = [str(number) for number in range(200_000)]
    assert len(np.unique(hashes(texts))) == len(texts)


def test_every_bit_of_the_hash_is_used():
    found = hashes([str(number) for number in range(20_000)])
    shares = [np.mean((found >> np.uint64(bit)) & np.uint64(1)) for bit in range(64)]
    assert min(shares) > 0.45
    assert max(shares) < 0.55


def test_a_collision_of_hashes_is_no_repetition(monkeypatch):
    monkeypatch.setattr(Strings, "hashes", lambda self: np.zeros(len(self), np.uint64))
    different, repeated = Strings.of(["a", "b"]), Strings.of(["a", "b", "a"])
    for ids in (different, repeated):
        unique = UniqueIds()
        unique.add(ids)
        again = lambda ids=ids: iter([("f.csv", 1, ids)])  # noqa: E731
        if ids is different:
            unique.check("id", again)
        else:
            with pytest.raises(InputError, match=r"'a' in row 1 of f\.csv and row 3 of f\.csv"):
                unique.check("id", again)
