"""Poses of a rigid shape under scaled orthography: how they project, and their fit to points of a photo.

A pose is six numbers: x, y (pixels, the place of the shape's origin), log size (pixels of the photo per
unit of the shape), and yaw, pitch, roll (radians). A point S of the shape, with axes x right, y down and z
away from the viewer, is seen at

    (x, y) + size * (first two rows of R_roll R_pitch R_yaw) S.

Yaw is positive where the object looks to the right of the picture, pitch where it looks up, roll where it
is turned clockwise. Poses of many objects are arrays of shape (n, 6), and are all fitted together.
"""

from dataclasses import dataclass

import numpy as np

X, Y, LOG_SIZE, YAW, PITCH, ROLL = range(6)
ANGLES = slice(YAW, ROLL + 1)


@dataclass(frozen=True, eq=False)
class AnglePrior:
    """Which rotations are usual.

    Attributes
    ----------
    mean : ndarray of shape (3,), float64
        Yaw, pitch and roll, radians.
    covariance : ndarray of shape (3, 3), float64
    """

    mean: np.ndarray
    covariance: np.ndarray


def rotations(angles: np.ndarray) -> np.ndarray:
    """Return the rotation matrices (n, 3, 3) of yaw, pitch and roll, (n, 3) in radians."""
    (cy, cp, cr), (sy, sp, sr) = np.cos(angles).T, np.sin(angles).T
    first = np.array([cy, np.zeros_like(cy), -sy])
    second = np.array([sp * sy, cp, sp * cy])
    rows = [cr * first - sr * second, sr * first + cr * second, np.array([cp * sy, -sp, cp * cy])]
    return np.moveaxis(np.array(rows), 2, 0)


def angles_of(matrices: np.ndarray) -> np.ndarray:
    """Return yaw, pitch and roll, (n, 3) in radians, of rotation matrices (n, 3, 3)."""
    # R = roll pitch yaw: its last row is (cos pitch sin yaw, -sin pitch, cos pitch cos yaw)
    yaw = np.arctan2(matrices[:, 2, 0], matrices[:, 2, 2])
    pitch = -np.arcsin(np.clip(matrices[:, 2, 1], -1, 1))
    roll = np.arctan2(-matrices[:, 0, 1], matrices[:, 1, 1])
    return np.stack([yaw, pitch, roll], axis=1)


def project(poses: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return where the points of a shape are seen.

    Parameters
    ----------
    poses : ndarray of shape (n, 6), float64
    shape : ndarray of shape (n_keypoints, 3), float64

    Returns
    -------
    ndarray of shape (n, n_keypoints, 2), float64
        x, y in pixels.
    """
    flat = shape @ rotations(poses[:, ANGLES])[:, :2].transpose(0, 2, 1)
    return poses[:, None, :2] + np.exp(poses[:, LOG_SIZE])[:, None, None] * flat


def fit_poses(
    poses: np.ndarray,
    shape: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    spread: np.ndarray,
    prior: AnglePrior,
    *,
    log_size: tuple[np.ndarray, float] | None = None,
    n_steps: int = 4,
) -> np.ndarray:
    """Fit poses to points by robust least squares with a prior, all poses together.

    Gauss-Newton steps on residuals in parts of the object's size, divided by the keypoint's spread.
    Residuals beyond about two spreads count less and less (weights 1 / (1 + (r / 2)^2), Cauchy).

    Parameters
    ----------
    poses : ndarray of shape (n, 6), float64
        Where to start.
    shape : ndarray of shape (n_keypoints, 3), float64
    points : ndarray of shape (n, n_keypoints, 2), float64
        x, y; anything finite where the weight is zero.
    weights : ndarray of shape (n, n_keypoints), float64
        Zero where a point is missing.
    spread : ndarray of shape (n_keypoints,), float64
        Standard deviation of a coordinate, in parts of the object's size.
    prior : AnglePrior
    log_size : (ndarray of shape (n,), float), optional
        Another estimate of the size's logarithm, and its standard deviation.
    n_steps : int

    Returns
    -------
    ndarray of shape (n, 6), float64
    """
    poses = poses.copy()
    inverse = np.linalg.inv(prior.covariance)
    for _ in range(n_steps):
        size = np.exp(poses[:, LOG_SIZE])
        residual = (points - project(poses, shape)) / (size[:, None, None] * spread[:, None])
        weight = weights / (1 + np.sum(residual**2, axis=2) / 4)
        root = np.sqrt(weight)[..., None]
        jacobian = (_jacobian(poses, shape) * (root / spread[:, None])[..., None]).reshape(
            len(poses), 2 * len(shape), 6
        )
        across = jacobian.transpose(0, 2, 1)
        normal = across @ jacobian
        right = (across @ (root * residual).reshape(len(poses), 2 * len(shape), 1))[..., 0]
        normal[:, ANGLES, ANGLES] += inverse
        right[:, ANGLES] += (prior.mean - poses[:, ANGLES]) @ inverse
        if log_size is not None:
            normal[:, LOG_SIZE, LOG_SIZE] += 1 / log_size[1] ** 2
            right[:, LOG_SIZE] += (log_size[0] - poses[:, LOG_SIZE]) / log_size[1] ** 2
        normal[:, range(6), range(6)] += 1e-9
        step = np.linalg.solve(normal, right[..., None])[..., 0]
        step[:, 2:] = np.clip(step[:, 2:], -0.5, 0.5)  # a wild step must not turn the object round
        poses[:, :2] += step[:, :2] * size[:, None]
        poses[:, 2:] += step[:, 2:]
    return poses


def _jacobian(poses: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Derivative of projections, in parts of the size, (n, n_keypoints, 2, 6).

    Places are counted in parts of the size too, so that all columns are of one magnitude.
    """
    out = np.zeros((len(poses), len(shape), 2, 6))
    out[:, :, 0, X] = out[:, :, 1, Y] = 1
    seen = shape @ rotations(poses[:, ANGLES]).transpose(0, 2, 1)
    x, y, z = np.moveaxis(seen, 2, 0)
    out[..., LOG_SIZE] = seen[..., :2]
    out[..., 0, ROLL], out[..., 1, ROLL] = -y, x
    last = poses[:, PITCH:].T[..., None]
    (cp, cr), (sp, sr) = np.cos(last), np.sin(last)
    out[..., 0, PITCH], out[..., 1, PITCH] = -sr * z, cr * z
    # before roll and pitch the point was at (across, ., along)
    across, down = cr * x + sr * y, cr * y - sr * x
    along = sp * down + cp * z
    out[..., 0, YAW] = -cr * along - sr * sp * across
    out[..., 1, YAW] = -sr * along + cr * sp * across
    return out
