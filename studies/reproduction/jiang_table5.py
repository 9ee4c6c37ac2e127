"""Table 5 of Jiang, Zhang and Cai: what site 90 of the HIV protease adds to ten others.

An isolate is resistant to a drug if its resistance factor is above a cut-off.  The paper names
neither the ten sites nor the cut-offs, and its release of the database is not this one.
"""

import csv
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.reproduction.jiang_printed import SOURCE, printed_rows
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.jiang_trials import Perturbing, percentile_ends, written
from studies.reproduction.reproduced import Reproduction
from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.execution.running import run_each

C = 1.0
FOLDS = 10
SITE = 90
FILE = "hiv_pi2006_raw.csv.gz"
USUAL, UNKNOWN = "-", "."  # the amino acid of the consensus; none was read
PAPER = "The paper finds it so for IDV and RTV."
RELEASE = "The data are another release: the numbers of isolates and the resistant shares differ."
GROUPED = (
    "Isolates of one patient are alike; grouped by patient, they are in one fold and have one "
    "weight."
)
HELD = (
    "The percentile interval, as printed, need not hold the difference it is for; ours is then "
    "stretched to it."
)
COLUMNS = (
    *("drug", "n paper", "n", "patients", "resistant paper", "resistant ours", "losses", "grouped"),
    *(
        f"{model} 90 {what}{whose}"
        for model in ("without", "with")
        for what in ("", "interval ")
        for whose in ("paper", "ours")
    ),
    *("difference", "difference interval paper", "difference interval ours", "finding"),
)


@dataclass(frozen=True)
class Isolates:
    """The isolates whose resistance to one drug was measured."""

    factor: Array
    patient: NDArray[np.intp]
    letters: tuple[tuple[str, ...], ...]  # the amino acids of each isolate, from site 1 on


def read_isolates(folder: Path, drug: str) -> Isolates:
    """Read the isolates of a drug; a mixture of amino acids is written with all their letters."""
    for path in (folder / FILE, folder / "tabular" / FILE):
        if path.is_file():
            break
    else:
        raise InputError(f"`data` must hold {FILE}; got {folder}.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        records = [record for record in csv.DictReader(file) if record[drug]]
    names = sorted({record["PseudoName"] for record in records})
    number = {name: at for at, name in enumerate(names)}
    sites = [f"P{site}" for site in range(1, 100)]
    return Isolates(
        np.array([float(record[drug]) for record in records]),
        np.array([number[record["PseudoName"]] for record in records]),
        tuple(tuple(record[site] for site in sites) for record in records),
    )


def encoded(letters: Sequence[Sequence[str]], sites: Sequence[int], encoding: str) -> Array:
    """Make features of sites: one for each amino acid seen there, or one for any mutation.

    A mixture has all its amino acids; what was not read is taken for the usual one.

    Examples
    --------
    >>> isolates = [["-", "MV"], ["I", "-"], [".", "M"]]
    >>> encoded(isolates, [1, 2], "indicators").astype(int).tolist()
    [[0, 1], [1, 0], [0, 1]]
    >>> encoded(isolates, [1, 2], "amino_acids").astype(int).tolist()  # I; M, V
    [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    """
    columns = []
    for site in sites:
        cells = [row[site - 1] for row in letters]
        cells = ["" if cell in {USUAL, UNKNOWN} else cell for cell in cells]
        if encoding == "indicators":
            columns.append([float(bool(cell)) for cell in cells])
        else:
            seen = sorted(set("".join(cells)))
            columns += [[float(letter in cell) for cell in cells] for letter in seen]
    return np.array(columns).T.reshape(len(letters), -1)


def one_drug(shared: Mapping[str, Any], item: tuple[int, bool]) -> dict[str, Array]:
    """Compare the SVMs without and with site 90 on one drug, groups kept together or not."""
    at, grouped = item
    y, groups = shared[f"y{at}"], shared[f"groups{at}"]
    without, beside = shared[f"without{at}"], shared[f"with{at}"]
    rng = np.random.default_rng([shared["seed"], 5, at])
    design = Perturbing.of(
        y,
        rng,
        folds=FOLDS,
        replicates=shared["replicates"],
        groups=groups if grouped else None,
    )
    errors = [design.error(X, C) for X in (without, beside)]
    outcomes = {"errors": np.array(errors)}
    for losses in shared["losses"]:
        spreads = [design.spread(X, losses, C) for X in (without, beside)]
        values = [*errors, errors[1] - errors[0]]
        moved = [*spreads, spreads[1] - spreads[0]]
        outcomes[losses] = np.array(
            [
                held(value, percentile_ends(value, one))
                for value, one in zip(values, moved, strict=True)
            ]
        )
    return outcomes


def held(value: float, ends: tuple[float, float]) -> tuple[float, float]:
    """Stretch an interval to the value, if it does not hold it.

    Examples
    --------
    >>> held(0.1, (0.12, 0.3)), held(0.2, (0.12, 0.3))
    ((0.1, 0.3), (0.12, 0.3))
    """
    return min(value, ends[0]), max(value, ends[1])


def reproduce(settings: JiangSettings) -> Reproduction:
    """Repeat the comparisons, the paper's figures beside ours."""
    lines = printed_rows(5)
    folder = settings.folder("table 5")
    isolates = [read_isolates(folder, line["drug"]) for line in lines]
    shared: dict[str, Any] = {
        "seed": settings.random_state,
        "replicates": settings.replicates,
        "losses": settings.losses,
    }
    for at, one in enumerate(isolates):
        shared[f"y{at}"] = (one.factor > settings.cutoff).astype(np.intp)
        shared[f"groups{at}"] = one.patient
        shared[f"without{at}"] = encoded(one.letters, settings.sites, settings.encoding)
        shared[f"with{at}"] = encoded(one.letters, (*settings.sites, SITE), settings.encoding)
    items = [(at, grouped) for at in range(len(lines)) for grouped in (False, True)]
    stream = run_each(one_drug, shared, items, n_jobs=settings.n_jobs)
    outcomes = list(settings.progress(stream, len(items)))
    rows = []
    for (at, grouped), ours in zip(items, outcomes, strict=True):
        share = float(shared[f"y{at}"].mean())
        facts = (str(len(isolates[at].factor)), str(int(isolates[at].patient.max()) + 1))
        rows += [
            _cells(lines[at], facts, share, ours, (losses, grouped)) for losses in settings.losses
        ]
    return Reproduction(
        title="Table 5: what site 90 of the protease adds to the prediction of resistance",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(rows),
        conclusion=_conclusion(rows, settings),
    )


def finding(ends: Sequence[float]) -> str:
    """Say what an interval of the difference, with − without, tells.

    Examples
    --------
    >>> finding((-0.06, -0.01)), finding((-0.02, 0.01)), finding((0.01, 0.02))
    ('better', 'no evidence', 'worse')
    """
    return "better" if ends[1] < 0 else "worse" if ends[0] > 0 else "no evidence"


def _cells(
    line: Mapping[str, str],
    facts: tuple[str, str],
    share: float,
    ours: Mapping[str, NDArray[Any]],
    form: tuple[str, bool],
) -> tuple[str, ...]:
    losses, grouped = form
    ends = [tuple(pair) for pair in ours[losses].tolist()]

    def cells_of_model(name: str, at: int) -> tuple[str, ...]:
        paper = f"[{line[f'{name}_low']}, {line[f'{name}_high']}]"
        return line[f"{name}_error"], f"{ours['errors'][at]:.3f}", paper, written(ends[at])

    difference = float(ours["errors"][1] - ours["errors"][0])
    return (
        *(line["drug"], line["n"], *facts, line["resistant"], f"{share:.3f}"),
        *(losses, "by patient" if grouped else "no"),
        *cells_of_model("without", 0),
        *cells_of_model("with", 1),
        f"{difference:+.3f}",
        f"[{line['difference_low']}, {line['difference_high']}]",
        *(written(ends[2]), finding(ends[2])),
    )


def _conclusion(rows: Sequence[tuple[str, ...]], settings: JiangSettings) -> tuple[str, ...]:
    said = []
    for losses in settings.losses:
        for grouped in ("no", "by patient"):
            mine = [row for row in rows if row[6] == losses and row[7] == grouped]
            better = [row[0] for row in mine if row[-1] == "better"]
            said.append(
                f"{losses.replace('_', '-').capitalize()} losses, grouped {grouped}: site 90 makes "
                f"the prediction better for {', '.join(better) or 'no drug'}."
            )
    unsaid = (
        f"Not said in the paper: the ten sites (here {', '.join(map(str, settings.sites))}), the "
        f"cut-offs (here a factor above {settings.cutoff:g} for every drug), how a site is coded "
        f"(here {settings.encoding.replace('_', ' ')}), C (here {C:g}), the folds (here {FOLDS})."
    )
    drawn = f"{settings.replicates} perturbations, seed {settings.random_state}."
    return (*said, PAPER, unsaid, HELD, RELEASE, GROUPED, drawn)
