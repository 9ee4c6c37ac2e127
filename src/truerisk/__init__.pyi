"""The public names.  Each is loaded when it is first used; the runtime reads this file."""

from .errors import InputError as InputError
from .errors import MachineError as MachineError
from .evaluation.arrays import evaluate as evaluate
from .evaluation.files import evaluate_files as evaluate_files
from .evaluation.request import Request as Request
from .evaluation.tables import evaluate_counts as evaluate_counts
from .intervals.binomial import binomial_bounds as binomial_bounds
from .intervals.binomial import binomial_interval as binomial_interval
from .intervals.planning import sample_size as sample_size
from .measures.curves import cost as cost
from .measures.curves import precision_recall as precision_recall
from .measures.curves import roc as roc
from .measures.registry import MEASURES as MEASURES
from .measures.rejection import rejection as rejection
from .reading.options import ReadingOptions as ReadingOptions
from .reading.roles import Roles as Roles
from .results import Estimate as Estimate
from .results import Evaluation as Evaluation
from .results import Interval as Interval
from .results import Resampled as Resampled

__version__: str
