"""Counting pairs of labels, and bringing scores into order by counting the bits of their keys.

Draws     how often each kind of example was drawn, and how many examples of it were not
Pairs     table[i, j] = number of rows with first = low₁ + i and second = low₂ + j; a value outside
          the range is counted apart, so one pass both counts and checks; `look_up` likewise
Keys      the key of a score is an unsigned integer that grows with it: 2ᵇ⁻¹ plus the bits of a
          positive number, 2ᵇ⁻¹ minus the magnitude of a negative one; 0.0 and −0.0 have one key
Ranking   the measures of n scores, exactly, in time linear in n: rows are counted by the upper 16
          bits of their keys and the label, scattered into these buckets, and every bucket is
          brought into order by itself (counting or digits).  Buckets are ranked among themselves,
          so the counts above each of them are known before
Sums      average precision, AUC and DeLong's variance are one pass over the distinct scores
          (`accumulate`); a maximum need only be looked for in buckets whose counts at both ends
          allow it (`find_peaks`)
Flags     exact
"""

import cython
import numpy as np

Integer = cython.fused_type(
    cython.schar,
    cython.short,
    cython.int,
    cython.longlong,
    cython.uchar,
    cython.ushort,
    cython.uint,
)
Signed = cython.fused_type(cython.schar, cython.short, cython.int, cython.longlong)
Value = cython.fused_type(cython.ushort, cython.ulonglong)
Entry = cython.fused_type(cython.schar, cython.int)
Word = cython.fused_type(cython.uint, cython.ulonglong)

# Distinct values carry packed counts: positives in the upper 32 bits, negatives in the lower.
ONE_POSITIVE = cython.declare(cython.longlong, 1 << 32)
NEGATIVES = cython.declare(cython.longlong, (1 << 32) - 1)

CHECKED_AT_ONCE = cython.declare(cython.Py_ssize_t, 1 << 12)  # rows
SHORT_SUM = cython.declare(cython.Py_ssize_t, 1 << 20)  # rows
COUNTED_FROM = cython.declare(cython.Py_ssize_t, 8192)  # rows of a narrow bucket; fewer are sorted
NARROW_DIGITS_FROM = cython.declare(cython.Py_ssize_t, 128)  # rows; fewer are sorted by comparing
WIDE_DIGITS_FROM = cython.declare(cython.Py_ssize_t, 1024)
LOWER_HALF = cython.declare(cython.ulonglong, (1 << 32) - 1)
INSERTION_BELOW = cython.declare(cython.Py_ssize_t, 24)

# Places in the arrays that carry a sweep from one bucket to the next.
TP = cython.declare(cython.Py_ssize_t, 0)
FP = cython.declare(cython.Py_ssize_t, 1)
AUC = cython.declare(cython.Py_ssize_t, 2)
DISTINCT = cython.declare(cython.Py_ssize_t, 3)
FULL_USED = cython.declare(cython.Py_ssize_t, 4)
THIN_USED = cython.declare(cython.Py_ssize_t, 5)
PRECISION = cython.declare(cython.Py_ssize_t, 0)
PLACED_POSITIVE = cython.declare(cython.Py_ssize_t, 1)
PLACED_NEGATIVE = cython.declare(cython.Py_ssize_t, 2)
F1 = cython.declare(cython.Py_ssize_t, 0)  # of `best`, and of `points`
DISTANCE = cython.declare(cython.Py_ssize_t, 1)  # of `best`
MEAN = cython.declare(cython.Py_ssize_t, 2)
KS = cython.declare(cython.Py_ssize_t, 1)  # of `points`
BREAKEVEN = cython.declare(cython.Py_ssize_t, 2)


# --- draws of examples


def bound_words(words: cython.const[cython.uint][::1], n: cython.uint, draws: cython.uint[::1]):
    """Turn random words into numbers below n, each as likely; return how many came of them.

    A word of which too many lead to the same number is left out.  Source: D. Lemire, "Fast random
    integer generation in an interval", ACM TOMACS 29(1), 2019, Algorithm 5, as NumPy has it.
    """
    size: cython.ulonglong = n
    product: cython.ulonglong
    uneven: cython.ulonglong = (1 << 32) % size
    count: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(words.shape[0]):
            product = cython.cast(cython.ulonglong, words[i]) * size
            draws[count] = cython.cast(cython.uint, product >> 32)
            count += (product & LOWER_HALF) >= uneven
    return count


def count_draws(
    draws: cython.const[cython.uint][:, ::1],
    order: cython.const[cython.longlong][::1],
    first: cython.const[cython.longlong][::1],
    drawn: cython.double[:, ::1],
    left: cython.double[:, ::1],
    times: cython.uint[::1],
):
    """Write how often each kind is in each draw, and how many examples of it are not.

    A row of `draws` is a draw with replacement.  `order` holds the examples kind by kind, kind k
    from `first[k]` on; `times` is room to work in, one number per example.
    """
    count: cython.uint
    total: cython.longlong
    none: cython.longlong
    others: cython.longlong
    others_none: cython.longlong
    largest: cython.Py_ssize_t = 0
    with cython.nogil:
        for k in range(1, drawn.shape[1]):
            if first[k + 1] - first[k] > first[largest + 1] - first[largest]:
                largest = k
        for row in range(draws.shape[0]):
            for i in range(times.shape[0]):
                times[i] = 0
            for i in range(draws.shape[1]):
                times[draws[row, i]] += 1
            others = 0
            others_none = 0
            for k in range(drawn.shape[1]):
                if k == largest:
                    continue
                total = 0
                none = 0
                for j in range(first[k], first[k + 1]):
                    count = times[order[j]]
                    total += count
                    none += count == 0
                drawn[row, k] = total
                left[row, k] = none
                others += total
                others_none += none
            # Most examples are of one kind, which has what the others leave.
            none = 0
            for i in range(times.shape[0]):
                none += times[i] == 0
            drawn[row, largest] = draws.shape[1] - others
            left[row, largest] = none - others_none


# --- pairs of labels


def count_pairs(
    first: cython.const[Integer][::1],
    second: cython.const[Integer][::1],
    low_first: cython.longlong,
    low_second: cython.longlong,
    span_first: cython.longlong,
    span_second: cython.longlong,
    table: cython.longlong[::1],
):
    """Add the rows to a flat table; return how many lie outside of it."""
    outside: cython.longlong = 0
    origin: cython.longlong = low_first * span_second + low_second
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    row: cython.Py_ssize_t
    rows: cython.ulonglong = span_first
    columns: cython.ulonglong = span_second
    i: cython.ulonglong
    j: cython.ulonglong
    least_first: Integer
    least_second: Integer
    greatest_first: Integer
    greatest_second: Integer
    inside: cython.bint = False
    with cython.nogil:
        while start < first.shape[0]:
            stop = min(start + CHECKED_AT_ONCE, first.shape[0])
            # Numbers of eight bytes are as fast when each is checked as it comes.
            if Integer is not cython.longlong:
                least_first = greatest_first = first[start]
                least_second = greatest_second = second[start]
                for row in range(start, stop):
                    least_first = min(least_first, first[row])
                    greatest_first = max(greatest_first, first[row])
                    least_second = min(least_second, second[row])
                    greatest_second = max(greatest_second, second[row])
                inside = (
                    least_first >= low_first
                    and least_second >= low_second
                    and greatest_first < low_first + span_first
                    and greatest_second < low_second + span_second
                )
            if inside:
                for row in range(start, stop):
                    table[first[row] * span_second + second[row] - origin] += 1
            else:
                for row in range(start, stop):
                    i = cython.cast(cython.longlong, first[row]) - low_first
                    j = cython.cast(cython.longlong, second[row]) - low_second
                    # Unsigned in C, where what is below the range is above it.
                    if 0 <= i < rows and 0 <= j < columns:
                        table[i * columns + j] += 1
                    else:
                        outside += 1
            start = stop
    return outside


def count_ones(first: cython.const[Signed][::1], second: cython.const[Signed][::1]):
    """Return the sums of both columns and of their product, and the bits that occur anywhere.

    Sums are meant for columns of 0 and 1.  They are taken in short numbers, of which a processor
    adds more at a time, and carried over before these can be full.
    """
    ones_first: cython.longlong = 0
    ones_second: cython.longlong = 0
    ones_both: cython.longlong = 0
    bits: Signed = 0
    a: cython.int
    b: cython.int
    c: cython.int
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    row: cython.Py_ssize_t
    with cython.nogil:
        while start < first.shape[0]:
            stop = min(start + SHORT_SUM, first.shape[0])
            a = b = c = 0
            for row in range(start, stop):
                a += cython.cast(cython.int, first[row] & 1)
                b += cython.cast(cython.int, second[row] & 1)
                c += cython.cast(cython.int, first[row] & second[row] & 1)
                bits |= first[row] | second[row]
            ones_first += a
            ones_second += b
            ones_both += c
            start = stop
    return ones_first, ones_second, ones_both, bits


def look_up(
    values: cython.const[Integer][::1],
    lowest: cython.longlong,
    table: cython.const[Entry][::1],
    entries: Entry[::1],
):
    """Write the entry of the table at each value less `lowest`; return whether any lies outside.

    Two entries lie on a line, and a processor takes several values of a line at a time.
    """
    first: Entry
    other: Entry
    at: cython.longlong
    step: Integer  # as wide as a value: two neighbours stay so where it wraps
    steps: Integer = 0
    outside: cython.longlong = 0
    size: cython.longlong = table.shape[0]
    with cython.nogil:
        if size == 2:
            first = table[0]
            other = table[1]
            for row in range(values.shape[0]):
                step = cython.cast(cython.longlong, values[row]) - lowest
                steps |= step
                entries[row] = other if step else first
            outside = steps & -2
        else:
            for row in range(values.shape[0]):
                at = cython.cast(cython.longlong, values[row]) - lowest
                if 0 <= at < size:
                    entries[row] = table[at]
                else:
                    outside += 1
    return outside != 0


# --- keys

# The loops over keys take 256 rows at a time: first the places of all of them, by instructions that
# take several rows each; then a loop so short that the processor waits for many places at once.


@cython.cfunc
@cython.inline
@cython.nogil
def narrow_key(bits: cython.uint) -> cython.uint:
    """Return the key of a float32."""
    sign: cython.uint = 0x80000000  # a constant of the module would be read from memory
    return bits + sign if bits < sign else sign - (bits - sign)


@cython.cfunc
@cython.inline
@cython.nogil
def wide_key(bits: cython.ulonglong) -> cython.ulonglong:
    """Return the key of a float64."""
    sign: cython.ulonglong = 0x8000000000000000
    return bits + sign if bits < sign else sign - (bits - sign)


def count_buckets(
    bits: cython.const[cython.uint][::1],
    rounded_up: cython.const[cython.uchar][::1],
    labels: cython.const[cython.uchar][::1],
    counts: cython.longlong[::1],
):
    """Count float32 scores by the upper 24 bits of their keys and the label.

    A score that was rounded up from float64 belongs to the float32 below it: a bucket then holds
    exactly the scores from its lower end to that of the next.  One 0 stands for "none rounded up".
    """
    step: cython.Py_ssize_t = rounded_up.shape[0] == bits.shape[0]
    key: cython.uint
    at = cython.declare(cython.uint[256])
    start: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        while start < bits.shape[0]:
            n = min(256, bits.shape[0] - start)
            for i in range(n):
                key = narrow_key(bits[start + i]) - (rounded_up[(start + i) * step] != 0)
                at[i] = 2 * (key >> 8) + (labels[start + i] != 0)
            for i in range(n):
                counts[at[i]] += 1
            start += n


def count_narrow(
    bits: cython.const[cython.uint][::1],
    labels: cython.const[cython.uchar][::1],
    counts: cython.longlong[::1],
):
    """Count float32 rows by bucket and label."""
    at = cython.declare(cython.uint[256])
    start: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        while start < bits.shape[0]:
            n = min(256, bits.shape[0] - start)
            for i in range(n):
                at[i] = 2 * (narrow_key(bits[start + i]) >> 16) + (labels[start + i] != 0)
            for i in range(n):
                counts[at[i]] += 1
            start += n


def count_wide(
    bits: cython.const[cython.ulonglong][::1],
    labels: cython.const[cython.uchar][::1],
    counts: cython.longlong[::1],
):
    """Count float64 rows by bucket and label."""
    sign: cython.ulonglong = 0x8000000000000000
    all_bits: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    magnitude: cython.ulonglong
    negative: cython.ulonglong
    upper: cython.uint
    at = cython.declare(cython.uint[256])
    start: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        while start < bits.shape[0]:
            n = min(256, bits.shape[0] - start)
            for i in range(n):
                # The key without a comparison: not every processor compares several at a time.
                magnitude = bits[start + i] & (sign - 1)
                negative = (bits[start + i] >> 63) * all_bits
                upper = (sign + magnitude - 2 * (magnitude & negative)) >> 48
                at[i] = 2 * upper + (labels[start + i] != 0)
            for i in range(n):
                counts[at[i]] += 1
            start += n


def place_cells(counts: cython.longlong[:, ::1], cells: cython.uint[::1], starts: cython.uint[::1]):
    """Replace the counts of (share, cell) by where its rows begin; list the cells that have rows.

    The rows of a cell stand share by share.  Returns how many cells are listed; `starts` has where
    each of them begins, and then the number of all rows.
    """
    share: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    used: cython.Py_ssize_t = 0
    before: cython.longlong = 0
    here: cython.longlong
    with cython.nogil:
        for cell in range(counts.shape[1]):
            # Written every time and kept only when something is there: no branch to mispredict.
            cells[used] = cell
            starts[used] = before
            for share in range(counts.shape[0]):
                here = counts[share, cell]
                counts[share, cell] = before
                before += here
            used += starts[used] != before
        starts[used] = before
    return used


def stack_buckets(
    starts: cython.const[cython.longlong][::1],
    above: cython.longlong[:, ::1],
    filled: cython.longlong[::1],
):
    """Write the positives and negatives above each bucket, and the filled buckets, descending.

    Returns how many are filled, and all positives and negatives.
    """
    b: cython.Py_ssize_t = above.shape[0] - 1
    used: cython.Py_ssize_t = 0
    tp: cython.longlong = 0
    fp: cython.longlong = 0
    with cython.nogil:
        while b >= 0:
            above[b, 0] = tp
            above[b, 1] = fp
            # Written every time and kept only when something is there: no branch to mispredict.
            filled[used] = b
            used += starts[2 * b + 2] != starts[2 * b]
            tp += starts[2 * b + 2] - starts[2 * b + 1]
            fp += starts[2 * b + 1] - starts[2 * b]
            b -= 1
    return used, tp, fp


def scatter_narrow(
    bits: cython.const[cython.uint][::1],
    labels: cython.const[cython.uchar][::1],
    place: cython.longlong[::1],
    low: cython.ushort[::1],
):
    """Write the lower 16 bits of each key to the place of its bucket and label."""
    key: cython.uint
    lower = cython.declare(cython.ushort[256])
    at = cython.declare(cython.uint[256])
    to: cython.size_t
    start: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        while start < bits.shape[0]:
            n = min(256, bits.shape[0] - start)
            for i in range(n):
                key = narrow_key(bits[start + i])
                lower[i] = key & 0xFFFF
                at[i] = 2 * (key >> 16) + (labels[start + i] != 0)
            for i in range(n):
                to = place[at[i]]
                place[at[i]] = to + 1
                low[to] = lower[i]
            start += n


def scatter_wide(
    bits: cython.const[cython.ulonglong][::1],
    labels: cython.const[cython.uchar][::1],
    place: cython.longlong[::1],
    low: cython.ulonglong[::1],
):
    """Write the lower 48 bits of each key, and the label, to the place of its bucket and label."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFF
    key: cython.ulonglong
    label: cython.ulonglong
    at: cython.size_t
    to: cython.size_t
    with cython.nogil:
        for i in range(bits.shape[0]):
            key = wide_key(bits[i])
            label = labels[i] != 0
            at = 2 * (key >> 48) + label
            to = place[at]
            low[to] = 2 * (key & mask) + label
            place[at] = to + 1


def scatter_packed(
    bits: cython.const[cython.ulonglong][::1],
    labels: cython.const[cython.uchar][::1],
    first: cython.uint,
    last: cython.uint,
    before: cython.longlong,
    place: cython.longlong[::1],
    low: cython.ushort[::1],
):
    """Write the lower 48 bits of each key, 16 at a time, to the place of its bucket and label.

    Only rows of the cells from `first` up to `last` are written; `before` rows stand before these.
    """
    key: cython.ulonglong
    cell: cython.uint
    keys = cython.declare(cython.ulonglong[256])
    at = cython.declare(cython.uint[256])
    to: cython.size_t
    start: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    used: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        while start < bits.shape[0]:
            n = min(256, bits.shape[0] - start)
            used = 0
            for i in range(n):
                key = wide_key(bits[start + i])
                cell = 2 * (key >> 48) + (labels[start + i] != 0)
                # Written every time and kept only when it is wanted: no branch to mispredict.
                keys[used] = key
                at[used] = cell
                used += (cell >= first) & (cell < last)
            for i in range(used):
                to = place[at[i]]
                place[at[i]] = to + 1
                to = 3 * (to - before)
                low[to] = keys[i] & 0xFFFF
                low[to + 1] = (keys[i] >> 16) & 0xFFFF
                low[to + 2] = (keys[i] >> 32) & 0xFFFF
            start += n


def gather(
    run: cython.const[cython.ushort][::1],
    cells: cython.const[cython.uint][::1],
    starts: cython.const[cython.uint][::1],
    first: cython.longlong,
    place: cython.longlong[::1],
    low: cython.ushort[::1],
):
    """Append some cells of one run to their places; `place` begins with the cell `first`."""
    at: cython.longlong
    to: cython.longlong
    with cython.nogil:
        for k in range(cells.shape[0]):
            at = cells[k] - first
            to = place[at]
            for i in range(starts[k], starts[k + 1]):
                low[to] = run[i]
                to += 1
            place[at] = to


# A float64 bucket is cut into parts by the bits below those of the bucket, as many as its size asks
# for: part `bases[b] + (value >> shifts[b])` of a row of bucket b.


@cython.cfunc
@cython.inline
@cython.nogil
def packed_value(run: cython.const[cython.ushort][::1], i: cython.size_t) -> cython.ulonglong:
    """Return the lower 48 bits of the key of one row."""
    return (
        (cython.cast(cython.ulonglong, run[3 * i + 2]) << 32)
        | (cython.cast(cython.ulonglong, run[3 * i + 1]) << 16)
        | cython.cast(cython.ulonglong, run[3 * i])
    )


def count_parts(
    run: cython.const[cython.ushort][::1],
    cells: cython.const[cython.uint][::1],
    starts: cython.const[cython.uint][::1],
    first: cython.longlong,
    shifts: cython.const[cython.longlong][::1],
    bases: cython.const[cython.longlong][::1],
    counts: cython.longlong[::1],
):
    """Count some cells of one packed run by parts of buckets, the first of which is `first`."""
    bucket: cython.longlong
    shift: cython.longlong
    base: cython.longlong
    i: cython.size_t
    with cython.nogil:
        for k in range(cells.shape[0]):
            bucket = (cells[k] >> 1) - first
            shift = shifts[bucket]
            base = bases[bucket]
            for i in range(starts[k], starts[k + 1]):
                counts[base + cython.cast(cython.longlong, packed_value(run, i) >> shift)] += 1


def gather_parts(
    run: cython.const[cython.ushort][::1],
    cells: cython.const[cython.uint][::1],
    starts: cython.const[cython.uint][::1],
    first: cython.longlong,
    shifts: cython.const[cython.longlong][::1],
    bases: cython.const[cython.longlong][::1],
    place: cython.longlong[::1],
    low: cython.ulonglong[::1],
):
    """Append some cells of one packed run, each row with its label, to the places of the parts."""
    bucket: cython.longlong
    shift: cython.longlong
    base: cython.longlong
    part: cython.longlong
    to: cython.longlong
    label: cython.ulonglong
    value: cython.ulonglong
    i: cython.size_t
    with cython.nogil:
        for k in range(cells.shape[0]):
            bucket = (cells[k] >> 1) - first
            shift = shifts[bucket]
            base = bases[bucket]
            label = cython.cast(cython.ulonglong, cells[k]) & 1
            for i in range(starts[k], starts[k + 1]):
                value = packed_value(run, i)
                part = base + cython.cast(cython.longlong, value >> shift)
                to = place[part]
                place[part] = to + 1
                low[to] = 2 * value + label


# --- order inside a bucket


@cython.cfunc
@cython.nogil
def sort_by_comparing(
    rows: Word[::1], begin: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.void:
    """Sort rows[begin:end] in place: quicksort about the middle of three, insertion for few."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    pivot: Word
    row: Word
    while end - begin > INSERTION_BELOW:
        i, j = begin, end - 1
        pivot = rows[begin + (end - begin) // 2]
        if rows[i] > rows[j]:
            rows[i], rows[j] = rows[j], rows[i]
        if pivot < rows[i]:
            pivot = rows[i]
        elif pivot > rows[j]:
            pivot = rows[j]
        while i <= j:
            while rows[i] < pivot:
                i += 1
            while rows[j] > pivot:
                j -= 1
            if i <= j:
                row = rows[i]
                rows[i] = rows[j]
                rows[j] = row
                i += 1
                j -= 1
        if j + 1 - begin < end - i:
            sort_by_comparing(rows, begin, j + 1)
            begin = i
        else:
            sort_by_comparing(rows, i, end)
            end = j + 1
    for i in range(begin + 1, end):
        row = rows[i]
        j = i
        while j > begin and rows[j - 1] > row:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row


@cython.cfunc
@cython.nogil
def move_by_digit(
    source: Word[::1],
    begin: cython.Py_ssize_t,
    target: Word[::1],
    to: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    shift: cython.int,
    bits: cython.int,
    places: cython.longlong[::1],
) -> cython.bint:
    """Write n rows to the target in the order of one digit; False, and no copy, if all have one."""
    mask: Word = (1 << bits) - 1
    at: cython.Py_ssize_t
    before: cython.longlong = 0
    here: cython.longlong
    for at in range(1 << bits):
        places[at] = 0
    for i in range(begin, begin + n):
        places[(source[i] >> shift) & mask] += 1
    if places[(source[begin] >> shift) & mask] == n:
        return False
    for at in range(1 << bits):
        here = places[at]
        places[at] = before
        before += here
    for i in range(begin, begin + n):
        at = (source[i] >> shift) & mask
        target[to + places[at]] = source[i]
        places[at] += 1
    return True


@cython.cfunc
@cython.nogil
def sort_by_digits(
    rows: Word[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    spare: Word[::1],
    shift: cython.int,
    digits: cython.int,
    bits: cython.int,
    places: cython.longlong[::1],
) -> cython.void:
    """Sort rows[begin:end] in place by digits above the lowest bits, the lowest digit first."""
    n: cython.Py_ssize_t = end - begin
    swapped: cython.bint = False
    moved: cython.bint
    for _ in range(digits):
        if swapped:
            moved = move_by_digit(spare, 0, rows, begin, n, shift, bits, places)
        else:
            moved = move_by_digit(rows, begin, spare, 0, n, shift, bits, places)
        if moved:
            swapped = not swapped
        shift += bits
    if swapped:
        for i in range(n):
            rows[begin + i] = spare[i]


@cython.cfunc
@cython.nogil
def order_few(
    low: cython.const[cython.ushort][::1],
    begin: cython.Py_ssize_t,
    positives_from: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    rows: cython.uint[::1],
    spare: cython.uint[::1],
    places: cython.longlong[::1],
    values: cython.ushort[::1],
    counts: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Sort a small bucket, whose negatives come first; return how many values are distinct."""
    n: cython.Py_ssize_t = end - begin
    last: cython.Py_ssize_t = -1
    i: cython.Py_ssize_t
    value: cython.uint
    previous: cython.uint
    packed: cython.longlong = 0
    is_new: cython.longlong
    for i in range(n):
        value = cython.cast(cython.uint, low[begin + i])
        rows[i] = (value << 1) | (begin + i >= positives_from)
    if n < NARROW_DIGITS_FROM:
        sort_by_comparing(rows, 0, n)
    else:
        sort_by_digits(rows, 0, n, spare, 0, 2, 9, places)
    i = n - 1
    previous = 2 * 65536  # no value
    while i >= 0:
        value = rows[i] >> 1
        # Neither the label nor a tie is to be foreseen: no branch for them.
        is_new = value != previous
        last += is_new
        packed = packed * (1 - is_new) + 1
        packed += cython.cast(cython.longlong, rows[i] & 1) * (ONE_POSITIVE - 1)
        values[last] = value
        counts[last] = packed
        previous = value
        i -= 1
    return last + 1


@cython.cfunc
@cython.nogil
def order_many(
    low: cython.const[cython.ushort][::1],
    begin: cython.Py_ssize_t,
    positives_from: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    table: cython.longlong[::1],
    values: cython.ushort[::1],
    counts: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Count a large bucket in a table of all values, which is left empty again."""
    used: cython.Py_ssize_t = 0
    packed: cython.longlong
    value: cython.Py_ssize_t = 65535
    for i in range(begin, positives_from):
        table[low[i]] += 1
    for i in range(positives_from, end):
        table[low[i]] += ONE_POSITIVE
    while value >= 0:
        packed = table[value]
        # Written every time and kept only when something is there: no branch to mispredict.
        values[used] = value
        counts[used] = packed
        table[value] = 0
        used += packed != 0
        value -= 1
    return used


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.Py_ssize_t))
def next_block(
    rows: cython.const[cython.ulonglong][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    values: cython.ulonglong[::1],
    counts: cython.longlong[::1],
):
    """Collect distinct values downwards from `end`; return their number and the new end."""
    last: cython.Py_ssize_t = -1
    row: cython.ulonglong
    value: cython.ulonglong
    previous: cython.ulonglong = 0
    packed: cython.longlong = 0
    is_new: cython.longlong
    if end > begin:
        previous = ~(rows[end - 1] >> 1)
    while end > begin:
        row = rows[end - 1]
        value = row >> 1
        is_new = value != previous
        if last + is_new == values.shape[0]:
            break
        # Neither the label nor a tie is to be foreseen: no branch for them.
        last += is_new
        packed = packed * (1 - is_new) + 1
        packed += cython.cast(cython.longlong, row & 1) * (ONE_POSITIVE - 1)
        values[last] = value
        counts[last] = packed
        previous = value
        end -= 1
    return last + 1, end


# --- sweeps over the distinct values of a bucket, in descending order


@cython.cfunc
@cython.inline
@cython.nogil
def next_step(
    found: cython.longlong, steps: cython.longlong, n: cython.longlong
) -> cython.longlong:
    """Return the count at which the thinned curve has its next point."""
    return ((found * steps // n + 1) * n + steps - 1) // steps


@cython.cfunc
@cython.inline
@cython.nogil
def set_point(
    points: cython.ulonglong[:, ::1],
    row: cython.Py_ssize_t,
    key: cython.ulonglong,
    tp: cython.longlong,
    fp: cython.longlong,
) -> cython.void:
    """Write one point (key, tp, fp)."""
    points[row, 0] = key
    points[row, 1] = tp
    points[row, 2] = fp


@cython.cfunc
@cython.nogil
def list_positives(
    counts: cython.longlong[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    total: cython.longlong,
    listed: cython.p_longlong,
    reached: cython.p_longlong,
) -> cython.Py_ssize_t:
    """List the counts that have positives, and the totals reached with them; return how many.

    Totals stand from the place 1 on, and after them that of all counts.  Which values have
    positives is not to be foreseen: no branch for it.
    """
    n: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(start, stop):
        total += counts[i]
        listed[n] = counts[i]
        reached[n + 1] = total
        n += (counts[i] >> 32) != 0
    reached[n + 1] = total
    return n


@cython.cfunc
@cython.nogil
def add_terms(
    listed: cython.p_longlong,
    reached: cython.p_longlong,
    n: cython.Py_ssize_t,
    n_positive: cython.longlong,
    n_negative: cython.longlong,
    centre: cython.double,
    four: cython.p_double,
) -> cython.longlong:
    """Add the terms of listed values to the sums, four of each; return twice what the AUC gains.

    The loops are such that a processor takes several values at a time.
    """
    a_positive: cython.double = 1.0 / n_positive
    a_negative: cython.double = 1.0 / n_negative
    positive = cython.declare(cython.int[256])
    negative = cython.declare(cython.int[256])
    tp = cython.declare(cython.int[256])
    fp = cython.declare(cython.int[257])  # from the place 1 on
    waited = cython.declare(cython.int[256])
    placed_positive = cython.declare(cython.double[256])
    placed_negative = cython.declare(cython.double[256])
    precision = cython.declare(cython.double[256])
    place: cython.double
    twice: cython.longlong = 0
    above: cython.int
    lower: cython.longlong = 0xFFFFFFFF  # a constant of the module would be read from memory
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    fp[0] = reached[0] & lower
    for i in range(n):
        positive[i] = listed[i] >> 32
        negative[i] = listed[i] & lower
        tp[i] = reached[i + 1] >> 32
        fp[i + 1] = reached[i + 1] & lower
    for i in range(n):
        # Negatives since the last positive: all have one placement.
        waited[i] = fp[i + 1] - fp[i] - negative[i]
        above = tp[i] - positive[i]
        twice += 2 * cython.cast(cython.longlong, above) * (waited[i] + negative[i])
        twice += cython.cast(cython.longlong, positive[i]) * negative[i]
    for i in range(n):
        place = (tp[i] - positive[i]) * a_positive - centre
        placed_negative[i] = waited[i] * place * place
        place = (tp[i] - 0.5 * positive[i]) * a_positive - centre
        placed_negative[i] += negative[i] * place * place
        place = (cython.cast(cython.int, n_negative) - fp[i + 1] + 0.5 * negative[i]) * a_negative
        place -= centre
        placed_positive[i] = positive[i] * place * place
        precision[i] = positive[i] * (cython.cast(cython.double, tp[i]) / (tp[i] + fp[i + 1]))
    for i in range(n, (n + 3) // 4 * 4):
        placed_negative[i] = placed_positive[i] = precision[i] = 0.0
    for i in range(0, n, 4):
        for k in range(4):
            four[k] += precision[i + k]
            four[4 + k] += placed_positive[i + k]
            four[8 + k] += placed_negative[i + k]
    return twice


@cython.cfunc
@cython.nogil
def accumulate(
    values: Value[::1],
    counts: cython.longlong[::1],
    used: cython.Py_ssize_t,
    prefix: cython.ulonglong,
    n_positive: cython.longlong,
    n_negative: cython.longlong,
    steps: cython.longlong,
    centre: cython.double,
    state: cython.longlong[::1],
    sums: cython.double[::1],
    full: cython.ulonglong[:, ::1],
    thin: cython.ulonglong[:, ::1],
) -> cython.void:
    """Add one run of distinct values to the sums, and collect the points of the curve.

    `centre` is a value near the AUC: placements are squared about it, and nothing cancels.  `full`
    takes every point until it overflows; `thin` takes those at which the true or the false
    positives reach a further step.
    """
    # Fewer than 2³¹ rows: counts are added up as they are packed.
    total: cython.longlong = (state[TP] << 32) + state[FP]
    before: cython.longlong
    key: cython.ulonglong
    tp: cython.longlong = state[TP]
    fp: cython.longlong = state[FP]
    waiting: cython.longlong
    next_tp: cython.longlong = next_step(tp, steps, n_positive)
    next_fp: cython.longlong = next_step(fp, steps, n_negative)
    listed = cython.declare(cython.longlong[256])
    reached = cython.declare(cython.longlong[258])
    four = cython.declare(cython.double[12])
    place: cython.double
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for i in range(12):
        four[i] = 0.0
    reached[0] = total
    while start < used:
        stop = min(start + 256, used)
        before = total
        n = list_positives(counts, start, stop, total, listed, reached)
        total = reached[n + 1]
        tp = total >> 32
        fp = total & NEGATIVES
        if state[FULL_USED] < full.shape[0] or tp >= next_tp or fp >= next_fp:
            for i in range(start, stop):
                before += counts[i]
                tp = before >> 32
                fp = before & NEGATIVES
                key = prefix | cython.cast(cython.ulonglong, values[i])
                if state[FULL_USED] < full.shape[0]:
                    set_point(full, state[FULL_USED], key, tp, fp)
                    state[FULL_USED] += 1
                if tp >= next_tp or fp >= next_fp:
                    set_point(thin, state[THIN_USED], key, tp, fp)
                    state[THIN_USED] += 1
                    next_tp = next_step(tp, steps, n_positive)
                    next_fp = next_step(fp, steps, n_negative)
        state[AUC] += add_terms(listed, reached, n, n_positive, n_negative, centre, four)
        reached[0] = reached[n]
        start = stop
    # Negatives after the last positive.
    waiting = fp - (reached[0] & NEGATIVES)
    place = tp * (1.0 / n_positive) - centre
    state[TP] = tp
    state[FP] = fp
    state[AUC] += 2 * waiting * tp
    state[DISTINCT] += used
    sums[PRECISION] += (four[0] + four[1]) + (four[2] + four[3])
    sums[PLACED_POSITIVE] += (four[4] + four[5]) + (four[6] + four[7])
    sums[PLACED_NEGATIVE] += (four[8] + four[9]) + (four[10] + four[11]) + waiting * place * place


@cython.cfunc
@cython.nogil
def find_peaks(
    values: Value[::1],
    counts: cython.longlong[::1],
    used: cython.Py_ssize_t,
    prefix: cython.ulonglong,
    n_positive: cython.longlong,
    n_negative: cython.longlong,
    state: cython.longlong[::1],
    points: cython.ulonglong[:, ::1],
    best: cython.double[::1],
    gain: cython.longlong[::1],
    levels: cython.double[::1],
) -> cython.void:
    """Look for better points than those found so far; ties go to the higher threshold.

    `points` has a row (key, tp, fp) each for the best F1, the greatest tpr − fpr and the
    breakeven; `levels[j]` is the highest precision with recall in [j/10, (j+1)/10).
    """
    tp: cython.longlong = state[TP]
    fp: cython.longlong = state[FP]
    positive: cython.longlong
    found: cython.longlong
    found_above: cython.longlong
    ahead: cython.longlong
    level: cython.Py_ssize_t
    precision: cython.double
    recall: cython.double
    f1: cython.double
    distance: cython.double
    mean: cython.double
    for i in range(used):
        positive = counts[i] >> 32
        found_above = tp + fp
        tp += positive
        fp += counts[i] & NEGATIVES
        found = tp + fp
        # With no new positive a point only brings precision down, towards recall or beyond it.
        if found != n_positive and (tp == 0 or (positive == 0 and found_above >= n_positive)):
            continue
        precision = cython.cast(cython.double, tp) / found
        recall = cython.cast(cython.double, tp) / n_positive
        level = 10 * tp // n_positive
        levels[level] = max(levels[level], precision)
        f1 = cython.cast(cython.double, 2 * tp) / (n_positive + found)
        if f1 > best[F1]:
            best[F1] = f1
            set_point(points, F1, prefix | cython.cast(cython.ulonglong, values[i]), tp, fp)
        ahead = tp * n_negative - fp * n_positive
        if ahead > gain[0]:
            gain[0] = ahead
            set_point(points, KS, prefix | cython.cast(cython.ulonglong, values[i]), tp, fp)
        distance = -1.0 if found == n_positive else abs(precision - recall)
        mean = (precision + recall) / 2
        if distance < best[DISTANCE] or (distance == best[DISTANCE] and mean > best[MEAN]):
            best[DISTANCE] = distance
            best[MEAN] = mean
            set_point(points, BREAKEVEN, prefix | cython.cast(cython.ulonglong, values[i]), tp, fp)
    state[TP] = tp
    state[FP] = fp


# --- groups of buckets, given in descending order


def sweep_narrow(
    low: cython.const[cython.ushort][::1],
    starts: cython.const[cython.longlong][::1],
    above: cython.const[cython.longlong][:, ::1],
    buckets: cython.const[cython.longlong][::1],
    n_positive: cython.longlong,
    n_negative: cython.longlong,
    steps: cython.longlong,
    centre: cython.double,
    state: cython.longlong[::1],
    sums: cython.double[::1],
    full: cython.ulonglong[:, ::1],
    thin: cython.ulonglong[:, ::1],
    may_be_best: cython.const[cython.uchar][::1],
    points: cython.ulonglong[:, ::1],
    best: cython.double[::1],
    gain: cython.longlong[::1],
    levels: cython.double[::1],
):
    """Order and accumulate float32 buckets; look for the best points in some of them."""
    table: cython.longlong[::1] = np.zeros(65536, np.int64)
    rows: cython.uint[::1] = np.empty(COUNTED_FROM, np.uint32)
    spare: cython.uint[::1] = np.empty(COUNTED_FROM, np.uint32)
    places: cython.longlong[::1] = np.empty(512, np.int64)
    values: cython.ushort[::1] = np.empty(65537, np.uint16)
    counts: cython.longlong[::1] = np.empty(65537, np.int64)
    inside: cython.longlong[::1] = np.zeros(2, np.int64)
    b: cython.ulonglong
    used: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    end: cython.Py_ssize_t
    with cython.nogil:
        for k in range(buckets.shape[0]):
            b = cython.cast(cython.ulonglong, buckets[k])
            begin, middle, end = starts[2 * b], starts[2 * b + 1], starts[2 * b + 2]
            if end - begin < COUNTED_FROM:
                used = order_few(low, begin, middle, end, rows, spare, places, values, counts)
            else:
                used = order_many(low, begin, middle, end, table, values, counts)
            state[TP] = above[b, 0]
            state[FP] = above[b, 1]
            accumulate(
                values, counts, used, b << 16, n_positive, n_negative, steps, centre,
                state, sums, full, thin,
            )  # fmt: skip
            if may_be_best[k]:
                inside[TP] = above[b, 0]
                inside[FP] = above[b, 1]
                find_peaks(
                    values, counts, used, b << 16, n_positive, n_negative,
                    inside, points, best, gain, levels,
                )  # fmt: skip


@cython.cfunc
def largest_of(
    starts: cython.const[cython.longlong][::1], buckets: cython.const[cython.longlong][::1]
) -> cython.Py_ssize_t:
    """Return how many rows the largest bucket has, at least 1."""
    largest: cython.Py_ssize_t = 1
    for k in range(buckets.shape[0]):
        largest = max(largest, starts[2 * buckets[k] + 2] - starts[2 * buckets[k]])
    return largest


@cython.cfunc
@cython.nogil
def sort_wide(
    low: cython.ulonglong[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    spare: cython.ulonglong[::1],
    places: cython.longlong[::1],
) -> cython.void:
    """Sort a float64 bucket in place, unless it is in order.

    Of many rows the uppermost bits in which they differ bring most into order: two digits of 11
    bits.  Rows that agree in these are sorted by comparing, unless they are many again.
    """
    row: cython.Py_ssize_t = begin + 1
    first: cython.Py_ssize_t
    differing: cython.ulonglong = 0
    shift: cython.int = 0
    while row < end and low[row - 1] <= low[row]:
        row += 1
    if row >= end:
        return
    if end - begin < WIDE_DIGITS_FROM:
        sort_by_comparing(low, begin, end)
        return
    for row in range(begin, end):
        differing |= low[row] ^ low[begin]
    while differing >> shift >= 1 << 22:
        shift += 1
    sort_by_digits(low, begin, end, spare, shift, 2, 11, places)
    first = begin
    for row in range(begin + 1, end + 1):
        if row == end or low[row] >> shift != low[first] >> shift:
            if row - first >= WIDE_DIGITS_FROM:
                sort_by_digits(low, first, row, spare, 0, (shift + 10) // 11, 11, places)
            elif row - first > 1:
                sort_by_comparing(low, first, row)
            first = row


@cython.cfunc
@cython.nogil
def sort_part(
    low: cython.ulonglong[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    spare: cython.ulonglong[::1],
    places: cython.longlong[::1],
) -> cython.void:
    """Sort a part of a bucket in place: by one digit, then by insertion where no digit has many."""
    n: cython.Py_ssize_t = end - begin
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    bits: cython.int = 5
    shift: cython.int = 0
    differing: cython.ulonglong = 0
    value: cython.ulonglong
    mask: cython.ulonglong
    before: cython.longlong = 0
    here: cython.longlong
    most: cython.longlong = 0
    if n <= INSERTION_BELOW:
        sort_by_comparing(low, begin, end)
        return
    for row in range(begin, end):
        differing |= low[row] ^ low[begin]
    while bits < 11 and (1 << bits) < 2 * n:
        bits += 1
    while differing >> shift >= 1 << bits:
        shift += 1
    mask = (1 << bits) - 1
    for at in range(1 << bits):
        places[at] = 0
    for row in range(begin, end):
        places[(low[row] >> shift) & mask] += 1
    for at in range(1 << bits):
        here = places[at]
        places[at] = before
        before += here
        most = max(most, here)
    if most > INSERTION_BELOW:
        sort_wide(low, begin, end, spare, places)
        return
    for row in range(begin, end):
        at = (low[row] >> shift) & mask
        spare[places[at]] = low[row]
        places[at] += 1
    for i in range(n):
        value = spare[i]
        j = begin + i
        while j > begin and low[j - 1] > value:
            low[j] = low[j - 1]
            j -= 1
        low[j] = value


def sort_parts(low: cython.ulonglong[::1], ends: cython.const[cython.longlong][::1]):
    """Sort rows that stand part by part, each of which ends at its place."""
    largest: cython.Py_ssize_t = 1
    begin: cython.Py_ssize_t = 0
    for part in range(ends.shape[0]):
        largest = max(largest, ends[part] - begin)
        begin = ends[part]
    spare: cython.ulonglong[::1] = np.empty(largest, np.uint64)
    places: cython.longlong[::1] = np.empty(2048, np.int64)
    begin = 0
    with cython.nogil:
        for part in range(ends.shape[0]):
            if ends[part] - begin > 1:
                sort_part(low, begin, ends[part], spare, places)
            begin = ends[part]


def sweep_wide(
    low: cython.ulonglong[::1],
    starts: cython.const[cython.longlong][::1],
    above: cython.const[cython.longlong][:, ::1],
    buckets: cython.const[cython.longlong][::1],
    n_positive: cython.longlong,
    n_negative: cython.longlong,
    steps: cython.longlong,
    centre: cython.double,
    state: cython.longlong[::1],
    sums: cython.double[::1],
    full: cython.ulonglong[:, ::1],
    thin: cython.ulonglong[:, ::1],
    may_be_best: cython.const[cython.uchar][::1],
    points: cython.ulonglong[:, ::1],
    best: cython.double[::1],
    gain: cython.longlong[::1],
    levels: cython.double[::1],
):
    """Sort and accumulate float64 buckets; look for the best points in some of them.

    They are left sorted, in place.
    """
    spare: cython.ulonglong[::1] = np.empty(largest_of(starts, buckets), np.uint64)
    places: cython.longlong[::1] = np.empty(2048, np.int64)
    inside: cython.longlong[::1] = np.zeros(2, np.int64)
    values: cython.ulonglong[::1] = np.empty(1 << 15, np.uint64)
    counts: cython.longlong[::1] = np.empty(1 << 15, np.int64)
    b: cython.ulonglong
    used: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    with cython.nogil:
        for k in range(buckets.shape[0]):
            b = cython.cast(cython.ulonglong, buckets[k])
            begin, end = starts[2 * b], starts[2 * b + 2]
            sort_wide(low, begin, end, spare, places)
            state[TP] = inside[TP] = above[b, 0]
            state[FP] = inside[FP] = above[b, 1]
            while end > begin:
                used, end = next_block(low, begin, end, values, counts)
                accumulate(
                    values, counts, used, b << 48, n_positive, n_negative, steps, centre,
                    state, sums, full, thin,
                )  # fmt: skip
                if may_be_best[k]:
                    find_peaks(
                        values, counts, used, b << 48, n_positive, n_negative,
                        inside, points, best, gain, levels,
                    )  # fmt: skip
