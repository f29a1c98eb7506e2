"""Find the keypoints in a frame: candidates of each from coarse to fine, then those that go together best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from ....features.maps import LevelMaps
from ..scan import respond_at
from ..window_model import WindowModel
from .canvas import Canvas
from .model import Part, PartModel
from .relations import FARTHEST, NO_PARENT

MOST_CANDIDATES = 12
"""Places of a keypoint that are followed from one zoom to the next."""

APART_PX = 2.0
"""How far apart they lie, in pixels of a zoom."""

REACH_PX = 1
"""Pixels of a zoom around the place that the coarser one saw that are looked at."""

UNSEEN = -3.0
"""Log-odds of a keypoint where the others predict it, though nothing is seen there."""

_VOTE_REACH = 1

_spare_maps: list[LevelMaps] = []  # whose memory the next may take; fresh memory costs more than maps


@dataclass(frozen=True, eq=False)
class Candidates:
    """Places where a keypoint may be.

    Attributes
    ----------
    points : ndarray of shape (n, 2), float64
        x, y in the frame.
    pixels : ndarray of shape (n, 2), int64
        x, y of the finest image.
    sums : ndarray of shape (n, n_zooms), float64
        Of each zoom.
    """

    points: np.ndarray
    pixels: np.ndarray
    sums: np.ndarray

    def __getitem__(self, index: np.ndarray) -> "Candidates":
        return Candidates(self.points[index], self.pixels[index], self.sums[index])


@dataclass(frozen=True, eq=False)
class FoundParts:
    """Keypoints of one frame.

    Attributes
    ----------
    points : ndarray of shape (n_keypoints, 2), float64
        x, y in the frame.
    terms : ndarray of shape (n_keypoints, 4), float64
        What log-odds and errors are weighted sums of; see `PartModel`.
    score : float
        Of all together: log-odds of the candidates, less for unusual places.
    """

    points: np.ndarray
    terms: np.ndarray
    score: float


class ZoomMaps:
    """Maps of a canvas's images, made when they are asked for."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self._maps: dict[int, LevelMaps] = {}

    def respond(self, zoom: int, model: WindowModel, pixels: np.ndarray) -> np.ndarray:
        """Sums of a model at pixels x, y (n, 2) of an image, (n_outputs, n) float32."""
        if zoom not in self._maps:
            reuse = _spare_maps.pop() if _spare_maps else None
            self._maps[zoom] = LevelMaps(self.canvas.images[zoom], reuse=reuse)
        return respond_at(self._maps[zoom], model, pixels[:, 1], pixels[:, 0])

    def release(self) -> None:
        """Let others have the memory; nothing is asked for any more."""
        _spare_maps.extend(self._maps.values())
        self._maps.clear()


def zone_pixels(canvas: Canvas, zone: np.ndarray, zoom: int) -> np.ndarray:
    """All pixels x, y of an image that lie in a zone of the frame, (n, 2) int64; at least one."""
    height, width = canvas.images[zoom].shape[:2]
    ends = canvas.from_frame(zone.reshape(2, 2), zoom)
    low = np.clip(np.floor(ends[0]).astype(int), 0, [width - 1, height - 1])
    high = np.clip(np.ceil(ends[1]).astype(int), low, [width - 1, height - 1])
    x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
    return np.stack([x.ravel(), y.ravel()], axis=1)


def find_candidates(maps: ZoomMaps, part: Part) -> Candidates:
    """Places of a keypoint, from the coarsest zoom to the finest; best first."""
    canvas = maps.canvas
    pixels = zone_pixels(canvas, part.zone, 0)
    sums = np.empty((len(pixels), 0))
    for zoom, model in enumerate(part.zooms):
        if zoom:
            pixels, sums = finer_pixels(canvas, pixels, sums, zoom)
        here = maps.respond(zoom, model, pixels)[0].astype(np.float64)
        sums = np.column_stack([sums, here])
        kept = apart(pixels, sums.sum(axis=1))
        pixels, sums = pixels[kept], sums[kept]
    return Candidates(canvas.to_frame(pixels, len(part.zooms) - 1), pixels, sums)


def finer_pixels(
    canvas: Canvas, pixels: np.ndarray, sums: np.ndarray, zoom: int
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of a zoom around places that the coarser one saw, and the sums of the coarser ones there.

    The places come best first: where their surroundings overlap, the better one's sums count.
    """
    height, width = canvas.images[zoom].shape[:2]
    finer, source = _surroundings(pixels, height, width)
    return finer, sums[source]


@njit(cache=True, nogil=True)
def _surroundings(pixels, height, width):
    """Each pixel around places of the zoom before, once, and the number of the first place it belongs to."""
    taken = np.zeros((height, width), dtype=np.bool_)
    side = 2 * REACH_PX + 2
    finer = np.empty((len(pixels) * side * side, 2), dtype=np.int64)
    source = np.empty(len(finer), dtype=np.int64)
    n = 0
    for i in range(len(pixels)):
        for y in range(2 * pixels[i, 1] - REACH_PX, 2 * pixels[i, 1] + REACH_PX + 2):
            for x in range(2 * pixels[i, 0] - REACH_PX, 2 * pixels[i, 0] + REACH_PX + 2):
                if 0 <= y < height and 0 <= x < width and not taken[y, x]:
                    taken[y, x] = True
                    finer[n, 0], finer[n, 1], source[n] = x, y, i
                    n += 1
    return finer[:n], source[:n]


def apart(pixels: np.ndarray, totals: np.ndarray, most: int = MOST_CANDIDATES) -> np.ndarray:
    """Indices of the best places, best first, none near a better one."""
    return _apart(pixels, np.argsort(-totals, kind="stable"), most)


@njit(cache=True, nogil=True)
def _apart(pixels, order, most):
    kept = np.empty(min(most, len(order)), dtype=np.int64)
    n = 0
    for i in order:
        free = True
        for t in range(n):
            x, y = pixels[i, 0] - pixels[kept[t], 0], pixels[i, 1] - pixels[kept[t], 1]
            if max(abs(x), abs(y)) <= APART_PX:
                free = False
                break
        if free:
            kept[n] = i
            n += 1
            if n == len(kept):
                break
    return kept[:n]


def find_parts(canvas: Canvas, model: PartModel, usual: np.ndarray | None = None) -> FoundParts:
    """Find all keypoints of a frame.

    Parameters
    ----------
    canvas : Canvas
    model : PartModel
    usual : ndarray of shape (n_keypoints, 2), float64, optional
        Where they were a moment ago.
    """
    maps = ZoomMaps(canvas)
    found = [find_candidates(maps, part) for part in model.parts]
    odds = [model.weights[k, 0] + c.sums @ model.weights[k, 1:] for k, c in enumerate(found)]
    choice, points, score = choose(found, odds, model)
    terms = np.zeros((len(found), 4))
    terms[:, 0] = 1.0
    for k, number in enumerate(choice):
        if number is None:
            terms[k, 1] = UNSEEN
            continue
        points[k], spread = _voted(maps, model.parts[k].offset, found[k].pixels[number])
        terms[k, 1], terms[k, 3] = odds[k][number], spread
    for k in range(len(found)):
        terms[k, 2] = _unusual(k, points, model)
    maps.release()
    return FoundParts(points, terms, score)


def _unusual(k: int, points: np.ndarray, model: PartModel) -> float:
    """Squared distance, bounded, of a keypoint from where its parent predicts it."""
    relations = model.relations
    parent = relations.parent[k]
    offset = points[k] - relations.predicted(k, points[parent][None])[0]
    return min(float(relations.squared(k, offset)), FARTHEST)


def choose(
    found: Sequence[Candidates], odds: Sequence[np.ndarray], model: PartModel
) -> tuple[list[int | None], np.ndarray, float]:
    """The candidates that are best together along the tree (max-product), and None where there is none.

    Each keypoint may also lie just where its parent predicts it, unseen.

    Returns
    -------
    choice : list of int or None
    points : ndarray of shape (n_keypoints, 2), float64
    score : float
    """
    relations = model.relations
    order = relations.order
    places: list[np.ndarray] = [np.empty((0, 2))] * len(found)
    own: list[np.ndarray] = [np.empty(0)] * len(found)
    for k in order:
        parents = places[relations.parent[k]] if relations.parent[k] != NO_PARENT else np.zeros((1, 2))
        unseen = relations.predicted(k, parents)[:MOST_CANDIDATES]
        places[k] = np.concatenate([found[k].points, unseen])
        own[k] = np.concatenate([odds[k], np.full(len(unseen), UNSEEN)])
    best_child: dict[int, np.ndarray] = {}
    total = [values.copy() for values in own]
    score = 0.0
    for k in order[::-1]:
        parent = int(relations.parent[k])
        if parent == NO_PARENT:
            offsets = places[k] - relations.mean[k]
            total[k] = total[k] - 0.5 * np.minimum(relations.squared(k, offsets), FARTHEST)
            best_child[k] = np.array([total[k].argmax()])
            score += float(total[k].max())
            continue
        offsets = places[k][None] - relations.predicted(k, places[parent])[:, None]
        value = total[k][None] - 0.5 * np.minimum(relations.squared(k, offsets), FARTHEST)
        best_child[k] = value.argmax(axis=1)
        total[parent] = total[parent] + value.max(axis=1)
    choice: list[int | None] = [None] * len(found)
    numbers = np.zeros(len(found), dtype=np.int64)
    points = np.empty((len(found), 2))
    for k in order:
        parent = int(relations.parent[k])
        numbers[k] = best_child[k][0 if parent == NO_PARENT else numbers[parent]]
        points[k] = places[k][numbers[k]]
        choice[k] = int(numbers[k]) if numbers[k] < len(found[k].points) else None
    return choice, points, score


def _voted(maps: ZoomMaps, offset: WindowModel, pixel: np.ndarray) -> tuple[np.ndarray, float]:
    """Median of where the windows around a pixel of the finest image see the keypoint, and their spread.

    The place is in the frame, the spread in pixels.
    """
    canvas = maps.canvas
    finest = len(canvas.images) - 1
    height, width = canvas.images[finest].shape[:2]
    around = np.arange(-_VOTE_REACH, _VOTE_REACH + 1)
    steps = np.stack(np.meshgrid(around, around), axis=-1).reshape(-1, 2)
    middle = pixel.astype(np.float64)
    for _ in range(2):
        pixels = np.clip(np.rint(middle).astype(np.int64) + steps, 0, [width - 1, height - 1])
        votes = pixels + maps.respond(finest, offset, pixels).T
        middle = np.median(votes, axis=0)
    spread = float(np.sqrt(np.mean(np.sum((votes - middle) ** 2, axis=1))))
    return canvas.to_frame(middle, finest), spread
