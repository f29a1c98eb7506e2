"""What kind of shape keypoints have: a rigid one in space, one that bends, or none, fixed to the scene.

Each is a density of where the keypoints of an object lie in its picture; the one under which objects left out
are likeliest is chosen. A rigid shape and one that bends have a pose that nobody annotated: its density is
integrated by Laplace's method, around the pose that fits best.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..objects.poses import ANGLES, LOG_SIZE, ROLL, AnglePrior, fit_poses, project
from ..objects.shape import FEWEST_KEYPOINTS, FEWEST_OBJECTS, RigidShape, shape_of_points
from ..parts.canvas import Frames, fit_frames
from ..parts.relations import Relations, fit_relations, log_likelihood
from .orientation import orientations
from .targets import AnnotatedPhoto

RIGID, BENDING, SCENE = "rigid", "bending", "scene"

N_FOLDS = 5
_LEAST_LOG_SIZE_SPREAD = 0.05
_WIDEST_ROLL = (
    1.0  # radians of standard deviation; objects that are turned by more may be turned by any angle
)
_NO_DENSITY = -1e9


@dataclass(frozen=True, eq=False)
class ShapeChoice:
    """How likely objects left out are with each kind of shape.

    Attributes
    ----------
    kind : {"rigid", "bending", "scene"}
    log_likelihood : dict of str to float
        Mean logarithm of the density of an object's keypoints, per square pixel and keypoint.
    """

    kind: str
    log_likelihood: dict[str, float]


def choose_shape(photos: Sequence[AnnotatedPhoto], columns: Sequence[int]) -> ShapeChoice | None:
    """Compare the kinds of shape on annotated photos; None for too few keypoints or objects.

    Keypoints are fixed to the scene only where no picture shows more than one object.
    """
    numbers = [i for i, photo in enumerate(photos) for _ in range(len(photo.points))]
    points = np.concatenate([np.empty((0, len(columns), 2)), *(p.points[:, columns] for p in photos)])
    known = np.isfinite(points).all(axis=2)
    usable = known.sum(axis=1) >= min(FEWEST_KEYPOINTS, len(columns))
    alone = len(set(numbers)) == len(numbers)
    if usable.sum() < FEWEST_OBJECTS or len(columns) < 2:
        return None
    areas = np.array([np.prod(photos[i].read().shape[:2]) for i in numbers], dtype=np.float64)
    kinds = {BENDING: _bending} | ({RIGID: _rigid} if len(columns) >= FEWEST_KEYPOINTS else {})
    kinds |= {SCENE: _scene} if alone else {}
    fold = np.arange(len(points)) % N_FOLDS
    values = {}
    for kind, density in kinds.items():
        total = 0.0
        for number in range(N_FOLDS):
            rest, out = usable & (fold != number), usable & (fold == number)
            total += float(density(points[rest], points[out], areas[out]).sum())
        values[kind] = total / max(int(known[usable].sum()), 1)
    return ShapeChoice(max(values, key=lambda kind: values[kind]), values)


def similarity_frames(photos: Sequence[AnnotatedPhoto], columns: Sequence[int]) -> tuple[Frames, np.ndarray]:
    """Frames of all objects of photos, one after the other, and usual places (n_keypoints, 2) in them."""
    turned = orientations(photos)
    shape = np.stack([turned.shape.real, turned.shape.imag], axis=1)[columns]
    points = np.concatenate([p.points[:, columns] for p in photos])
    known = np.isfinite(points).all(axis=2)
    frames = fit_frames(np.nan_to_num(points), shape, known.astype(np.float64))
    return frames, shape


def _scene(train: np.ndarray, test: np.ndarray, areas: np.ndarray) -> np.ndarray:
    unit = float(np.sqrt(np.median(areas)))
    known = np.isfinite(test).all(axis=2).sum(axis=1)
    return log_likelihood(fit_relations(train / unit), test / unit) - 2 * known * np.log(unit)


def _bending(train: np.ndarray, test: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """A similarity of any place, and a tree of places in its frame."""
    mean = _procrustes(train)
    frames = _frames(train, mean)
    inside = frames.from_photo(train)
    relations = fit_relations(inside)
    seen = _frames(test, relations.mean)
    known = np.isfinite(test).all(axis=2)
    value = log_likelihood(relations, seen.from_photo(test)) - 2 * known.sum(axis=1) * np.log(seen.size)
    value += _pose_density(
        frames.roll, np.log(frames.size), seen.roll, np.log(seen.size), areas / seen.size**2
    )
    return value + _laplace(_similarity_information(relations, known))


def _rigid(train: np.ndarray, test: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """A rigid shape in space under scaled orthography, each keypoint with an error of its own."""
    enough = np.isfinite(train).all(axis=2).sum(axis=1) >= FEWEST_KEYPOINTS
    train = train[enough]
    if len(train) < FEWEST_OBJECTS or not np.isfinite(train).all(axis=2).any(axis=0).all():
        return np.full(len(test), _NO_DENSITY)
    frames = _frames(train, _procrustes(train))
    shape = shape_of_points(_turned_back(train, frames.roll), frames.size)
    poses = _fitted(train, frames, shape)
    seen = _fitted(test, _frames(test, shape.points[:, :2]), shape)
    known = np.isfinite(test).all(axis=2)
    size = np.exp(seen[:, LOG_SIZE])
    residual = (np.nan_to_num(test) - project(seen, shape.points)) / size[:, None, None]
    squared = np.minimum(np.sum(residual**2, axis=2) / shape.spread**2, 16.0)
    own = -0.5 * squared - np.log(2 * np.pi * shape.spread**2)
    value = np.sum(np.where(known, own, 0.0), axis=1) - 2 * known.sum(axis=1) * np.log(size)
    value += _pose_density(
        poses[:, ROLL], poses[:, LOG_SIZE], seen[:, ROLL], seen[:, LOG_SIZE], areas / size**2
    )
    tilt = poses[:, ANGLES][:, :2]
    covariance = np.cov(tilt.T) + np.eye(2) * 1e-4
    away = seen[:, ANGLES][:, :2] - tilt.mean(axis=0)
    value += -0.5 * np.minimum(np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away), 16.0)
    value -= 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
    return value + _laplace(_rigid_information(seen, shape, known, covariance))


def _fitted(points: np.ndarray, frames: Frames, shape: RigidShape) -> np.ndarray:
    """Poses of objects that are turned by any angle: the fit starts from their frames."""
    known = np.isfinite(points).all(axis=2).astype(np.float64)
    poses = np.zeros((len(points), 6))
    poses[:, :2], poses[:, LOG_SIZE], poses[:, ROLL] = frames.centre, np.log(frames.size), frames.roll
    free = AnglePrior(np.zeros(3), np.diag([0.36, 0.36, 100.0]))
    return fit_poses(poses, shape.points, np.nan_to_num(points), known, shape.spread, free, n_steps=15)


def _turned_back(points: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Points of objects turned upright around the picture's origin."""
    cos, sin = np.cos(roll)[:, None], np.sin(roll)[:, None]
    x, y = points[..., 0], points[..., 1]
    return np.stack([cos * x + sin * y, cos * y - sin * x], axis=-1)


def _procrustes(points: np.ndarray) -> np.ndarray:
    """Mean shape of objects, of size 1."""
    known = np.isfinite(points).all(axis=2)
    flat = np.nan_to_num(points)
    first = int(known.sum(axis=1).argmax())
    mean = np.where(known[first, :, None], flat[first], 0.0)
    inside = known[first]
    for _ in range(20):
        weights = (known & inside).astype(np.float64)
        mean = mean - mean[inside].mean(axis=0)
        mean = mean / np.sqrt(np.mean(np.sum(mean[inside] ** 2, axis=1)))
        enough = weights.sum(axis=1) >= 2
        back = fit_frames(flat[enough], mean, weights[enough]).from_photo(flat[enough])
        for k in range(len(mean)):
            seen = known[enough, k]
            if seen.any():
                mean[k], inside[k] = np.median(back[seen, k], axis=0), True
    return mean


def _frames(points: np.ndarray, mean: np.ndarray) -> Frames:
    return fit_frames(np.nan_to_num(points), mean, np.isfinite(points).all(axis=2).astype(np.float64))


def _pose_density(
    rolls: np.ndarray, log_sizes: np.ndarray, roll: np.ndarray, log_size: np.ndarray, areas: np.ndarray
) -> np.ndarray:
    """Logarithm of the density of poses: any place, angles and sizes as in training."""
    spread = max(float(log_sizes.std()), _LEAST_LOG_SIZE_SPREAD)
    away = np.minimum(((log_size - log_sizes.mean()) / spread) ** 2, 16.0)
    value = -np.log(areas) - 0.5 * away - 0.5 * np.log(2 * np.pi * spread**2)
    direction = np.mean(np.exp(1j * rolls))
    turn = float(np.sqrt(-2 * np.log(max(np.abs(direction), 1e-6))))
    if turn > _WIDEST_ROLL:
        return value - np.log(2 * np.pi)
    turn = max(turn, 0.05)
    off = np.angle(np.exp(1j * roll) / direction)
    return value - 0.5 * np.minimum((off / turn) ** 2, 16.0) - 0.5 * np.log(2 * np.pi * turn**2)


def _similarity_information(relations: Relations, known: np.ndarray) -> np.ndarray:
    """Second derivatives of the log-density over place, log size and roll of a frame, (n, 4, 4)."""
    mean = relations.mean
    jacobian = np.zeros((len(mean), 2, 4))
    jacobian[:, 0, 0] = jacobian[:, 1, 1] = 1
    jacobian[:, :, 2] = mean
    jacobian[:, 0, 3], jacobian[:, 1, 3] = -mean[:, 1], mean[:, 0]
    out = np.zeros((len(known), 4, 4))
    for k, parent in enumerate(relations.parent.tolist()):
        inverse = np.linalg.inv(relations.covariance[k])
        alone = jacobian[k].T @ inverse @ jacobian[k]
        both = alone
        if parent >= 0:
            left = jacobian[k] - relations.slope[k] @ jacobian[parent]
            both = left.T @ inverse @ left
        has_parent = known[:, parent] if parent >= 0 else np.zeros(len(known), bool)
        out += known[:, k, None, None] * np.where(has_parent[:, None, None], both, alone)
    return out


def _rigid_information(
    poses: np.ndarray, shape: RigidShape, known: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """The same over place, log size, yaw, pitch and roll, (n, 6, 6), by differences."""
    size = np.exp(poses[:, LOG_SIZE])[:, None, None]
    steps = []
    for number in range(6):
        step = np.zeros((1, 6))
        step[0, number] = 1e-4
        scale = size[..., 0] if number < 2 else 1.0
        after, before = (
            project(poses + step * scale, shape.points),
            project(poses - step * scale, shape.points),
        )
        steps.append((after - before) / (2e-4 * size))
    jacobian = np.stack(steps, axis=-1) * known[..., None, None]
    out = np.einsum("nkda,nkdb,k->nab", jacobian, jacobian, 1 / shape.spread**2)
    out[:, 3:5, 3:5] += np.linalg.inv(covariance)
    return out


def _laplace(information: np.ndarray) -> np.ndarray:
    """Logarithm of the volume around the best pose."""
    n = information.shape[-1]
    regular = information + 1e-6 * np.eye(n)
    return 0.5 * n * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(regular)[1]
