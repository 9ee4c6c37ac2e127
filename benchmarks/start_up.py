"""How long one waits before anything happens: whole processes, best of several."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TITLE = "Start-up: time of a whole process"
COLUMNS = ("process", "best", "over bare Python", "goal", "met", "times NumPy", "goal of that")
ROWS = 1000
MAX_TIMES_NUMPY = 4.0


# As for users: compiled files are kept, whatever the shell that runs the benchmark says.
KEPT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def rows(quick: bool = False) -> Iterator[tuple[str, ...]]:  # noqa: FBT001, FBT002
    repetitions = 3 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        path = _predictions(Path(folder))
        commands = {
            "python -c pass": ([sys.executable, "-c", "pass"], None, None),
            "import numpy": ([sys.executable, "-c", "import numpy"], None, None),
            "import truerisk": ([sys.executable, "-c", "import truerisk"], None, 0.06),
            "truerisk --help": (_truerisk("--help"), 0.2, None),
            f"truerisk score, {ROWS:,} rows": (_truerisk("score", path), 0.5, None),
            f"truerisk score --json, {ROWS:,} rows": (
                _truerisk("score", path, "--json"),
                0.5,
                None,
            ),
        }
        environment = KEPT | {"PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
        for command, _, _ in commands.values():
            _seconds(command, environment)
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(repetitions):
            for name, (command, _, _) in commands.items():
                best[name] = min(best[name], _seconds(command, environment))
    bare = best["python -c pass"]
    for name, (_, whole, over) in commands.items():
        spent = best[name]
        limit = f"≤ {whole:g} s" if whole else f"≤ {over:g} s over bare" if over else ""
        met = spent <= whole if whole else over is None or spent - bare <= over
        yield (
            name,
            f"{spent:.3f} s",
            f"{spent - bare:.3f} s",
            limit,
            ("yes" if met else "NO") if limit else "",
            f"{spent / best['import numpy']:.1f}",
            f"≤ {MAX_TIMES_NUMPY:g}" if " score" in name else "",
        )


def _truerisk(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("truerisk")), *arguments]


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603
    return time.perf_counter() - began


def _predictions(folder: Path) -> str:
    source = random.Random(1)  # noqa: S311  (an example, no secret)
    path = folder / "predictions.csv"
    lines = ["y_true,y_pred,score"]
    for _ in range(ROWS):
        truth, noise = source.random() < 0.3, source.random()
        score = 0.6 * truth + 0.4 * noise + 0.2 * source.random()
        lines.append(f"{int(truth)},{int(score > 0.5)},{score:.6f}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


if __name__ == "__main__":
    for row in (COLUMNS, *rows()):
        print("  ".join(cell.ljust(34) for cell in row))
