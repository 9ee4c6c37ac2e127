"""Run commands in this process, on small files whose counts are known."""

import pytest
from click.testing import CliRunner

from truerisk.cli import main


@pytest.fixture
def run():
    """Run a command and give how it ended."""

    def run(*arguments):
        ended = CliRunner().invoke(main, [str(argument) for argument in arguments])
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return ended

    return run


@pytest.fixture
def predictions(tmp_path):
    """Hold 5 true positives, 1 false negative, 2 false positives and 12 true negatives."""
    rows = ["1,1,0.9"] * 5 + ["1,0,0.4"] + ["0,1,0.6"] * 2 + ["0,0,0.1"] * 12
    path = tmp_path / "predictions.csv"
    path.write_text("\n".join(["y_true,y_pred,score", *rows]) + "\n")
    return path


@pytest.fixture
def one_class(tmp_path):
    """Hold negatives only, none called positive: precision and recall are undefined."""
    path = tmp_path / "one_class.csv"
    path.write_text("y_true,y_pred\n" + "0,0\n" * 9)
    return path
