"""The XML files of dlib's imglab and of CVAT ("CVAT for images 1.1")."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from ...features.errors import DataError
from ..numbers import SHOWN, BadRowError, finite_number
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import PhotoSet


def read_imglab(path: str | os.PathLike) -> PhotoSet:
    """Read dlib's imglab XML: `dataset/images/image/box/part`.

    A part's name is the keypoint; boxes with `ignore="1"` are regions to ignore.

    Parameters
    ----------
    path : path-like
        The XML file; its `file` attributes are relative to its folder.

    Returns
    -------
    PhotoSet
    """
    return _read_images(Path(path), "dataset", "images/image", "file", "box", _add_imglab_box)


def _add_imglab_box(rows: PhotoRows, box: ElementTree.Element, names: dict[str, None]) -> None:
    top, left, width, height = (_number(box, name) for name in ("top", "left", "width", "height"))
    corners = left, top, left + width - 1, top + height - 1
    if box.get("ignore") == "1":
        rows.ignore.append(corners)
        return
    owner = str(len(rows.points))
    rows.points[owner] = {}
    rows.boxes[owner] = corners
    for part in box.iterfind("part"):
        keypoint = part.get("name", "")
        if not keypoint:
            raise BadRowError("a part without a name")
        names[keypoint] = None
        rows.add(owner, keypoint, (_number(part, "x"), _number(part, "y")))


def read_cvat(path: str | os.PathLike) -> PhotoSet:
    """Read CVAT's XML for images: points, boxes and skeletons.

    A `points` shape with one point is the keypoint of its label; those of an image that share a
    `group_id` are one object (0: each stands with the image's only object). The points of a `skeleton`
    are one object; `outside` ones are not annotated, `occluded` ones are hidden. A box of the group is
    the object's; a box labelled "ignore" is a region to ignore.

    Parameters
    ----------
    path : path-like
        `annotations.xml`; photos are looked for beside it and in `images/`.

    Returns
    -------
    PhotoSet
    """
    return _read_images(Path(path), "annotations", "image", "name", "*", _add_cvat_shape)


def _add_cvat_shape(rows: PhotoRows, shape: ElementTree.Element, names: dict[str, None]) -> None:
    if shape.tag == "box":
        x0, y0, x1, y1 = (_number(shape, name) for name in ("xtl", "ytl", "xbr", "ybr"))
        if shape.get("label") == "ignore":
            rows.ignore.append((x0, y0, x1, y1))
        else:
            owner = shape.get("group_id", "0")
            rows.points.setdefault(owner, {})
            rows.boxes[owner] = x0, y0, x1, y1
    elif shape.tag == "points":
        _add_cvat_point(rows, shape.get("group_id", "0"), shape, names)
    elif shape.tag == "skeleton":
        owner = f"skeleton {len(rows.points)}"
        rows.points[owner] = {}
        for point in shape.iterfind("points"):
            _add_cvat_point(rows, owner, point, names)


def _add_cvat_point(rows: PhotoRows, owner: str, point: ElementTree.Element, names: dict[str, None]) -> None:
    keypoint = point.get("label", "")
    names[keypoint] = None
    if point.get("outside") == "1":
        return
    for x, y in _pairs(point.get("points", "")):
        rows.add(owner, keypoint, (x, y), visible=point.get("occluded") != "1")


def _pairs(text: str) -> Iterator[tuple[float, float]]:
    """Yield x, y of "x,y;x,y;..."."""
    for pair in text.split(";"):
        values = pair.split(",")
        if len(values) != 2:
            raise BadRowError(f"points is {text[:SHOWN]!r}, expected x,y")
        yield finite_number(values[0], "x"), finite_number(values[1], "y")


def _number(element: ElementTree.Element, name: str) -> float:
    return finite_number(element.get(name, ""), f"{name} of a {element.tag}")


def _read_images(
    path: Path,
    root: str,
    images: str,
    name: str,
    shapes: str,
    add: Callable[[PhotoRows, ElementTree.Element, dict[str, None]], None],
) -> PhotoSet:
    """Read the images of an XML file, whose name is an attribute, and add the shapes of each to its rows."""
    photos: dict[str, PhotoRows] = {}
    problems: list[str] = []
    names: dict[str, None] = {}
    for image in _root(path, root).iterfind(images):
        rows = photos.setdefault(image.get(name, ""), PhotoRows())
        try:
            if image.get("width") and image.get("height"):
                rows.size_stated = int(_number(image, "height")), int(_number(image, "width"))
        except BadRowError as error:
            problems.append(f"{path.name} {image.get(name, '')}: {error}")
        for shape in image.iterfind(shapes):
            try:
                add(rows, shape, names)
            except BadRowError as error:
                problems.append(f"{path.name} {image.get(name, '')}: {error}")
    return make_photo_set(path, path.parent, photos, list(names), problems)


def _root(path: Path, tag: str) -> ElementTree.Element:
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: not XML ({error})") from None
    if root.tag != tag:
        raise DataError(f"{path}: begins with <{root.tag}>, expected <{tag}>")
    return root
