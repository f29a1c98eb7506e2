import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.keypoints.detections import Detections, join_detections, make_detections


def two(keypoint="chin", scores=(0.5, 0.1)):
    return make_detections([1, 2], [3, 4], [1.5, 2.5], scores, keypoint)


def test_detections_slice_mask_and_indices():
    detections = two()
    assert len(detections) == 2
    assert detections[:1].x.tolist() == [1]
    assert detections[detections.score < 0.3].y.tolist() == [4]
    assert detections[[1, 0]].scale.tolist() == [2.5, 1.5]
    assert detections.object.tolist() == [-1, -1]


def test_join_detections_sorts_by_score_and_keeps_names_whole():
    joined = join_detections([two(), two("left_eye_center", (0.3, 0.5))])
    assert joined.score.tolist() == [0.5, 0.5, 0.3, 0.1]
    assert joined.keypoint.tolist() == ["chin", "left_eye_center", "left_eye_center", "chin"]
    assert joined.keypoint_names == ("chin", "left_eye_center")


def test_join_detections_of_nothing():
    assert len(join_detections([])) == 0


def test_detections_of_different_lengths():
    with pytest.raises(DataError, match="one common length"):
        Detections(*[np.zeros(2)] * 5, np.zeros(3, dtype=np.int64), np.ones(2, dtype=bool))
