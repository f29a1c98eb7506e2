import numpy as np
import pytest

from annealed.app.output.overlay import COLOURS, draw_detections, draw_objects
from annealed.models.keypoints.detections import join_detections, make_detections
from annealed.models.keypoints.objects.model import Objects

NAMES = ("left_eye", "chin")


def test_draw_detections_puts_a_dot_of_the_keypoints_colour_there():
    image = np.zeros((700, 800, 3), dtype=np.uint8)
    found = join_detections(
        [
            make_detections([100], [200], [3.0], [1], "left_eye"),
            make_detections([300], [400], [3.0], [2], "chin"),
        ]
    )
    picture = draw_detections(image, found, NAMES, object_px=28.0)
    assert picture.shape == image.shape
    assert not image.any()
    assert tuple(picture[200, 100]) == COLOURS[0]
    assert tuple(picture[400, 300]) == COLOURS[1]
    # the ring: a tenth of 28 * 3 pixels away
    assert tuple(picture[200, 108]) == COLOURS[0]


@pytest.mark.parametrize(("side", "factor"), [(100, 7), (320, 2), (321, 2), (640, 1)])
def test_draw_detections_enlarges_small_photos(side, factor):
    image = np.full((50, side, 3), 9, dtype=np.uint8)
    found = make_detections([30], [40], [1.0], [1], "chin")
    assert draw_detections(image, found, NAMES, object_px=28.0).shape == image.shape
    picture = draw_detections(image, found, NAMES, object_px=28.0, enlarge=True)
    assert picture.shape == (50 * factor, side * factor, 3)
    centre = int(40.5 * factor), int(30.5 * factor)
    assert tuple(picture[centre]) == COLOURS[1]


def test_draw_detections_at_the_border_and_none():
    image = np.zeros((640, 640, 3), dtype=np.uint8)
    outside = make_detections([-3, 639], [0, 700], [5.0, 5.0], [1, 1], "chin")
    draw_detections(image, outside, NAMES, object_px=28.0)
    draw_detections(image, join_detections([]), NAMES, object_px=28.0)


def test_draw_faces_fills_found_keypoints_and_leaves_predicted_ones_hollow():
    image = np.zeros((700, 800, 3), dtype=np.uint8)
    faces = Objects(
        NAMES,
        boxes=np.array([[90.0, 150, 330, 450], [-50, -50, 900, 900]]),
        poses=np.zeros((2, 3)),
        sizes=np.array([160.0, 400.0]),
        scores=np.array([3.0, 1.0]),
        points=np.array([[[100.0, 200], [300, 400]], [[-20, -20], [900, 900]]]),
        found=np.array([[True, False], [True, True]]),
        keypoint_scores=np.zeros((2, 2)),
        scales=np.ones(2),
        errors=np.full((2, 2), np.nan),
    )
    picture = draw_objects(image, faces)
    assert not image.any()
    assert tuple(picture[200, 100]) == COLOURS[0]
    assert not picture[400, 300].any()
    # the rings: a twentieth of 160 pixels away
    assert tuple(picture[200, 108]) == COLOURS[0]
    assert tuple(picture[400, 308]) == COLOURS[1]
    assert picture[300, 90].all()  # the box's left side
    assert draw_objects(np.zeros((50, 320, 3), np.uint8), faces[:0], enlarge=True).shape == (100, 640, 3)
    assert not draw_objects(np.zeros((50, 320, 3), np.uint8), faces[:0], words=False).any()
