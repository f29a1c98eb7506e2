"""Objects of a picture from their keypoints: in frames that are thought of, or in the scene as a whole."""

from collections.abc import Sequence

import numpy as np

from ....features.threads import in_threads
from ..objects.model import BOX_MARGIN, Objects
from .canvas import Frames, draw_canvas, fit_frames
from .model import PartModel
from .search import UNSEEN, FoundParts, find_parts

N_LOOKS = 2
"""Times that keypoints are looked for: first in the frame given, then in that of what was found."""

MOST_GROWTH = 1.25
"""By which a frame's size may change from one look to the next."""

_LEAST_WEIGHT = 0.02  # of a keypoint that is not seen, in the fit of a frame


def scene_frame(model: PartModel) -> Frames:
    """The frame of a scene: its origin is the picture's corner."""
    assert model.scene_px is not None
    return Frames(np.full((1, 2), -0.5), np.array([model.scene_px]), np.zeros(1))


def scene_box(shape: Sequence[int], scene_px: float) -> np.ndarray:
    """What a picture shows of the scene's frame."""
    return np.array([0.0, 0.0, shape[1] / scene_px, shape[0] / scene_px])


def frames_of(points: np.ndarray, model: PartModel, sizes: np.ndarray | None = None) -> Frames:
    """Frames of objects whose keypoints (n, n_keypoints, 2) are about known, NaN where they are not.

    Sizes (n,), if they are given, are those that the frames have.
    """
    known = np.isfinite(points).all(axis=2).astype(np.float64)
    frames = fit_frames(np.nan_to_num(points), model.relations.mean, known)
    if sizes is None:
        return frames
    middle = np.nan_to_num(points).sum(axis=1) / np.maximum(known.sum(axis=1), 1)[:, None]
    ratio = sizes / frames.size
    return Frames(middle + (frames.centre - middle) * ratio[:, None], sizes, frames.roll)


def find_in_scene(image: np.ndarray, model: PartModel, names: tuple[str, ...], object_px: float) -> Objects:
    """The one object of a scene: keypoints that are looked for in the whole picture."""
    frames = scene_frame(model)
    assert model.scene_px is not None
    box = scene_box(image.shape, model.scene_px)
    found = find_parts(draw_canvas(image, frames, 0, box, model.px, model.n_zooms), model)
    seen = _log_odds(found, model)
    return _objects(frames, [found], model, names, object_px, np.array([seen.max()]))


def find_in_frames(
    image: np.ndarray,
    frames: Frames,
    model: PartModel,
    names: tuple[str, ...],
    object_px: float,
    n_looks: int = N_LOOKS,
) -> Objects:
    """Objects in frames that are about right, in the order of the frames."""

    def look(number: int) -> tuple[Frames, FoundParts]:
        frame = frames[number : number + 1]
        for _ in range(n_looks):
            canvas = draw_canvas(image, frame, 0, model.box, model.px, model.n_zooms)
            found = find_parts(canvas, model)
            used = frame
            frame = refitted(frame, found, model)
        return used, found

    looked = list(in_threads(look, range(len(frames))))
    ends = Frames(
        np.concatenate([np.empty((0, 2)), *(frame.centre for frame, _ in looked)]),
        np.concatenate([np.empty(0), *(frame.size for frame, _ in looked)]),
        np.concatenate([np.empty(0), *(frame.roll for frame, _ in looked)]),
    )
    found = [parts for _, parts in looked]
    scores = model.whole[0] + model.whole[1] * np.array([parts.score for parts in found])
    return _objects(ends, found, model, names, object_px, scores)


def refitted(frame: Frames, found: FoundParts, model: PartModel) -> Frames:
    """The frame that the keypoints found tell, those most that are surely seen."""
    weights = 1 / (1 + np.exp(-np.clip(_log_odds(found, model), -30, 30))) + _LEAST_WEIGHT
    fitted = fit_frames(frame.to_photo(found.points[None]), model.relations.mean, weights[None])
    # what is seen wrongly must not blow a frame up
    ratio = np.clip(fitted.size / frame.size, 1 / MOST_GROWTH, MOST_GROWTH)
    return Frames(fitted.centre, frame.size * ratio, fitted.roll)


def _log_odds(found: FoundParts, model: PartModel) -> np.ndarray:
    """Log-odds that each keypoint is seen where it was found."""
    return np.sum(found.terms * model.seen, axis=1)


def _objects(
    frames: Frames,
    found: Sequence[FoundParts],
    model: PartModel,
    names: tuple[str, ...],
    object_px: float,
    scores: np.ndarray,
) -> Objects:
    n, k = len(found), len(names)
    points = frames.to_photo(np.array([parts.points for parts in found]).reshape(n, k, 2))
    log_odds = np.array([_log_odds(parts, model) for parts in found]).reshape(n, k)
    terms = np.array([parts.terms for parts in found]).reshape(n, k, model.error.shape[1])
    error = np.exp(np.clip(np.sum(terms * model.error, axis=2), -20, 5)) * frames.size[:, None]
    low, high = points.min(axis=1), points.max(axis=1)
    sizes = frames.size if model.scene_px is None else np.sqrt(np.prod(high - low + 1, axis=1))
    room = BOX_MARGIN * sizes[:, None] if model.scene_px is None else 0.0
    roll = (np.rad2deg(frames.roll) + 180) % 360 - 180
    return Objects(
        names,
        np.concatenate([low - room, high + room], axis=1),
        np.stack([np.zeros(n), np.zeros(n), roll], axis=1),
        sizes,
        scores,
        points,
        terms[..., 1] > UNSEEN,
        log_odds,
        sizes / object_px,
        error,
    )
