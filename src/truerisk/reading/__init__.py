"""Files of predictions → columns: strict, streaming, in bounded memory.

`open_predictions` tells the format by content, settles which column plays which role, and gives
`PredictionFiles`; its `batches` are checked columns.  Labels are text throughout.
"""

from truerisk.reading.batch import Batch
from truerisk.reading.formats import FileFacts
from truerisk.reading.labels import LabelBook, LabelColumn
from truerisk.reading.options import ReadingOptions
from truerisk.reading.predictions import PredictionFiles, open_predictions
from truerisk.reading.roles import ResolvedRoles, Roles

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
