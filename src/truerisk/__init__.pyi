"""The public names.  Each is loaded when it is first used; the runtime reads this file."""

from .errors import InputError as InputError
from .errors import MachineError as MachineError
from .errors import NotConvergedWarning as NotConvergedWarning
from .errors import UnstableWarning as UnstableWarning
from .estimation.splits import five_by_two as five_by_two
from .estimation.splits import k_fold as k_fold
from .estimation.summary import summarise as summarise
from .evaluation.arrays import evaluate as evaluate
from .evaluation.files import evaluate_files as evaluate_files
from .evaluation.request import Request as Request
from .evaluation.tables import evaluate_counts as evaluate_counts
from .intervals.binomial import binomial_bounds as binomial_bounds
from .intervals.binomial import binomial_interval as binomial_interval
from .intervals.binomial import lower_bound as lower_bound
from .intervals.binomial import upper_bound as upper_bound
from .intervals.delong_tests import delong_paired as delong_paired
from .intervals.delong_tests import delong_unpaired as delong_unpaired
from .intervals.differences import difference_interval as difference_interval
from .intervals.exact_test import binomial_test as binomial_test
from .intervals.planning import sample_size as sample_size
from .measures.curves import cost as cost
from .measures.curves import precision_recall as precision_recall
from .measures.curves import roc as roc
from .measures.document_precision import document_precision as document_precision
from .measures.registry import MEASURES as MEASURES
from .measures.rejection import rejection as rejection
from .measures.thresholds import best_threshold as best_threshold
from .reading.options import ReadingOptions as ReadingOptions
from .reading.roles import Roles as Roles
from .reporting.html import save_report as save_report
from .results import Estimate as Estimate
from .results import Evaluation as Evaluation
from .results import Interval as Interval
from .results import Resampled as Resampled
from .tallies.ranking import Ranking as Ranking
from .tallies.ranking import rank as rank

__version__: str
