"""Pages of Parquet files: their headers, and the values of those whose encoding is plain.

Headers   structs of Thrift's compact protocol: a field begins with a byte, the distance from the
          number of the field before in the upper half and the type in the lower; whole numbers are
          zigzag varints.  The numbers of the page header and of the structs in it are kept
Runs      levels and places in a dictionary are runs: one value many times, or groups of eight
          values packed into `width` bytes, the lowest bits first
Checks    nothing is read beyond the end, and whatever is not as described ends the reading: the
          caller then gives the page to a reader that says what is wrong with it
Source    https://github.com/apache/parquet-format (Encodings.md, parquet.thrift)
Flags     exact
"""

import cython

Word = cython.fused_type(cython.uchar, cython.ushort, cython.uint, cython.ulonglong)

# Types of Thrift's compact protocol that occur in page headers.
TRUE = cython.declare(cython.int, 1)
FALSE = cython.declare(cython.int, 2)
I16 = cython.declare(cython.int, 4)
I32 = cython.declare(cython.int, 5)
I64 = cython.declare(cython.int, 6)
BINARY = cython.declare(cython.int, 8)
STRUCT = cython.declare(cython.int, 12)

MAX_DEPTH = cython.declare(cython.int, 8)
INSIDE = cython.declare(cython.Py_ssize_t, 8)  # field j of the struct in field i stands at 8 i + j
NOWHERE = cython.declare(cython.Py_ssize_t, -1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.returns((cython.ulonglong, cython.Py_ssize_t))
def varint(data: cython.const[cython.uchar][::1], at: cython.Py_ssize_t):
    """Read a number of seven bits a byte; return it and what follows it, −1 if it does not end."""
    value: cython.ulonglong = 0
    byte: cython.ulonglong
    shift: cython.int = 0
    while at < data.shape[0] and shift < 63:
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
            value, at = varint(data, at)
            if at < 0:
                return NOWHERE
            number = cython.cast(cython.Py_ssize_t, value >> 1)
        else:
            number += head >> 4
        if kind == TRUE or kind == FALSE:
            whole = -kind  # no other number that is looked for is negative
        elif I16 <= kind <= I64:
            value, at = varint(data, at)
            if kind != I32:
                continue
            whole = cython.cast(cython.longlong, value >> 1)
            if value & 1:
                whole = -whole - 1
        elif kind == BINARY:
            value, at = varint(data, at)
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


def all_present(levels: cython.const[cython.uchar][::1], n: cython.longlong):
    """Return whether all of n definition levels of one bit are 1: no value is missing."""
    at: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    left: cython.longlong = n
    run: cython.ulonglong
    here: cython.longlong
    mask: cython.int
    with cython.nogil:
        while left > 0:
            run, at = varint(levels, at)
            if at < 0:
                break
            here = cython.cast(cython.longlong, run >> 1)
            if here == 0:
                break
            if run & 1:
                # A group of eight levels is one byte.
                end = levels.shape[0]
                while here > 0 and left > 0 and at < end:
                    mask = 255 if left >= 8 else (1 << left) - 1
                    if levels[at] & mask != mask:
                        break
                    at += 1
                    here -= 1
                    left -= 8
                if here > 0 and left > 0:
                    break
            else:
                if at >= levels.shape[0] or levels[at] != 1:
                    break
                at += 1
                left -= here
    return left <= 0


def look_up_places(
    places: cython.const[cython.uchar][::1],
    dictionary: cython.const[Word][::1],
    values: Word[::1],
):
    """Write the words of a dictionary at the packed places; return whether all were there.

    The first byte is the width of a place.
    """
    width: cython.int
    size: cython.ulonglong = dictionary.shape[0]
    length: cython.Py_ssize_t = places.shape[0]
    n: cython.Py_ssize_t = values.shape[0]
    at: cython.Py_ssize_t = 1
    done: cython.Py_ssize_t = 0
    full: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.int
    run: cython.ulonglong
    groups: cython.ulonglong
    held: cython.ulonglong
    bits: cython.int
    place: cython.ulonglong
    mask: cython.ulonglong
    largest: cython.ulonglong = 0
    word: Word
    other: Word
    if length == 0 or size == 0 or places[0] > 32:
        return n == 0
    width = cython.cast(cython.int, places[0])
    mask = (cython.cast(cython.ulonglong, 1) << width) - 1
    with cython.nogil:
        while done < n:
            run, at = varint(places, at)
            if at < 0 or run < 2:
                break
            if run & 1 == 0:
                place = 0
                bits = 0
                while bits < width and at < length:
                    place |= cython.cast(cython.ulonglong, places[at]) << bits
                    at += 1
                    bits += 8
                if bits < width or place >= size:
                    break
                run >>= 1
                stop = n
                if run < cython.cast(cython.ulonglong, n - done):
                    stop = done + cython.cast(cython.Py_ssize_t, run)
                word = dictionary[place]
                for i in range(done, stop):
                    values[i] = word
                done = stop
                continue
            groups = run >> 1
            # The last group of a page may be cut off after the last value.
            if groups > cython.cast(cython.ulonglong, (n - done + 7) // 8):
                groups = (n - done + 7) // 8
            full = cython.cast(cython.Py_ssize_t, groups)
            if width and full > (length - at) // width:
                full = (length - at) // width
            full = min(full, (n - done) // 8)
            if width == 1 and size >= 2:
                word = dictionary[0]
                other = dictionary[1] ^ word
                for i in range(full):
                    for k in range(8):
                        values[done + 8 * i + k] = word ^ (other * ((places[at + i] >> k) & 1))
            elif width <= 8:
                for i in range(full):
                    held = 0
                    for k in range(width):
                        held |= cython.cast(cython.ulonglong, places[at + i * width + k]) << (8 * k)
                    for k in range(8):
                        place = held & mask
                        held >>= width
                        largest = max(largest, place)
                        values[done + 8 * i + k] = dictionary[place if place < size else 0]
            else:
                i = at
                held = 0
                bits = 0
                for stop in range(done, done + 8 * full):
                    while bits < width:
                        held |= cython.cast(cython.ulonglong, places[i]) << bits
                        i += 1
                        bits += 8
                    place = held & mask
                    held >>= width
                    bits -= width
                    largest = max(largest, place)
                    values[stop] = dictionary[place if place < size else 0]
            at += full * width
            done += 8 * full
            if full < cython.cast(cython.Py_ssize_t, groups):
                # What is left is no whole group: values or bytes end within it.
                held = 0
                bits = 0
                while done < n:
                    while bits < width and at < length:
                        held |= cython.cast(cython.ulonglong, places[at]) << bits
                        at += 1
                        bits += 8
                    if bits < width:
                        break
                    place = held & mask
                    held >>= width
                    bits -= width
                    largest = max(largest, place)
                    values[done] = dictionary[place if place < size else 0]
                    done += 1
                break
    return done == n and largest < size
