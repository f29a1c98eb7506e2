"""SLEAP: `.slp` files, read by sleap-io, which an extra installs.

Frames that a person labelled are photos; predicted instances are left out. A package file (`.pkg.slp`) holds
its frames; otherwise they are read from the videos that the file names.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..limits import check_memory
from .photo_rows import PhotoRows, make_photo_set
from .photo_set import PhotoSet

NEEDS = "pip install 'annealed[sleap]'"


def read_sleap(path: str | os.PathLike) -> PhotoSet:
    """Read a SLEAP project.

    Parameters
    ----------
    path : path-like
        The `.slp` file.

    Returns
    -------
    PhotoSet
        Photos are called by their video and frame: `clip.mp4#12`.

    Raises
    ------
    DataError
        If sleap-io is not installed, the file cannot be read or holds no frame that can be used.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    sio = _sleap_io(path)
    try:
        labels = sio.load_slp(str(path))
        names = [str(node.name) for node in labels.skeleton.nodes]
        frames = list(labels.labeled_frames)
    except Exception as error:  # sleap-io raises whatever h5py and its parsers do
        raise DataError(f"{path}: sleap-io cannot read it ({error or type(error).__name__})") from None
    photos: dict[str, PhotoRows] = {}
    pixels: dict[str, np.ndarray] = {}
    problems: list[str] = []
    n_bytes = 0
    for frame in frames:
        instances = list(frame.user_instances)
        if not instances:
            continue
        name = f"{_video_name(frame.video)}#{int(frame.frame_idx)}"
        image = _image(frame)
        if image is None:
            problems.append(f"{path.name}: {name} cannot be read")
            continue
        n_bytes += image.nbytes
        check_memory(path, n_bytes, f"its first {len(pixels) + 1} frames")
        rows = PhotoRows()
        for i, instance in enumerate(instances):
            _add(rows, str(i), instance, names)
        photos[name], pixels[name] = rows, image
    return make_photo_set(path, path.parent, photos, names, problems, pixels)


def _sleap_io(path: Path) -> Any:
    try:
        import sleap_io
    except ImportError:
        raise DataError(f"{path}: reading SLEAP's files takes sleap-io: {NEEDS}") from None
    return sleap_io


def _video_name(video: Any) -> str:
    name = video.filename
    if isinstance(name, list):
        name = name[0] if name else ""
    return str(name).replace("\\", "/").rsplit("/", 1)[-1] or "video"


def _image(frame: Any) -> np.ndarray | None:
    """The frame's pixels, (H, W, 3) uint8; None if its video is not there."""
    try:
        image = np.asarray(frame.image)
    except Exception:  # a video that is not there, damaged, or that nothing here decodes
        return None
    if image.ndim != 3 or image.shape[2] not in (1, 3) or image.dtype != np.uint8:
        return None
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))


def _add(rows: PhotoRows, owner: str, instance: Any, names: list[str]) -> None:
    rows.points[owner] = {}
    points = np.asarray(instance.numpy(), dtype=np.float64)[:, :2].tolist()
    for name, (x, y) in zip(names, points, strict=True):
        if np.isfinite([x, y]).all():
            rows.add(owner, name, (x, y))
