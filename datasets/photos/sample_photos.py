"""Photos with known keypoints that need no download: scenes composed from scikit-image's own pictures.

scikit-image ships a portrait of the astronaut Eileen Collins (NASA, public domain). Her head is cut
out, turned, scaled, mirrored, relit and laid on backgrounds cut from other pictures that ship with
scikit-image. Training and test scenes use different backgrounds and different draws, so a detector
that is trained on the former has not seen a pixel of the latter, though it has seen the person.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from skimage import data
from skimage.draw import polygon2mask
from skimage.transform import SimilarityTransform, warp

from ...features.errors import ParameterError
from .photo_set import Photo, PhotoSet

# Read off the portrait by eye, (x, y); left and right are the viewer's.
ASTRONAUT_POINTS = {
    "left_eye_center": (201.6, 100.2),
    "right_eye_center": (247.6, 103.0),
    "left_nose": (215.2, 129.6),
    "right_nose": (233.6, 131.2),
    "left_mouth_corner": (204.6, 140.2),
    "right_mouth_corner": (243.0, 141.2),
    "chin": (221.6, 177.6),
}
KEYPOINT_NAMES = tuple(ASTRONAUT_POINTS)
_MIRRORED_NAME = {
    name: name.replace("left", "RIGHT").replace("right", "left").lower() for name in KEYPOINT_NAMES
}
_MIRROR = [KEYPOINT_NAMES.index(_MIRRORED_NAME[name]) for name in KEYPOINT_NAMES]

# Outline of head and hair in the portrait, (x, y).
_HEAD_OUTLINE = [
    (230, 15), (206, 21), (190, 33), (168, 48), (155, 64), (153, 84), (157, 102), (169, 118), (173, 128),
    (182, 133), (185, 152), (196, 166), (210, 177), (224, 180), (240, 176), (252, 166), (260, 152),
    (267, 137), (275, 135), (283, 125), (295, 108), (302, 88), (298, 66), (288, 41), (270, 26), (250, 17),
]  # fmt: skip
_HEAD_BOX = (148, 8, 308, 190)  # x0, y0, x1, y1 of the cut-out, ends outside
_FEATHER_PX = 1.5

BACKGROUNDS = {
    "train": ("chelsea", "coffee", "brick", "camera", "coins", "page", "immunohistochemistry", "gravel"),
    "test": ("stereo_motorcycle", "rocket", "grass", "text", "retina"),
}
_EYE_DISTANCE_PX = {"train": (18.0, 62.0), "test": (22.0, 60.0)}
_MAX_TILT_DEG = 15.0


@dataclass(frozen=True)
class _Head:
    """The cut-out head: pixels and mask in [0, 1], and its keypoints in (x, y) of the cut-out."""

    pixels: np.ndarray
    mask: np.ndarray
    points: np.ndarray

    @property
    def eye_distance(self) -> float:
        return float(np.linalg.norm(self.points[0] - self.points[1]))


def make_sample_photos(
    n_photos: int,
    *,
    split: str = "train",
    seed: int = 0,
    shape: tuple[int, int] = (240, 320),
    max_faces: int = 3,
) -> PhotoSet:
    """Compose photos with faces at known places.

    Parameters
    ----------
    n_photos : int
    split : {"train", "test"}
        The two share no background and no draw.
    seed : int
    shape : (int, int)
        Height and width of each photo in pixels.
    max_faces : int
        Each photo has 1 to `max_faces` faces that do not touch, fewer where they do not fit.

    Returns
    -------
    PhotoSet
        Pixels in memory, seven keypoints, boxes of the heads, sizes equal to the eye distance.
    """
    if split not in BACKGROUNDS:
        raise ParameterError(f"split must be one of {', '.join(BACKGROUNDS)}, got {split!r}")
    if n_photos < 1 or max_faces < 1 or min(shape) < 200:
        raise ParameterError(
            f"n_photos and max_faces must be at least 1 and shape at least 200 x 200, got {n_photos}, "
            f"{max_faces} and {shape[0]} x {shape[1]}"
        )
    rng = np.random.default_rng([seed, list(BACKGROUNDS).index(split)])
    head = _cut_out_head()
    backgrounds = {name: _load_background(name) for name in BACKGROUNDS[split]}
    photos = []
    for i in range(n_photos):
        name = BACKGROUNDS[split][i % len(backgrounds)]
        background = _cut_background(backgrounds[name], shape, rng)
        photos.append(
            _compose(f"{split}-{i:03d}-{name}", background, head, _EYE_DISTANCE_PX[split], max_faces, rng)
        )
    return PhotoSet(KEYPOINT_NAMES, tuple(photos))


def load_astronaut() -> Photo:
    """Return scikit-image's portrait of an astronaut, untouched, with the keypoints of its one face."""
    points = np.array([list(ASTRONAUT_POINTS.values())])
    outline = np.array(_HEAD_OUTLINE, dtype=np.float64)
    return Photo(
        name="astronaut",
        source=data.astronaut(),
        object_names=("0",),
        points=points,
        visible=np.ones(points.shape[:2], dtype=bool),
        sizes=np.array([np.linalg.norm(points[0, 0] - points[0, 1])]),
        boxes=np.concatenate([outline.min(axis=0), outline.max(axis=0)])[None],
    )


def _cut_out_head() -> _Head:
    portrait = load_astronaut()
    pixels = portrait.read() / 255.0
    outline = np.array([(y, x) for x, y in _HEAD_OUTLINE], dtype=np.float64)
    mask = gaussian_filter(polygon2mask(pixels.shape[:2], outline).astype(np.float64), _FEATHER_PX)
    x0, y0, x1, y1 = _HEAD_BOX
    inside = slice(y0, y1), slice(x0, x1)
    return _Head(pixels[inside], mask[inside], portrait.points[0] - (x0, y0))


def _load_background(name: str) -> np.ndarray:
    """One of scikit-image's pictures as floats in [0, 1], RGB."""
    picture = getattr(data, name)()
    picture = picture[0] if isinstance(picture, tuple) else picture
    picture = picture[..., None].repeat(3, axis=2) if picture.ndim == 2 else picture[..., :3]
    return picture / 255.0


def _cut_background(picture: np.ndarray, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """A random, possibly mirrored part of a picture, scaled to `shape` (at most by two either way)."""
    room = np.array(picture.shape[:2]) / shape
    reduction = rng.uniform(min(0.6, room.min()), min(2.0, room.min()))
    extent = np.array(shape) * reduction
    top, left = rng.uniform(0, 1, size=2) * np.maximum(np.array(picture.shape[:2]) - extent, 0)
    if rng.random() < 0.5:
        picture = picture[:, ::-1]
    return _resample(picture, reduction, 0.0, (left, top), shape)


def _resample(
    picture: np.ndarray, reduction: float, angle: float, corner: ArrayLike, shape: tuple[int, int]
) -> np.ndarray:
    """Picture seen through a frame of `shape` at `corner` (x, y), turned and reduced, not aliased."""
    smooth = picture
    if reduction > 1:
        sigma = 0.5 * np.sqrt(reduction**2 - 1)
        smooth = gaussian_filter(picture, (sigma, sigma) + (0,) * (picture.ndim - 2))
    frame_to_picture = SimilarityTransform(scale=reduction, rotation=angle, translation=corner)
    return warp(
        smooth, frame_to_picture, output_shape=shape, order=1, mode="reflect" if angle == 0 else "constant"
    )


def _compose(
    name: str,
    canvas: np.ndarray,
    head: _Head,
    eye_distances: tuple[float, float],
    max_faces: int,
    rng: np.random.Generator,
) -> Photo:
    points: list[np.ndarray] = []
    boxes: list[np.ndarray] = []
    # at three quarters of the photo's size a tilted head still fits, so every photo has a face
    largest = 0.75 * min(c / h for c, h in zip(canvas.shape[:2], head.mask.shape, strict=True))
    eye_distances = eye_distances[0], min(eye_distances[1], head.eye_distance * largest)
    for _ in range(int(rng.integers(1, max_faces + 1))):
        pixels, mask, face_points = _pose_head(head, eye_distances, rng)
        place = _free_place(mask.shape, canvas.shape[:2], boxes, rng)
        if place is None:
            continue
        row, col = place
        part = canvas[row : row + mask.shape[0], col : col + mask.shape[1]]
        part += mask[..., None] * (pixels - part)
        points.append(face_points + np.array([col, row]))
        boxes.append(np.array([col, row, col + mask.shape[1] - 1, row + mask.shape[0] - 1], dtype=np.float64))
    canvas = canvas + rng.normal(0, rng.uniform(0.0, 0.015), size=canvas.shape)
    all_points = np.array(points).reshape(-1, len(KEYPOINT_NAMES), 2)
    return Photo(
        name=name,
        source=np.clip(np.rint(canvas * 255), 0, 255).astype(np.uint8),
        object_names=tuple(str(i) for i in range(len(points))),
        points=all_points,
        visible=np.ones(all_points.shape[:2], dtype=bool),
        sizes=np.linalg.norm(all_points[:, 0] - all_points[:, 1], axis=1),
        boxes=np.array(boxes).reshape(-1, 4),
    )


def _pose_head(
    head: _Head, eye_distances: tuple[float, float], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random view of the head: pixels, mask and keypoints (x, y) of its own small frame."""
    low, high = eye_distances
    eye_distance = low * (high / low) ** rng.random()
    reduction = head.eye_distance / eye_distance
    angle = np.deg2rad(rng.uniform(-_MAX_TILT_DEG, _MAX_TILT_DEG))
    size = np.array(head.mask.shape) / reduction
    turned = np.abs([[np.cos(angle), np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ size
    frame = (int(np.ceil(turned[0])), int(np.ceil(turned[1])))
    # the frame's centre looks at the cut-out's centre
    forward = SimilarityTransform(scale=reduction, rotation=angle)
    centre = (np.array(frame[::-1]) - 1) / 2
    corner = (np.array(head.mask.shape[::-1]) - 1) / 2 - forward(centre)[0]
    layers = np.dstack([head.pixels, head.mask])
    view = _resample(layers, reduction, angle, corner, frame)
    points = SimilarityTransform(scale=reduction, rotation=angle, translation=corner).inverse(head.points)
    pixels, mask = view[..., :3], view[..., 3]
    if rng.random() < 0.5:
        pixels, mask = pixels[:, ::-1], mask[:, ::-1]
        points = np.column_stack([frame[1] - 1 - points[:, 0], points[:, 1]])[_MIRROR]
    return _relight(pixels, rng), mask, points


def _relight(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random gamma, gain and colour cast."""
    gain = rng.uniform(0.65, 1.2) * rng.uniform(0.92, 1.08, size=3)
    return np.clip(np.clip(pixels, 0, 1) ** rng.uniform(0.75, 1.35) * gain, 0, 1)


def _free_place(
    size: tuple[int, ...], canvas: tuple[int, ...], taken: list[np.ndarray], rng: np.random.Generator
) -> tuple[int, int] | None:
    """Row and column of the upper left corner of a frame that touches none of the taken boxes, or None."""
    room = canvas[0] - size[0], canvas[1] - size[1]
    if min(room) < 0:
        return None
    for _ in range(20):
        row, col = int(rng.integers(room[0] + 1)), int(rng.integers(room[1] + 1))
        if all(
            col > box[2] or box[0] > col + size[1] - 1 or row > box[3] or box[1] > row + size[0] - 1
            for box in taken
        ):
            return row, col
    return None
