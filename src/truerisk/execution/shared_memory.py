"""What every task needs, written once and mapped by all workers: no worker has a copy.

The object is pickled with its arrays left out (protocol 5, "out of band"), wherever in it they are:
in a dictionary, a sparse matrix, a data frame, a plan.  The arrays go to one file, and workers see
them there, read-only.
"""

import mmap
import pickle  # workers of this very run read what it wrote, from a folder of its user
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from truerisk.errors import ResourceError

IN_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of one's own is made in it)
ROOM_LEFT = 2  # the share of the memory's folder that may be taken is one of this many
ALIGNMENT = 64  # bytes: as NumPy's own arrays or better, so that the same instructions run
KEPT = 1  # objects a worker keeps mapped: the one of the run it is in


@contextmanager
def written_once(content: object) -> Iterator[Path]:
    """Write an object where workers can map it; the folder goes away at the end, whatever the end.

    Should this process be killed, loky's tracker removes the folder.
    """
    import cloudpickle  # noqa: PLC0415  (only several workers need it)
    from joblib.externals.loky.backend import resource_tracker  # noqa: PLC0415

    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(content, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    size = sum(array.nbytes + ALIGNMENT for array in arrays) + len(pickled)
    folder = Path(tempfile.mkdtemp(prefix="truerisk-", dir=_parent(size)))
    resource_tracker.register(str(folder), "folder")
    try:
        try:
            _write(folder, pickled, arrays)
        except OSError as error:
            raise ResourceError(
                f"The data for the workers could not be written to {folder.parent}: "
                f"{error.strerror}. {size:,} bytes are needed there; `n_jobs=1` needs none."
            ) from error
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        resource_tracker.unregister(str(folder), "folder")


def mapped(folder: Path) -> Any:  # noqa: ANN401  (whatever was written)
    """Read in a worker what was written once; the arrays stay in the file."""
    if folder not in _mapped:
        while len(_mapped) >= KEPT:
            _mapped.pop(next(iter(_mapped)))
        _mapped[folder] = _read(folder)
    return _mapped[folder]


_mapped: dict[Path, Any] = {}


def _parent(size: int) -> Path | None:
    """Choose the folder that is memory where there is room, else the system's for such files."""
    if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_LEFT * size:
        return IN_MEMORY
    return None


def _write(folder: Path, pickled: bytes, arrays: list[memoryview]) -> None:
    places: list[tuple[int, int]] = []
    with (folder / "arrays").open("wb") as file:
        for array in arrays:
            file.write(bytes(-file.tell() % ALIGNMENT))
            places.append((file.tell(), array.nbytes))
            file.write(array)
        file.write(b"\0")  # an empty file cannot be mapped
    with (folder / "object").open("wb") as file:
        pickle.dump(places, file)
        file.write(pickled)


def _read(folder: Path) -> Any:  # noqa: ANN401
    with (folder / "arrays").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    with (folder / "object").open("rb") as file:
        places = pickle.load(file)  # noqa: S301  (see the import)
        return pickle.load(  # noqa: S301
            file, buffers=[whole[at : at + length] for at, length in places]
        )
