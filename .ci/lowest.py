"""Print the lowest versions that pyproject.toml allows, one pin per dependency: `name==version`."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?P<extras>\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lowest(project: dict[str, dict[str, object]]) -> list[str]:
    """Turn every lower bound of the package and its extras into a pin."""
    table = project["project"]
    requirements = list(table["dependencies"])
    for extra in table.get("optional-dependencies", {}).values():
        requirements += extra
    pins = []
    for requirement in requirements:
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            sys.exit(f"{requirement!r} in pyproject.toml has no lower bound of the form name>=1.2.")
        pins.append(f"{bound['name']}{bound['extras'] or ''}=={bound['version']}")
    return pins


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(PROJECT.read_text(encoding="utf-8")))))
