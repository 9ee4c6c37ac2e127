"""`truerisk gate`: the claims of a TOML file, checked; one exit code for a pipeline."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from truerisk.cli import FINDING
from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress


@click.command()
@click.argument("settings", type=opt.FILE, default=Path("pyproject.toml"), metavar="[FILE]")
@out.formats("json", "markdown")
@out.html
@opt.option(
    "--summary",
    "Add a summary in Markdown to this file.",
    out.NamedPath(path_type=Path),
    metavar="FILE",
    envvar="GITHUB_STEP_SUMMARY",
    show_envvar=True,
)
@opt.option("--junit", "Also write JUnit XML.", out.NamedPath(path_type=Path), metavar="FILE")
@out.quiet
def gate(settings: Path, **options: Any) -> None:
    """Check what a model must show before it ships; exit with 1 unless all of it is shown.

    FILE is pyproject.toml, with a table [tool.truerisk.gate], or another TOML file with a table
    [gate]; with [[gate]] it holds several.  A claim is about the end of an interval: recall = ">=
    0.6" is shown when the lower end is at least 0.6.  Paths start at the folder of FILE.

    \b
    [tool.truerisk.gate]
    files = "predictions.csv"
    positive = "spam"
    recall = ">= 0.6"
    error_rate = "<= 0.1"
    not_worse_than = "main.csv"
    region = 0.01

    \b
    truerisk gate
    truerisk gate gates/nightly.toml --junit results.xml --summary summary.md
    """
    from truerisk.gates import read_gates
    from truerisk.reporting.render import formats

    gates = read_gates(settings)
    out.check_outputs(options, [settings])
    with Progress("Checking", quiet=options["quiet"]):
        results = [one.run() for one in gates]
    if options["junit"] is not None:
        options["junit"].write_text(formats.junit_xml(results), encoding="utf-8")
    if options["summary"] is not None:
        with options["summary"].open("a", encoding="utf-8") as file:
            file.write(formats.summary_markdown(results))
    if options["html"] is not None:
        from truerisk.reporting.page import report_on

        pages = {result.name: result for result in results}
        report_on(pages, title="Does this model ship?").save(options["html"])
    if not options["quiet"]:
        _print(results, options["form"])
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in formats.annotations(results):
            click.echo(line)
    if not all(result.passed for result in results):
        sys.exit(FINDING)


def _print(results: list[Any], form: str | None) -> None:
    from truerisk.reporting.render import formats

    if form == "json":
        click.echo(formats.json_text({"gates": [result.to_dict() for result in results]}))
    elif form == "markdown":
        click.echo(formats.summary_markdown(results), nl=False)
    else:
        from truerisk.reporting.render.terminal import print_result

        for result in results:
            print_result(result, out.console())
