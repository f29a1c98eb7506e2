"""The canvases that parts are fitted on: whole pictures of a scene, or objects in frames about right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....features.errors import DataError
from ....features.pool import WindowPool
from ....features.threads import in_threads
from ..parts.canvas import Canvas, Frames, draw_canvas, fit_frames
from ..parts.model import PartModel
from ..parts.whole import scene_box
from .part_fitting import FEWEST, PartsConfig, Sample, fit_parts
from .shape_choice import SCENE, ShapeChoice, similarity_frames
from .sides import mirror_order
from .targets import AnnotatedPhoto

FINEST_PX = 512.0
"""Pixels of a scene's longer side at the finest zoom, at most."""

_COARSEST_SCENE_PX = 64.0
_COARSEST_OBJECT_PX = 20.0
_MOST_OBJECT_PX = 112.0

# Standard deviations of the frames that objects are shown in, around the annotated ones.
_PLACE, _LOG_SIZE, _ROLL = 0.06, 0.08, np.deg2rad(10)
_MOST_SAMPLES = 400
_MOST_PHOTOS = 500
_ROOM, _ROOM_PX = 0.1, 8  # around the keypoints: part of the box, and pixels of the coarsest zoom
_N_WRONG = 3


@dataclass(frozen=True)
class _Zooms:
    """How many there are, and how many pixels a unit of the frame has at the finest."""

    n: int
    px: float

    @classmethod
    def of_length(cls, finest: float, coarsest: float) -> "_Zooms":
        n = 1
        while finest / 2 ** (n - 1) > coarsest:
            n += 1
        return cls(n, finest)


def fit_part_model(
    photos: Sequence[AnnotatedPhoto],
    names: Sequence[str],
    columns: Sequence[int],
    choice: ShapeChoice,
    pool: WindowPool,
    config: PartsConfig,
    seed: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> PartModel | None:
    """Fit parts in the frame that a kind of shape has; None for too few photos.

    Parameters
    ----------
    photos : sequence of AnnotatedPhoto
        Those that cannot be read are left out.
    names : sequence of str
    columns : sequence of int
        The keypoints in the annotation.
    choice : ShapeChoice
    pool : WindowPool
    config : PartsConfig
    seed : int
    report : callable
        Told (done, total).
    """
    photos = [photo for photo in photos if len(photo.points)]
    if len(photos) < FEWEST:
        return None
    photos = [photos[i] for i in np.unique(np.linspace(0, len(photos) - 1, _MOST_PHOTOS).astype(int))]
    shapes = list(in_threads(_shape, photos))
    kept = [photo for photo, shape in zip(photos, shapes, strict=True) if shape is not None]
    sizes = [shape for shape in shapes if shape is not None]
    if len(kept) < FEWEST:
        return None
    if choice.kind == SCENE:
        samples, box, px, scene_px = _scene(kept, sizes, columns)
        wrong: list[Sample] = []
    else:
        samples, wrong, box, px = _objects(kept, names, columns, seed)
        scene_px = None
    known = np.isfinite(np.stack([sample.points for sample in samples])).all(axis=2)
    if len(samples) < FEWEST or known.sum(axis=0).min() < config.n_folds:
        return None
    return fit_parts(samples, wrong, box, px, scene_px, pool, config, seed, report)


def _shape(photo: AnnotatedPhoto) -> tuple[int, ...] | None:
    """Height and width of a photo's picture, None if it cannot be read."""
    try:
        return photo.read().shape[:2]
    except DataError:
        return None


def _scene(
    photos: Sequence[AnnotatedPhoto], shapes: Sequence[tuple[int, ...]], columns: Sequence[int]
) -> tuple[list[Sample], np.ndarray, float, float]:
    """Whole pictures."""
    longest = float(np.median([max(shape) for shape in shapes]))
    zooms = _Zooms.of_length(min(longest, FINEST_PX), _COARSEST_SCENE_PX)
    frame = Frames(np.full((1, 2), -0.5), np.array([longest]), np.zeros(1))

    def draw(i: int) -> Sample:
        points = frame.from_photo(photos[i].points[:1, columns])[0]
        box = scene_box(shapes[i], longest)
        return Sample(draw_canvas(photos[i].read(), frame, 0, box, zooms.px, zooms.n), points, i)

    boxes = np.stack([scene_box(shape, longest) for shape in shapes])
    return list(in_threads(draw, range(len(photos)))), boxes.max(axis=0), zooms.px, longest


@dataclass(frozen=True, eq=False)
class _View:
    """A frame in which an object is shown, in a mirror if asked for, and its keypoints there.

    In a mirror the frame's x counts from the picture's last column.
    """

    frame: Frames
    points: np.ndarray
    in_mirror: bool = False

    def draw(self, picture: np.ndarray, box: np.ndarray, zooms: _Zooms) -> Canvas:
        frame = self.frame
        if self.in_mirror:
            picture = np.ascontiguousarray(picture[:, ::-1])
            frame = Frames(frame.centre + np.array([picture.shape[1] - 1, 0]), frame.size, frame.roll)
        return draw_canvas(picture, frame, 0, box, zooms.px, zooms.n)


def _objects(
    photos: Sequence[AnnotatedPhoto], names: Sequence[str], columns: Sequence[int], seed: int
) -> tuple[list[Sample], list[Sample], np.ndarray, float]:
    """Objects in frames that are about right, also in a mirror, and canvases of what is no object."""
    frames, usual = similarity_frames(photos, columns)
    sources = np.concatenate([np.full(len(photo.points), i) for i, photo in enumerate(photos)])
    points = np.concatenate([photo.points[:, columns] for photo in photos])
    usable = np.flatnonzero(np.isfinite(points).all(axis=2).sum(axis=1) >= 2)
    usable = usable[np.unique(np.linspace(0, len(usable) - 1, _MOST_SAMPLES).astype(int))]
    rng = np.random.default_rng([seed, 12])
    size = min(float(np.median(frames.size[usable])), _MOST_OBJECT_PX)
    zooms = _Zooms.of_length(size, _COARSEST_OBJECT_PX)
    n_views = int(np.clip(_MOST_SAMPLES // max(len(usable), 1), 1, 4))
    shown: dict[int, list[_View]] = {i: [] for i in range(len(photos))}
    wrong: dict[int, list[_View]] = {i: [] for i in range(len(photos))}
    unknown = np.full_like(usual, np.nan)
    for i in usable.tolist():
        shown[sources[i]] += _views_of(points[i : i + 1], usual, mirror_order(list(names)), n_views, rng)
        wrong[sources[i]] += [
            _View(_wrong(frames[i : i + 1], number, rng), unknown) for number in range(_N_WRONG)
        ]
    inside = np.stack([view.points for views in shown.values() for view in views])
    low, high = np.nanmin(inside, axis=(0, 1)), np.nanmax(inside, axis=(0, 1))
    room = _ROOM * (high - low).max() + _ROOM_PX * 2 ** (zooms.n - 1) / zooms.px
    box = np.concatenate([low - room, high + room])

    def draw(i: int) -> tuple[list[Sample], list[Sample]]:
        picture = photos[i].read()
        first, second = (
            [Sample(view.draw(picture, box, zooms), view.points, i) for view in views[i]]
            for views in (shown, wrong)
        )
        return first, second

    drawn = list(in_threads(draw, range(len(photos))))
    samples = [sample for first, _ in drawn for sample in first]
    others = [sample for _, second in drawn for sample in second]
    return samples, others, box, zooms.px


def _views_of(
    points: np.ndarray, usual: np.ndarray, mirror: Sequence[int] | None, n: int, rng: np.random.Generator
) -> list[_View]:
    """Frames about right for the keypoints (1, n_keypoints, 2) of an object, every other in a mirror."""
    views = []
    for number in range(n):
        in_mirror = mirror is not None and list(mirror) != sorted(mirror) and number % 2 == 1
        truth = points[:, list(mirror)] * [-1, 1] if mirror is not None and in_mirror else points
        known = np.isfinite(truth).all(axis=2).astype(np.float64)
        frame = _disturbed(fit_frames(np.nan_to_num(truth), usual, known), rng)
        views.append(_View(frame, frame.from_photo(truth)[0], in_mirror))
    return views


def _disturbed(frames: Frames, rng: np.random.Generator) -> Frames:
    """Frames as a search finds them."""
    n = len(frames)
    centre = frames.centre + rng.normal(0, _PLACE, (n, 2)) * frames.size[:, None]
    return Frames(
        centre, frames.size * np.exp(rng.normal(0, _LOG_SIZE, n)), frames.roll + rng.normal(0, _ROLL, n)
    )


def _wrong(frames: Frames, number: int, rng: np.random.Generator) -> Frames:
    """Frames that are turned by a quarter to three quarters, the odd ones beside the object."""
    turn = np.pi / 2 * (1 + number % 3) + rng.normal(0, _ROLL, len(frames))
    aside = rng.normal(0, 1.0, frames.centre.shape) * frames.size[:, None] * (number % 2)
    return Frames(frames.centre + aside, frames.size, frames.roll + turn)
