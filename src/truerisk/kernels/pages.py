"""Pages of Parquet files: their headers, and the values of those whose encoding is plain.

Headers   structs of Thrift's compact protocol: a field begins with a byte, the distance from the
          number of the field before in the upper half and the type in the lower; whole numbers are
          zigzag varints.  The numbers of the page header and of the structs in it are kept
Footer    of all it says, only where the pages of columns are and how they are compressed
Runs      levels and places in a dictionary are runs: one value many times, or groups of eight
          values packed into `width` bytes, the lowest bits first
Checks    nothing is read beyond the end, and whatever is not as described ends the reading: the
          caller then gives the page to a reader that says what is wrong with it; a page that is
          longer than its values is not as described
Source    https://github.com/apache/parquet-format (Encodings.md, parquet.thrift)
Flags     exact
"""

import cython

Word = cython.fused_type(cython.uchar, cython.ushort, cython.uint, cython.ulonglong)

# Types of Thrift's compact protocol.
TRUE = cython.declare(cython.int, 1)
FALSE = cython.declare(cython.int, 2)
BYTE = cython.declare(cython.int, 3)
I16 = cython.declare(cython.int, 4)
I32 = cython.declare(cython.int, 5)
I64 = cython.declare(cython.int, 6)
DOUBLE = cython.declare(cython.int, 7)
BINARY = cython.declare(cython.int, 8)
LIST = cython.declare(cython.int, 9)
SET = cython.declare(cython.int, 10)
STRUCT = cython.declare(cython.int, 12)

MAX_DEPTH = cython.declare(cython.int, 8)
INSIDE = cython.declare(cython.Py_ssize_t, 8)  # field j of the struct in field i stands at 8 i + j
NOWHERE = cython.declare(cython.Py_ssize_t, -1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.returns((cython.ulonglong, cython.Py_ssize_t))
def varint(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t):
    """Read a number of seven bits a byte; return it and what follows it, −1 if it does not end."""
    value: cython.ulonglong = 0
    byte: cython.ulonglong
    shift: cython.int = 0
    while at < end and shift < 63:
        byte = cython.cast(cython.ulonglong, data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return 0, NOWHERE


@cython.cfunc
@cython.nogil
def read_struct(
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    base: cython.Py_ssize_t,
    depth: cython.int,
    fields: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Write the int32s of a struct from fields[base] on; return what follows it, or −1.

    True is −1 and false is −2.
    """
    number: cython.Py_ssize_t = 0
    head: cython.int
    kind: cython.int
    value: cython.ulonglong
    whole: cython.longlong
    inner: cython.Py_ssize_t
    while 0 <= at < data.shape[0]:
        head = cython.cast(cython.int, data[at])
        at += 1
        if head == 0:
            return at
        kind = head & 15
        if head < 16:
            value, at = varint(data, at, data.shape[0])
            if at < 0:
                return NOWHERE
            number = cython.cast(cython.Py_ssize_t, value >> 1)
        else:
            number += head >> 4
        if kind == TRUE or kind == FALSE:
            whole = -kind  # no other number that is looked for is negative
        elif I16 <= kind <= I64:
            value, at = varint(data, at, data.shape[0])
            if kind != I32:
                continue
            whole = cython.cast(cython.longlong, value >> 1)
            if value & 1:
                whole = -whole - 1
        elif kind == BINARY:
            value, at = varint(data, at, data.shape[0])
            if at < 0 or value > cython.cast(cython.ulonglong, data.shape[0] - at):
                return NOWHERE
            at += cython.cast(cython.Py_ssize_t, value)
            continue
        elif kind == STRUCT and depth < MAX_DEPTH:
            inner = INSIDE * number if base == 0 and 0 < number <= INSIDE else NOWHERE
            at = read_struct(data, at, inner, depth + 1, fields)
            continue
        else:
            return NOWHERE
        if base >= 0 and 0 < number < INSIDE:
            fields[base + number] = whole
    return NOWHERE


def page_headers(
    chunk: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size_field: cython.longlong,
    headers: cython.longlong[:, ::1],
):
    """Read the headers of pages one after the other; return how many, and what follows the last.

    A row of `headers` gets the numbers of one header at their places, and at 0 where the page
    begins; what is not there stays as it is.  −1 follows what is no header.
    """
    pages: cython.Py_ssize_t = 0
    size: cython.longlong
    here: cython.Py_ssize_t = at
    with cython.nogil:
        while pages < headers.shape[0] and 0 <= here < chunk.shape[0]:
            here = read_struct(chunk, here, 0, 0, headers[pages])
            if here < 0:
                break
            headers[pages, 0] = here
            size = headers[pages, size_field]
            if size < 0 or size > chunk.shape[0] - here:
                here = NOWHERE
                break
            here += size
            pages += 1
    return pages, here


@cython.cfunc
@cython.nogil
def pass_over(  # noqa: PLR0911
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    kind: cython.int,
    in_list: cython.bint,
    depth: cython.int,
) -> cython.Py_ssize_t:
    """Return what follows a value of that type, or −1."""
    value: cython.ulonglong
    size: cython.ulonglong
    i: cython.ulonglong
    head: cython.int
    if at < 0 or depth > MAX_DEPTH:
        return NOWHERE
    if kind == TRUE or kind == FALSE:
        return at + 1 if in_list else at
    if kind == BYTE:
        return at + 1
    if I16 <= kind <= I64:
        return varint(data, at, data.shape[0])[1]
    if kind == DOUBLE:
        return at + 8
    if kind == BINARY:
        value, at = varint(data, at, data.shape[0])
        if at < 0 or value > cython.cast(cython.ulonglong, data.shape[0] - at):
            return NOWHERE
        return at + cython.cast(cython.Py_ssize_t, value)
    if kind == LIST or kind == SET:
        size, at, kind = list_of(data, at)
        i = 0
        while i < size and 0 <= at <= data.shape[0]:
            at = pass_over(data, at, kind, True, depth + 1)
            i += 1
        return at
    if kind == STRUCT:
        while at < data.shape[0]:
            head = cython.cast(cython.int, data[at])
            at += 1
            if head == 0:
                return at
            if head < 16:
                value, at = varint(data, at, data.shape[0])
            at = pass_over(data, at, head & 15, False, depth + 1)
            if at < 0:
                return NOWHERE
    return NOWHERE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.returns((cython.ulonglong, cython.Py_ssize_t, cython.int))
def list_of(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t):
    """Read the head of a list: how many values, where they begin (−1: nowhere), and their type."""
    head: cython.int
    size: cython.ulonglong
    if at < 0 or at >= data.shape[0]:
        return 0, NOWHERE, 0
    head = cython.cast(cython.int, data[at])
    size = head >> 4
    at += 1
    if size == 15:
        size, at = varint(data, at, data.shape[0])
    return size, at, head & 15


@cython.cfunc
@cython.nogil
def read_facts(
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    level: cython.int,
    count: cython.longlong[::1],
    facts: cython.longlong[:, ::1],
) -> cython.Py_ssize_t:
    """Write what a struct of the footer says of columns; return what follows it, or −1.

    A file (level 0) has row groups in field 4, a row group (1) has columns in field 1 and its rows
    in field 3, and a column (2) has its facts (3) in field 3.
    """
    number: cython.Py_ssize_t = 0
    head: cython.int
    kind: cython.int
    value: cython.ulonglong
    whole: cython.longlong
    size: cython.ulonglong
    i: cython.ulonglong
    first: cython.Py_ssize_t = count[0]
    row: cython.Py_ssize_t
    last: cython.Py_ssize_t
    if level == 2:
        count[0] += 1
    while 0 <= at < data.shape[0]:
        head = cython.cast(cython.int, data[at])
        at += 1
        if head == 0:
            return at
        kind = head & 15
        if head < 16:
            value, at = varint(data, at, data.shape[0])
            if at < 0:
                return NOWHERE
            number = cython.cast(cython.Py_ssize_t, value >> 1)
        else:
            number += head >> 4
        last = min(cython.cast(cython.Py_ssize_t, count[0]), facts.shape[0])
        if kind == LIST and ((level == 0 and number == 4) or (level == 1 and number == 1)):
            size, at, kind = list_of(data, at)
            if kind != STRUCT:
                return NOWHERE
            i = 0
            while i < size and 0 <= at < data.shape[0]:
                at = read_facts(data, at, level + 1, count, facts)
                i += 1
        elif level == 2 and kind == STRUCT and number == 3:
            at = read_facts(data, at, 3, count, facts)
        elif (kind == I32 or kind == I64) and (level == 3 or (level == 1 and number == 3)):
            value, at = varint(data, at, data.shape[0])
            whole = cython.cast(cython.longlong, value >> 1)
            if value & 1:
                whole = -whole - 1
            if level == 1:
                for row in range(first, last):
                    facts[row, 3] = whole
            elif 0 < number != 3 and number < facts.shape[1] and 0 < last == count[0]:
                facts[last - 1, number] = whole
        else:
            if level == 2 and number != 2 and 0 < last == count[0]:
                facts[last - 1, 0] += number < 4 or number > 7
            at = pass_over(data, at, kind, False, 0)
    return NOWHERE


def column_facts(
    footer: cython.const[cython.uchar][::1],
    count: cython.longlong[::1],
    facts: cython.longlong[:, ::1],
):
    """Read the facts of all columns of all row groups, one row each; return whether it could be.

    A fact stands at the number of its field; at 3 stand the rows of the row group, and at 0 a
    number that is not 0 if the column is in another file, or encrypted.
    """
    at: cython.Py_ssize_t
    with cython.nogil:
        count[0] = 0
        at = read_facts(footer, 0, 0, count, facts)
    return at >= 0


@cython.cfunc
@cython.nogil
def all_present(
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    n: cython.longlong,
) -> cython.bint:
    """Return whether all of n definition levels of one bit are 1: no value is missing."""
    left: cython.longlong = n
    run: cython.ulonglong
    here: cython.longlong
    mask: cython.int
    while left > 0:
        run, at = varint(data, at, end)
        if at < 0 or run < 2:
            return False
        here = cython.cast(cython.longlong, run >> 1)
        if run & 1:
            # A group of eight levels is one byte.
            while here > 0 and left > 0:
                if at >= end:
                    return False
                mask = 255 if left >= 8 else (1 << left) - 1
                if data[at] & mask != mask:
                    return False
                at += 1
                here -= 1
                left -= 8
        else:
            if at >= end or data[at] != 1:
                return False
            at += 1
            left -= here
    return True


@cython.cfunc
@cython.nogil
def copy_plain(
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    values: Word[::1],
    done: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
) -> cython.bint:
    """Read values of little-endian bytes."""
    i: cython.Py_ssize_t
    k: cython.int
    size: cython.Py_ssize_t = values.strides[0]
    word: cython.ulonglong
    if end - at != size * (stop - done):
        return False
    if size == 4:  # written out, a number is read at once
        for i in range(stop - done):
            word = cython.cast(cython.ulonglong, data[at])
            word |= cython.cast(cython.ulonglong, data[at + 1]) << 8
            word |= cython.cast(cython.ulonglong, data[at + 2]) << 16
            word |= cython.cast(cython.ulonglong, data[at + 3]) << 24
            values[done + i] = word
            at += 4
        return True
    for i in range(stop - done):
        word = 0
        for k in range(8):
            if k < size:
                word |= cython.cast(cython.ulonglong, data[at + k]) << (8 * k)
        values[done + i] = word
        at += size
    return True


@cython.cfunc
@cython.nogil
def copy_bits(
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    values: Word[::1],
    done: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
) -> cython.bint:
    """Read values of one bit, the lowest first."""
    i: cython.Py_ssize_t
    if end - at != (stop - done + 7) // 8:
        return False
    for i in range(stop - done):
        values[done + i] = (data[at + (i >> 3)] >> (i & 7)) & 1
    return True


@cython.cfunc
@cython.nogil
def look_up_places(  # noqa: PLR0911
    data: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    dictionary: cython.const[Word][::1],
    values: Word[::1],
    done: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
) -> cython.bint:
    """Write the words of a dictionary at packed places; the first byte is the width of a place."""
    width: cython.int
    size: cython.ulonglong = dictionary.shape[0]
    last: cython.Py_ssize_t
    full: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.int
    run: cython.ulonglong
    groups: cython.ulonglong
    held: cython.ulonglong
    bits: cython.int
    place: cython.ulonglong
    mask: cython.ulonglong
    largest: cython.ulonglong = 0
    # Constants of the module would be read from memory.
    fours: cython.ulonglong = 0x0000000F0000000F
    twos: cython.ulonglong = 0x0003000300030003
    ones: cython.ulonglong = 0x0101010101010101
    first: Word
    other: Word
    if at >= end or data[at] > 32:
        return False
    width = cython.cast(cython.int, data[at])
    mask = (cython.cast(cython.ulonglong, 1) << width) - 1
    at += 1
    while done < stop:
        run, at = varint(data, at, end)
        if at < 0 or run < 2:
            return False
        if run & 1 == 0:
            place = 0
            bits = 0
            while bits < width and at < end:
                place |= cython.cast(cython.ulonglong, data[at]) << bits
                at += 1
                bits += 8
            if bits < width or place >= size:
                return False
            if run >> 1 > cython.cast(cython.ulonglong, stop - done):
                return False
            last = done + cython.cast(cython.Py_ssize_t, run >> 1)
            first = dictionary[place]
            for i in range(done, last):
                values[i] = first
            done = last
            continue
        # The values, or the bytes of the last group, may end before the run does.
        groups = run >> 1
        if groups > cython.cast(cython.ulonglong, (stop - done + 7) // 8):
            return False
        if groups > cython.cast(cython.ulonglong, (stop - done) // 8):
            groups = (stop - done) // 8
        full = cython.cast(cython.Py_ssize_t, groups)
        if width > 0 and full > (end - at) // width:
            return False
        if width == 1 and size > 1:
            first = dictionary[0]
            other = dictionary[1] ^ first
            for i in range(full):
                # Bit k of the byte becomes the lowest bit of byte k.
                held = cython.cast(cython.ulonglong, data[at + i])
                held = (held | (held << 28)) & fours
                held = (held | (held << 14)) & twos
                held = (held | (held << 7)) & ones
                for k in range(8):
                    values[done + 8 * i + k] = first ^ (other * ((held >> (8 * k)) & 1))
        elif width <= 8:
            for i in range(full):
                held = 0
                for k in range(width):
                    held |= cython.cast(cython.ulonglong, data[at + i * width + k]) << (8 * k)
                for k in range(8):
                    place = held & mask
                    held >>= width
                    largest = max(largest, place)
                    values[done + 8 * i + k] = dictionary[place if place < size else 0]
        else:
            last = at
            held = 0
            bits = 0
            for i in range(done, done + 8 * full):
                while bits < width:
                    held |= cython.cast(cython.ulonglong, data[last]) << bits
                    last += 1
                    bits += 8
                place = held & mask
                held >>= width
                bits -= width
                largest = max(largest, place)
                values[i] = dictionary[place if place < size else 0]
        at += full * width
        done += 8 * full
        if groups < run >> 1 and done < stop:
            last = at + width
            held = 0
            bits = 0
            while done < stop:
                while bits < width and at < end:
                    held |= cython.cast(cython.ulonglong, data[at]) << bits
                    at += 1
                    bits += 8
                if bits < width:
                    return False
                place = held & mask
                held >>= width
                bits -= width
                largest = max(largest, place)
                values[done] = dictionary[place if place < size else 0]
                done += 1
            at = min(last, end)  # the rest of the group is nothing
    return largest < size and at == end


def read_pages(
    data: cython.const[cython.uchar][::1],
    pages: cython.const[cython.longlong][:, ::1],
    optional: cython.bint,
    dictionary: cython.const[Word][::1],
    values: Word[::1],
):
    """Read the values of pages one after the other; return whether all are there and plain.

    A page is a row: where it begins and ends, where its levels end (−1 if their length stands
    before them, in four bytes), how many values it has, and what these are: places in the
    dictionary (0), values (1) or bits (2).
    """
    begin: cython.Py_ssize_t
    levels: cython.Py_ssize_t
    end: cython.Py_ssize_t
    done: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    page: cython.Py_ssize_t
    fine: cython.bint = True
    with cython.nogil:
        for page in range(pages.shape[0]):
            begin, end, levels = pages[page, 0], pages[page, 1], pages[page, 2]
            stop = done + pages[page, 3]
            if optional:
                if levels < 0 and end - begin < 4:
                    fine = False
                    break
                if levels < 0:
                    levels = begin + 4
                    for k in range(4):
                        levels += cython.cast(cython.Py_ssize_t, data[begin + k]) << (8 * k)
                    begin += 4
                if levels > end or not all_present(data, begin, levels, stop - done):
                    fine = False
                    break
                begin = levels
            if stop > values.shape[0]:
                fine = False
            elif pages[page, 4] == 2:
                fine = copy_bits(data, begin, end, values, done, stop)
            elif pages[page, 4] == 1:
                fine = copy_plain(data, begin, end, values, done, stop)
            else:
                fine = dictionary.shape[0] > 0 and look_up_places(
                    data, begin, end, dictionary, values, done, stop
                )
            if not fine:
                break
            done = stop
    return fine and done == values.shape[0]
