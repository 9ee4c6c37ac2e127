"""A progress bar for work that takes longer than two seconds; none where output is no terminal."""

import sys
import threading
import time
from contextlib import AbstractContextManager
from typing import Any, Self

PATIENCE = 2.0  # seconds


class Progress(AbstractContextManager["Progress"]):
    """A bar on standard error that appears after two seconds, whether or not it was called.

    It is called as `progress(rows_done)`, or, where the total is known, as
    `progress(rows_done, bytes_done, bytes_total)`.
    """

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self._title = title
        self._silent = quiet or not sys.stderr.isatty()
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if not self._silent:
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._silent = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(
        self, rows_done: int, bytes_done: int | None = None, bytes_total: int | None = None
    ) -> None:
        """Show how far the work is; cheap as long as there is nothing to show."""
        if self._silent or time.monotonic() - self._began < PATIENCE:
            return
        self._start()
        self._bar.update(
            self._task, completed=bytes_done, total=bytes_total, words=f"{rows_done:,} done"
        )

    def _start(self) -> None:
        """Show the bar, once; the timer or the first call after two seconds does it."""
        with self._lock:
            if self._silent or self._bar is not None:
                return
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[words]}"),
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=None, words="")
            self._bar.start()
