"""SLEAP: `.slp` files, read by sleap-io, which an extra installs.

Frames that a person labelled are photos; predicted instances are left out. A package file (`.pkg.slp`) holds
its frames; otherwise they are read from the videos that the file names.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..limits import TooMuchError, check_memory
from ..videos import video_frames
from .images import read_image
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
        labels = sio.load_slp(str(path), open_videos=False)  # which may be addresses, or lists of others
        names = [str(node.name) for node in labels.skeleton.nodes]
        frames = [frame for frame in labels.labeled_frames if list(frame.user_instances)]
        pictures = _Pictures(path, frames)
    except DataError:
        raise
    except Exception as error:  # sleap-io raises whatever h5py and its parsers do
        raise DataError(f"{path}: sleap-io cannot read it ({error or type(error).__name__})") from None
    photos: dict[str, PhotoRows] = {}
    pixels: dict[str, np.ndarray] = {}
    problems: list[str] = []
    for frame in frames:
        number = int(frame.frame_idx)
        name = f"{_video_name(frame.video)}#{number}"
        image = pictures.of_frame(frame.video, number)
        if image is None:
            problems.append(f"{path.name}: {name} cannot be read")
            continue
        rows = PhotoRows()
        try:
            for i, instance in enumerate(frame.user_instances):
                _add(rows, str(i), instance, names)
        except ValueError as error:  # also a BadRowError
            problems.append(f"{path.name}: {name}: {error}")
            continue
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
    return _file_name(name[0] if isinstance(name, list) and name else name)


def _file_name(path: Any) -> str:
    return str(path).replace("\\", "/").rsplit("/", 1)[-1] or "video"


class _Pictures:
    """Pixels of labelled frames: from the file itself, from pictures, or from videos on the disk.

    sleap-io would open whatever a file names, also addresses. It reads here what the file itself holds;
    pictures and videos are read as everywhere.
    """

    def __init__(self, path: Path, frames: list[Any]) -> None:
        self._path = path
        self._n_bytes = 0
        self._wanted: dict[str, set[int]] = {}
        for frame in frames:
            self._wanted.setdefault(str(frame.video.filename), set()).add(int(frame.frame_idx))
        self._of_videos: dict[str, dict[int, np.ndarray]] = {}

    def of_frame(self, video: Any, number: int) -> np.ndarray | None:
        """The frame's pixels, (H, W, 3) uint8; None if they are not there, or damaged."""
        name = video.filename
        try:
            if isinstance(name, list):
                return self._counted(read_image(self._place(name[number])))
            if self._place(name).samefile(self._path):
                return self._counted(_embedded(video, number))
            if name not in self._of_videos:
                self._of_videos[name] = self._frames(name)
            return self._of_videos[name].get(number)
        except TooMuchError:
            raise
        except Exception:  # what is raised of a damaged picture depends on who reads it
            return None

    def _place(self, name: Any) -> Path:
        """Where a picture or video is: as it is called, or beside the file."""
        place = Path(str(name))
        return place if place.is_file() else self._path.parent / _file_name(name)

    def _frames(self, name: str) -> dict[int, np.ndarray]:
        """The wanted frames of a video."""
        wanted, found = self._wanted[name], {}
        for i, image in enumerate(video_frames(self._place(name))):
            if i in wanted:
                found[i] = self._counted(image)
            if len(found) == len(wanted):
                break
        return found

    def _counted(self, image: np.ndarray) -> np.ndarray:
        self._n_bytes += image.nbytes
        check_memory(self._path, self._n_bytes, "what it shows")
        return image


def _embedded(video: Any, number: int) -> np.ndarray:
    video.open()
    image = np.asarray(video[number])
    if image.ndim != 3 or image.shape[2] not in (1, 3) or image.dtype != np.uint8:
        raise ValueError(f"a picture of shape {image.shape}")
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))


def _add(rows: PhotoRows, owner: str, instance: Any, names: list[str]) -> None:
    rows.points[owner] = {}
    points = np.asarray(instance.numpy(), dtype=np.float64)[:, :2].tolist()
    for name, (x, y) in zip(names, points, strict=True):
        if np.isfinite([x, y]).all():
            rows.add(owner, name, (x, y))
