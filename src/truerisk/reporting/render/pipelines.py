"""Gates → what pipelines read: JUnit XML, a summary in Markdown, annotations of GitHub."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from truerisk.gates.gate import GateResult
from truerisk.reporting.escaping import markdown, visible
from truerisk.reporting.render.formats import as_markdown


def junit_xml(results: Sequence[GateResult]) -> str:
    """Write one test suite per gate and one test case per claim."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    checks = [one for result in results for one in result.checks]
    lines.append(f"<testsuites {_counts(one.is_shown for one in checks)}>")
    for result in results:
        counts = _counts(one.is_shown for one in result.checks)
        lines.append(f"<testsuite name={_attribute(result.name)} {counts}>")
        for one in result.checks:
            case = f"<testcase classname={_attribute(result.name)} name={_attribute(one.claim)}"
            text = escape(visible(one.reason, most=len(one.reason)))
            if one.is_shown:
                lines.append(f"{case}><system-out>{text}</system-out></testcase>")
            else:
                lines.append(f'{case}><failure message="not shown">{text}</failure></testcase>')
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"])


def summary_markdown(results: Sequence[GateResult]) -> str:
    """Write the answer and the table of each gate in Markdown."""
    parts = []
    for result in results:
        mark = "✅" if result.passed else "❌"
        failed = [f"- {markdown(str(one))}" for one in result.checks if not one.is_shown]
        answer = f"### {mark} {markdown(result.verdict)}"
        parts.append("\n\n".join([answer, as_markdown(result), "\n".join(failed)]).rstrip())
    return "\n\n".join(parts) + "\n"


def annotations(results: Sequence[GateResult]) -> Iterable[str]:
    """Give one line per claim that is not shown, as a job of GitHub reads them."""
    for result in results:
        for one in result.checks:
            if not one.is_shown:
                title = _command(f"truerisk gate: {one.claim}", ":,")
                yield f"::error title={title}::{_command(one.reason)}"


def _counts(shown: Iterable[bool]) -> str:
    answers = list(shown)
    return f'tests="{len(answers)}" failures="{answers.count(False)}"'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _command(text: str, also: str = "") -> str:
    return "".join(f"%{ord(one):02X}" if one in "%\r\n" + also else one for one in text)
