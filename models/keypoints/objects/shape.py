"""The mean 3-D shape of an object, from its keypoints in photos (factorisation of 2-D annotations).

Every annotated object is the same rigid shape seen from elsewhere, under scaled orthography. Shape and
poses are found in turn: poses by `fit_poses`, each keypoint of the shape by least squares over all
objects. The beginning is the mean 2-D shape, with the depths that explain how the objects' 2-D shapes
differ most: turning an object moves its points in proportion to their depths.

Depth is known up to its sign only. We choose the sign that puts the keypoints near the middle in front of
those around them, as on anything convex that is seen from its front: noses stand out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....features.errors import DataError
from ..training.targets import AnnotatedPhoto
from .poses import ANGLES, LOG_SIZE, AnglePrior, angles_of, fit_poses, project, rotations

FEWEST_KEYPOINTS = 3
"""Fewer points than this are seen alike in poses that are far apart."""

FEWEST_OBJECTS = 10

_N_ROUNDS = 60
_LEAST_SPREAD = 0.01
_LEAST_ANGLE = 0.1  # radians

# While the shape is estimated all keypoints have one spread, and the prior is wide and fixed: were they
# estimated together with the shape, a few keypoints would be fitted exactly, and depths grow as angles
# shrink, which look nearly alike.
_SPREAD = 0.07  # in parts of the points' root mean square distance from their middle
_PRIOR = AnglePrior(np.zeros(3), np.eye(3) * 0.6**2)

SMALLEST, LARGEST = 1e-6, 1e3
"""Of the numbers that describe a shape: a fit to its points must be possible."""


@dataclass(frozen=True, eq=False)
class RigidShape:
    """A shape, how well single objects follow it, and how they are usually turned.

    Attributes
    ----------
    points : ndarray of shape (n_keypoints, 3), float64
        Mean shape in parts of the object's size: x right, y down, z away from the viewer, of an object
        in the mean pose of the training photos; the mean of the points is the origin.
    spread : ndarray of shape (n_keypoints,), float64
        Standard deviation of a coordinate of the annotation around the fitted shape, robust, in parts of
        the size.
    prior : AnglePrior
    """

    points: np.ndarray
    spread: np.ndarray
    prior: AnglePrior

    def __post_init__(self) -> None:
        n = len(self.points)
        arrays = {
            "points": (self.points, (n, 3)),
            "spread": (self.spread, (n,)),
            "mean rotation": (self.prior.mean, (3,)),
            "covariance of rotations": (self.prior.covariance, (3, 3)),
        }
        for name, (array, shape) in arrays.items():
            if array.shape != shape or not np.isfinite(array).all():
                raise DataError(f"shape: {name} must be finite numbers of shape {shape}, got {array.shape}")
        if n < FEWEST_KEYPOINTS:
            raise DataError(f"shape: a rigid shape needs {FEWEST_KEYPOINTS} keypoints, got {n}")
        if not ((self.spread >= SMALLEST) & (self.spread <= LARGEST)).all():
            raise DataError(f"shape: spread must be above 0, in {SMALLEST:g}..{LARGEST:g}")
        if np.abs(self.points).max() > LARGEST or np.abs(self.prior.mean).max() > LARGEST:
            raise DataError(f"shape: a point or a mean rotation beyond {LARGEST:g}")
        covariance = self.prior.covariance
        if not np.allclose(covariance, covariance.T) or np.abs(covariance).max() > LARGEST:
            raise DataError(
                f"shape: the covariance of rotations is not symmetric and positive, below {LARGEST:g}"
            )
        # A smaller one could not be inverted, or would make the fit of a pose singular.
        if np.linalg.eigvalsh(covariance).min() < SMALLEST**2:
            raise DataError("shape: the covariance of rotations is not symmetric and positive")


def estimate_shape(photos: Sequence[AnnotatedPhoto], columns: Sequence[int]) -> RigidShape | None:
    """Estimate the shape of the objects in annotated photos.

    Parameters
    ----------
    photos : sequence of AnnotatedPhoto
        With the sizes of their objects set. Points that are not visible take part: they are where the
        annotation says.
    columns : sequence of int
        Keypoints of the shape, as columns of the annotation.

    Returns
    -------
    RigidShape or None
        None for fewer than three keypoints, or fewer than ten objects with three of them known.
    """
    if len(columns) < FEWEST_KEYPOINTS:
        return None
    points = np.concatenate([np.empty((0, len(columns), 2)), *(p.points[:, columns] for p in photos)])
    sizes = np.concatenate([np.empty(0), *(p.sizes for p in photos)])
    known = np.isfinite(points).all(axis=2)
    usable = (known.sum(axis=1) >= FEWEST_KEYPOINTS) & np.isfinite(sizes)
    if usable.sum() < FEWEST_OBJECTS or not known[usable].any(axis=0).all():
        return None
    return shape_of_points(points[usable], sizes[usable])


def shape_of_points(points: np.ndarray, sizes: np.ndarray) -> RigidShape:
    """Factor the 2-D points of many objects into one shape and their poses.

    Parameters
    ----------
    points : ndarray of shape (n_objects, n_keypoints, 2), float64
        x, y; NaN where unknown. At least three points of each object are known.
    sizes : ndarray of shape (n_objects,), float64
    """
    known = np.isfinite(points).all(axis=2)
    weights = known.astype(np.float64)
    points = np.where(known[..., None], points, 0.0)
    shape, poses = _start(points, weights, sizes)
    for _ in range(_N_ROUNDS):
        spread = _equal_spread(shape)
        poses = fit_poses(poses, shape, points, weights, spread, _PRIOR, n_steps=2)
        shape = _update_shape(poses, shape, points, weights, spread)
        shape, poses = _canonical(shape, poses, sizes)
    angles = poses[:, ANGLES]
    prior = AnglePrior(angles.mean(axis=0), np.cov(angles.T) + np.eye(3) * _LEAST_ANGLE**2)
    spread = _spread(poses, shape, points, known)
    return _nearer_middle(RigidShape(shape, spread, prior))


def _start(points: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean 2-D shape with depths from the main mode of what is left, and the poses that go with them."""
    flat = AnglePrior(np.zeros(3), np.diag([1e-6, 1e-6, 1.0]))  # turned in the picture's plane only
    total = weights.sum(axis=1)
    centre = np.einsum("nk,nkd->nd", weights, points) / total[:, None]
    poses = np.zeros((len(points), 6))
    poses[:, :2], poses[:, LOG_SIZE] = centre, np.log(sizes)
    seen = (points - centre[:, None]) / sizes[:, None, None]
    mean = np.einsum("nk,nkd->kd", weights, seen) / weights.sum(axis=0)[:, None]
    shape = np.column_stack([mean - mean.mean(axis=0), np.zeros(len(mean))])
    spread = _equal_spread(shape)
    for _ in range(5):
        poses = fit_poses(poses, shape, points, weights, spread, flat)
        shape = _update_shape(poses, shape, points, weights, spread) * [1, 1, 0]
    left = _upright(poses, points) - shape[:, :2]
    left *= (weights / (1 + np.sum((left / 0.3) ** 2, axis=2)))[..., None]
    # a turn by a small angle moves point k by (yaw, pitch) * depth k: the main mode over both directions
    depths = np.linalg.svd(np.concatenate([left[..., 0], left[..., 1]]), full_matrices=False)[2][0]
    depths -= depths.mean()
    extent = np.linalg.norm(shape, axis=1).max()
    shape[:, 2] = 0.5 * extent * depths / np.abs(depths).max()
    return shape, poses


def _equal_spread(shape: np.ndarray) -> np.ndarray:
    return np.full(len(shape), _SPREAD * np.sqrt(np.mean(np.sum(shape**2, axis=1))))


def _upright(poses: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points with place, size and roll of their pose undone."""
    turn = rotations(poses[:, ANGLES] * [0, 0, 1])[:, :2, :2]
    seen = (points - poses[:, None, :2]) / np.exp(poses[:, LOG_SIZE])[:, None, None]
    return np.einsum("nji,nkj->nki", turn, seen)


def _update_shape(
    poses: np.ndarray, shape: np.ndarray, points: np.ndarray, weights: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Least squares for each keypoint of the shape; residuals beyond two spreads count less."""
    axes = rotations(poses[:, ANGLES])[:, :2]
    size = np.exp(poses[:, LOG_SIZE])[:, None, None]
    residual = (points - project(poses, shape)) / (size * spread[:, None])
    weight = weights / (1 + np.sum(residual**2, axis=2) / 4)
    seen = (points - poses[:, None, :2]) / size
    normal = np.einsum("nk,nia,nib->kab", weight, axes, axes) + 1e-6 * np.eye(3)
    right = np.einsum("nk,nia,nki->ka", weight, axes, seen)
    return np.linalg.solve(normal, right[..., None])[..., 0]


def _canonical(shape: np.ndarray, poses: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put the shape's mean at the origin, the mean rotation at none, the unit at the objects' size."""
    poses = poses.copy()
    matrices = rotations(poses[:, ANGLES])
    mean = shape.mean(axis=0)
    poses[:, :2] += np.exp(poses[:, LOG_SIZE])[:, None] * (matrices[:, :2] @ mean)
    u, _, vt = np.linalg.svd(matrices.mean(axis=0))
    turn = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    unit = np.median(sizes / np.exp(poses[:, LOG_SIZE]))
    poses[:, LOG_SIZE] += np.log(unit)
    poses[:, ANGLES] = angles_of(matrices @ turn.T)
    return (shape - mean) @ turn.T / unit, poses


def _spread(poses: np.ndarray, shape: np.ndarray, points: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Standard deviation of each keypoint's coordinates, from the median of their absolute values."""
    residual = (points - project(poses, shape)) / np.exp(poses[:, LOG_SIZE])[:, None, None]
    medians = [np.median(np.abs(residual[known[:, k], k])) for k in range(len(shape))]
    return np.maximum(1.4826 * np.array(medians), _LEAST_SPREAD)


def _nearer_middle(shape: RigidShape) -> RigidShape:
    """Reverse all depths, and with them yaw and pitch, if the middle lies behind what is around it."""
    x, y, z = shape.points.T
    distance = np.hypot(x, y)
    if np.sum((distance - distance.mean()) * z) >= 0:
        return shape
    flip = np.array([-1, -1, 1])
    prior = AnglePrior(shape.prior.mean * flip, shape.prior.covariance * np.outer(flip, flip))
    return RigidShape(shape.points * [1, 1, -1], shape.spread, prior)
