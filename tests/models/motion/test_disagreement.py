"""The error of a segmentation."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.motion import disagreement


def test_disagreement_matches_labels_first():
    assert disagreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])) == 0
    assert disagreement(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])) == 0.25
    assert disagreement(np.array([0, 1, 2]), np.array([0, 0, 0])) == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="same tracks"):
        disagreement(np.array([0]), np.array([0, 1]))
