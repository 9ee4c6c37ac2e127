import base64
import hashlib
import re

from truerisk.reporting.rendering import rendered

DATA = {
    "title": "<script>alert(1)</script>",
    "subtitle": "",
    "verdict": [],
    "headlines": [],
    "method": "",
    "held_out": False,
    "level": "95 %",
    "pictures": [],
    "tables": [],
    "notes": [],
    "facts": [],
    "strip": 300,
    "version": "0",
}


def test_texts_are_escaped_and_the_policy_names_the_hash_of_the_style():
    page = rendered("categories.html", ("report.css", "categories.css"), DATA)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"sha256-{digest}" in page.replace("&#39;", "'").replace("&#43;", "+")
    assert ".pairs" in style
    assert ".card" in style
