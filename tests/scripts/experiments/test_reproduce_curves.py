import importlib

import pytest


@pytest.fixture(name="script")
def module():
    return importlib.import_module("reproduce_curves")


def test_prints_a_row_for_each_method(script, capsys):
    script.main(["diabetes", "--methods", "curves", "--seeds", "1"])
    assert capsys.readouterr().out.splitlines()[-1].startswith("| diabetes | curves | 0.")


def test_calibration_error_is_the_gap_of_frequencies(script):
    import numpy as np

    y, p = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.5, 0.5, 0.9, 0.9])
    assert script.calibration_error(y, p) == pytest.approx(0.05)


def test_unknown_tables_are_refused(script, capsys):
    with pytest.raises(SystemExit):
        script.main(["nowhere"])
    assert "no table 'nowhere'" in capsys.readouterr().err
