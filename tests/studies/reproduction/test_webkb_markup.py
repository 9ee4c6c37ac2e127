"""Markup put back into pages: which words a reading adds, and which it does not."""

import json
from collections import Counter

import numpy as np
import pytest

from studies.reproduction.settings import Settings
from studies.reproduction.webkb_markup import READINGS, TAGS, Reading, reproduce


def test_a_page_as_it_is_stays_as_it_is():
    assert Reading("as it is").applied_to("a\nb", "texas", np.random.default_rng(0)) == "a\nb"


def test_every_line_gets_its_tags():
    page = "one\ntwo\nthree"
    read = Reading("tags", 200, hosts=True).applied_to(page, "texas", np.random.default_rng(0))
    assert read.endswith(page)
    counted = Counter(read.split())
    # 600 tags: a link with a host is 11 of 100, so 66 ± 3 · 7.7 of them.
    assert counted["texas"] == pytest.approx(66, abs=24)
    assert counted["li"] == pytest.approx(6 * TAGS["li"], abs=40)
    plain = Reading("tags", 200).applied_to(page, "texas", np.random.default_rng(0))
    assert "texas" not in plain
    assert "HOST" not in plain


def test_every_reading_is_compared_with_the_table(tmp_path):
    rng = np.random.default_rng(1)
    names = ("course", "faculty", "project", "student")
    lines = [
        {
            "id": str(at),
            "labels": [names[at % 4]],
            "university": "texas",
            "relocation": at == 0,
            "text": f"{names[at % 4]}\n" + "\n".join(rng.choice(list("abcdefgh"), 6)),
        }
        for at in range(80)
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "webkb4.jsonl").write_text(text, encoding="utf-8")
    found = reproduce(Settings(data=tmp_path, splits=2))
    assert len(found.rows) == 3 * len(READINGS) == 3 * len(found.conclusion)
    assert found.rows[0][:3] == ("as they are", "hold-out", "2.43 ± 0.34")
    assert "of 12 errors" in found.conclusion[0]
