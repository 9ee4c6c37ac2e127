"""The bytes of a text file: hashed, expanded and turned into UTF-8 as they pass by."""

import codecs
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from truerisk.errors import InputError
from truerisk.inputs.options import MIB, ReadingOptions
from truerisk.inputs.records.formats import GZIP_MAGIC
from truerisk.inputs.records.places import machine_failure, refusal

BOM = codecs.BOM_UTF8
GZIP_READ = MIB // 4
RATIO_FLOOR = MIB  # below this even an honest file of equal rows may expand a thousandfold


class EndsEarlyError(InputError):
    """A compressed file stops in the middle; the reader of lines adds how far it came."""


class TextBytes:
    """The UTF-8 bytes of one text file, in pieces.

    After the last piece, `sha256` is that of the file as it lies on the disk.
    """

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

    def _raw(self, size: int) -> Iterator[bytes]:
        digest = hashlib.sha256()
        try:
            with self.path.open("rb") as file:
                while piece := file.read(size):
                    digest.update(piece)
                    yield piece
        except OSError as error:
            raise machine_failure(self.path, error) from error
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
