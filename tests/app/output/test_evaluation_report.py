import re
from dataclasses import replace

import numpy as np
import pytest

from annealed.app.output.evaluation_report import N_SHOWN, Judged, add_errors
from annealed.app.output.page import Page
from annealed.datasets.photos.photo_set import with_sizes
from annealed.datasets.photos.sample_photos import KEYPOINT_NAMES, make_sample_photos
from annealed.models.keypoints.detections import make_detections
from annealed.models.keypoints.evaluation import Criteria, observed
from annealed.models.keypoints.training.targets import keypoint_targets

NAME = "chin"
N_PHOTOS = 15


@pytest.fixture(scope="module")
def photos():
    return with_sizes(make_sample_photos(N_PHOTOS, shape=(200, 220), max_faces=1)).photos


def judge_by(photos, offset, score=2.0):
    """Detections that are `offset` sizes to the right of each chin."""
    column = KEYPOINT_NAMES.index(NAME)
    seen = []
    for photo in photos:
        x, y = photo.points[0, column]
        found = make_detections([x + offset * photo.sizes[0]], [y], [1.0], [score], NAME)
        seen.append(observed(found, NAME, keypoint_targets(photo, column)))
    return Judged(photos, {NAME: seen}, {NAME: 1.0}, Criteria(), 30.0)


def render(judged):
    page = Page("t", "l")
    add_errors(page, judged)
    return page.render()


def counts(text):
    (row,) = re.findall(r"<tr><td>chin</td>(.*?)</tr>", text)
    return [float(cell) for cell in re.findall(r"<td>(.*?)</td>", row)]


@pytest.mark.parametrize(
    ("offset", "score", "expected"),
    [
        # threshold, visible; missed: off, too low as a hit or off, nothing; false alarms: near, elsewhere
        (0.0, 2.0, [1, 15, 0, 0, 0, 0, 0, 0, 0, 0]),
        (0.07, 2.0, [1, 15, 15, 15, 0, 0, 0, 0, 0, 0]),
        (0.2, 2.0, [1, 15, 15, 15, 0, 0, 0, 15, 15, 0]),
        (0.8, 2.0, [1, 15, 15, 0, 0, 0, 15, 15, 0, 15]),
        (0.0, 0.5, [1, 15, 15, 0, 15, 0, 0, 0, 0, 0]),
        (0.2, 0.5, [1, 15, 15, 0, 0, 15, 0, 0, 0, 0]),
    ],
)
def test_counts_of_each_kind_and_a_sheet_of_the_worst(photos, offset, score, expected):
    text = render(judge_by(photos, offset, score))
    assert counts(text) == expected
    missed, alarms = expected[2], expected[7]
    assert f"chin: worst misses, {min(missed, N_SHOWN)} of {missed}" in text
    assert f"chin: worst false alarms, {min(alarms, N_SHOWN)} of {alarms}" in text
    assert text.count("<figure>") == min(missed, N_SHOWN) + min(alarms, N_SHOWN)


def test_captions(photos):
    text = render(judge_by(photos[:1], 0.2))
    name, size = photos[0].name, photos[0].sizes[0]
    assert f">{name}: 0.20 off, score 2.0; size {size:.0f} px<" in text
    assert f">{name}: score 2.0, 0.20 from a keypoint; size 30 px<" in text
    text = render(judge_by(photos[:1], 0.0, score=0.5))
    assert f">{name}: 0.00 off, score 0.5, below the threshold; size {size:.0f} px<" in text
    assert f">{name}: nothing within 0.5; size {size:.0f} px<" in render(judge_by(photos[:1], 0.8))


def test_a_false_alarm_where_nothing_is_annotated(photos):
    empty = replace(
        photos[0],
        object_names=(),
        points=photos[0].points[:0],
        visible=photos[0].visible[:0],
        sizes=np.empty(0),
        boxes=np.empty((0, 4)),
    )
    found = make_detections([50], [60], [1.0], [3.0], NAME)
    seen = [observed(found, NAME, keypoint_targets(empty, 0))]
    text = render(Judged([empty], {NAME: seen}, {NAME: 1.0}, Criteria(), 30.0))
    assert f">{empty.name}: score 3.0, no keypoint annotated; size 30 px<" in text


def test_each_photo_is_read_once_a_keypoint(photos, monkeypatch):
    read = []
    original = type(photos[0]).read
    monkeypatch.setattr(type(photos[0]), "read", lambda photo: read.append(photo.name) or original(photo))
    render(judge_by(photos[:6], 0.2))
    assert sorted(read) == sorted(photo.name for photo in photos[:6])
