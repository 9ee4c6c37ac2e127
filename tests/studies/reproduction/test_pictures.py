import pytest

from studies.reproduction import Reproduction
from studies.reproduction.pictures import check_picture, save_pictures
from truerisk.errors import InputError, ResourceError


class Line:
    """A picture of one line."""

    def plot(self, ax):
        ax.plot([0, 1], [0, 1])
        return ax


def _table(*pictures):
    return Reproduction(
        title="T", source="S", columns=("a",), rows=(("1",),), conclusion=(), pictures=pictures
    )


@pytest.mark.parametrize(
    ("name", "begins"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_pictures_are_saved_by_the_ending_of_the_file(tmp_path, name, begins):
    path = save_pictures(_table(Line(), Line(), Line()), tmp_path / name)
    assert path.read_bytes().startswith(begins)


def test_another_ending_is_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(InputError, match=r"`--plot` must end in .png, .svg, .pdf; got 'a.txt'"):
        check_picture(tmp_path / "a.txt")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ResourceError, match="folder of the output must exist"):
        check_picture(tmp_path / "none" / "a.png")


def test_a_table_without_pictures_is_refused(tmp_path):
    with pytest.raises(InputError, match="'T' has none"):
        save_pictures(_table(), tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
