"""The screening script's own arithmetic, and its experiment that needs no data."""

import numpy as np


def test_classification_takes_the_class_with_the_smallest_residual():
    from reproduce_screening import classify

    D = np.eye(3)
    y = np.array([0.0, 1.0, 0.2])
    assert classify(D, np.array([7, 8, 9]), y, np.array([0.0, 0.9, 0.1])) == 8


def test_columns_have_norm_one(rng):
    from reproduce_screening import unit_columns

    columns = unit_columns(rng.random((4, 9)) + 0.1)
    assert columns.shape == (9, 4)
    assert columns.flags.f_contiguous
    np.testing.assert_allclose(np.linalg.norm(columns, axis=0), 1)


def test_memory_experiment_stays_below_its_bound(capsys):
    from reproduce_screening import main

    main(["memory", "--features", "3000", "--memory-mb", "4", "--ratio", "0.5"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "file 12 MB, bound 4 MB"
    peaks = [float(line.split("peak ")[1].split(" MB")[0]) for line in lines[1:]]
    assert len(peaks) == 4
    assert max(peaks) <= 6
