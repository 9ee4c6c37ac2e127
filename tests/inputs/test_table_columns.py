"""What a column is taken for, and when nobody can tell."""

import re

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.table_columns import as_number, note_of_words
from truerisk.inputs.tables import read_table


def refused(message):
    return pytest.raises(InputError, match=re.escape(message))


def table_of(cells, labels="ab"):
    """Make a CSV of one feature `v` and alternating labels."""
    return "v,y\n" + "".join(f'"{v}",{labels[at % len(labels)]}\n' for at, v in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", " 3 ", "-4e-3", "+5", ".5", "6."], "number"),
        (["0", "1"], "number"),
        (["1", "", "3"], "number"),
        (["1", "x"], "category"),
        (["nan", "1"], "category"),
        (["1_000", "2"], "category"),
        (["0x1F", "2"], "category"),
        (["True", "False"], "category"),
    ],
    ids=str,
)
def test_a_number_is_a_finite_number_in_every_cell(write, cells, kind):
    assert read_table(write(table_of([*cells, *cells]))).kinds == (kind,)


def test_a_stray_word_among_numbers_is_refused_with_its_place(write):
    cells = [str(number) for number in range(20)]
    cells[6] = cells[12] = "n.a."
    with refused("row 7: 'v' must be a finite number, as in most rows; got 'n.a.' (2 such rows)."):
        read_table(write(table_of(cells)))
    assert np.isnan(read_table(write(table_of(cells)), missing_values=["n.a."]).X).sum() == 2
    assert read_table(write(table_of(cells)), categorical=["v"]).kinds == ("category",)


@pytest.mark.parametrize("cell", ["inf", "1e999", "NaN"])
def test_what_is_not_finite_is_no_number(write, cell):
    cells = [*map(str, range(20)), cell]
    with refused(f"row 21: 'v' must be a finite number, as in most rows; got '{cell}'"):
        read_table(write(table_of(cells)))


def test_decimal_commas_are_told_and_read_when_asked(write):
    cells = [f"{number},5" for number in range(20)]
    with refused("got '0,5'. Use --decimal , if that is the decimal mark."):
        read_table(write(table_of(cells)))
    content = table_of(cells).replace(",a", ";a").replace(",b", ";b").replace("v,y", "v;y")
    table = read_table(write(content), options=ReadingOptions(decimal=","))
    assert table.X[:, 0].tolist() == [number + 0.5 for number in range(20)]


def test_a_point_is_no_mark_where_a_comma_is(write):
    content = table_of(["1.5", "2,5"] * 3).replace(",a", ";a").replace(",b", ";b")
    table = read_table(write(content.replace("v,y", "v;y")), options=ReadingOptions(decimal=","))
    assert table.kinds == ("category",)


def test_words_that_differ_in_most_rows_are_ids_or_texts(write):
    ids = write(table_of([f"K{number}" for number in range(60)]))
    with refused("60 distinct values in 60 rows, such as 'K0', are probably ids. Use --drop v"):
        read_table(ids)
    texts = write(table_of([f"number {number} of all" for number in range(60)]))
    with refused("are probably texts. Use --text v for texts, or --drop v"):
        read_table(texts)
    assert read_table(texts, text="v").kinds == ("text",)
    assert read_table(ids, categorical=["v"]).kinds == ("category",)


def test_fifty_categories_are_not_too_many(write):
    assert read_table(write(table_of([f"K{at}" for at in range(50)]))).kinds == ("category",)
    with refused("51 distinct values"):
        read_table(write(table_of([f"K{at}" for at in range(51)])))
    assert read_table(write(table_of([f"K{at % 51}" for at in range(102)]))).kinds == ("category",)


def test_long_ids_do_not_become_numbers(write):
    cells = [str(12345678901234567000 + number) for number in range(60)]
    with refused("are probably ids"):
        read_table(write(table_of(cells)))


def test_a_column_that_calls_itself_an_id_and_is_one_is_refused(write):
    content = "id,x,y\n" + "".join(f"{7 * at},{at % 3},{'ab'[at % 2]}\n" for at in range(9))
    with refused("'id' must be a feature; its 9 whole numbers are all different"):
        read_table(write(content))
    assert read_table(write(content), drop=["id"]).kinds == ("number",)
    assert read_table(write(content.replace("id,", "height,"))).notes == ()


def test_a_column_that_numbers_the_rows_is_told(write):
    table = read_table(write(table_of(range(5, 25))))
    assert "v: numbers the rows" in table.notes[0]


def test_a_quantity_is_no_target(write):
    labels = [f"{number}.5" for number in range(21)]
    with refused("'y' must hold classes; 21 distinct numbers such as '0.5' are a quantity."):
        read_table(write(table_of([0, 1, 2] * 21, labels)))
    read_table(write(table_of([0, 1, 2] * 20, labels[:20])))
    read_table(write(table_of([0, 1, 2] * 21, [str(number) for number in range(21)])))


def test_a_target_that_differs_in_most_rows_is_an_id(write):
    with refused("'y' must hold classes; 30 distinct labels in 40 rows are too many to learn."):
        read_table(write(table_of(range(0, 80, 2), [f"K{at}" for at in range(30)])))


def test_what_is_read_as_a_number():
    assert as_number(" 1.5 ", ReadingOptions()) == 1.5
    assert as_number("1,5", ReadingOptions(decimal=",")) == 1.5
    assert as_number("nan", ReadingOptions()) is None
    assert as_number("12345678901234567890", ReadingOptions()) is None


def test_words_that_look_missing_are_named():
    assert note_of_words("sex", ("?", "f", "m")) == [
        "sex: '?' is a category of its own; --missing-values '?' says that the value is missing."
    ]
