import csv
import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.inputs.records.rows import Strings, _powers_of_five
from truerisk.kernels import text, uncompiled

plain = uncompiled("text")
BOTH = pytest.mark.parametrize("module", [text, plain], ids=["compiled", "uncompiled"])
PARSED, LONG, STRANGE = 0, 1, 2


def numbers(module, cells, decimal="."):
    strings = Strings.of(cells)
    bits, states = np.zeros(len(cells), np.uint64), np.zeros(len(cells), np.uint8)
    table = _powers_of_five()
    left = module.parse_numbers(
        strings.data, strings.starts, strings.ends, ord(decimal), table, bits, states
    )
    assert left == np.count_nonzero(states)
    return bits.view(np.float64), states


def same_bits(one, other):
    return struct.pack("d", one) == struct.pack("d", other)


@BOTH
def test_numbers_by_hand(module):
    cells = ["0.1", "-2.5e3", "+7", "1.", ".5", " 4\t", "-0", "1e400", "1e-400", "00012"]
    values, states = numbers(module, cells)
    assert not states.any()
    assert values.tolist() == [0.1, -2500.0, 7.0, 1.0, 0.5, 4.0, 0.0, np.inf, 0.0, 12.0]
    assert same_bits(values[6], -0.0)
    assert np.isnan(numbers(module, ["", "  "])[0]).all()
    assert numbers(module, ["0,5"], ",")[0].tolist() == [0.5]


@BOTH
@pytest.mark.parametrize(
    "cell", ["NA", "nan", "inf", ".", "-", "e5", "1e", "1e+", "1_0", "0x1", "1 2", "0,5", "１"]
)
def test_what_is_no_number_is_left_to_the_caller(module, cell):
    assert numbers(module, [cell])[1].tolist() == [STRANGE]


def test_half_way_between_two_doubles_the_even_one_is_taken():
    # 2⁵³ + 1 lies between 2⁵³ and 2⁵³ + 2; the mantissa of the former is even.
    values, states = numbers(text, ["9007199254740993", "9007199254740995", "9007199254740993e1"])
    assert not states.any()
    assert values.tolist() == [2.0**53, 2.0**53 + 4, float("9007199254740993e1")]


@BOTH
@pytest.mark.parametrize(
    "cell", ["39251274942307750e-2", "4626208158230969291e48", "4001635106671391435e-53"]
)
def test_the_lower_half_of_a_power_can_decide(module, cell):
    # The product with the upper half ends in ones: the lower half carries into it.
    values, states = numbers(module, [cell])
    assert states.tolist() == [PARSED]
    assert same_bits(values[0], float(cell))


number_texts = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.tuples(st.integers(0, 10**22), st.integers(-350, 320)).map(lambda p: f"{p[0]}e{p[1]}"),
    st.tuples(st.integers(2**52, 2**54), st.integers(-5, 24)).map(
        lambda p: f"{2 * p[0] + 1}e{p[1]}"
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(number_texts, min_size=1, max_size=20))
def test_every_number_is_the_nearest_double(cells):
    for module in (text, plain):
        values, states = numbers(module, cells)
        for cell, value, state in zip(cells, values, states, strict=True):
            if state == PARSED:
                assert same_bits(value, float(cell)), cell
            else:  # more than 19 digits, a denormal number, or one in 10¹⁰
                assert state == LONG
                digits = len(cell.lstrip("-").split("e")[0].replace(".", "").lstrip("0"))
                assert digits > 19 or abs(float(cell)) < 2.3e-308


def cells_of(module, data, columns, delimiter=","):
    rows = len(list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter)))
    slots = np.arange(columns, dtype=np.int32)
    starts = np.zeros((columns, rows), np.int64)
    ends, doubled = starts.copy(), np.zeros((columns, rows), np.uint8)
    ragged = module.split_cells(data, ord(delimiter), slots, starts, ends, doubled)
    if ragged >= 0:
        return ragged
    found = []
    for slot in range(columns):
        own = data
        at = np.flatnonzero(doubled[slot])
        tail = np.empty(int((ends[slot] - starts[slot])[at].sum()), np.uint8)
        size = module.undouble(data, starts[slot], ends[slot], at, tail, len(data))
        own += tail[:size].tobytes()
        found.append(Strings(own, starts[slot], ends[slot]).tolist())
    return [list(row) for row in zip(*found, strict=True)]


@BOTH
def test_a_record_of_another_width_is_found(module):
    assert cells_of(module, b"a,b\r\n1,2\r\n3\r\n", 2) == 2
    assert cells_of(module, b"a,b\n1,2,3\n", 2) == 1
    assert cells_of(module, b'a,b\r\n"x, ""y""",2\r\n', 2) == [["a", "b"], ['x, "y"', "2"]]


cell = st.text(st.sampled_from('ab,;"\n\ré '), max_size=6).filter(lambda one: "\r" not in one)


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda k: st.lists(st.lists(cell, min_size=k, max_size=k), min_size=1)
    )
)
def test_cells_are_those_of_the_csv_module(rows):
    # A lone empty cell is written as a quoted one; the reader of blocks refuses blank lines.
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows(rows)
    data = file.getvalue().encode()
    for module in (text, plain):
        assert cells_of(module, data, len(rows[0])) == rows


@settings(deadline=None)
@given(st.lists(st.text(max_size=20)))
def test_codes_stand_for_texts_in_order_of_appearance(texts):
    strings = Strings.of(texts)
    distinct = list(dict.fromkeys(texts))
    codes, words = strings.encoded()
    assert words == distinct
    assert [distinct[code] for code in codes.tolist()] == texts
    again, first = np.empty(len(texts), np.int32), np.empty(512, np.int64)
    table = np.empty(1024, np.uint64), np.full(1024, -1, np.int64)
    single = np.full(256, -1, np.int32)
    count = plain.encode_texts(
        strings.data, strings.starts, strings.ends, *table, again, first, single
    )
    assert count == len(distinct)
    assert again.tolist() == codes.tolist()


def test_a_table_without_room_says_so():
    strings = Strings.of([str(number) for number in range(10_000)])
    table = np.empty(1024, np.uint64), np.full(1024, -1, np.int64)
    out = np.empty(10_000, np.int32), np.empty(512, np.int64), np.full(256, -1, np.int32)
    assert text.encode_texts(strings.data, strings.starts, strings.ends, *table, *out) == -1
    codes, words = strings.encoded()
    assert codes.tolist() == list(range(10_000))
    assert words == strings.tolist()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
objects = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "é", "long key"]), values), min_size=1
)
NAMES = ("a", "é", "nowhere")


def split(module, data, rows):
    parts = [name.encode() for name in NAMES]
    starts = np.zeros((len(NAMES), rows), np.int64)
    ends, kinds = starts.copy(), np.zeros(starts.shape, np.uint8)
    keys = np.empty((8, 3), np.int64)
    name_ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    stopped = module.split_objects(
        data, 0, 0, b"".join(parts), name_ends, keys, starts, ends, kinds
    )
    return stopped, starts, ends, kinds


@settings(deadline=None)
@given(objects, st.booleans(), st.sampled_from([None, 1]))
def test_values_are_those_of_the_json_module(records, ascii_only, indent):
    separators = (" , ", "\t: ") if indent else None
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=separators) for one in records]
    data = ("\n".join(lines) + "\n").encode()
    has_odd_key = ascii_only and any("é" in one for one in records)
    for module in (text, plain):
        (row, position), starts, ends, kinds = split(module, data, len(records))
        if has_odd_key:
            assert row < len(records)
            assert position == len("".join(line + "\n" for line in lines[:row]).encode())
            continue
        assert (row, position) == (len(records), len(data))
        for slot, name in enumerate(NAMES):
            for at, record in enumerate(records):
                raw = data[starts[slot, at] : ends[slot, at]].decode()
                kind = kinds[slot, at]
                assert (kind == 0) == (name not in record)
                if kind in {5, 6}:
                    assert (kind == 6) == ("\\" in raw)
                    raw = f'"{raw}"'
                if kind:
                    assert json.loads(raw) == record[name]


@BOTH
def test_every_kind_of_value_has_a_number(module):
    written = ["null", "true", "false", "-1.5", '"x"', r'"\n"', "[1, [2]]"]
    lines = ["{}", *(f'{{"a": {value}}}' for value in written)]
    data = "".join(line + "\n" for line in lines).encode()
    _, starts, ends, kinds = split(module, data, len(lines))
    assert kinds[0].tolist() == list(range(8))
    spans = [data[start:end].decode() for start, end in zip(starts[0], ends[0], strict=True)]
    assert spans == ["", *written[:4], "x", r"\n", "[1, [2]]"]


@BOTH
@pytest.mark.parametrize(
    "line",
    [
        "{",
        "{}x",
        "[]",
        '{"a": 1,}',
        '{"a" 1}',
        '{"a": 01}',
        '{"a": 1.}',
        '{"a": .5}',
        '{"a": 1e}',
        '{"a": -}',
        '{"a": tru}',
        '{"a": nul}',
        '{"a": NaN}',
        '{"a": "x}',
        '{"a": "\\x"}',
        '{"a": "\\u12g4"}',
        '{"a": "\t"}',
        '{"a": [1,]}',
        '{"a": [1 2]}',
        '{"a": [}',
        '{"a": {"b": 1}}',
        '{"a": 1, "a": 2}',
        '{"a": 1, "b": 2, "a": 3}',
        '{"\\u0061": 1}',
        "{" + ", ".join(f'"k{k}": {k}' for k in range(9)) + "}",
        '{"a": ' + "[" * 60 + "]" * 60 + "}",
    ],
)
def test_a_line_that_is_not_plain_stops_the_sweep_where_it_starts(module, line):
    data = f'{{"a": 1}}\n{line}\n{{"a": 2}}\n'.encode()
    (row, position), *_ = split(module, data, 3)
    assert (row, position) == (1, 9)


@BOTH
def test_lists_of_numbers_are_split_or_the_first_other_one_is_named(module):
    lists = Strings.of(["[1, -2.5]", "[ 3e1,4 ]"])
    starts, ends = np.empty((2, 2), np.int64), np.empty((2, 2), np.int64)
    assert module.split_lists(lists.data, lists.starts, lists.ends, starts, ends) == -1
    assert Strings(lists.data, starts.ravel(), ends.ravel()).tolist() == ["1", "-2.5", "3e1", "4"]
    for other in ("[1]", "[1, 2, 3]", '["1", 2]', "[[1], 2]", "[]"):
        wrong = Strings.of(["[1, 2]", other])
        assert module.split_lists(wrong.data, wrong.starts, wrong.ends, starts, ends) == 1
