"""Annotated photos in the formats of the label tools, as the contents of files."""

import csv
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import numpy as np

from ...features.errors import DataError, ParameterError
from .coco import format_coco
from .deeplabcut import LABELED_DATA, LABELS_PREFIX
from .images import read_image_size
from .keypoint_csv import KEYPOINTS_FILE, format_keypoints
from .label_studio import task_of_photo
from .labelme import format_labelme
from .opencv_list import format_opencv_line
from .photo_set import Photo, PhotoSet
from .sleap import NEEDS as SLEAP_NEEDS
from .yolo_pose import DATA_FILE, format_yolo_labels, format_yolo_settings

SCORER = "annealed"
_NO_VIDEO = "photos"
_ERRORS = "backslashreplace"  # a name may hold what UTF-8 cannot


def photo_size(photo: Photo) -> tuple[int, int]:
    """Height and width of a photo."""
    if isinstance(photo.source, np.ndarray):
        return photo.source.shape[0], photo.source.shape[1]
    return read_image_size(photo.source)


def encode_annotations(photos: PhotoSet, form: str) -> bytes | dict[str, bytes]:
    """Return the annotation of a set as the contents of a file, or of the files of a folder by name.

    Parameters
    ----------
    photos : PhotoSet
    form : str
        A key of `WRITERS`.
    """
    if form not in WRITERS:
        raise ParameterError(f"the annotation can be written as {', '.join(WRITERS)}, got {form!r}")
    contents = WRITERS[form](photos)
    if isinstance(contents, dict):
        return {name: _encoded(part) for name, part in contents.items()}
    return _encoded(contents)


def _encoded(part: str | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.encode(errors=_ERRORS)


def _encode_cvat(photos: PhotoSet) -> bytes:
    root = ElementTree.Element("annotations")
    ElementTree.SubElement(root, "version").text = "1.1"
    for number, photo in enumerate(photos):
        add_cvat_image(root, number, photo, photos.keypoint_names, photo_size(photo))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def add_cvat_image(
    root: ElementTree.Element, number: int, photo: Photo, names: tuple[str, ...], size: tuple[int, int]
) -> None:
    """Add a photo to CVAT's XML: each object a group of points and, where it has one, a box."""
    height, width = size
    attributes = {"id": str(number), "name": photo.name, "width": str(width), "height": str(height)}
    image = ElementTree.SubElement(root, "image", attributes)
    for n in range(len(photo.object_names)):
        common = {"source": "manual", "z_order": "0", "group_id": str(n + 1)}
        if np.isfinite(photo.boxes[n]).all():
            _add_cvat_box(image, "object", photo.boxes[n], common)
        for k in np.flatnonzero(np.isfinite(photo.points[n]).all(axis=1)).tolist():
            x, y = photo.points[n, k].tolist()
            seen = {"occluded": str(int(not photo.visible[n, k])), "points": f"{x:.2f},{y:.2f}"}
            ElementTree.SubElement(image, "points", {"label": names[k], **seen, **common})
    for region in photo.ignore:
        _add_cvat_box(image, "ignore", region, {"source": "manual", "z_order": "0"})


def _add_cvat_box(image: ElementTree.Element, label: str, box: np.ndarray, common: dict[str, str]) -> None:
    corners = zip(("xtl", "ytl", "xbr", "ybr"), (f"{value:.2f}" for value in box.tolist()), strict=True)
    ElementTree.SubElement(image, "box", {"label": label, "occluded": "0", **dict(corners), **common})


def _encode_label_studio(photos: PhotoSet) -> str:
    names = photos.keypoint_names
    tasks = [task_of_photo(photo, names, photo_size(photo), predicted=False) for photo in photos]
    return json.dumps(tasks, indent=1) + "\n"


def _encode_labelme(photos: PhotoSet) -> dict[str, str | bytes]:
    names = photos.keypoint_names
    return {f"{_flat_stem(photo)}.json": format_labelme(photo, names, photo_size(photo)) for photo in photos}


def _encode_yolo(photos: PhotoSet) -> dict[str, str | bytes]:
    labels = {
        f"labels/{_flat_stem(photo)}.txt": format_yolo_labels(photo, photo_size(photo)) for photo in photos
    }
    return {DATA_FILE: format_yolo_settings(photos.keypoint_names), **labels}


def _flat_stem(photo: Photo) -> str:
    """The photo's file name without its ending."""
    return Path(photo.name.replace("\\", "/")).stem


def _encode_opencv(photos: PhotoSet) -> str:
    return "".join(map(format_opencv_line, photos))


def deeplabcut_place(photo: Photo) -> PurePosixPath:
    """Return where a project has a photo: `labeled-data/<video>/<file>`."""
    name = PurePosixPath(photo.name.replace("\\", "/"))
    return PurePosixPath(LABELED_DATA, name.parent.name or _NO_VIDEO, name.name)


def encode_deeplabcut(photos: PhotoSet, scorer: str = SCORER) -> dict[str, str | bytes]:
    """Return labels as the files of a DeepLabCut project: `labeled-data/<video>/CollectedData_<scorer>.csv`.

    A photo called `clip/img001.png` belongs to the video `clip`. H5 beside it, which DeepLabCut's own
    tools read, takes pandas and PyTables; without them there is CSV only, which `deeplabcut.convertcsv2h5`
    turns into it.
    """
    by_video: dict[str, list[Photo]] = {}
    for photo in photos:
        by_video.setdefault(deeplabcut_place(photo).parts[1], []).append(photo)
    n_objects = max((len(photo.object_names) for photo in photos), default=1)
    header = _deeplabcut_header(photos.keypoint_names, n_objects, scorer)
    files: dict[str, str | bytes] = {}
    for video, mine in by_video.items():
        index = [(LABELED_DATA, video, Path(photo.name).name) for photo in mine]
        values = np.full((len(mine), n_objects, len(photos.keypoint_names), 2), np.nan)
        for i, photo in enumerate(mine):
            values[i, : len(photo.points)] = photo.points
        stem = f"{LABELED_DATA}/{video}/{LABELS_PREFIX}{scorer}"
        files[f"{stem}.csv"] = _deeplabcut_csv(header, index, values.reshape(len(mine), -1))
        hdf = _deeplabcut_h5(header, index, values.reshape(len(mine), -1))
        if hdf is not None:
            files[f"{stem}.h5"] = hdf
    return files


def _deeplabcut_header(names: tuple[str, ...], n_objects: int, scorer: str) -> dict[str, list[str]]:
    """Cells of each header row."""
    columns = [(n, name, coord) for n in range(n_objects) for name in names for coord in "xy"]
    header = {"scorer": [scorer] * len(columns)}
    if n_objects > 1:
        header["individuals"] = [f"individual{n + 1}" for n, _, _ in columns]
    return header | {"bodyparts": [c[1] for c in columns], "coords": [c[2] for c in columns]}


def _deeplabcut_csv(
    header: dict[str, list[str]], index: list[tuple[str, str, str]], values: np.ndarray
) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for name, cells in header.items():
        writer.writerow([name, "", "", *cells])
    for place, row in zip(index, values.tolist(), strict=True):
        writer.writerow([*place, *("" if np.isnan(value) else repr(value) for value in row)])
    return stream.getvalue()


def _deeplabcut_h5(
    header: dict[str, list[str]], index: list[tuple[str, str, str]], values: np.ndarray
) -> bytes | None:
    """None without pandas and PyTables."""
    try:
        import pandas as pd
        import tables  # noqa: F401 (pandas needs it)
    except ImportError:
        return None
    columns = pd.MultiIndex.from_arrays(list(header.values()), names=list(header))
    frame = pd.DataFrame(values, columns=columns, index=pd.MultiIndex.from_tuples(index))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.h5"
        frame.to_hdf(path, key="df_with_missing", mode="w")
        return path.read_bytes()


def _encode_sleap(photos: PhotoSet) -> bytes:
    try:
        import sleap_io as sio
    except ImportError:
        raise DataError(f"writing SLEAP's files takes sleap-io: {SLEAP_NEEDS}") from None
    if any(isinstance(photo.source, np.ndarray) for photo in photos):
        raise DataError("SLEAP's files name pictures on disk, and some of these are none")
    skeleton = sio.Skeleton(nodes=list(photos.keypoint_names))
    frames = []
    for photo in photos:
        video = sio.Video.from_filename([str(photo.source)])
        instances = [sio.Instance.from_numpy(points, skeleton=skeleton) for points in photo.points]
        frames.append(sio.LabeledFrame(video=video, frame_idx=0, instances=instances))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.slp"
        sio.save_slp(sio.Labels(frames), str(path))
        return path.read_bytes()


WRITERS: dict[str, Callable[[PhotoSet], str | bytes | dict[str, str | bytes]]] = {
    "csv": lambda photos: dict(format_keypoints(photos)),
    "coco": format_coco,
    "cvat": _encode_cvat,
    "deeplabcut": encode_deeplabcut,
    "label-studio": _encode_label_studio,
    "labelme": _encode_labelme,
    "opencv": _encode_opencv,
    "sleap": _encode_sleap,
    "yolo-pose": _encode_yolo,
}
"""What gives the contents of a file, or of the files of a folder by name."""

IN_FOLDER = {
    "csv": KEYPOINTS_FILE,
    "deeplabcut": f"{LABELED_DATA}/*/{LABELS_PREFIX}{SCORER}.csv",
    "labelme": "*.json",
    "yolo-pose": DATA_FILE,
}
"""Formats of several files, and the pattern of those that hold the keypoints."""
