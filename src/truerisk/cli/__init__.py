"""The command line: parse, one library call, print.

=====  ==========================================================
exit   when
=====  ==========================================================
0      a result
1      a finding: a check that was asked for failed
2      an option cannot be understood
3      an argument or a file cannot mean what it says
4      a partial result: a measure is undefined, or a refit failed
5      disk, memory or a file that changed stood in the way
130    interrupted (143 when terminated, 141 when nobody reads)
=====  ==========================================================

A command's module is imported when the command is run, so that help is quick.
"""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from truerisk.errors import InputError, RefitError, ResourceError

GARBAGE_THRESHOLD = 200_000  # objects made before garbage is looked for; Python's own is 700

# No command multiplies large matrices, and starting threads for it takes a tenth of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FINDING, BAD_INPUT, PARTIAL, MACHINE = 1, 3, 4, 5
INTERRUPTED, NOBODY_READS, TERMINATED = 130, 141, 143

COMMANDS = {
    "score": "Every measure of a file of predictions, with its interval.",
    "compare": "Which of several models is really better, by their predictions?",
    "estimate": "How well a learner will do on examples it has not seen.",
    "curve": "Would more examples help? Learners at growing training sizes.",
    "perturb": "An SVM's error and what a feature adds, by random weights.",
    "rank": "Which classifier is better over many data sets?",
    "threshold": "The best threshold for scores, and what it costs to move it.",
    "reject": "How much must be left undecided for a wanted error.",
    "plan": "How large must a test set be?",
    "split": "Divide examples into folds, and write down which is where.",
    "folds": "What the values of several folds say together.",
    "measures": "The list of measures, with their formulas.",
    "audit": "Checks of this installation.",
    "demo": "All of it on bundled data, ending in one page.",
}


class Commands(click.Group):
    """A group whose commands are imported one at a time, and whose failures have an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the commands in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"truerisk.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run a command; turn what may go wrong into a sentence and an exit code."""
        # Loading libraries makes many objects and no garbage: looking for it takes a tenth of
        # the time of a small job.
        gc.set_threshold(GARBAGE_THRESHOLD)
        try:
            with _terminated_as_interrupted():
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
        except RefitError as error:
            _fail(str(error), PARTIAL)
        except InputError as error:
            _fail(str(error), BAD_INPUT)
        except ResourceError as error:
            _fail(str(error), MACHINE)
        except MemoryError:
            _fail("The memory of this machine does not suffice.", MACHINE)
        except BrokenPipeError:
            _drop_what_cannot_be_printed()
            sys.exit(NOBODY_READS)
        except OSError as error:
            _drop_what_cannot_be_printed()
            where = f": {error.filename}" if error.filename is not None else ""
            _fail(f"{error.strerror or error}{where}", MACHINE)
        except KeyboardInterrupt:
            _fail("Interrupted; nothing was written.", INTERRUPTED)


def _drop_what_cannot_be_printed() -> None:
    """Python flushes at exit; what failed once would fail a second time, with another code."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="truerisk", message="%(prog)s %(version)s")
def main() -> None:
    """Tell how good a classifier is, and how sure one can be of that.

    \b
    truerisk score predictions.csv              measures, intervals, verdict
    truerisk score predictions.csv --html report.html
    truerisk COMMAND --help                     what a command can do
    """


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {_inert(message)}", err=True)
    sys.exit(code)


def _inert(message: str) -> str:
    from truerisk.reporting.escaping import lines_visible  # noqa: PLC0415  (few messages need it)

    return lines_visible(message)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM run every `finally`, as Ctrl-C does; Python by itself would run none."""

    def stop(number: int, frame: object) -> NoReturn:  # noqa: ARG001
        sys.exit(TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread: the program around us decides
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
