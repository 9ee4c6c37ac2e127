import pytest

from studies.reproduction import JiangSettings
from truerisk import InputError


def test_the_defaults_are_the_papers_where_it_says_them():
    settings = JiangSettings()
    assert (settings.datasets, settings.replicates) == (1000, 1000)
    assert len(settings.sites) == 10
    assert 90 not in settings.sites


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": 1}, "`datasets` must lie in"),
        ({"replicates": 5}, "`replicates` must lie in"),
        ({"partitions": 51}, "`partitions` must lie in"),
        ({"sigmas": ()}, "`sigma` must name at least one; got none"),
        ({"sigmas": (0.0,)}, "`sigma` must lie in"),
        ({"noises": (0.7,)}, "`noise` must lie in"),
        ({"losses": ("test",)}, "`losses` must be one of"),
        ({"sites": (100,)}, "`sites` must lie in"),
        ({"cutoff": -1.0}, "`cutoff` must lie in"),
        ({"encoding": "binary"}, "`encoding` must be one of"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        JiangSettings(**options)


def test_a_table_of_data_asks_for_the_folder():
    with pytest.raises(InputError, match="`data` must be the folder with the data sets of table 3"):
        JiangSettings().folder("table 3")
