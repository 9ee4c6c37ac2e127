import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs import ReadingOptions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "keep"}, "`missing` must be one of refuse, drop; got 'keep'."),
        ({"decimal": ";"}, "`decimal` must be one of ., ,; got ';'."),
        ({"delimiter": "::"}, "`delimiter` must be one ASCII character"),
        ({"delimiter": '"'}, "`delimiter` must be one ASCII character"),
        ({"max_line_bytes": 0}, "`max_line_bytes` must lie in [1, "),
        ({"block_bytes": 0.5}, "`block_bytes` must be a whole number"),
        ({"multilabel_separator": ""}, "`multilabel_separator` must have at least one character"),
    ],
)
def test_an_option_that_means_nothing_is_refused(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        ReadingOptions(**options)
