from truerisk.reporting.page.parts import Chapter, Section
from truerisk.reporting.page.rendering import SCRIPTS, STYLES, rendered

TEXT = "</style></script><script>alert(1)</script>"


def page_of(*sections, **fields):
    return rendered(TEXT, TEXT, [Chapter(title=TEXT, subtitle=TEXT, sections=sections, **fields)])


def test_texts_are_escaped_wherever_they_stand():
    table = {"columns": [{"heading": TEXT, "numeric": False}], "rows": [[TEXT]], "left_out": 0}
    page = page_of(
        Section("table", TEXT, table, TEXT),
        verdict=(TEXT,),
        next_steps=(TEXT,),
        notes=(TEXT,),
    )
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 10


def test_a_page_brings_only_what_its_sections_need():
    assert "<script>" not in page_of()
    assert "explorer" not in page_of()


def test_styles_and_scripts_are_listed_for_sections_that_exist():
    from importlib.resources import files  # noqa: PLC0415

    templates = files("truerisk.reporting") / "templates"
    for assets in (STYLES, SCRIPTS):
        for kind, names in assets.items():
            assert (templates / "sections" / f"{kind}.html").is_file()
            assert all((templates / name).is_file() for name in names)
