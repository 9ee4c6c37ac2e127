import pytest

from studies.reproduction import Settings
from truerisk.errors import InputError


@pytest.mark.parametrize("wrong", [{"splits": 0}, {"splits": 1.5}, {"random_state": -1}])
def test_impossible_settings_are_refused(tmp_path, wrong):
    with pytest.raises(InputError, match=f"`{next(iter(wrong))}` must"):
        Settings(data=tmp_path, **wrong)
