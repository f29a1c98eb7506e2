from annealed.models.keypoints.training.sides import mirror_order


def test_mirror_order_swaps_left_and_right():
    assert mirror_order(["left_eye", "chin", "right_eye"]) == [2, 1, 0]
    assert mirror_order(["wing_tip", "head"]) == [0, 1]
    assert mirror_order(["left_eye", "chin"]) is None
