"""What every annotation format says about a photo, and the photo set that is made of it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from ..numbers import BadRowError
from .images import read_image_size, shortened
from .photo_set import Photo, PhotoSet
from .pixel_schemas import MAX_POSITION_PX

MAX_KEYPOINTS = 1000


@dataclass
class PhotoRows:
    """What the annotation says about one photo, in pixels (x, y).

    Attributes
    ----------
    points : dict of object to dict of keypoint to (x, y)
    visible : dict of (object, keypoint) to bool
        Of every point.
    boxes : dict of object to (x0, y0, x1, y1)
    sizes : dict of object to float
    originals : dict of object to str
        What an object was called where its annotation comes from.
    ignore : list of (x0, y0, x1, y1)
    size_stated : (height, width) or None
        That the photo must have.
    """

    points: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    visible: dict[tuple[str, str], bool] = field(default_factory=dict)
    boxes: dict[str, tuple[float, ...]] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)
    ignore: list[tuple[float, ...]] = field(default_factory=list)
    size_stated: tuple[int, int] | None = None

    def add(self, owner: str, keypoint: str, point: tuple[float, float], *, visible: bool = True) -> None:
        """Add a keypoint of an object.

        Raises
        ------
        BadRowError
            If it is there already, or its position is no place in a photo.
        """
        if not all(abs(value) <= MAX_POSITION_PX for value in point):
            raise BadRowError(
                f"{keypoint} of object {owner} is at {point}, expected numbers of at most {MAX_POSITION_PX:g}"
            )
        points = self.points.setdefault(owner, {})
        if keypoint in points:
            raise BadRowError(f"{keypoint} of object {owner} is there twice; the first counts")
        points[keypoint] = point
        self.visible[owner, keypoint] = visible


def read_files(
    folder: Path, ending: str, add: Callable[[dict[str, PhotoRows], Path], None], names: list[str]
) -> PhotoSet:
    """Read a folder of annotation files, one per photo or an object, which also holds the photos.

    Parameters
    ----------
    folder : Path
    ending : str
        Of the files' names.
    add : callable
        Adds what a file says to the photos; a file for which it raises a BadRowError becomes a problem.
    names : list of str
        Keypoints, in the order of the set.

    Raises
    ------
    DataError
        If there is no file, or nothing to use in them.
    """
    files = sorted(folder.glob(f"*{ending}"))
    if not files:
        raise DataError(f"{folder}: no {ending} file in this folder")
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    for file in files:
        try:
            add(photos, file)
        except BadRowError as error:
            problems.append(f"{file.name}: {error}")
    return make_photo_set(folder, folder, photos, names, problems)


def make_photo_set(
    source: Path,
    folder: Path,
    photos: dict[str, PhotoRows],
    names: list[str],
    problems: list[str],
    pixels: Mapping[str, np.ndarray] | None = None,
) -> PhotoSet:
    """Make the set of all photos that can be used; the others become problems.

    Parameters
    ----------
    source : Path
        The annotation, for messages.
    folder : Path
        Photos are looked for in its subfolder `images` and in the folder itself.
    photos : dict of photo name to PhotoRows
    names : list of str
        Keypoints, in the order of the set.
    problems : list of str
        What went wrong so far.
    pixels : mapping of photo name to ndarray of shape (H, W, 3), uint8, optional
        Of photos that are no files.

    Raises
    ------
    DataError
        If no photo or no keypoint is left.
    """
    if len(names) > MAX_KEYPOINTS:
        raise DataError(f"{source}: {len(names)} keypoints; the most is {MAX_KEYPOINTS}")
    n_objects = sum(len(rows.points) for rows in photos.values())
    check_memory(source, 40 * n_objects * len(names), f"{n_objects} objects with {len(names)} keypoints")
    columns = {name: j for j, name in enumerate(names)}
    usable = []
    for name, rows in photos.items():
        try:
            where = _photo_path(folder, name) if pixels is None else pixels[name]
            usable.append(_make_photo(name, where, rows, columns, problems))
        except (DataError, BadRowError) as error:
            problems.append(str(error))
    if not usable or not names:
        first = f"; first problem: {problems[0]}" if problems else ""
        raise DataError(f"{source}: no usable photo with a keypoint{first}")
    return PhotoSet(tuple(names), tuple(usable), tuple(problems))


def _photo_path(folder: Path, name: str) -> Path:
    inside = folder / "images" / name
    try:
        return inside if inside.exists() or not (folder / name).exists() else folder / name
    except (OSError, ValueError) as error:  # a name that no file can have
        raise BadRowError(f"{shortened(name)}: cannot be the name of a photo ({error})") from None


def _make_photo(
    name: str, source: Path | np.ndarray, rows: PhotoRows, columns: dict[str, int], problems: list[str]
) -> Photo:
    height, width = source.shape[:2] if isinstance(source, np.ndarray) else read_image_size(source)
    if rows.size_stated not in (None, (height, width)):
        stated_height, stated_width = rows.size_stated  # type: ignore[misc]
        raise DataError(
            f"{name}: {width} x {height} pixels, but the annotation says {stated_width} x {stated_height}"
        )
    for what, numbers in (("box", rows.boxes.values()), ("region", rows.ignore)):
        if any(not abs(value) <= MAX_POSITION_PX for box in numbers for value in box):
            raise BadRowError(f"{name}: a {what} beyond {MAX_POSITION_PX:g} pixels")
    if any(not 0 < size <= MAX_POSITION_PX for size in rows.sizes.values()):
        raise BadRowError(f"{name}: the size of an object is not between 0 and {MAX_POSITION_PX:g} pixels")
    objects = list(rows.points)
    points = np.full((len(objects), len(columns), 2), np.nan)
    visible = np.zeros((len(objects), len(columns)), dtype=bool)
    for i, owner in enumerate(objects):
        for keypoint, (x, y) in rows.points[owner].items():
            j = columns[keypoint]
            points[i, j] = x, y
            inside = -0.5 <= x < width - 0.5 and -0.5 <= y < height - 0.5
            visible[i, j] = rows.visible[owner, keypoint] and inside
            if rows.visible[owner, keypoint] and not inside:
                problems.append(
                    f"{name}: {keypoint} of object {owner} at x={x:g}, y={y:g} lies outside the photo "
                    f"({width} x {height}); taken as hidden"
                )
    nowhere = (math.nan,) * 4
    return Photo(
        name=name,
        source=source,
        object_names=tuple(objects),
        points=points,
        visible=visible,
        sizes=np.array([rows.sizes.get(owner, math.nan) for owner in objects], dtype=np.float64),
        boxes=np.array([rows.boxes.get(owner, nowhere) for owner in objects]).reshape(-1, 4),
        ignore=np.array(rows.ignore, dtype=np.float64).reshape(-1, 4),
        originals=tuple(rows.originals.get(owner, "") for owner in objects) if rows.originals else (),
    )
