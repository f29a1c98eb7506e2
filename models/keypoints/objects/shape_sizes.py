"""Sizes of annotated objects from a rigid 3-D shape fitted to their keypoints (section 3.3).

The distance of two keypoints shrinks as the object turns, and is unknown where one of them is hidden. The
size of the whole shape is neither: two eyes of a half-profile are as far apart as from the front.
"""

from collections.abc import Sequence

import numpy as np

from ....features.errors import DataError
from ..training.targets import AnnotatedPhoto
from .poses import ANGLES, LOG_SIZE, fit_poses, project
from .shape import FEWEST_KEYPOINTS, FEWEST_OBJECTS, RigidShape, estimate_shape

_N_STEPS = 10


def fitted_sizes(photos: Sequence[AnnotatedPhoto]) -> list[np.ndarray]:
    """Return the sizes of all objects of each photo, (n_objects,) float64 in pixels.

    The shape is estimated from the same photos, over all keypoints that they annotate. Its unit is the
    size that the objects have already, in the median. Objects with fewer than three known keypoints keep
    their size.

    Raises
    ------
    DataError
        If there are too few keypoints or objects to estimate a shape from.
    """
    n_keypoints = photos[0].points.shape[1] if photos else 0
    known = np.zeros(n_keypoints, dtype=bool)
    for photo in photos:
        several = np.isfinite(photo.points).all(axis=2)
        known |= several[several.sum(axis=1) >= FEWEST_KEYPOINTS].any(axis=0)
    columns = np.flatnonzero(known).tolist()
    shape = estimate_shape(photos, columns)
    if shape is None:
        raise DataError(
            f"a rigid shape takes {FEWEST_OBJECTS} objects with {FEWEST_KEYPOINTS} keypoints each; "
            "scale by two keypoints or by boxes instead"
        )
    return [_sizes(photo, columns, shape) for photo in photos]


def _sizes(photo: AnnotatedPhoto, columns: Sequence[int], shape: RigidShape) -> np.ndarray:
    sizes = photo.sizes.copy()
    fitted, poses = annotated_poses(photo, columns, shape)
    sizes[fitted] = np.exp(poses[:, LOG_SIZE])
    return sizes


def annotated_poses(
    photo: AnnotatedPhoto, columns: Sequence[int], shape: RigidShape
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a shape to a photo's annotated objects.

    Returns
    -------
    fitted : ndarray of shape (n,), int64
        The objects with enough known keypoints and a size.
    poses : ndarray of shape (n, 6), float64
        Theirs.
    """
    points = photo.points[:, columns]
    known = np.isfinite(points).all(axis=2)
    fitted = np.flatnonzero((known.sum(axis=1) >= FEWEST_KEYPOINTS) & np.isfinite(photo.sizes))
    poses = np.zeros((len(fitted), 6))
    if not len(fitted):
        return fitted, poses
    weights = known[fitted].astype(np.float64)
    points = np.where(known[fitted][..., None], points[fitted], 0.0)
    poses[:, LOG_SIZE], poses[:, ANGLES] = np.log(photo.sizes[fitted]), shape.prior.mean
    offset = weights[..., None] * (points - project(poses, shape.points))
    poses[:, :2] = offset.sum(axis=1) / weights.sum(axis=1)[:, None]
    poses = fit_poses(poses, shape.points, points, weights, shape.spread, shape.prior, n_steps=_N_STEPS)
    return fitted, poses
