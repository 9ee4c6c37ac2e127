"""Files of predictions → columns: strict, streaming, in bounded memory.

`open_predictions` tells the format by content, settles which column plays which role, and gives
`PredictionFiles`; its `batches` are checked columns.  Labels are text throughout.
"""

from truerisk.inputs.labels import LabelBook, LabelColumn
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.predictions import PredictionFiles, open_predictions
from truerisk.inputs.records.batch import Batch
from truerisk.inputs.records.formats import FileFacts
from truerisk.inputs.roles import ResolvedRoles, Roles

__all__ = [
    "Batch",
    "FileFacts",
    "LabelBook",
    "LabelColumn",
    "PredictionFiles",
    "ReadingOptions",
    "ResolvedRoles",
    "Roles",
    "open_predictions",
]
