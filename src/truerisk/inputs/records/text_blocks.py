"""The text of a file: hashed, expanded, decoded, and cut into blocks of whole records.

A record ends at a line end outside quotes.  Blocks start outside quotes, so the number of quotes
before a line end, odd or even, says whether the line end is inside them: doubled quotes keep it.
"""

import codecs
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truerisk.aliases import Flags, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import MIB, ReadingOptions
from truerisk.inputs.records.places import GZIP_MAGIC, Places, read_failure, refusal
from truerisk.kernels import text as kernel

BOM = codecs.BOM_UTF8
GZIP_READ = MIB // 4
RATIO_FLOOR = MIB  # below this even an honest file of equal rows may expand a thousandfold
HEAD_BYTES = 2**16
QUOTE, NEWLINE, RETURN = 34, 10, 13
LINE_ENDS = b"\r\n"
COMMON_CELL_ENDS = b",;\t|\r\n"


class EndsEarlyError(InputError):
    """A compressed file stops in the middle; the reader of lines adds how far it came."""


@dataclass(frozen=True)
class Block:
    """Whole records of one file, as bytes, and where they stand in it."""

    path: Path
    data: bytes
    first_line: int
    first_row: int
    rows: int
    offset: int
    quoted: bool

    def line_at(self, position: int) -> int:
        """Return the line of the file, from 1, in which a byte of the block lies."""
        return self.first_line + self.data.count(b"\n", 0, position)

    def record_start(self, record: int) -> int:
        """Return where a record of the block, from 0, starts."""
        return 0 if record == 0 else int(self._ends()[record - 1]) + 1

    def line_of(self, record: int) -> int:
        """Return the line of the file in which a record, from 0, starts."""
        return self.line_at(self.record_start(record))

    def text_of(self, record: int) -> str:
        """Return a record as text, without its line end."""
        start = self.record_start(record)
        return self.data[start : int(self._ends()[record])].rstrip(b"\r").decode(errors="replace")

    def without_header(self) -> "Block":
        """Give the block without its first record, which then is row 0."""
        cut = self.record_start(1) if self.rows > 1 else len(self.data)
        return Block(
            self.path,
            self.data[cut:],
            self.line_at(cut),
            self.first_row + 1,
            self.rows - 1,
            self.offset + cut,
            self.quoted,
        )

    def refusal(self, position: int, sentence: str) -> InputError:
        """Make the error that names the line of a byte of the block."""
        return refusal(self.path, sentence, f"line {self.line_at(position)}")

    def refuse(self, record: int, sentence: str) -> InputError:
        """Make the error that names the line of a record, from 0."""
        return self.refusal(self.record_start(record), sentence)

    def _ends(self) -> Indices:
        return record_ends(self.data, quoted=self.quoted)


def positions_of(data: bytes, byte: int) -> Indices:
    """List where a byte occurs."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == byte)


def record_ends(data: bytes, *, quoted: bool) -> Indices:
    """List the line ends outside quotes."""
    ends = positions_of(data, NEWLINE)
    if quoted:
        ends = ends[np.searchsorted(positions_of(data, QUOTE), ends) % 2 == 0]
    return ends


class TextFile:
    """One text file: its UTF-8 bytes in pieces, or in blocks of whole records.

    After the last piece, `sha256` is that of the file as it lies on the disk.
    """

    has_cells = False  # in quotes where they must be, under a header

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.compressed = compression is not None
        self.options = options
        self.sha256: str | None = None

    def pieces(self, size: int) -> Iterator[bytes]:
        """Give the bytes in pieces of about `size`, without a byte order mark."""
        raw = self._raw(GZIP_READ if self.compressed else size)
        plain = self._expanded(raw, size) if self.compressed else raw
        text = plain if self.options.is_utf8 else self._as_utf8(plain)
        start = b""
        for piece in text:
            start += piece
            if len(start) >= len(BOM) or not BOM.startswith(start):
                break
        if start:
            yield start.removeprefix(BOM)
        yield from text

    @contextmanager
    def complete(self) -> Iterator[None]:
        """Refuse a compressed file that stops in the middle while it is read."""
        try:
            yield
        except EndsEarlyError as error:
            raise refusal(self.path, f"must be complete; {error}. Copy the file again.") from None

    def head(self) -> str:
        """Read the first 64 KiB."""
        with self.complete():
            return next(self.pieces(HEAD_BYTES), b"").decode(errors="replace")

    def first_block(self) -> Block:
        """Read and check the start of the file."""
        first = next(self.blocks(HEAD_BYTES), None)
        if first is None:
            raise refusal(self.path, "must hold predictions; the file is empty.")
        self.check(first)
        return first

    def blocks(self, size: int | None = None) -> Iterator[Block]:
        """Cut the text into blocks of about `size` bytes; blank lines at the very end are left out.

        After the last one, the SHA-256 is there.
        """
        carry, quotes = b"", self.has_cells
        line, row, offset = 1, 0 if self.has_cells else 1, 0

        def block(data: bytes) -> Block:
            nonlocal line, row, offset
            quoted = quotes and QUOTE in data
            lines = kernel.count_byte(memoryview(data), NEWLINE)
            rows = len(record_ends(data, quoted=True)) if quoted else lines
            made = Block(self.path, data, line, row, rows, offset, quoted)
            line, row, offset = line + lines, row + rows, offset + len(data)
            return made

        try:
            for piece in self.pieces(size or self.options.block_bytes):
                data = carry + piece
                cut = _last_end(data, quotes=quotes)
                if len(data) - cut > self.options.max_line_bytes:
                    raise _too_long(Block(self.path, data, line, row, 0, offset, quotes), cut)
                carry = data[cut:]
                if cut:
                    yield block(data[:cut])
        except EndsEarlyError as error:
            whole = record_ends(carry, quoted=quotes)
            raise refusal(
                self.path,
                f"must be complete; {error} at row {max(0, row + len(whole) - 1)}. "
                f"Nothing was computed from the part; copy the file again.",
            ) from None
        rest = carry.rstrip(b"\r\n")
        if rest:
            if quotes and rest.count(b'"') % 2:
                raise unclosed(Block(self.path, rest, line, row, 0, offset, quoted=True))
            yield block(rest + b"\n")

    def check(self, block: Block) -> None:
        """Refuse NUL, malformed UTF-8 and lines over the limit, with the place of each."""
        data, max_line = block.data, self.options.max_line_bytes
        nul = data.find(b"\0")
        if nul >= 0:
            raise refusal(
                self.path,
                "must be text; got a NUL byte.",
                f"line {block.line_at(nul)}, byte {block.offset + nul}",
            )
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError as error:
                raise refusal(
                    self.path,
                    f"must be UTF-8; got {shown(data[error.start : error.start + 4])}. "
                    f"Use --encoding, such as latin-1 or cp1252.",
                    f"line {block.line_at(error.start)}, byte {block.offset + error.start}",
                ) from None
        if len(data) > max_line:
            starts = np.append(0, record_ends(data, quoted=block.quoted) + 1)
            lengths = np.diff(starts)
            if lengths.max() > max_line:
                raise _too_long(block, int(starts[int(np.argmax(lengths > max_line))]))

    def places(self, block: Block) -> Places:
        """Give the lines of the rows of a block."""
        return Places(self.path, lambda row: f"line {block.line_of(row)}", block.text_of)

    def _raw(self, size: int) -> Iterator[bytes]:
        digest = hashlib.sha256()
        try:
            with self.path.open("rb") as file:
                while piece := file.read(size):
                    digest.update(piece)
                    yield piece
        except OSError as error:
            raise read_failure(self.path, error) from error
        self.sha256 = digest.hexdigest()

    def _expanded(self, raw: Iterator[bytes], size: int) -> Iterator[bytes]:
        inflate = zlib.decompressobj(31)
        read = written = 0
        for piece in raw:
            read += len(piece)
            waiting = piece
            while waiting:
                if inflate.eof:
                    waiting = waiting.lstrip(b"\0")  # padding of tapes, which gzip allows
                    if not waiting:
                        break
                    inflate = self._next_member(waiting, read - len(waiting))
                try:
                    out = inflate.decompress(waiting, size)
                except zlib.error as error:
                    raise refusal(
                        self.path,
                        f"must be intact; its gzip data are damaged ({error}).",
                        f"near byte {read - len(waiting)}",
                    ) from None
                waiting = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
                written += len(out)
                self._check_expansion(read - len(waiting), written)
                if out:
                    yield out
        # What the last call left unwritten comes out now; the loop above ends when input does.
        while not inflate.eof:
            out = inflate.decompress(b"", size)
            if not out:
                raise EndsEarlyError("the gzip data end early")
            written += len(out)
            self._check_expansion(read, written)
            yield out

    def _next_member(self, waiting: bytes, at: int) -> "zlib._Decompress":
        if not GZIP_MAGIC.startswith(waiting[:2]):
            raise refusal(
                self.path,
                "must end with its gzip data; something else follows them. "
                "Cut it off, or copy the file again.",
                f"byte {at}",
            )
        return zlib.decompressobj(31)

    def _check_expansion(self, read: int, written: int) -> None:
        limits = self.options
        if written > limits.max_expanded_bytes:
            raise refusal(
                self.path,
                f"must expand to at most {limits.max_expanded_bytes} bytes. "
                f"Raise --max-expanded-bytes if this file can be trusted.",
            )
        if written > max(RATIO_FLOOR, limits.max_ratio * read):
            raise refusal(
                self.path,
                f"must expand at most {limits.max_ratio}-fold; {read} bytes became {written}. "
                f"Raise --max-ratio if this file can be trusted.",
            )

    def _as_utf8(self, plain: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.options.encoding)("strict")
        passed = 0
        for piece in plain:
            yield self._decoded(decoder, piece, passed, final=False)
            passed += len(piece)
        yield self._decoded(decoder, b"", passed, final=True)

    def _decoded(
        self, decoder: codecs.IncrementalDecoder, piece: bytes, passed: int, *, final: bool
    ) -> bytes:
        held = len(decoder.getstate()[0])
        try:
            return decoder.decode(piece, final).encode()
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            raise refusal(
                self.path,
                f"must be {self.options.encoding}; these bytes are not "
                f"({getattr(error, 'reason', error)}). Use --encoding.",
                f"byte {passed - held + start}",
            ) from None


def _last_end(data: bytes, *, quotes: bool) -> int:
    """Find where the last whole record that is not blank ends."""
    if quotes and QUOTE in data:
        ends = record_ends(data, quoted=True)
        end = int(ends[-1]) + 1 if len(ends) else 0
    else:
        end = data.rfind(b"\n") + 1
    body = end
    while body and data[body - 1] in LINE_ENDS:
        body -= 1
    return data.find(b"\n", body) + 1 if body else 0


def unclosed(rest: Block) -> InputError:
    """Make the error of a quote that opens and never closes.

    The last quote is the one left over; but when an earlier one closes in the middle of a cell, it
    was that one which was left open.
    """
    opening, _, wrong = _wrong_pairs(rest.data, COMMON_CELL_ENDS)
    opened = int(opening[wrong[0]] if len(wrong) else opening[-1])
    return rest.refusal(opened, "must close every quote; one opens here and is never closed.")


def _too_long(block: Block, start: int) -> InputError:
    if block.quoted and block.data.count(b'"', start) % 2:
        return unclosed(block)
    if b"\r" in block.data and b"\n" not in block.data:
        return block.refusal(0, "must end lines in LF or CR LF; these end in CR alone.")
    return block.refusal(
        start, "must have shorter lines; this one exceeds the limit. Raise --max-line-bytes."
    )


def check_line_ends(block: Block) -> None:
    """Refuse a CR that ends no line."""
    data = block.data
    if RETURN in data:
        returns = positions_of(data, RETURN)
        lone = returns[np.frombuffer(data, np.uint8)[returns + 1] != NEWLINE]
        for position in lone[_outside(block, lone)][:1].tolist():
            raise block.refusal(position, "must end lines in LF or CR LF; got a CR alone.")


def check_no_blank(block: Block) -> None:
    """Refuse a blank line among the rows."""
    starts = np.append(0, record_ends(block.data, quoted=block.quoted)[:-1] + 1)
    first = np.frombuffer(block.data, np.uint8)[starts]
    for position in starts[(first == NEWLINE) | (first == RETURN)][:1].tolist():
        raise block.refusal(position, "must have a row in every line; this one is blank.")


def check_quotes(block: Block, delimiter: str) -> None:
    """Refuse a quote inside an unquoted cell, and text after a closing quote.

    Readers differ on what such cells mean; and a quote that is never closed, followed by another
    quoted cell, is seen in no other way.
    """
    if not block.quoted:
        return
    ends = bytes([ord(delimiter), NEWLINE, RETURN])
    opening, closing, wrong = _wrong_pairs(block.data, ends)
    if not len(wrong):
        return
    opened, closed = int(opening[wrong[0]]), int(closing[wrong[0]])
    if opened and block.data[opened - 1] not in ends:
        raise block.refusal(
            opened,
            f"must have quotes around whole cells only; got {_around(block, opened)}. "
            f"Put the cell in quotes and double the ones inside it.",
        )
    raise block.refusal(
        opened,
        f"must close every quote at the end of its cell; the one that opens here closes in "
        f"line {block.line_at(closed)} before {_around(block, closed)}.",
    )


def _wrong_pairs(data: bytes, ends: bytes) -> tuple[Indices, Indices, Indices]:
    """List opening and closing quotes, and which pairs do not enclose a whole cell.

    A quote that closes right before one that opens is a doubled quote inside a cell.
    """
    text = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    marks = np.frombuffer(ends, np.uint8)
    quotes = positions_of(data, QUOTE)
    opening, closing = quotes[0::2], quotes[1::2]
    doubled = opening[1:] == closing[: len(opening) - 1] + 1
    starts_cell = np.isin(text[opening], marks)  # `text` starts one byte early: the byte before
    starts_cell[1:] |= doubled
    ends_cell = np.isin(text[closing + 2], marks)
    ends_cell[: len(doubled)] |= doubled
    pairs = len(closing)
    return opening, closing, np.flatnonzero(~(starts_cell[:pairs] & ends_cell))


def _outside(block: Block, positions: Indices) -> Flags:
    if not block.quoted:
        return np.ones(len(positions), bool)
    before = np.searchsorted(positions_of(block.data, QUOTE), positions)
    return np.asarray(before % 2 == 0)


def cells_of_records(block: Block, delimiter: str) -> Indices:
    """Count the cells of each record."""
    ends = record_ends(block.data, quoted=block.quoted)
    marks = positions_of(block.data, ord(delimiter))
    marks = marks[_outside(block, marks)]
    return np.bincount(np.searchsorted(ends, marks), minlength=len(ends)) + 1


def _around(block: Block, position: int) -> str:
    return shown(block.data[max(0, position - 10) : position + 20].decode(errors="replace"))
