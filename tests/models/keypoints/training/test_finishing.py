from annealed.models.keypoints.training.finishing import best_keypoints


def test_thebest_keypoints_are_scanned():
    assert best_keypoints([0.7, 0.1, 0.5, 0.6, 0.2, 0.6]) == (0, 2, 3, 5)
    assert best_keypoints([0.3, 0.2, 0.1]) == (0, 1, 2)
    assert best_keypoints([0.0] * 7) == tuple(range(7))  # no held-out photos
