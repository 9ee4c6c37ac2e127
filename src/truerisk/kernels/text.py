"""Sweeps over the bytes of text files: cells of CSV, values of JSON lines, numbers, distinct texts.

Problem   the selected cells of a block of whole records, as places in its bytes; their numbers,
          correctly rounded; one number for each distinct text
Given     the bytes of a block that ends in a line end, free of NUL
Method    one pass finds where cells start and end.  A decimal number of at most 19 digits becomes
          the nearest double by one product with a power of five of 128 bits; what that leaves open
          (a few in 10¹⁰), more digits and denormal numbers are left to the caller.  Texts are
          hashed eight bytes at a time into an open-addressing table
Source    D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience
          51(8), 1700-1727, 2021.  https://doi.org/10.1002/spe.2984
Flags     exact
"""

import cython

ALL_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)  # C drops the others by itself
LOW_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)
FIRST_HASH = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
ODD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio
FREE = cython.declare(cython.longlong, -1)

NEWLINE = cython.declare(cython.uchar, 10)
RETURN = cython.declare(cython.uchar, 13)
TAB = cython.declare(cython.uchar, 9)
SPACE = cython.declare(cython.uchar, 32)
QUOTE = cython.declare(cython.uchar, 34)
PLUS = cython.declare(cython.uchar, 43)
COMMA = cython.declare(cython.uchar, 44)
MINUS = cython.declare(cython.uchar, 45)
POINT = cython.declare(cython.uchar, 46)
ZERO = cython.declare(cython.uchar, 48)
NINE = cython.declare(cython.uchar, 57)
COLON = cython.declare(cython.uchar, 58)
OPEN_LIST = cython.declare(cython.uchar, 91)
BACKSLASH = cython.declare(cython.uchar, 92)
CLOSE_LIST = cython.declare(cython.uchar, 93)
OPEN_OBJECT = cython.declare(cython.uchar, 123)
CLOSE_OBJECT = cython.declare(cython.uchar, 125)

# What `parse_numbers` says of a cell.
PARSED = cython.declare(cython.uchar, 0)
LONG = cython.declare(cython.uchar, 1)  # a number that is left to the caller
STRANGE = cython.declare(cython.uchar, 2)  # no number of digits
# Powers of five that have an entry in the table.
FIRST_POWER = cython.declare(cython.longlong, -342)
LAST_POWER = cython.declare(cython.longlong, 308)
HIDDEN_BIT = cython.declare(cython.ulonglong, 1 << 52)
INFINITE = cython.declare(cython.ulonglong, 0x7FF0000000000000)
NOT_A_NUMBER = cython.declare(cython.ulonglong, 0x7FF8000000000000)
SIGN = cython.declare(cython.ulonglong, 1 << 63)

# Kinds of JSON values; 0 is a key that is absent.
NULL = cython.declare(cython.uchar, 1)
TRUE = cython.declare(cython.uchar, 2)
FALSE = cython.declare(cython.uchar, 3)
NUMBER = cython.declare(cython.uchar, 4)
STRING = cython.declare(cython.uchar, 5)
ESCAPED = cython.declare(cython.uchar, 6)
LIST = cython.declare(cython.uchar, 7)
WRONG = cython.declare(cython.Py_ssize_t, -1)
MAX_DEPTH = cython.declare(cython.Py_ssize_t, 50)


def count_byte(data: cython.const[cython.uchar][::1], byte: cython.uchar):
    """Return how often a byte occurs."""
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(data.shape[0]):
            count += data[i] == byte
    return count


def split_cells(
    data: cython.const[cython.uchar][::1],
    delimiter: cython.uchar,
    slots: cython.const[cython.int][::1],
    starts: cython.longlong[:, ::1],
    ends: cython.longlong[:, ::1],
    doubled: cython.uchar[:, ::1],
):
    """Write where the cells of each record lie; return the first record of another width, or −1.

    A column whose slot is −1 is passed over.  `doubled` marks cells that hold a doubled quote.
    """
    columns: cython.Py_ssize_t = slots.shape[0]
    rows: cython.Py_ssize_t = starts.shape[1]
    row: cython.Py_ssize_t
    column: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    position: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    has_double: cython.bint
    ragged: cython.Py_ssize_t = -1
    with cython.nogil:
        for row in range(rows):
            for column in range(columns):
                has_double = False
                if data[position] == QUOTE:
                    position += 1
                    start = position
                    while True:
                        while data[position] != QUOTE:
                            position += 1
                        if data[position + 1] != QUOTE:
                            break
                        has_double = True
                        position += 2
                    end = position
                    position += 1
                    if data[position] == RETURN:
                        position += 1
                else:
                    start = position
                    while data[position] != delimiter and data[position] != NEWLINE:
                        position += 1
                    end = position
                    if data[position] == NEWLINE and end > start and data[end - 1] == RETURN:
                        end -= 1
                slot = slots[column]
                if slot >= 0:
                    starts[slot, row] = start
                    ends[slot, row] = end
                    if has_double:
                        doubled[slot, row] = 1
                # The last cell ends the record, and no other does.
                if (data[position] == NEWLINE) != (column == columns - 1):
                    ragged = row
                    break
                position += 1
            if ragged >= 0:
                break
    return ragged


def undouble(
    data: cython.const[cython.uchar][::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    rows: cython.const[cython.longlong][::1],
    tail: cython.uchar[::1],
    offset: cython.Py_ssize_t,
):
    """Write cells with each pair of quotes as one into `tail`, and move them there.

    `offset` is where the tail will start; the number of bytes written is returned.
    """
    i: cython.Py_ssize_t
    position: cython.Py_ssize_t
    written: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    with cython.nogil:
        for i in range(rows.shape[0]):
            first = written
            position = starts[rows[i]]
            while position < ends[rows[i]]:
                tail[written] = data[position]
                written += 1
                if data[position] == QUOTE:
                    position += 1
                position += 1
            starts[rows[i]] = offset + first
            ends[rows[i]] = offset + written
    return written


@cython.cfunc
@cython.inline
@cython.nogil
def high_of_product(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """Return the upper 64 bits of a product of 128."""
    low: cython.ulonglong = (one & LOW_BITS) * (other & LOW_BITS)
    left: cython.ulonglong = (one >> 32) * (other & LOW_BITS)
    right: cython.ulonglong = (one & LOW_BITS) * (other >> 32)
    middle: cython.ulonglong = (low >> 32) + (left & LOW_BITS) + (right & LOW_BITS)
    return (one >> 32) * (other >> 32) + (left >> 32) + (right >> 32) + (middle >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
def nearest_double(
    digits: cython.ulonglong,
    power: cython.longlong,
    powers: cython.const[cython.ulonglong][:, ::1],
    bits: cython.ulonglong[::1],
    at: cython.Py_ssize_t,
) -> cython.uchar:
    """Write the bits of the double nearest to digits · 10^power; LONG if that is left open."""
    zeros: cython.longlong = 0
    high: cython.ulonglong
    low: cython.ulonglong
    second: cython.ulonglong
    upper: cython.ulonglong
    mantissa: cython.ulonglong
    shift: cython.ulonglong
    exponent: cython.longlong
    entry: cython.Py_ssize_t
    step: cython.int
    if digits == 0 or power < FIRST_POWER:
        bits[at] = 0
        return PARSED
    if power > LAST_POWER:
        bits[at] = INFINITE
        return PARSED
    for step in range(5, -1, -1):
        if digits >> (64 - (1 << step)) == 0:
            digits = (digits << (1 << step)) & ALL_BITS
            zeros += 1 << step
    entry = power - FIRST_POWER
    high = high_of_product(digits, powers[entry, 0])
    low = (digits * powers[entry, 0]) & ALL_BITS
    if high & 0x1FF == 0x1FF:
        second = high_of_product(digits, powers[entry, 1])
        low = (low + second) & ALL_BITS
        if low < second:
            high += 1
    if low == ALL_BITS and (power < -27 or power > 55):
        return LONG
    upper = high >> 63
    shift = upper + 9
    mantissa = high >> shift
    # The exponent of ten in powers of two: 217706 / 2¹⁶ is log₂ 10.
    exponent = ((217706 * power) >> 16) + 63 + cython.cast(cython.longlong, upper) - zeros + 1023
    if exponent <= 0:
        return LONG
    # Half way between two doubles, which only these powers can hit: to the even one.
    if (
        low <= 1
        and power >= -4
        and power <= 23
        and mantissa & 3 == 1
        and (mantissa << shift) & ALL_BITS == high
    ):
        mantissa -= 1
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >= HIDDEN_BIT << 1:
        mantissa = HIDDEN_BIT
        exponent += 1
    if exponent >= 0x7FF:
        bits[at] = INFINITE
    else:
        bits[at] = (mantissa - HIDDEN_BIT) | (cython.cast(cython.ulonglong, exponent) << 52)
    return PARSED


def parse_numbers(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    decimal: cython.uchar,
    powers: cython.const[cython.ulonglong][:, ::1],
    bits: cython.ulonglong[::1],
    states: cython.uchar[::1],
):
    """Write the bits of the number in each cell and what became of it; return how many are open.

    White space around a number does not count, and an empty cell is NaN.
    """
    row: cython.Py_ssize_t
    position: cython.Py_ssize_t
    end: cython.Py_ssize_t
    digits: cython.ulonglong
    count: cython.Py_ssize_t
    seen: cython.Py_ssize_t
    power: cython.longlong
    exponent: cython.longlong
    negative: cython.bint
    down: cython.bint
    byte: cython.uchar
    state: cython.uchar
    left_open: cython.Py_ssize_t = 0
    with cython.nogil:
        for row in range(starts.shape[0]):
            position = starts[row]
            end = ends[row]
            while position < end and (data[position] == SPACE or data[position] == TAB):
                position += 1
            while end > position and (data[end - 1] == SPACE or data[end - 1] == TAB):
                end -= 1
            if position == end:
                bits[row] = NOT_A_NUMBER
                states[row] = PARSED
                continue
            negative = data[position] == MINUS
            if negative or data[position] == PLUS:
                position += 1
            digits = 0
            count = 0  # significant ones
            seen = 0
            power = 0
            while position < end and data[position] >= ZERO and data[position] <= NINE:
                byte = data[position]
                seen += 1
                if count > 0 or byte != ZERO:
                    count += 1
                    if count <= 19:
                        digits = digits * 10 + (byte - ZERO)
                position += 1
            if position < end and data[position] == decimal:
                position += 1
                while position < end and data[position] >= ZERO and data[position] <= NINE:
                    byte = data[position]
                    seen += 1
                    power -= 1
                    if count > 0 or byte != ZERO:
                        count += 1
                        if count <= 19:
                            digits = digits * 10 + (byte - ZERO)
                    position += 1
            if seen > 0 and position < end and (data[position] | 32) == 101:
                position += 1
                down = position < end and data[position] == MINUS
                if position < end and (down or data[position] == PLUS):
                    position += 1
                exponent = 0
                seen = 0
                while position < end and data[position] >= ZERO and data[position] <= NINE:
                    seen += 1
                    if exponent < 100000:
                        exponent = exponent * 10 + (data[position] - ZERO)
                    position += 1
                power += -exponent if down else exponent
            if seen == 0 or position < end:
                state = STRANGE
            elif count > 19:
                state = LONG
            else:
                state = nearest_double(digits, power, powers, bits, row)
                if negative:
                    bits[row] |= SIGN
            states[row] = state
            if state != PARSED:
                left_open += 1
    return left_open


@cython.cfunc
@cython.inline
@cython.nogil
def hash_of(
    data: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.ulonglong:
    """Hash the bytes of a cell; of one length up to eight bytes, equal hashes are equal cells."""
    # Spread over all bits: the length alone would be undone by a first byte of that value.
    length: cython.ulonglong = (cython.cast(cython.ulonglong, end - start) * ODD) & ALL_BITS
    mixed: cython.ulonglong = FIRST_HASH ^ length
    chunk: cython.ulonglong
    stop: cython.Py_ssize_t
    while True:
        stop = start + 8 if end - start > 8 else end
        chunk = 0
        while start < stop:
            chunk = (chunk << 8) | data[start]
            start += 1
        mixed = ((mixed ^ chunk) * ODD) & ALL_BITS
        mixed = ((mixed ^ (mixed >> 32)) * ODD) & ALL_BITS
        mixed ^= mixed >> 29
        if start == end:
            return mixed


def hash_texts(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    hashes: cython.ulonglong[::1],
):
    """Write the hash of each text."""
    row: cython.Py_ssize_t
    with cython.nogil:
        for row in range(starts.shape[0]):
            hashes[row] = hash_of(data, starts[row], ends[row])


def encode_texts(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    hashes: cython.ulonglong[::1],
    numbers: cython.longlong[::1],
    codes: cython.int[::1],
    first_rows: cython.longlong[::1],
    single: cython.int[::1],
):
    """Write one code for equal texts, in order of appearance, and the first row of each.

    `hashes` and `numbers` are the columns of a table, FREE where it is; `single` holds the code of
    each text of one byte, or −1.  Returns the number of distinct texts; −1 if there is no room.
    """
    mask: cython.Py_ssize_t = numbers.shape[0] - 1
    row: cython.Py_ssize_t
    start: cython.Py_ssize_t
    length: cython.Py_ssize_t
    place: cython.Py_ssize_t
    other: cython.Py_ssize_t
    k: cython.Py_ssize_t
    hashed: cython.ulonglong
    distinct: cython.int = 0
    with cython.nogil:
        for row in range(starts.shape[0]):
            start = starts[row]
            length = ends[row] - start
            if length == 1 and single[data[start]] >= 0:
                codes[row] = single[data[start]]
                continue
            hashed = hash_of(data, start, ends[row])
            place = cython.cast(cython.Py_ssize_t, hashed & mask)
            while numbers[place] != FREE:
                if hashes[place] == hashed:
                    other = starts[first_rows[numbers[place]]]
                    if ends[first_rows[numbers[place]]] - other == length:
                        k = length if length <= 8 else 0
                        while k < length and data[other + k] == data[start + k]:
                            k += 1
                        if k == length:
                            break
                place = (place + 1) & mask
            if numbers[place] == FREE:
                if distinct == first_rows.shape[0]:
                    distinct = -1
                    break
                hashes[place] = hashed
                numbers[place] = distinct
                first_rows[distinct] = row
                if length == 1:
                    single[data[start]] = distinct
                distinct += 1
            codes[row] = cython.cast(cython.int, numbers[place])
    return distinct


@cython.cfunc
@cython.inline
@cython.nogil
def after_space(
    data: cython.const[cython.uchar][::1], position: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return where the next byte is that is no white space; a line end is none."""
    while data[position] == SPACE or data[position] == TAB or data[position] == RETURN:
        position += 1
    return position


@cython.cfunc
@cython.nogil
def after_string(
    data: cython.const[cython.uchar][::1], position: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return where a string ends whose first byte is given, one past its quote; WRONG if never."""
    byte: cython.uchar
    while data[position] != QUOTE:
        if data[position] < SPACE:
            return WRONG
        if data[position] == BACKSLASH:
            position += 1
            byte = data[position]
            if byte == 117:  # u, and four digits
                for _ in range(4):
                    position += 1
                    byte = data[position]
                    if byte > NINE:
                        byte |= 32
                    if not ((byte >= ZERO and byte <= NINE) or (byte >= 97 and byte <= 102)):
                        return WRONG
            elif not (
                byte == QUOTE
                or byte == BACKSLASH
                or byte == 47
                or byte == 98
                or byte == 102
                or byte == 110
                or byte == 114
                or byte == 116
            ):
                return WRONG
        position += 1
    return position + 1


@cython.cfunc
@cython.nogil
def after_number(
    data: cython.const[cython.uchar][::1], position: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return where a number of JSON ends; WRONG if it is none."""
    first: cython.Py_ssize_t
    if data[position] == MINUS:
        position += 1
    if data[position] == ZERO:
        position += 1
    else:
        first = position
        while data[position] >= ZERO and data[position] <= NINE:
            position += 1
        if position == first:
            return WRONG
    if data[position] == POINT:
        position += 1
        first = position
        while data[position] >= ZERO and data[position] <= NINE:
            position += 1
        if position == first:
            return WRONG
    if (data[position] | 32) == 101:
        position += 1
        if data[position] == MINUS or data[position] == PLUS:
            position += 1
        first = position
        while data[position] >= ZERO and data[position] <= NINE:
            position += 1
        if position == first:
            return WRONG
    return position


@cython.cfunc
@cython.nogil
def after_word(
    data: cython.const[cython.uchar][::1],
    position: cython.Py_ssize_t,
    second: cython.uchar,
    third: cython.uchar,
    fourth: cython.uchar,
    fifth: cython.uchar,
) -> cython.Py_ssize_t:
    """Return where true, false or null ends; WRONG if it is another word."""
    if data[position + 1] != second or data[position + 2] != third:
        return WRONG
    if data[position + 3] != fourth:
        return WRONG
    if fifth == 0:
        return position + 4
    return position + 5 if data[position + 4] == fifth else WRONG


@cython.cfunc
@cython.nogil
def after_plain(
    data: cython.const[cython.uchar][::1], position: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return where a value ends that is neither a list nor an object; WRONG if it is one."""
    byte: cython.uchar = data[position]
    if byte == QUOTE:
        return after_string(data, position + 1)
    if byte == MINUS or (byte >= ZERO and byte <= NINE):
        return after_number(data, position)
    if byte == 116:
        return after_word(data, position, 114, 117, 101, 0)
    if byte == 102:
        return after_word(data, position, 97, 108, 115, 101)
    if byte == 110:
        return after_word(data, position, 117, 108, 108, 0)
    return WRONG


@cython.cfunc
@cython.nogil
def after_list(
    data: cython.const[cython.uchar][::1], position: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Return where a list ends whose bracket is given; WRONG if it holds an object or is broken."""
    depth: cython.Py_ssize_t = 0
    while True:
        # Here a value is expected, or the end of a list that has none.
        while data[position] == OPEN_LIST:
            depth += 1
            if depth > MAX_DEPTH:
                return WRONG
            position = after_space(data, position + 1)
            if data[position] == CLOSE_LIST:
                break
        if data[position] != CLOSE_LIST:
            position = after_plain(data, position)
            if position == WRONG:
                return WRONG
            position = after_space(data, position)
        while data[position] == CLOSE_LIST:
            depth -= 1
            if depth == 0:
                return position + 1
            position = after_space(data, position + 1)
        if data[position] != COMMA:
            return WRONG
        position = after_space(data, position + 1)
        if data[position] == CLOSE_LIST:
            return WRONG


@cython.cfunc
@cython.nogil
def is_same(
    one: cython.const[cython.uchar][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    other: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.bint:
    """Whether one[low:high] and other[start:end] are the same bytes."""
    if high - low != end - start:
        return False
    while low < high:
        if one[low] != other[start]:
            return False
        low += 1
        start += 1
    return True


def split_objects(
    data: cython.const[cython.uchar][::1],
    row: cython.Py_ssize_t,
    position: cython.Py_ssize_t,
    names: cython.const[cython.uchar][::1],
    name_ends: cython.const[cython.longlong][::1],
    keys: cython.longlong[:, ::1],
    starts: cython.longlong[:, ::1],
    ends: cython.longlong[:, ::1],
    kinds: cython.uchar[:, ::1],
):
    """Write where the values of the named keys lie, and their kinds, from a row on.

    Stops at the first row that holds an object in an object, an escaped or doubled key, more keys
    than `keys` has room for, or no object; returns that row and where it starts.  The columns of
    `keys` are the start, the end and the slot of each key of the row before: a row with the same
    keys needs no other look at them.
    """
    rows: cython.Py_ssize_t = starts.shape[1]
    known: cython.Py_ssize_t = 0  # keys of the row before
    line: cython.Py_ssize_t = position
    key: cython.Py_ssize_t
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    k: cython.Py_ssize_t
    low: cython.Py_ssize_t
    same: cython.bint
    fits: cython.bint = True
    byte: cython.uchar
    kind: cython.uchar
    with cython.nogil:
        while row < rows:
            line = position
            fits = False
            same = True
            key = 0
            position = after_space(data, position)
            if data[position] != OPEN_OBJECT:
                break
            position = after_space(data, position + 1)
            if data[position] == CLOSE_OBJECT:
                fits = True
            while not fits:
                if data[position] != QUOTE or key == keys.shape[0]:
                    break
                start = position + 1
                end = start
                while data[end] != QUOTE and data[end] != BACKSLASH and data[end] >= SPACE:
                    end += 1
                if data[end] != QUOTE:
                    break
                same = (
                    same
                    and key < known
                    and is_same(data, start, end, data, keys[key, 0], keys[key, 1])
                )
                if not same:
                    k = 0
                    while k < key and not is_same(data, start, end, data, keys[k, 0], keys[k, 1]):
                        k += 1
                    if k < key:
                        break
                    slot = -1
                    low = 0
                    for k in range(name_ends.shape[0]):
                        if is_same(data, start, end, names, low, name_ends[k]):
                            slot = k
                        low = name_ends[k]
                    keys[key, 2] = slot
                keys[key, 0] = start
                keys[key, 1] = end
                slot = keys[key, 2]
                key += 1
                position = after_space(data, end + 1)
                if data[position] != COLON:
                    break
                position = after_space(data, position + 1)
                start = position
                byte = data[position]
                if byte == OPEN_LIST:
                    kind = LIST
                    position = after_list(data, position)
                else:
                    position = after_plain(data, position)
                    kind = NUMBER
                    if byte == QUOTE:
                        kind = STRING
                    elif byte == 116:
                        kind = TRUE
                    elif byte == 102:
                        kind = FALSE
                    elif byte == 110:
                        kind = NULL
                if position == WRONG:
                    break
                if slot >= 0:
                    end = position
                    if kind == STRING:
                        start += 1
                        end -= 1
                        k = start
                        while k < end and data[k] != BACKSLASH:
                            k += 1
                        if k < end:
                            kind = ESCAPED
                    starts[slot, row] = start
                    ends[slot, row] = end
                    kinds[slot, row] = kind
                position = after_space(data, position)
                if data[position] == CLOSE_OBJECT:
                    fits = True
                elif data[position] == COMMA:
                    position = after_space(data, position + 1)
                else:
                    break
            if not fits:
                break
            position = after_space(data, position + 1)
            if data[position] != NEWLINE:
                fits = False
                break
            known = key
            position += 1
            row += 1
    return row, position if row == rows else line


def split_lists(
    data: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    entry_starts: cython.longlong[:, ::1],
    entry_ends: cython.longlong[:, ::1],
):
    """Write where the numbers of each list lie; return the first list that is not of the width."""
    row: cython.Py_ssize_t
    entry: cython.Py_ssize_t
    position: cython.Py_ssize_t
    width: cython.Py_ssize_t = entry_starts.shape[1]
    wrong: cython.Py_ssize_t = -1
    with cython.nogil:
        for row in range(starts.shape[0]):
            position = after_space(data, starts[row] + 1)
            for entry in range(width):
                entry_starts[row, entry] = position
                position = after_number(data, position)
                if position == WRONG:
                    break
                entry_ends[row, entry] = position
                position = after_space(data, position)
                if entry < width - 1:
                    if data[position] != COMMA:
                        position = WRONG
                        break
                    position = after_space(data, position + 1)
            if position == WRONG or position != ends[row] - 1:
                wrong = row
                break
    return wrong
