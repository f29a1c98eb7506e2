"""The page of `check-annotations`: what was found, with pictures of the worst."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from ...datasets.photos.annotation_checks import KINDS, Finding
from ...datasets.photos.photo_set import Photo, PhotoSet
from ...features.errors import DataError
from .overlay import COLOURS, write_text
from .page import Page

MOST_PICTURES = 6
"""Of a kind."""

MOST_LINES = 200
"""Of a kind."""

_SIDE_PX = 420
_ROOM = 0.6  # of the longer side of what is shown, around it
_LEAST_PX = 60


def findings_page(data: Path, photos: PhotoSet, found: Sequence[Finding]) -> str:
    """Return the page.

    Parameters
    ----------
    data : Path
        For the title.
    photos : PhotoSet
    found : sequence of Finding
    """
    lead = f"{len(photos)} photos, {photos.n_objects} objects, {len(photos.keypoint_names)} keypoints."
    page = Page(f"Labels of {data.name or data}", lead if found else f"{lead} Nothing was found.")
    by_name = {photo.name: photo for photo in photos}
    for kind, words in KINDS.items():
        of_kind = [finding for finding in found if finding.kind == kind]
        if not of_kind:
            continue
        page.heading(f"{len(of_kind)} {words}")
        page.pictures(_pictures(of_kind, by_name, photos.keypoint_names))
        page.table(["photo", ""], [[finding.photo, finding.message] for finding in of_kind[:MOST_LINES]])
        if len(of_kind) > MOST_LINES:
            page.text(f"... and {len(of_kind) - MOST_LINES} more")
    return page.render()


def _pictures(
    found: Sequence[Finding], by_name: dict[str, Photo], names: tuple[str, ...]
) -> list[tuple[np.ndarray, str]]:
    pictures: list[tuple[np.ndarray, str]] = []
    for finding in found:
        if len(pictures) == MOST_PICTURES:
            break
        if finding.photo not in by_name:
            continue
        try:
            image = by_name[finding.photo].read()
        except DataError:
            continue
        drawn = draw_finding(image, by_name[finding.photo], finding, names)
        pictures.append((drawn, f"{finding.photo}: {finding.message}"))
    return pictures


def draw_finding(image: np.ndarray, photo: Photo, finding: Finding, names: tuple[str, ...]) -> np.ndarray:
    """Return the part of a photo with an object, its labels drawn in; those that it is about with names.

    Points beyond the photo are shown on grey.
    """
    objects = range(len(photo.points)) if finding.object is None else [finding.object]
    x0, y0, side = _part(image, photo, list(objects))
    scale = _SIDE_PX / side
    canvas = np.full((_SIDE_PX, _SIDE_PX, 3), 128, dtype=np.uint8)
    matrix = np.array([[scale, 0, -x0 * scale], [0, scale, -y0 * scale]])
    cv2.warpAffine(image, matrix, (_SIDE_PX, _SIDE_PX), canvas, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
    for n in objects:
        if np.isfinite(photo.boxes[n]).all():
            corners = np.rint((photo.boxes[n].reshape(2, 2) - [x0, y0]) * scale).astype(int).tolist()
            cv2.rectangle(canvas, corners[0], corners[1], (255, 255, 255), 1, cv2.LINE_AA)
        for k in np.flatnonzero(np.isfinite(photo.points[n]).all(axis=1)).tolist():
            place = np.rint((photo.points[n, k] - [x0, y0]) * scale).astype(int).tolist()
            about = names[k] in finding.keypoints
            colour = COLOURS[k % len(COLOURS)]
            cv2.circle(canvas, place, 7 if about else 4, (0, 0, 0), 3, cv2.LINE_AA)
            cv2.circle(canvas, place, 7 if about else 4, colour, 2, cv2.LINE_AA)
            if about:
                write_text(canvas, names[k], (place[0] + 10, place[1] + 4), colour, 0.5)
    return canvas


def _part(image: np.ndarray, photo: Photo, objects: list[int]) -> tuple[float, float, float]:
    """x, y and side of the square that is shown: around the objects, or the whole photo."""
    height, width = image.shape[:2]
    points = photo.points[objects].reshape(-1, 2)
    boxes = photo.boxes[objects].reshape(-1, 2)
    places = np.concatenate([points, boxes])
    places = places[np.isfinite(places).all(axis=1)]
    # what is absurdly far is not shown: its object is
    places = places[(np.abs(places) < 3 * max(height, width)).all(axis=1)]
    if not len(places):
        return -0.5, -0.5, float(max(height, width))
    low, high = places.min(axis=0), places.max(axis=0)
    side = max(float((high - low).max()) * (1 + _ROOM), _LEAST_PX)
    middle = (low + high) / 2
    return float(middle[0] - side / 2), float(middle[1] - side / 2), side
