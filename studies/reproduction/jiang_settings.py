"""How tables 2 to 5 of Jiang, Zhang and Cai are repeated, and what the paper leaves open."""

from dataclasses import dataclass
from pathlib import Path

from studies.reproduction.settings import Steps, in_silence
from truerisk.checks import check_choice, check_number, check_whole_number
from truerisk.errors import InputError

LOSSES = ("training", "cross_validated")
ENCODINGS = ("amino_acids", "indicators")
# Where inhibitors bind: the substrate cleft (30, 32, 82, 84) and the flap above it (46 to 54).
SITES = (30, 32, 46, 47, 48, 50, 53, 54, 82, 84)
PROTEASE = 99  # amino acids


@dataclass(frozen=True, kw_only=True)
class JiangSettings:
    """How much is simulated, from which seed, and the parameters that the paper leaves unsaid.

    Parameters
    ----------
    data
        Folder with the data sets of tables 3 and 5.
    datasets
        Simulated data sets a setting; 1,000 in the paper.
    replicates
        Perturbations a data set; 1,000 in the paper.
    losses
        Which losses are perturbed: in training, as printed, or cross-validated.
    sigmas
        Standard deviations of the normals of table 2.
    partitions
        On how many partitions of table 3 the deviation is estimated; on the first, in the paper.
    noises
        Shares of labels that are turned round in table 4.
    cutoff
        The resistance factor above which an isolate of table 5 is resistant.
    sites
        The positions of the protease that table 5 predicts from, besides 90.
    encoding
        What a position is: which amino acids it has, or whether any is not the usual one.
    n_jobs, random_state, resume, progress
        Processes at a time; the seed; a folder to continue from; and what shows how far it is.

    Examples
    --------
    >>> JiangSettings().datasets, JiangSettings(noises=(0.05,)).noises
    (1000, (0.05,))
    """

    data: Path | None = None
    datasets: int = 1000
    replicates: int = 1000
    losses: tuple[str, ...] = LOSSES
    sigmas: tuple[float, ...] = (2.5,)
    partitions: int = 10
    noises: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1)
    cutoff: float = 3.0
    sites: tuple[int, ...] = SITES
    encoding: str = "amino_acids"
    n_jobs: int = 1
    random_state: int = 0
    resume: Path | None = None
    progress: Steps = in_silence

    def __post_init__(self) -> None:
        check_whole_number(self.datasets, "datasets", low=2)
        check_whole_number(self.replicates, "replicates", low=20)
        check_whole_number(self.partitions, "partitions", low=1, high=50)
        check_whole_number(self.random_state, "random_state")
        check_number(self.cutoff, "cutoff", low=0.0)
        check_choice(self.encoding, ENCODINGS, "encoding")
        for name, values in (("losses", self.losses), ("sigma", self.sigmas)):
            if not values:
                raise InputError(f"`{name}` must name at least one; got none.")
        for losses in self.losses:
            check_choice(losses, LOSSES, "losses")
        for sigma in self.sigmas:
            check_number(sigma, "sigma", low=1e-6)
        for noise in self.noises:
            check_number(noise, "noise", low=0.0, high=0.5)
        for site in self.sites:
            check_whole_number(site, "sites", low=1, high=PROTEASE)

    def folder(self, table: str) -> Path:
        """Give the folder of the data sets; refuse to go on without."""
        if self.data is None:
            raise InputError(f"`data` must be the folder with the data sets of {table}; got None.")
        return self.data
