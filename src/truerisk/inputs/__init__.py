"""What comes in: predictions, tables and corpora, from memory and from files.

Whatever predictions come from, they end as `Predictions`: labels as codes, scores, weights, groups.
`open_predictions` and `open_frame` read files and frames: strict, streaming, in bounded memory.
"""

from truerisk.inputs.files import PredictionFiles, open_frame, open_predictions
from truerisk.inputs.labels import LabelBook, LabelColumn
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.predictions import Predictions
from truerisk.inputs.records.formats import FileFacts
from truerisk.inputs.records.rows import Batch
from truerisk.inputs.roles import ResolvedRoles, Roles

__all__ = [
    "Batch",
    "FileFacts",
    "LabelBook",
    "LabelColumn",
    "PredictionFiles",
    "Predictions",
    "ReadingOptions",
    "ResolvedRoles",
    "Roles",
    "open_frame",
    "open_predictions",
]
