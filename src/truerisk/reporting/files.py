"""Writing files whole or not at all."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path

UNCHANGED = " Nothing was changed."


def check_destination(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a path that cannot be written, before anything is computed for it.

    `inputs` are the files that are read: an output must not take the place of one of them.
    """
    if any(path.exists() and path.samefile(one) for one in inputs):
        raise InputError(f"The output must not be an input; {shown_path(path)} is read as well.")
    folder = path.parent
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ResourceError(f"The output must be a file; {shown_path(path)} is a device or a pipe.")
    if path.is_dir():
        raise ResourceError(f"The output must be a file; {shown_path(path)} is a folder.")
    if not folder.is_dir():
        raise ResourceError(
            f"The folder of the output must exist; {shown_path(folder)} does not. Make it first."
        )
    put_files({}, folder, path, UNCHANGED)


def write_whole(path: Path, text: str) -> Path:
    """Write a file beside its place, then move it there: a reader sees the old one or the new one.

    A full disk, or being stopped half-way, leaves the old file as it was and no other behind.
    """
    check_destination(path)
    return put_files({path.name: text.encode()}, path.parent, path, UNCHANGED)[0]


def put_files(
    contents: Mapping[str, bytes], folder: Path, output: Path | None = None, ending: str = ""
) -> list[Path]:
    """Write all files beside their places in a folder, then move them there; give their paths.

    A failure names the `output`, the folder if None, before its `ending`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".truerisk-", suffix=".part") as beside:
            for name, content in contents.items():
                with (Path(beside) / name).open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            return [(Path(beside) / name).replace(folder / name) for name in contents]
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        where = shown_path(output or folder)
        raise ResourceError(f"{where} cannot be written: {reason}.{ending}") from error
