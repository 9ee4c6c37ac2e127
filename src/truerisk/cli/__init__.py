"""The command line: parse, one library call, print.

A command's module is imported when the command is run, which keeps help quick.
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

GARBAGE_THRESHOLD = 200_000  # objects made before garbage is collected; Python's own is 700

# No command multiplies large matrices, and starting threads for it takes a tenth of a start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FINDING, BAD_INPUT, PARTIAL, FAILED = 1, 3, 4, 5
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143
EXIT_CODES = {
    "0": "a result",
    "1": "a check failed (--fail-under, --fail-over, --fail-unless, gate, audit)",
    "2": "an option or a command is not understood",
    "3": "wrong input: a file or a value cannot be used, or a file is absent",
    "4": "a partial result: a measure is undefined, or a refit failed",
    "5": "no result: disk, memory, a worker, a missing package, or a bug in truerisk",
    "130": "interrupted; 143 terminated, 141 standard output was closed",
}

COMMANDS = {
    "doctor": "What is in a file, and which commands answer which question?",
    "score": "Every measure of a file of predictions, with its interval.",
    "compare": "Which of several models is better, by their predictions?",
    "gate": "Does this model ship? Claims of a TOML file, checked.",
    "estimate": "How well a learner will do on examples it has not seen.",
    "select": "Which C, kernel or words? An SVM's settings, chosen without folds.",
    "curve": "Would more examples help? Learners at growing training sizes.",
    "perturb": "An SVM's error and what a feature adds, by random weights.",
    "rank": "Which classifier is better over many data sets?",
    "threshold": "The best threshold for scores, and the cost of other ones.",
    "reject": "How many examples to leave undecided for a target error.",
    "plan": "How large must a test set be?",
    "bounds": "Every interval and bound of an error rate, side by side.",
    "split": "Divide examples into folds, and write the folds to a file.",
    "folds": "Mean and interval of the values of several folds.",
    "measures": "The list of measures, with their formulas.",
    "audit": "Do the intervals keep their promise, on your own data?",
    "demo": "Everything on bundled data, in one page.",
}
# Commands that share a module; every other one has a module of its own name.
SHARED = {
    "threshold": "thresholds",
    "reject": "thresholds",
    **dict.fromkeys(("plan", "bounds", "folds", "split", "measures"), "calculators"),
}


class Commands(click.Group):
    """A group that imports a command when it is run, and gives every failure an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the commands in the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"truerisk.cli.{SHARED.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        command.short_help = COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Let a file without a command be looked at by `doctor`; name the nearest command."""
        first = args[0]
        if first not in COMMANDS and not first.startswith("-"):
            if "." in first or os.path.exists(first):  # noqa: PTH110  (quick)
                return "doctor", self.get_command(ctx, "doctor"), args
            from truerisk.checks import did_you_mean

            remedy = did_you_mean(first, COMMANDS) or " `truerisk --help` lists all of them."
            raise click.UsageError(f"truerisk has no command {first!r}.{remedy}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing any, and the exit codes."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("Exit codes"):
            formatter.write_dl(list(EXIT_CODES.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn every failure into a sentence and an exit code."""
        # Loading libraries makes many objects and no garbage: collecting it takes a tenth of
        # the time of a small job.
        gc.set_threshold(GARBAGE_THRESHOLD)
        try:
            with _terminated_as_interrupted():
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except RefitError as error:
            _fail(str(error), PARTIAL)
        except InputError as error:
            _fail(str(error), BAD_INPUT)
        except ResourceError as error:
            _fail(str(error), FAILED)
        except MemoryError as error:
            reason = f": {error}" if str(error) else ""
            _fail(f"Not enough memory{reason}. Use fewer --jobs, or fewer rows.", FAILED)
        except BrokenPipeError:
            discard_output()
            sys.exit(BROKEN_PIPE)
        except OSError as error:
            discard_output()
            where = f": {error.filename}" if error.filename is not None else ""
            _fail(f"{error.strerror or error}{where}", FAILED)
        except KeyboardInterrupt:
            _fail("Interrupted; nothing was written.", INTERRUPTED)
        except Exception as error:  # noqa: BLE001  (a bug must not end as a failed check does)
            _report_bug(error, debug=ctx.params.get("debug", False))


def discard_output() -> None:
    """Send further output nowhere, if standard output is closed or full.

    Python flushes at exit: what failed once would fail a second time, with another code.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--debug",
    is_flag=True,
    envvar="TRUERISK_DEBUG",
    show_envvar=True,
    help="Print the traceback of an unexpected error.",
)
@click.version_option(package_name="truerisk", message="%(prog)s %(version)s")
def main(*, debug: bool) -> None:
    """Measure how good a classifier is, with an interval for every number.

    \b
    truerisk predictions.csv                    what is in it, which commands to use
    truerisk score predictions.csv              measures, intervals, verdict
    truerisk score predictions.csv --html report.html
    truerisk compare old.csv new.csv            is the new model better?
    truerisk estimate data.csv --target y       how well will a learner do?
    truerisk COMMAND --help                     options and examples
    """


def _fail(message: str, code: int) -> NoReturn:
    from truerisk.reporting.escaping import lines_visible

    click.echo(f"Error: {lines_visible(message)}", err=True)
    sys.exit(code)


def _report_bug(error: Exception, *, debug: bool) -> NoReturn:
    """Say that this is a bug of ours, and keep what a report of it needs."""
    import platform
    import tempfile
    import traceback
    from importlib.metadata import metadata

    package = metadata("truerisk")
    urls = dict(url.split(", ", 1) for url in package.get_all("Project-URL") or [])
    where = f" at {urls['Issues']}" if "Issues" in urls else ""
    versions = f"truerisk {package['Version']}, Python {platform.python_version()}"
    text = f"{versions}, {platform.platform()}\n{''.join(traceback.format_exception(error))}"
    place = ""
    if not debug:
        try:
            with tempfile.NamedTemporaryFile(
                "w", prefix="truerisk-", suffix=".txt", delete=False, encoding="utf-8"
            ) as file:
                file.write(text)
            place = f" The traceback is in {file.name}; --debug prints it."
        except OSError:
            debug = True
    if debug:
        click.echo(text, err=True)
    request = f"This is a bug in truerisk. Please report it{where}, with the command.{place}"
    _fail(f"{type(error).__name__}: {error}\n{request}", FAILED)


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
