"""Training examples: positives, random negatives, and the hardest negatives of all photos (section 3.3).

An example is kept as the pixels of its window, with a key that says where it came from: photo, level,
row and column. A photo is read and its pyramid built once for all keypoints.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...features.pyramid import Level
from ...features.windows import PATCH_PX, cut_windows
from .classifier import KeypointClassifier
from .detector import scanned_bands
from .scan import score_map
from .targets import KeypointTargets, TargetRule, negative_mask, positive_windows

KEY_COLUMNS = 4
_BUFFER_FACTOR = 2  # the collector is trimmed when it holds this many times what it has to


@dataclass(frozen=True, eq=False)
class Examples:
    """Windows and where they came from.

    Attributes
    ----------
    patches : ndarray of shape (n, 26, 26, 3), uint8
    keys : ndarray of shape (n, 4), int32
        Photo, level, row, column.
    """

    patches: np.ndarray
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: slice | np.ndarray) -> "Examples":
        return Examples(self.patches[index], self.keys[index])


def no_examples() -> Examples:
    """Return an empty set."""
    return Examples(
        np.empty((0, PATCH_PX, PATCH_PX, 3), dtype=np.uint8), np.empty((0, KEY_COLUMNS), dtype=np.int32)
    )


def join_examples(parts: Sequence[Examples]) -> Examples:
    """Return all examples of several sets, in their order."""
    parts = [no_examples(), *parts]
    return Examples(np.concatenate([p.patches for p in parts]), np.concatenate([p.keys for p in parts]))


def cut_examples(photo: int, index: int, level: Level, places: np.ndarray) -> Examples:
    """Cut windows centred on `places`, (n, 2) (row, col), out of level number `index` of a photo."""
    if len(places) == 0:
        return no_examples()
    keys = np.empty((len(places), KEY_COLUMNS), dtype=np.int32)
    keys[:, :2] = photo, index
    keys[:, 2:] = places
    return Examples(cut_windows(level.image, places[:, 0], places[:, 1]), keys)


def positives_of_photo(
    photo: int, levels: Sequence[Level], targets: KeypointTargets, rule: TargetRule
) -> Examples:
    """Cut the positives of one keypoint out of a photo."""
    parts = []
    for index, level in enumerate(levels):
        parts.append(cut_examples(photo, index, level, positive_windows(targets, rule, level)))
    return join_examples(parts)


def random_negatives_of_photo(
    photo: int,
    levels: Sequence[Level],
    targets: KeypointTargets,
    rule: TargetRule,
    n: int,
    rng: np.random.Generator,
) -> Examples:
    """Cut `n` negatives out of a photo (fewer if it has fewer), each window as likely as any other."""
    masks = [negative_mask(targets, rule, level) for level in levels]
    free = [np.flatnonzero(mask) for mask in masks]
    ends = np.cumsum([len(places) for places in free])
    chosen = np.sort(rng.choice(ends[-1], size=min(n, int(ends[-1])), replace=False))
    parts = []
    for index, (level, mask) in enumerate(zip(levels, masks, strict=True)):
        first = ends[index] - len(free[index])
        of_level = chosen[(chosen >= first) & (chosen < ends[index])] - first
        parts.append(cut_examples(photo, index, level, _places(free[index][of_level], mask.shape[1])))
    return join_examples(parts)


class HardestNegatives:
    """Collects the `n_wanted` highest scoring negatives, whatever the order in which they are met.

    Equal scores go to the smaller key.

    Parameters
    ----------
    n_wanted : int
    floor : float
        Negatives that score less are never wanted: beyond the margin they have no part in the loss.
    known : ndarray of shape (n, 4), int32
        Keys of the negatives that are examples already.
    """

    def __init__(self, n_wanted: int, floor: float, known: np.ndarray) -> None:
        self.n_wanted = n_wanted
        self.floor = np.float32(floor)
        self._known = np.sort(_packed(known))
        self._examples = [no_examples()]
        self._scores = [np.empty(0, dtype=np.float32)]
        self._n_held = 0

    def wanted(
        self, photo: int, index: int, first_row: int, scores: np.ndarray, mask: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which windows of a band of a level may be among the hardest.

        Parameters
        ----------
        photo, index, first_row : int
            The photo, the level, and the level's row that the band begins with.
        scores, mask : ndarray of shape (h, w)
            Scores, and which windows are negatives.

        Returns
        -------
        places : ndarray of shape (n, 2), int64
            (row, col) on the level.
        scores : ndarray of shape (n,), float32
        """
        flat = np.flatnonzero(mask & (scores >= self.floor))
        places = _places(flat, mask.shape[1])
        places[:, 0] += first_row
        keys = np.empty((len(places), KEY_COLUMNS), dtype=np.int32)
        keys[:, :2] = photo, index
        keys[:, 2:] = places
        new = ~_found_in(self._known, _packed(keys))
        return places[new], scores.ravel()[flat[new]]

    def add(self, examples: Examples, scores: np.ndarray) -> None:
        """Take candidates in; raises the floor once there are more than enough."""
        self._examples.append(examples)
        self._scores.append(scores)
        self._n_held += len(examples)
        if self._n_held > _BUFFER_FACTOR * self.n_wanted:
            self._trim()

    def result(self) -> tuple[Examples, np.ndarray]:
        """Return the hardest negatives and their scores, hardest first."""
        self._trim()
        return self._examples[0], self._scores[0]

    def _trim(self) -> None:
        scores = np.concatenate(self._scores)
        keys = np.concatenate([part.keys for part in self._examples])
        order = np.lexsort((*keys.T[::-1], -scores))[: self.n_wanted]
        patches = np.concatenate([part.patches for part in self._examples])
        self._examples = [Examples(patches[order], keys[order])]
        self._scores = [scores[order]]
        self._n_held = len(order)
        if len(order) == self.n_wanted and self.n_wanted > 0:
            self.floor = scores[order[-1]]


def _places(flat: np.ndarray, width: int) -> np.ndarray:
    """(row, col) of flat indices, (n, 2) int64."""
    return np.stack(np.divmod(flat, width), axis=1)


def _found_in(ascending: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which values are in an array that is sorted already; a band has few, the array many."""
    places = np.searchsorted(ascending, values)
    found = places < len(ascending)
    found[found] = ascending[places[found]] == values[found]
    return found


def _packed(keys: np.ndarray) -> np.ndarray:
    """Keys as single numbers that sort like them: 20 bits photo, 8 level, 18 row, 18 column."""
    photo, level, row, col = keys.astype(np.uint64).T
    return photo << np.uint64(44) | level << np.uint64(36) | row << np.uint64(18) | col


def mine_photo(
    photo: int,
    levels: Sequence[Level],
    rule: TargetRule,
    classifiers: Sequence[KeypointClassifier],
    targets: Sequence[KeypointTargets],
    collectors: Sequence[HardestNegatives],
) -> int:
    """Scan all negatives of a photo for every keypoint and hand the hard ones to the collectors.

    Returns
    -------
    int
        Windows scanned, those of all keypoints together.
    """
    n_scanned = 0
    masks = [[negative_mask(wanted, rule, level) for level in levels] for wanted in targets]
    for index, maps in scanned_bands(levels, classifiers):
        rows = slice(maps.first_row, maps.first_row + maps.shape[0])
        for classifier, mask, collector in zip(classifiers, masks, collectors, strict=True):
            scores = score_map(maps, classifier, float(collector.floor))
            places, wanted_scores = collector.wanted(photo, index, maps.first_row, scores, mask[index][rows])
            collector.add(cut_examples(photo, index, levels[index], places), wanted_scores)
            n_scanned += scores.size
    return n_scanned
