"""Training examples: positives, random negatives, and the hardest negatives of all photos (section 3.3).

An example is kept as the pixels of its window, with a key that says where it came from: photo, level,
row and column. A photo is read and its pyramid built once for all keypoints.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....features.pool import PATCH_PX, cut_windows
from ....features.pyramid import Level
from ..keypoint_classifier import KeypointClassifier
from ..scan import FoundWindows, scan_photo
from .targets import KeypointTargets, TargetConfig, are_negatives, positive_windows

KEY_COLUMNS = 4
_DRAWN_PER_WANTED = 4  # windows drawn for one random negative, as some are none
_SPARE, _LEAST_SPARE = 2.0, 2000  # how many more of the photos so far may be hard than of all photos


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
    """Cut windows centred on the pixels `places`, (n, 2) x and y, out of level number `index` of a photo."""
    if len(places) == 0:
        return no_examples()
    keys = np.empty((len(places), KEY_COLUMNS), dtype=np.int32)
    cols, rows = places.T
    keys[:, :2], keys[:, 2], keys[:, 3] = (photo, index), rows, cols
    return Examples(cut_windows(level.image, rows, cols), keys)


def positives_of_photo(
    photo: int, levels: Sequence[Level], targets: KeypointTargets, config: TargetConfig
) -> Examples:
    """Cut the positives of one keypoint out of a photo."""
    parts = []
    for index, level in enumerate(levels):
        parts.append(cut_examples(photo, index, level, positive_windows(targets, config, level)))
    return join_examples(parts)


def random_negatives_of_photo(
    photo: int,
    levels: Sequence[Level],
    targets: KeypointTargets,
    config: TargetConfig,
    n: int,
    rng: np.random.Generator,
) -> Examples:
    """Cut `n` negatives out of a photo (fewer if it has fewer), each window as likely as any other."""
    ends = np.cumsum([level.image[..., 0].size for level in levels])
    total = int(ends[-1])
    for n_drawn in (min(_DRAWN_PER_WANTED * n, total), total):
        drawn = rng.choice(total, size=n_drawn, replace=False)
        index = np.searchsorted(ends, drawn, side="right")
        allowed = np.zeros(n_drawn, dtype=bool)
        places = np.empty((n_drawn, 2), dtype=np.int64)
        for i, level in enumerate(levels):
            here = index == i
            first = ends[i] - level.image[..., 0].size
            rows, cols = np.divmod(drawn[here] - first, level.image.shape[1])
            places[here] = np.stack([cols, rows], axis=1)
            allowed[here] = are_negatives(targets, config, level, places[here])
        if allowed.sum() >= n:
            break
    chosen = np.sort(np.flatnonzero(allowed)[:n])
    chosen = chosen[np.argsort(drawn[chosen])]
    parts = [
        cut_examples(photo, i, level, places[chosen[index[chosen] == i]]) for i, level in enumerate(levels)
    ]
    return join_examples(parts)


@dataclass(frozen=True, eq=False)
class WantedNegatives:
    """Which negatives a collector would take; it travels, the collector stays.

    Attributes
    ----------
    n_wanted : int
        Most of a photo.
    known : ndarray of uint64, ascending
        Packed keys of the negatives that are examples already.
    """

    n_wanted: int
    known: np.ndarray

    def are_new(self, keys: np.ndarray) -> np.ndarray:
        """Return which negatives, (n, 4) keys, are not examples already, (n,) bool."""
        return ~_found_in(self.known, _packed(keys))


class HardestNegatives:
    """Collects the `n_wanted` highest scoring negatives, whatever the order in which they are met.

    Equal scores go to the smaller key.

    Parameters
    ----------
    n_wanted : int
    floor : float
        Negatives that score less are never wanted: beyond the margin they have no part in the loss.
        It rises as negatives are met.
    known : ndarray of shape (n, 4), int32
        Keys of the negatives that are examples already.

    Attributes
    ----------
    floor : float32
    wanted : WantedNegatives
    """

    def __init__(self, n_wanted: int, floor: float, known: np.ndarray) -> None:
        self.n_wanted = n_wanted
        self.floor = np.float32(floor)
        self.wanted = WantedNegatives(n_wanted, np.sort(_packed(known)))
        self._examples = no_examples()
        self._scores = np.empty(0, dtype=np.float32)

    def add(self, examples: Examples, scores: np.ndarray, share: float = 1.0) -> None:
        """Take candidates in, and raise the floor once there are enough.

        Parameters
        ----------
        examples : Examples
        scores : ndarray of shape (n,), float32
        share : float
            Share of all photos that has been looked at with these. If they come in random order, the
            hardest of all are very likely among the `_SPARE` times as many hardest so far as that
            share of the wanted.
        """
        scores = np.concatenate([self._scores, scores])
        joined = join_examples([self._examples, examples])
        order = np.lexsort((*joined.keys.T[::-1], -scores))[: self.n_wanted]
        self._examples, self._scores = joined[order], scores[order]
        enough = min(self.n_wanted, int(_SPARE * share * self.n_wanted) + _LEAST_SPARE)
        if len(order) >= enough:
            self.floor = max(self.floor, self._scores[enough - 1])

    def result(self) -> tuple[Examples, np.ndarray]:
        """Return the hardest negatives and their scores, hardest first."""
        return self._examples, self._scores


def _found_in(ascending: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which values are in an array that is sorted already; few are looked for, it has many."""
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
    config: TargetConfig,
    classifiers: Sequence[KeypointClassifier],
    targets: Sequence[KeypointTargets],
    wanted: Sequence[WantedNegatives],
    floors: Sequence[float],
    spacing_px: int = 1,
) -> list[tuple[Examples, np.ndarray]]:
    """Scan a photo for the negatives that the collectors would take; changes nothing.

    Parameters
    ----------
    photo : int
    levels, config, classifiers, targets, wanted
        The photo's; one target, and what one collector wants, a classifier.
    floors : sequence of float
        Of the collectors, one a classifier.
    spacing_px : int
        Of the windows in a square of so many pixels of a level only the hardest is taken. Neighbours
        are nearly the same window; without them as many negatives show more of what can go wrong.

    Returns
    -------
    list of (examples, scores)
        One per classifier: new negatives that reach its floor.
    """
    found = scan_photo(levels, classifiers, floors, parallel=False)
    return [
        _new_negatives(photo, levels, config, windows, targets_of_one, wanted_of_one, spacing_px)
        for windows, targets_of_one, wanted_of_one in zip(found, targets, wanted, strict=True)
    ]


def _new_negatives(
    photo: int,
    levels: Sequence[Level],
    config: TargetConfig,
    windows: FoundWindows,
    targets: KeypointTargets,
    wanted: WantedNegatives,
    spacing_px: int,
) -> tuple[Examples, np.ndarray]:
    """The found windows that are negatives and no examples yet, the hardest of them if there are many."""
    keys = np.stack([np.full(len(windows), photo), windows.level, windows.row, windows.col], axis=1)
    places = np.stack([windows.col, windows.row], axis=1)
    allowed = wanted.are_new(keys)
    for index in np.unique(windows.level).tolist():
        here = windows.level == index
        allowed[here] &= are_negatives(targets, config, levels[index], places[here])
    chosen = np.flatnonzero(allowed)
    chosen = chosen[np.argsort(-windows.score[chosen], kind="stable")]
    squares = np.column_stack([windows.level[chosen], places[chosen] // spacing_px])
    _, first = np.unique(squares, axis=0, return_index=True)
    chosen = np.sort(chosen[np.sort(first)[: wanted.n_wanted]])
    places, level = places[chosen], windows.level[chosen]
    parts = [cut_examples(photo, i, levels[i], places[level == i]) for i in range(len(levels))]
    return join_examples(parts), windows.score[chosen]
