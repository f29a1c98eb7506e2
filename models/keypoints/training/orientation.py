"""How annotated objects are turned in their photos, and how large they are: a similarity fitted to each.

Generalised Procrustes analysis: a mean shape, and for each object the shift, turn and factor that take it to
the object's keypoints. Points are complex numbers here, x + i y, so that turn and factor are one of them.
J. C. Gower, "Generalized Procrustes analysis", Psychometrika 40, 1975.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..angles import ALL_AROUND, UPRIGHT, angles_from
from .targets import AnnotatedPhoto

FEWEST_OBJECTS = 10

_UPRIGHT_DEG = 45.0  # objects turned by less are upright to a classifier that has seen such
_MOST_TURNED = 0.05  # share of the objects that may be turned by more
_WIDEST_DEG = 120.0  # if angles spread over more, objects may be turned by any angle
_FARTHEST = (
    0.5  # parts of the extent; objects of which nine tenths of the points lie nearer have a common shape
)
_N_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Orientations:
    """Of the objects of each photo.

    Attributes
    ----------
    degrees : tuple of ndarray of shape (n_objects,), float64
        By how much each object is turned clockwise, in -180..180; NaN if it has fewer than two keypoints.
    sizes : tuple of ndarray of shape (n_objects,), float64
        Pixels; in the median those that the objects had.
    rigid : bool
        Whether the objects have a common shape, so that their turns mean something.
    shape : ndarray of shape (n_keypoints,), complex128
        That shape, x + i y, as an object looks that is not turned; zero for keypoints that nobody knows.
    """

    degrees: tuple[np.ndarray, ...]
    sizes: tuple[np.ndarray, ...]
    rigid: bool
    shape: np.ndarray

    @property
    def angles(self) -> tuple[float, ...]:
        """The angles at which photos have to be scanned to see such objects upright, in degrees."""
        known = np.concatenate(self.degrees)
        known = known[np.isfinite(known)]
        if not self.rigid or len(known) < FEWEST_OBJECTS:
            return UPRIGHT
        if np.mean(np.abs(known) > _UPRIGHT_DEG) <= _MOST_TURNED:
            return UPRIGHT
        low, high = np.quantile(known, [_MOST_TURNED / 2, 1 - _MOST_TURNED / 2])
        return ALL_AROUND if high - low > _WIDEST_DEG else angles_from(low, high)


def mirror_turn(shape: np.ndarray, order: Sequence[int]) -> float:
    """By how many degrees the shape is turned clockwise in a mirror, left and right of the picture swapped.

    Parameters
    ----------
    shape : ndarray of shape (n_keypoints,), complex128
    order : sequence of int
        Which keypoint each one is in the mirror.
    """
    middle = shape - shape.mean()
    return float(np.rad2deg(np.angle(np.sum(-np.conj(middle[order]) * np.conj(middle)))))


def orientations(photos: Sequence[AnnotatedPhoto]) -> Orientations:
    """Fit the mean shape to all objects of annotated photos, whose sizes are set."""
    flat = [np.empty((0, 1)), *(photo.points[..., 0] + 1j * photo.points[..., 1] for photo in photos)]
    points = np.concatenate(flat[1:]) if photos else flat[0]
    known = np.isfinite(points)
    usable = np.flatnonzero(known.sum(axis=1) >= 2)
    turns = np.full(len(points), np.nan + 0j)
    rigid, shape = False, np.zeros(points.shape[1], dtype=complex)
    if len(usable):
        turns[usable], rigid, shape = _fit(np.where(known, points, 0)[usable], known[usable])
    ends = np.cumsum([len(photo.points) for photo in photos])[:-1]
    sizes = np.concatenate([np.empty(0), *(photo.sizes for photo in photos)])
    units = (sizes / np.abs(turns))[usable]
    unit = np.median(units[np.isfinite(units)]) if np.isfinite(units).any() else 1.0
    degrees = np.rad2deg(np.angle(turns))
    return Orientations(
        tuple(np.split(degrees, ends)), tuple(np.split(np.abs(turns) * unit, ends)), rigid, shape
    )


def _fit(points: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, bool, np.ndarray]:
    """Turn times factor of each object, whether they have a common shape, and the shape.

    Turns are counted from their mean direction.
    """
    first = int(known.sum(axis=1).argmax())
    shape = np.where(known[first], points[first] - points[first][known[first]].mean(), 0)
    in_shape = known[first]
    for _ in range(_N_ROUNDS):
        turns, middles, shape_middles = _similarities(points, known & in_shape, shape)
        back = (points - middles[:, None]) / turns[:, None] + shape_middles[:, None]
        seen = known & ((known & in_shape).sum(axis=1) >= 2)[:, None]
        for k in np.flatnonzero(seen.any(axis=0)):
            values = back[seen[:, k], k]
            shape[k] = np.median(values.real) + 1j * np.median(values.imag)
        in_shape = in_shape | seen.any(axis=0)
        extent = np.sqrt(np.mean(np.abs(shape[in_shape] - shape[in_shape].mean()) ** 2))
        shape = (shape - shape[in_shape].mean()) / extent
    turns, middles, shape_middles = _similarities(points, known & in_shape, shape)
    away = np.abs((points - middles[:, None]) / turns[:, None] + shape_middles[:, None] - shape)
    worst = max(np.quantile(away[known[:, k], k], 0.9) for k in np.flatnonzero(in_shape))
    mean = np.mean(turns / np.abs(turns))
    mean /= np.abs(mean)
    return turns * np.conj(mean), bool(worst <= _FARTHEST), shape * mean


def _similarities(
    points: np.ndarray, known: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn times factor of each object by least squares, the middles of its points and of the shape's."""
    weight = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    middles, shape_middles = (weight * points).sum(axis=1), weight @ shape
    here = np.where(known, points - middles[:, None], 0)
    there = np.where(known, shape[None] - shape_middles[:, None], 0)
    turns = np.sum(np.conj(there) * here, axis=1) / np.maximum(np.sum(np.abs(there) ** 2, axis=1), 1e-12)
    return np.where(np.abs(turns) > 1e-12, turns, 1e-12), middles, shape_middles
