"""The canvases that parts are fitted on: whole pictures of a scene, or objects in frames about right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....features.errors import DataError
from ....features.pool import WindowPool
from ....features.threads import in_threads
from ..parts.canvas import Frames, draw_canvas, fit_frames
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
_N_WRONG = 3

Read = Callable[[AnnotatedPhoto], np.ndarray | None]


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
    images = [_read(photo) for photo in photos]
    numbers = [i for i, image in enumerate(images) if image is not None and len(photos[i].points)]
    if len(numbers) < FEWEST:
        return None
    kept = [photos[i] for i in numbers]
    pictures = [image for i in numbers if (image := images[i]) is not None]
    if choice.kind == SCENE:
        samples, box, px, scene_px = _scene(kept, pictures, columns)
        wrong: list[Sample] = []
    else:
        samples, wrong, box, px = _objects(kept, pictures, names, columns, seed)
        scene_px = None
    known = np.isfinite(np.stack([sample.points for sample in samples])).all(axis=2)
    if len(samples) < FEWEST or known.sum(axis=0).min() < config.n_folds:
        return None
    return fit_parts(samples, wrong, box, px, scene_px, pool, config, seed, report)


def _read(photo: AnnotatedPhoto) -> np.ndarray | None:
    try:
        return photo.read()
    except DataError:
        return None


def _scene(
    photos: Sequence[AnnotatedPhoto], pictures: Sequence[np.ndarray], columns: Sequence[int]
) -> tuple[list[Sample], np.ndarray, float, float]:
    """Whole pictures."""
    longest = float(np.median([max(picture.shape[:2]) for picture in pictures]))
    zooms = _Zooms.of_length(min(longest, FINEST_PX), _COARSEST_SCENE_PX)
    frame = Frames(np.full((1, 2), -0.5), np.array([longest]), np.zeros(1))
    samples = []
    for i, (photo, picture) in enumerate(zip(photos, pictures, strict=True)):
        box = scene_box(picture.shape, longest)
        points = frame.from_photo(photo.points[:1, columns])[0]
        samples.append(Sample(draw_canvas(picture, frame, 0, box, zooms.px, zooms.n), points, i))
    boxes = np.stack([scene_box(picture.shape, longest) for picture in pictures])
    return samples, boxes.max(axis=0), zooms.px, longest


def _objects(
    photos: Sequence[AnnotatedPhoto],
    pictures: Sequence[np.ndarray],
    names: Sequence[str],
    columns: Sequence[int],
    seed: int,
) -> tuple[list[Sample], list[Sample], np.ndarray, float]:
    """Objects in frames that are about right, also in a mirror, and canvases of what is no object."""
    frames, usual = similarity_frames(photos, columns)
    sources = np.concatenate([np.full(len(photo.points), i) for i, photo in enumerate(photos)])
    points = np.concatenate([photo.points[:, columns] for photo in photos])
    usable = np.flatnonzero(np.isfinite(points).all(axis=2).sum(axis=1) >= 2)
    rng = np.random.default_rng([seed, 12])
    mirror = mirror_order(list(names))
    size = min(float(np.median(frames.size[usable])), _MOST_OBJECT_PX)
    zooms = _Zooms.of_length(size, _COARSEST_OBJECT_PX)
    n_views = int(np.clip(_MOST_SAMPLES // max(len(usable), 1), 1, 4))
    shown: list[tuple[int, Frames, np.ndarray, bool]] = []
    others: list[tuple[int, Frames, np.ndarray, bool]] = []
    for i in usable.tolist():
        image_shape = pictures[sources[i]].shape
        for view in range(n_views):
            in_mirror = mirror is not None and mirror != sorted(mirror) and view % 2 == 1
            truth = points[i : i + 1]
            if in_mirror:
                assert mirror is not None
                truth = truth[:, mirror] * [-1, 1] + [image_shape[1] - 1, 0]
            known = np.isfinite(truth).all(axis=2).astype(np.float64)
            right = fit_frames(np.nan_to_num(truth), usual, known)
            frame = _disturbed(right, rng)
            shown.append((int(sources[i]), frame, frame.from_photo(truth)[0], in_mirror))
        for number in range(_N_WRONG):
            others.append(
                (int(sources[i]), _wrong(frames[i : i + 1], number, rng), np.full_like(usual, np.nan), False)
            )
    inside = np.stack([truth for _, _, truth, _ in shown])
    low, high = np.nanmin(inside, axis=(0, 1)), np.nanmax(inside, axis=(0, 1))
    room = 0.1 * (high - low).max() + 8 * 2 ** (zooms.n - 1) / zooms.px
    box = np.concatenate([low - room, high + room])

    def draw(task: tuple[int, Frames, np.ndarray, bool]) -> Sample:
        source, frame, truth, in_mirror = task
        picture = pictures[source]
        picture = np.ascontiguousarray(picture[:, ::-1]) if in_mirror else picture
        return Sample(draw_canvas(picture, frame, 0, box, zooms.px, zooms.n), truth, source)

    return list(in_threads(draw, shown)), list(in_threads(draw, others)), box, zooms.px


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
