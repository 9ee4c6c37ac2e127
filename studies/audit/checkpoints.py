"""Checkpoints: arrays in one file per cell of an audit; a run that was stopped continues."""

import io
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError, ResourceError

Arrays = dict[str, NDArray[Any]]

SETTINGS = "settings"


def checkpointed(
    folder: Path | None,
    name: str,
    settings: Mapping[str, Any],
    compute: Callable[[], Mapping[str, NDArray[Any]]],
) -> Arrays:
    """Read arrays from their file, or compute them and write it.

    A file is written whole or not at all; one that was made with other settings, or is broken, is
    refused.  A folder that cannot be used is refused before anything is computed.

    Examples
    --------
    >>> checkpointed(None, "a", {}, lambda: {"x": np.array([1, 2])})
    {'x': array([1, 2])}
    """
    if folder is None:
        return dict(compute())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ResourceError(f"{folder} cannot be made: {problem.strerror}.") from problem
    path = folder / f"{name}.npz"
    if path.exists():
        return _read(path, settings)
    arrays = dict(compute())
    _write(path, settings, arrays)
    return arrays


def _read(path: Path, settings: Mapping[str, Any]) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file) as stored:
            arrays = dict(stored)
            made_with = json.loads(str(arrays.pop(SETTINGS)))
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise InputError(
            f"`resume` must hold whole files of an earlier run; {path.name} cannot be read: "
            f"{problem}. Remove it."
        ) from problem
    if made_with != settings:
        raise InputError(
            f"`resume` must hold a run with the same settings; {path.name} was made with "
            f"{made_with}."
        )
    return arrays


def _write(path: Path, settings: Mapping[str, Any], arrays: Arrays) -> None:
    """Write the file beside its place and move it there."""
    content = io.BytesIO()
    contents = {SETTINGS: np.array(json.dumps(dict(settings))), **arrays}
    np.savez_compressed(content, **contents)  # type: ignore[arg-type]  # no array is its flag
    beside = path.with_name(f".{path.name}-{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            file.write(content.getvalue())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as problem:
        raise ResourceError(f"{path} cannot be written: {problem.strerror}.") from problem
    finally:
        beside.unlink(missing_ok=True)
