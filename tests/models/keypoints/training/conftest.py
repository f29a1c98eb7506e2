import numpy as np
import pytest

from annealed.models.keypoints.evaluation import PrecisionRecall


@pytest.fixture
def make_curve():
    """Return a function that makes the curve of ten keypoints in four photos."""

    def make(threshold, recall, precision):
        columns = (np.array(column, dtype=float) for column in (threshold, recall, precision))
        return PrecisionRecall(*columns, np.zeros(len(recall)), n_keypoints=10, n_photos=4)

    return make
