"""Fit the stages that align the keypoints of objects (alignment.py), on annotated objects."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....features.errors import ParameterError
from ....features.pool import PATCH_PX, WindowPool
from ....features.pyramid import Level, gaussian_pyramid
from ....features.threads import in_threads
from ...annealing import Progress
from ...designs.binned import BinnedDesign
from ...losses import SquaredError
from ..objects.alignment import AlignmentStage, from_photo, refit, to_photo, upright_windows
from ..objects.poses import ANGLES, LOG_SIZE, project
from ..objects.shape import RigidShape
from .config_checks import at_least
from .targets import AnnotatedPhoto
from .window_fitting import fit_window_model

FEWEST_OBJECTS = 50
"""Fewer annotated objects than this are no example of how all look."""

_MARGIN = 2.0  # pixels of a portrait around its keypoints, in sizes of the object
_LARGEST = 2.0  # size of the object in a portrait, in sizes of the object in a stage's window
_TASK_PORTRAITS = 32

# Standard deviations of where the first stage starts from, around the annotated pose: place, in parts of
# the size; logarithm of the size; yaw, pitch and roll, in radians; single points, in parts of the size.
_PLACE, _LOG_SIZE, _ANGLES, _POINTS = 0.06, 0.08, (0.15, 0.15, 0.08), 0.02
_TO_MEAN = 0.7  # ... and the angles are drawn nearer to the mean ones by at most this part


@dataclass(frozen=True)
class AlignConfig:
    """How the stages of alignment are fitted.

    Attributes
    ----------
    k : int
        Features selected in each stage; 0: no alignment.
    n_haar : int
        Haar features drawn at random for each window; other channels always take part.
    zooms : tuple of float
        Sizes of the object in the windows of the stages, in parts of its size in those of the classifiers.
    n_starts : int
        Starts drawn for each object, and for its mirror image.
    n_bins, n_iter, mu, n_batches, shrinkage, smoothness
        As in `FitConfig`.
    """

    k: int = 300
    n_haar: int = 2000
    zooms: tuple[float, ...] = (0.7, 1.15, 1.15)
    n_starts: int = 10
    n_bins: int = 10
    n_iter: int = 100
    mu: float = 300.0
    n_batches: int = 8
    shrinkage: float = 0.1
    smoothness: float = 0.01

    def __post_init__(self) -> None:
        at_least("alignment: ", self, k=0, n_haar=0, n_starts=1, n_batches=1)
        if not self.zooms or not all(np.isfinite(zoom) and zoom > 0 for zoom in self.zooms):
            raise ParameterError(f"alignment: zooms must be finite numbers above 0, got {self.zooms}")


@dataclass(frozen=True, eq=False)
class Portrait:
    """The part of a photo around one object.

    Attributes
    ----------
    image : ndarray of shape (H, W, 3), uint8
    points : ndarray of shape (n_keypoints, 2), float64
        x, y in pixels of the image.
    """

    image: np.ndarray
    points: np.ndarray


def portraits_of_photo(
    photo: AnnotatedPhoto, levels: Sequence[Level], columns: Sequence[int], largest_px: float
) -> list[Portrait]:
    """Cut out the objects of a photo whose keypoints are all known, no larger than is needed.

    Parameters
    ----------
    photo : AnnotatedPhoto
        With the sizes of its objects set.
    levels : sequence of Level
    columns : sequence of int
        Keypoints, as columns of the annotation.
    largest_px : float
        Size of the object in the portrait: at most this, unless there is no smaller level.
    """
    known = np.isfinite(photo.points[:, columns]).all(axis=(1, 2)) & np.isfinite(photo.sizes)
    portraits = []
    for points, size in zip(photo.points[known][:, columns], photo.sizes[known], strict=True):
        level = next((level for level in levels if level.scale * size <= largest_px), levels[-1])
        seen = level.from_photo(points)
        room = _MARGIN * size * level.scale
        left, top = low = np.maximum(np.floor(seen.min(axis=0) - room), 0).astype(np.int64)
        right, bottom = np.ceil(seen.max(axis=0) + room).astype(np.int64) + 1
        image = level.image[top:bottom, left:right].copy()
        if min(image.shape[:2]) >= PATCH_PX:
            portraits.append(Portrait(image, seen - low))
    return portraits


def largest_size(config: AlignConfig, object_px: float) -> float:
    """Size of the object that portraits need."""
    return _LARGEST * max(config.zooms) * object_px


def mirrored(portrait: Portrait, order: Sequence[int]) -> Portrait:
    """The portrait in a mirror."""
    points = portrait.points[order].copy()
    points[:, 0] = portrait.image.shape[1] - 1 - points[:, 0]
    return Portrait(portrait.image[:, ::-1], points)


def fit_alignment(
    pool: WindowPool,
    portraits: Sequence[Portrait],
    mirror: Sequence[int] | None,
    shape: RigidShape,
    object_px: float,
    config: AlignConfig,
    seed: int,
    callback: Callable[[int, Progress], None] = lambda stage, progress: None,
) -> tuple[AlignmentStage, ...]:
    """Fit the stages, each on where the one before has moved the keypoints.

    Parameters
    ----------
    pool : WindowPool
        Features of one window; each stage chooses among those of all keypoints' windows.
    portraits : sequence of Portrait
    mirror : sequence of int or None
        Which keypoint each one is in a mirror (`mirror_order`); None: portraits are not mirrored.
    shape : RigidShape
    object_px : float
        Size of the object in the windows of the classifiers.
    config : AlignConfig
    seed : int
    callback : callable
        Called with the number of the stage after each iteration of its annealing.

    Returns
    -------
    tuple of AlignmentStage
        Empty for fewer than fifty portraits.
    """
    if len(portraits) < FEWEST_OBJECTS:
        return ()
    if mirror is not None:
        portraits = [*portraits, *(mirrored(portrait, mirror) for portrait in portraits)]
    truth = np.repeat(np.stack([portrait.points for portrait in portraits]), config.n_starts, axis=0)
    rng = np.random.default_rng([seed, 6])
    points = _draw_starts(truth, shape, rng)
    poses = refit(rough_poses(points, shape), points, shape)
    shuffled = rng.permutation(len(truth))
    stages = []
    for number, zoom in enumerate(config.zooms):
        patches = _cut_all(portraits, poses, points, zoom * object_px)
        targets = from_photo(truth - points, poses)

        def report(progress: Progress, number: int = number) -> None:
            callback(number, progress)

        stage = _fit_stage(pool, patches[:, shuffled], targets[shuffled], zoom * object_px, config, report)
        points = points + to_photo(stage.offsets(patches), poses)
        poses = refit(poses, points, shape)
        stages.append(stage)
    return tuple(stages)


def rough_poses(points: np.ndarray, shape: RigidShape) -> np.ndarray:
    """Poses of the mean rotation, at the place and size of the points (n, n_keypoints, 2)."""
    poses = np.zeros((len(points), 6))
    poses[:, ANGLES] = shape.prior.mean
    poses[:, :2] = points.mean(axis=1)
    extent = np.sqrt(np.sum((points - points.mean(axis=1, keepdims=True)) ** 2, axis=(1, 2)))
    poses[:, LOG_SIZE] = np.log(extent / np.sqrt(np.sum(shape.points[:, :2] ** 2)))
    return poses


def _draw_starts(truth: np.ndarray, shape: RigidShape, rng: np.random.Generator) -> np.ndarray:
    """Where a detector might see the keypoints: the shape in poses near the annotated one."""
    poses = refit(rough_poses(truth, shape), truth, shape)
    n, size = len(poses), np.exp(poses[:, LOG_SIZE])[:, None]
    towards_mean = rng.uniform(0, _TO_MEAN, (n, 1))
    poses[:, ANGLES] += towards_mean * (shape.prior.mean - poses[:, ANGLES])
    poses[:, ANGLES] += rng.normal(0, _ANGLES, (n, 3))
    poses[:, :2] += rng.normal(0, _PLACE, (n, 2)) * size
    poses[:, LOG_SIZE] += rng.normal(0, _LOG_SIZE, n)
    return project(poses, shape.points) + rng.normal(0, _POINTS, truth.shape) * size[..., None]


def _cut_all(
    portraits: Sequence[Portrait], poses: np.ndarray, points: np.ndarray, object_px: float
) -> np.ndarray:
    """Windows of all starts of all portraits, (n_keypoints, n, 26, 26, 3); starts of one follow another."""
    n_starts = len(points) // len(portraits)
    patches = np.empty((points.shape[1], len(points), PATCH_PX, PATCH_PX, 3), dtype=np.uint8)

    def cut(task: range) -> None:
        for i in task:
            levels = gaussian_pyramid(np.ascontiguousarray(portraits[i].image))
            starts = slice(i * n_starts, (i + 1) * n_starts)
            patches[:, starts] = upright_windows(poses[starts], points[starts], levels, object_px)

    for _ in in_threads(cut, _ranges(len(portraits), _TASK_PORTRAITS)):
        pass
    return patches


def _ranges(n: int, size: int) -> Iterator[range]:
    for first in range(0, n, size):
        yield range(first, min(first + size, n))


def _fit_stage(
    pool: WindowPool,
    patches: np.ndarray,
    targets: np.ndarray,
    object_px: float,
    config: AlignConfig,
    callback: Callable[[Progress], None],
) -> AlignmentStage:
    """Select k features of all windows and fit their responses, by least squares."""
    n_windows, n = patches.shape[:2]
    m = len(pool)
    low, high = (np.concatenate(ends) for ends in zip(*map(pool.ranges, patches), strict=True))
    codes = np.empty((n_windows * m, n), dtype=np.uint8)
    for window in range(n_windows):
        part = slice(window * m, (window + 1) * m)
        pool.codes(patches[window], low[part], high[part], out=codes[part])
    design = BinnedDesign(codes, config.n_bins)
    unit = max(float(np.sqrt(np.mean(targets**2))), 1e-12)
    model, result = fit_window_model(
        design,
        pool[np.tile(np.arange(m), n_windows)],
        (low, high),
        SquaredError(targets.reshape(n, -1).T / unit),
        config,
        batch_size=-(-n // config.n_batches),
        unit=unit,
        callback=callback,
    )
    return AlignmentStage(object_px, result.kept // m, model)
