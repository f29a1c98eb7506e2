"""What all passes over the photos of a training run share: the photos, their targets, what is held out.

Where objects are turned every way the photos are views of the photos (views.py).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ....features.errors import DataError, ParameterError
from ....features.threads import in_threads
from ...cluster.context import current_client
from ...cluster.tasks import ClusterTasks
from ..angles import UPRIGHT
from ..detector import PyramidConfig
from .config import TrainingConfig
from .orientation import orientations
from .sides import mirror_order
from .targets import AnnotatedPhoto, KeypointTargets, keypoint_targets
from .views import views_of

Report = Callable[[str, int, int], None]
"""Told (phase, done, total) as a run goes on."""

PHOTOS_A_TASK = 4
"""Of a worker of a cluster; no result depends on it."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class TrainingPhoto:
    """A photo as passes over photos are given it.

    Attributes
    ----------
    number : int
    photo : AnnotatedPhoto
    targets : list of KeypointTargets
        One a keypoint.
    """

    number: int
    photo: AnnotatedPhoto
    targets: list[KeypointTargets]


PhotoFunction = Callable[..., T]
"""(photo : TrainingPhoto, levels, *arguments) -> anything. It can be pickled: a class, not a closure."""


class TrainingPhotos:
    """The photos of a run, or views of them, and passes over them.

    Parameters
    ----------
    photos : sequence of AnnotatedPhoto
        With the sizes of their objects set.
    keypoints : dict of str to int
        Column of each keypoint in the annotation.
    config : TrainingConfig
    report : callable
        Told (phase, done, total).

    Attributes
    ----------
    photos : sequence of AnnotatedPhoto
        Or of views.
    sources : sequence of AnnotatedPhoto
        The photos themselves, never views.
    angles : tuple of float
        At which photos have to be scanned, in degrees.
    targets : list of list of KeypointTargets
        Of each photo and keypoint.
    held_out, training : ndarray of shape (n,), int64
        Numbers of photos.
    problems : dict of int to str
        Of photos that could not be used.
    tasks : ClusterTasks or None
        The workers of a cluster, if the run has one.
    """

    def __init__(
        self,
        photos: Sequence[AnnotatedPhoto],
        keypoints: dict[str, int],
        config: TrainingConfig,
        report: Report,
    ) -> None:
        if not keypoints:
            raise ParameterError("at least one keypoint is needed")
        self.keypoints = keypoints
        self.config = config
        self.report = report
        self.problems: dict[int, str] = {}
        turned = orientations(photos)
        self.angles = turned.angles if config.angles is None else config.angles
        self.sources = photos
        self.photos: Sequence[AnnotatedPhoto] = photos
        source = np.arange(len(photos))
        if self.angles != UPRIGHT:
            views = views_of(photos, turned, self._mirrored_columns(), config.seed)
            self.photos, source = views, np.array([view.source for view in views])
        client = current_client()
        self.tasks = None if client is None else ClusterTasks(client)
        self._sent: PhotoBatches | None = None  # to the workers, who keep it for the next call
        margin = config.targets.negative_distance
        self.targets = [[keypoint_targets(p, j, margin) for j in keypoints.values()] for p in self.photos]
        drawn = np.random.default_rng([config.seed, 0]).permutation(len(photos))
        held_out = np.isin(source, drawn[: round(config.validation * len(photos))])
        self.held_out, self.training = np.flatnonzero(held_out), np.flatnonzero(~held_out)

    @property
    def columns(self) -> list[int]:
        """The keypoints' columns in the annotation."""
        return list(self.keypoints.values())

    def each(
        self,
        indices: np.ndarray,
        phase: str,
        function: PhotoFunction[T],
        before: int = 0,
        total: int | None = None,
        arguments: tuple = (),
    ) -> Iterator[tuple[int, T]]:
        """Yield each photo that can be used with what a function makes of its levels, in their order.

        The function is called in several threads, or on the workers of a cluster. The other photos are
        remembered as problems. `before` photos of the phase are done already, `total` is how many it looks
        at if it is more than these.
        """
        total = len(indices) if total is None else total
        self.report(phase, before, total)
        photos = [TrainingPhoto(i, self.photos[i], self.targets[i]) for i in indices.tolist()]
        results = self._results(photos, function, arguments)
        for done, (i, result) in enumerate(zip(indices.tolist(), results, strict=True)):
            self.report(phase, before + done + 1, total)
            if isinstance(result, DataError):
                self.problems[i] = f"{self.photos[i].name}: {result}"
            else:
                yield i, result

    def _results(
        self, photos: list[TrainingPhoto], function: PhotoFunction[T], arguments: tuple
    ) -> Iterator[T | DataError]:
        pyramid = self.config.pyramid
        if self.tasks is None:
            yield from _look_at_each(photos, function, pyramid, *arguments)
            return
        batches = [photos[i : i + PHOTOS_A_TASK] for i in range(0, len(photos), PHOTOS_A_TASK)]
        if self._sent is None or self._sent.function is not function:
            self._sent = PhotoBatches(function)
        for found in self.tasks.map(self._sent, batches, pyramid, *arguments):
            yield from found

    def fingerprint(self) -> str:
        """A hash of the annotation."""
        digest = hashlib.sha256()
        for photo, targets in zip(self.photos, self.targets, strict=True):
            digest.update(photo.name.encode())
            for target in targets:
                for array in (target.points, target.visible, target.sizes, target.ignore):
                    digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def _mirrored_columns(self) -> list[int] | None:
        """Which column of the annotation each one is in a mirror; None where no keypoint has a side."""
        order = mirror_order(list(self.keypoints))
        if order is None or order == sorted(order):
            return None
        columns = self.columns
        mirrored = list(range(self.photos[0].points.shape[1]))
        for column, partner in zip(columns, order, strict=True):
            mirrored[column] = columns[partner]
        return mirrored


@dataclass(frozen=True)
class PhotoBatches:
    """What a worker is given for a pass over photos."""

    function: PhotoFunction

    def __call__(self, photos: list[TrainingPhoto], pyramid: PyramidConfig, *arguments) -> list:
        return list(_look_at_each(photos, self.function, pyramid, *arguments))


def _look_at_each(
    photos: list[TrainingPhoto], function: PhotoFunction[T], pyramid: PyramidConfig, *arguments
) -> Iterator[T | DataError]:
    """Yield what a function makes of each photo, or why the photo cannot be used."""

    def call(photo: TrainingPhoto) -> T | DataError:
        try:
            levels = pyramid.levels(photo.photo.read())
        except DataError as error:
            return error
        return function(photo, levels, *arguments)

    return in_threads(call, photos)
