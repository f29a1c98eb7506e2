"""What may be wrong with the labels of photos, before an hour is spent on them.

Points outside their picture or box, the same thing labelled twice, sides that are swapped, keypoints far
from where the others of their object put them, jumps between neighbouring frames, objects too small for a
window, keypoints too rare to be learned. Shapes are compared after place, size and angle are taken away,
so that it does not matter how objects are turned.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from .annotation_writers import photo_size
from .photo_set import Photo, PhotoSet, object_boxes

KINDS = {
    "unreadable": "left out when the labels were read",
    "outside-picture": "keypoints outside their picture",
    "outside-box": "keypoints outside their object's box",
    "box": "boxes that are outside their picture, or empty",
    "swapped": "left and right that seem to be swapped",
    "odd-place": "keypoints far from where the rest of the object puts them",
    "same-place": "different keypoints at the same place",
    "duplicate": "objects or pictures that are there twice",
    "jump": "keypoints that jump between neighbouring frames",
    "small": "objects too small for a window",
    "rare": "keypoints too rare to be learned",
    "empty": "objects without any keypoint",
}
"""What is looked for."""

SMALLEST_PX = 20.0
"""Object size below which training cuts no window, unless photos are enlarged (--size-range, max_scale)."""

FEWEST = 20
"""Examples of a keypoint that training needs, about."""

_BOX_ROOM = 0.1  # of the longer side of a box, beyond which a point is outside
_SAME_PX = 0.5
_SAME_OBJECT = 0.05  # of the size
_NEIGHBOURS = 5  # frames that are near enough for jumps
_JUMP = 0.75  # of the size, against the other keypoints of the object, at least
_ODD = 6.0  # robust standard deviations that are out of the usual
_LEAST_ODD = 0.08  # ... which are at least this part of the size
_SWAPPED = 0.5  # what the residual becomes of at most, when the sides are swapped
_LEAST_SHAPE = 8  # objects that a mean shape takes
_ROUNDS = 4
_FRAME = re.compile(r"(\d+)\D*$")


@dataclass(frozen=True)
class Finding:
    """Something that may be wrong.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    photo : str
        Its name; empty if it is not about one photo.
    message : str
    worst : float
        Larger is worse, among those of a kind.
    object : int or None
        Which of the photo's objects.
    keypoints : tuple of str
    """

    kind: str
    photo: str
    message: str
    worst: float = 0.0
    object: int | None = None
    keypoints: tuple[str, ...] = ()


def check_annotations(
    photos: PhotoSet, *, smallest_px: float = SMALLEST_PX, fewest: int = FEWEST
) -> list[Finding]:
    """Look for what may be wrong with the labels.

    Parameters
    ----------
    photos : PhotoSet
        With the sizes of its objects set (`with_sizes`).
    smallest_px : float
        Object size below which there is no window.
    fewest : int
        Objects in which a keypoint must be visible.

    Returns
    -------
    list of Finding
        In the order of `KINDS`, the worst of a kind first.
    """
    found = [Finding("unreadable", "", problem) for problem in photos.problems]
    for photo in photos:
        found += _check_photo(photo, photos.keypoint_names, smallest_px)
    found += _check_shapes(photos)
    found += _check_pictures(photos)
    found += _check_jumps(photos)
    found += _check_counts(photos, fewest)
    order = list(KINDS)
    return sorted(found, key=lambda finding: (order.index(finding.kind), -finding.worst))


def _check_photo(photo: Photo, names: tuple[str, ...], smallest_px: float) -> Iterator[Finding]:
    height, width = photo_size(photo)
    corner = np.array([width, height]) - 0.5
    for n, points in enumerate(photo.points):
        known = np.isfinite(points).all(axis=1)
        who = _who(photo, n)
        if not known.any():
            yield Finding("empty", photo.name, f"{who} has no keypoint", object=n)
            continue
        outside = np.maximum(-0.5 - points, points - corner).max(axis=1)
        for k in np.flatnonzero(known & (outside > 0)).tolist():
            yield _point_finding(
                "outside-picture", photo, n, names[k], float(outside[k]),
                f"lies {outside[k]:.0f} px outside the picture ({width} x {height})",
            )  # fmt: skip
        yield from _check_box(photo, n, names, known, corner)
        yield from _check_same_place(photo, n, names, known)
        size = photo.sizes[n]
        if np.isfinite(size) and size < smallest_px:
            message = f"{who} has a size of {size:.1f} px, less than {smallest_px:g}"
            yield Finding("small", photo.name, message, float(smallest_px - size), n)
    yield from _check_same_objects(photo)


def _who(photo: Photo, n: int) -> str:
    return f"object {photo.object_names[n]}"


def _point_finding(kind: str, photo: Photo, n: int, name: str, worst: float, what: str) -> Finding:
    return Finding(kind, photo.name, f"{name} of {_who(photo, n)} {what}", worst, n, (name,))


def _check_box(
    photo: Photo, n: int, names: tuple[str, ...], known: np.ndarray, corner: np.ndarray
) -> Iterator[Finding]:
    box = photo.boxes[n]
    if not np.isfinite(box).all():
        return
    low, high = box[:2], box[2:]
    if (high <= low).any() or (low > corner).any() or (high < -0.5).any():
        text = ", ".join(f"{value:.0f}" for value in box)
        yield Finding("box", photo.name, f"the box {text} of {_who(photo, n)} holds nothing", 1.0, n)
        return
    room = _BOX_ROOM * float((high - low).max())
    outside = np.maximum(low - photo.points[n], photo.points[n] - high).max(axis=1)
    for k in np.flatnonzero(known & (outside > room)).tolist():
        what = f"lies {outside[k]:.0f} px outside its box"
        yield _point_finding("outside-box", photo, n, names[k], float(outside[k]), what)


def _check_same_place(photo: Photo, n: int, names: tuple[str, ...], known: np.ndarray) -> Iterator[Finding]:
    places = np.flatnonzero(known)
    points = photo.points[n][places]
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    for a, b in np.argwhere(np.triu(apart < _SAME_PX, 1)).tolist():
        pair = names[places[a]], names[places[b]]
        message = f"{pair[0]} and {pair[1]} of {_who(photo, n)} are at the same place"
        yield Finding("same-place", photo.name, message, 1.0, n, pair)


def _check_same_objects(photo: Photo) -> Iterator[Finding]:
    sizes = _sizes(photo)
    for a in range(len(photo.points)):
        for b in range(a + 1, len(photo.points)):
            away = np.linalg.norm(photo.points[a] - photo.points[b], axis=1)
            both = np.isfinite(away)
            if both.any() and away[both].mean() < _SAME_OBJECT * max(sizes[a], 1.0):
                message = f"{_who(photo, a)} and {_who(photo, b)} are the same"
                yield Finding("duplicate", photo.name, message, 1.0, b)


def _sizes(photo: Photo) -> np.ndarray:
    """Sizes of the objects; where none is set, of the box of their points."""
    boxes = object_boxes(photo)
    own = np.sqrt(np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0), axis=1))
    longest = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0.0)
    own = np.where(own > 0, own, longest)
    return np.nan_to_num(np.where(np.isfinite(photo.sizes) & (photo.sizes > 0), photo.sizes, own))


def side_pairs(names: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the columns of keypoints that are the left and the right one of something, by their names.

    Examples
    --------
    >>> side_pairs(("snout", "leftear", "rightear"))
    [(1, 2)]
    """
    by_name = {name.lower(): k for k, name in enumerate(names)}
    pairs = []
    for name, k in by_name.items():
        other = by_name.get(name.replace("left", "right", 1)) if "left" in name else None
        if other is not None:
            pairs.append((k, other))
    return pairs


def _check_shapes(photos: PhotoSet) -> Iterator[Finding]:
    """Swapped sides and odd places, by comparison with the mean shape."""
    where = [(photo, n) for photo in photos for n in range(len(photo.points))]
    points = np.concatenate([photo.points for photo in photos]) if where else np.empty((0, 1, 2))
    known = np.asarray(np.isfinite(points).all(axis=2))
    usable = np.flatnonzero(known.sum(axis=1) >= 3)
    if len(usable) < _LEAST_SHAPE:
        return
    shape = _mean_shape(points[usable], known[usable])
    told = [_told_by_others(points[i], known[i], shape) for i in usable.tolist()]
    residual, rest = np.stack([away for away, _ in told]), np.stack([left for _, left in told])
    pairs = side_pairs(photos.keypoint_names)
    spread = _spread(residual)
    for i, place in enumerate(usable.tolist()):
        photo, n = where[place]
        swapped = _swapped(points[place], known[place], shape, pairs)
        if swapped is not None:
            pair = tuple(photos.keypoint_names[k] for k in swapped)
            message = f"{pair[0]} and {pair[1]} of {_who(photo, n)} seem to be swapped"
            worst = float(np.nan_to_num(residual[i]).max())
            yield Finding("swapped", photo.name, message, worst, n, pair)
            continue
        # a wrong keypoint misplaces the others too: named is the one without which the rest fits
        ratio = np.nan_to_num(residual[i] / spread)
        if (ratio > _ODD).any():
            k = int(np.nanargmin(rest[i]))
            what = f"is {residual[i, k]:.1f} radii of the object from where the others put it"
            yield _point_finding("odd-place", photo, n, photos.keypoint_names[k], float(ratio.max()), what)


def _spread(residual: np.ndarray) -> np.ndarray:
    """Robust standard deviation of each keypoint's distance from its place."""
    medians = [
        np.median(column[np.isfinite(column)]) if np.isfinite(column).any() else 0 for column in residual.T
    ]
    return np.maximum(1.4826 * np.array(medians), _LEAST_ODD)


def _told_by_others(
    points: np.ndarray, known: np.ndarray, shape: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far each keypoint is from where the object's others say, and how far these are from the shape.

    Both (n_keypoints,), in radii of the shape; the second is a root mean square. NaN where it is not known.
    """
    out, rest = np.full((2, len(points)), np.nan)
    for k in np.flatnonzero(known).tolist():
        others = known.copy()
        others[k] = False
        squared = np.sum((_fitted(points, others, shape) - shape) ** 2, axis=1)
        out[k] = np.sqrt(squared[k])
        used = squared[others & np.isfinite(squared)]
        rest[k] = np.sqrt(used.mean()) if len(used) else np.nan
    return out, rest


def _mean_shape(points: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Median of the objects fitted to one another, (n_keypoints, 2), with a root mean square radius of 1.

    NaN for a keypoint that is never known.
    """
    start = int(np.argmax(known.sum(axis=1)))
    shape = _normalised(points[start])
    for _ in range(_ROUNDS):
        fitted = np.stack([_fitted(p, k, shape) for p, k in zip(points, known, strict=True)])
        columns = [fitted[known[:, k], k] for k in range(points.shape[1])]
        columns = [column[np.isfinite(column).all(axis=1)] for column in columns]
        shape = np.array([np.median(c, axis=0) if len(c) else [np.nan, np.nan] for c in columns])
        shape = _normalised(shape)
    return shape


def _normalised(points: np.ndarray) -> np.ndarray:
    known = np.isfinite(points).all(axis=1)
    away = points - points[known].mean(axis=0)
    return np.asarray(away / max(np.sqrt(np.mean(np.sum(away[known] ** 2, axis=1))), 1e-12))


def _fitted(points: np.ndarray, known: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Points moved, turned and scaled (not mirrored) onto a shape; NaN if there is no telling."""
    both = known & np.isfinite(shape).all(axis=1)
    if both.sum() < 2:
        return np.full_like(points, np.nan)
    z = points[both, 0] + 1j * points[both, 1]
    target = shape[both, 0] + 1j * shape[both, 1]
    away = z - z.mean()
    power = float(np.sum(np.abs(away) ** 2))
    if power < 1e-12:
        return np.full_like(points, np.nan)
    turn = np.sum(np.conj(away) * (target - target.mean())) / power
    moved = turn * (points[:, 0] + 1j * points[:, 1] - z.mean()) + target.mean()
    return np.stack([moved.real, moved.imag], axis=1)


def _swapped(
    points: np.ndarray, known: np.ndarray, shape: np.ndarray, pairs: list[tuple[int, int]]
) -> tuple[int, int] | None:
    """The pair whose exchange, alone or with all others, brings the object much nearer to the shape."""
    mine = [pair for pair in pairs if known[list(pair)].all()]
    if not mine or known.sum() < 3:
        return None

    def residual(exchanged: list[tuple[int, int]]) -> float:
        order = np.arange(len(points))
        for a, b in exchanged:
            order[[a, b]] = order[[b, a]]
        away = np.linalg.norm(_fitted(points[order], known[order], shape) - shape, axis=1)
        away = away[np.isfinite(away)]
        return float(np.sqrt(np.mean(away**2))) if len(away) else np.inf

    before = residual([])
    if not np.isfinite(before) or before < 2 * _LEAST_ODD:
        return None
    after = {pair: residual([pair]) for pair in mine}
    best = min(after, key=lambda pair: after[pair])
    return best if min(after[best], residual(mine)) < _SWAPPED * before else None


def _check_pictures(photos: PhotoSet) -> Iterator[Finding]:
    """Pictures whose pixels are there twice."""
    seen: dict[bytes, str] = {}
    for photo in photos:
        try:
            source = photo.source
            data = source.read_bytes() if isinstance(source, Path) else source.tobytes()
        except OSError:
            continue  # reported where it is used
        key = hashlib.sha256(data).digest()
        if key in seen:
            yield Finding("duplicate", photo.name, f"is the same picture as {seen[key]}", 2.0)
        else:
            seen[key] = photo.name


def _check_jumps(photos: PhotoSet) -> Iterator[Finding]:
    """Keypoints that move against the rest of their object between frames that lie near each other.

    Objects may turn and come nearer meanwhile; and as they may bend, only what is out of the usual counts.
    """
    pairs = list(_neighbours(photos))
    if not pairs:
        return
    away = np.stack([_moved_against_rest(before, after) for before, after in pairs])
    spread = _spread(away)
    for (before, after), distances in zip(pairs, away, strict=True):
        for k in np.flatnonzero((distances > _JUMP) & (distances > _ODD * spread)).tolist():
            what = f"jumps by {distances[k]:.1f} sizes against the rest since {before.name}"
            yield _point_finding("jump", after, 0, photos.keypoint_names[k], float(distances[k]), what)


def _neighbours(photos: PhotoSet) -> Iterator[tuple[Photo, Photo]]:
    """Photos of one object whose names end in numbers that follow one another."""
    frames: dict[str, list[tuple[int, Photo]]] = {}
    for photo in photos:
        match = _FRAME.search(Path(photo.name).stem)
        if match is not None and len(photo.points) == 1:
            series = str(Path(photo.name).parent / Path(photo.name).stem[: match.start()])
            frames.setdefault(series, []).append((int(match[1]), photo))
    for mine in frames.values():
        mine.sort(key=lambda pair: pair[0])
        for (first, before), (second, after) in pairwise(mine):
            if 0 < second - first <= _NEIGHBOURS:
                yield before, after


def _moved_against_rest(before: Photo, after: Photo) -> np.ndarray:
    """How far each keypoint is from where the others say that it has moved to, in sizes, (n_keypoints,)."""
    size = float(max(_sizes(before)[0], _sizes(after)[0], 1.0))
    old, new = before.points[0], after.points[0]
    both = np.isfinite(old).all(axis=1) & np.isfinite(new).all(axis=1)
    out = np.full(len(old), np.nan)
    for k in np.flatnonzero(both).tolist():
        others = both.copy()
        others[k] = False
        if others.sum() >= 2:
            place = _fitted(old, others, np.where(others[:, None], new, np.nan))[k]
            # what is fixed to the scene moves against the rest, but not at all
            out[k] = min(np.linalg.norm(place - new[k]), np.linalg.norm(new[k] - old[k])) / size
    return out


def _check_counts(photos: PhotoSet, fewest: int) -> Iterator[Finding]:
    n_objects = max(photos.n_objects, 1)
    for k, name in enumerate(photos.keypoint_names):
        n = sum(int(photo.visible[:, k].sum()) for photo in photos)
        if n < fewest:
            message = f"{name} is visible in {n} of {n_objects} objects, fewer than {fewest}"
            yield Finding("rare", "", message, float(fewest - n), keypoints=(name,))
