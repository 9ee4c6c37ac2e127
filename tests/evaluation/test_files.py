import json

import pytest

import truerisk as tr
from truerisk.errors import InputError


def test_a_list_of_scores_that_names_no_class_is_refused(tmp_path):
    path = tmp_path / "predictions.jsonl"
    rows = [{"truth": "a", "pred": "a", "score": [0.7, 0.3]}] * 2
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="Each of the 2 scores of a row must say which class"):
        tr.evaluate_files([path], request=tr.Request(pos_label="a"))
