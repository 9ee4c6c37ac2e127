"""The tag of a release, from the changelog: its version, its date and its notes.

    python .ci/release.py            print the command that tags the newest version
    python .ci/release.py --check v1.2.0

Refuses a version that is unreleased or is not that of pyproject.toml and CITATION.cff.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADING = re.compile(
    r"^## (?P<version>\d+\.\d+\.\d+) \((?P<date>\d{4}-\d{2}-\d{2}|unreleased)\)$", re.MULTILINE
)


@dataclass(frozen=True)
class Release:
    """The newest section of the changelog."""

    version: str
    date: str
    notes: str

    @property
    def tag(self) -> str:
        """Name the tag."""
        return f"v{self.version}"


def newest(changelog: str) -> Release:
    """Read the first section of a changelog."""
    headings = list(HEADING.finditer(changelog))
    if not headings:
        sys.exit("CHANGELOG.md must have a heading of the form `## 1.2.0 (2026-01-31)`.")
    end = headings[1].start() if len(headings) > 1 else len(changelog)
    first = headings[0]
    return Release(first["version"], first["date"], changelog[first.end() : end].strip())


def versions(root: Path = ROOT) -> dict[str, str]:
    """Give the version by every file that states it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    stated = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    return {
        "pyproject.toml": project["project"]["version"],
        "CITATION.cff": stated.group(1) if stated else "none",
        "CHANGELOG.md": newest((root / "CHANGELOG.md").read_text(encoding="utf-8")).version,
    }


def main(words: list[str]) -> None:
    """Check the release, and print how it is tagged."""
    release = newest((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if len(set(versions().values())) > 1:
        sys.exit(f"The versions must agree; got {versions()}.")
    if release.date == "unreleased":
        sys.exit(f"CHANGELOG.md must give {release.version} a date; it says unreleased.")
    if words[:1] == ["--check"] and words[1:] != [release.tag]:
        sys.exit(f"The tag must be {release.tag}; got {' '.join(words[1:])}.")
    print(f"git tag --annotate {release.tag} --message 'truerisk {release.version}'")
    print(f"git push origin {release.tag}")


if __name__ == "__main__":
    main(sys.argv[1:])
