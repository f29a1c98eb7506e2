"""Photos as training sees them where objects are turned by any angle: turned so that objects stand upright.

A classifier learns one orientation. Each object is shown upright, give or take half a step of the angles that
are scanned later; and in a mirror, where the keypoints' names have sides to swap. Each photo is also shown
turned by any angle: what stands upright there is annotated, what is turned by much more is an example of
what is no upright object, and what lies between is ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ....features.turning import Turn
from ..angles import STEP_DEG
from .orientation import Orientations, mirror_turn
from .targets import AnnotatedPhoto

N_TURNED = 2
"""Times that each photo is shown turned by any angle."""

_MOST_UPRIGHT = 4  # views in which an object of a photo stands upright, and as many in a mirror
_WRONG_DEG = 1.5 * STEP_DEG


@dataclass(frozen=True, eq=False)
class View:
    """A photo turned, and perhaps in a mirror; an `AnnotatedPhoto` of those objects that stand upright.

    Attributes
    ----------
    photo : AnnotatedPhoto
    source : int
        Number of the photo.
    degrees : float
        The photo is turned anticlockwise by them.
    rolls, all_sizes : ndarray of shape (n_objects,), float64
        Turns and sizes of the photo's objects; see `Orientations`.
    mirror : sequence of int or None
        Which keypoint each one is in the mirror; None for a view that is not in a mirror.
    mirror_turn : float
        By how many degrees an upright object is turned clockwise in the mirror.
    shape : (int, int)
        Height and width of the photo.
    """

    photo: AnnotatedPhoto
    source: int
    degrees: float
    rolls: np.ndarray
    all_sizes: np.ndarray
    mirror: Sequence[int] | None
    mirror_turn: float
    shape: tuple[int, int]

    @property
    def name(self) -> str:
        return self.photo.name

    @property
    def turn(self) -> Turn:
        """From the photo to the view, but for the mirror."""
        return Turn(self.degrees, self.shape)

    @cached_property
    def _off(self) -> np.ndarray:
        """By how many degrees each object is off the upright; beyond what is shown where that is unknown."""
        left = self.rolls - self.degrees
        left = left if self.mirror is None else self.mirror_turn - left
        off = np.abs((left + 180) % 360 - 180)
        return np.where(np.isfinite(off), off, STEP_DEG)

    @cached_property
    def _shown(self) -> np.ndarray:
        """Numbers of the objects that stand upright, or are neither upright nor wrong."""
        return np.flatnonzero(self._off < _WRONG_DEG)

    @cached_property
    def points(self) -> np.ndarray:
        """As in `Photo`, in the view."""
        return self._seen(self.photo.points[self._shown])

    @property
    def visible(self) -> np.ndarray:
        """As in `Photo`."""
        visible = self.photo.visible[self._shown]
        return visible if self.mirror is None else visible[:, self.mirror]

    @property
    def sizes(self) -> np.ndarray:
        """As in `Photo`; unknown for objects that are not upright, so that they are ignored."""
        off = self._off[self._shown]
        return np.where(off <= STEP_DEG / 2 + 1e-6, self.all_sizes[self._shown], np.nan)

    @property
    def boxes(self) -> np.ndarray:
        """As in `Photo`: boxes of the turned boxes."""
        return self._turned_boxes(self.photo.boxes[self._shown])

    @property
    def ignore(self) -> np.ndarray:
        """As in `Photo`: boxes of the turned regions."""
        return self._turned_boxes(self.photo.ignore)

    def read(self) -> np.ndarray:
        """Return the pixels, (H, W, 3) uint8 RGB."""
        image = self.turn.apply(self.photo.read())
        return image if self.mirror is None else np.ascontiguousarray(image[:, ::-1])

    def _seen(self, points: np.ndarray) -> np.ndarray:
        """Points of objects (n_objects, n_keypoints, 2) where the view has them, with their names swapped."""
        points = self.turn.to_turned(points)
        if self.mirror is not None:
            points = points[:, self.mirror].copy()
            points[..., 0] = self.turn.size[0] - 1 - points[..., 0]
        return points

    def _turned_boxes(self, boxes: np.ndarray) -> np.ndarray:
        """Boxes of the four corners of boxes (n, 4)."""
        corners = self.turn.to_turned(boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2))
        if self.mirror is not None:
            corners[..., 0] = self.turn.size[0] - 1 - corners[..., 0]
        return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def views_of(
    photos: Sequence[AnnotatedPhoto],
    turned: Orientations,
    mirror: Sequence[int] | None,
    seed: int,
) -> list[View]:
    """Show photos so that their objects stand upright, and turned by any angle.

    Parameters
    ----------
    photos : sequence of AnnotatedPhoto
        Those that cannot be read are left out.
    turned : Orientations
    mirror : sequence of int or None
        Which column of the annotation each one is in a mirror; None: no mirror.
    seed : int
    """
    in_mirror = 0.0 if mirror is None else mirror_turn(turned.shape, mirror)
    views: list[View] = []
    for i, photo in enumerate(photos):
        rng = np.random.default_rng([seed, 7, i])
        rolls = turned.degrees[i]
        show = partial(
            View,
            photo,
            i,
            rolls=rolls,
            all_sizes=turned.sizes[i],
            mirror_turn=in_mirror,
            shape=photo.read().shape[:2],
        )
        for roll in rolls[np.isfinite(rolls)][:_MOST_UPRIGHT].tolist():
            views.append(show(roll + rng.uniform(-STEP_DEG / 2, STEP_DEG / 2), mirror=None))
            if mirror is not None:
                views.append(show(roll - in_mirror + rng.uniform(-STEP_DEG / 2, STEP_DEG / 2), mirror=mirror))
        views.extend(show(degrees, mirror=None) for degrees in rng.uniform(-180, 180, N_TURNED).tolist())
    return views
