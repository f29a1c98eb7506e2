"""Suggested frames as pictures, with pre-annotations that the label tools open."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ...datasets.photos.annotation_writers import encode_annotations, encode_deeplabcut
from ...datasets.photos.deeplabcut import LABELED_DATA
from ...datasets.photos.label_studio import labelling_config, task_of_photo
from ...datasets.photos.photo_set import Photo, PhotoSet
from ...models.whole_files import whole_folder

COCO_FILE = "annotations.json"
CVAT_FILE = "annotations.xml"
LABEL_STUDIO_FILE = "label-studio.json"
CONFIG_FILE = "config.yaml"


@dataclass(frozen=True, eq=False)
class SuggestedFrame:
    """A frame to be labelled.

    Attributes
    ----------
    name : str
        Of its picture: the video's name, a slash, and `img` with the frame's number.
    image : ndarray of shape (H, W, 3), uint8
    points : ndarray of shape (n_objects, n_keypoints, 2), float64
        x, y where the detector is sure of a keypoint; NaN elsewhere.
    priority : float
    """

    name: str
    image: np.ndarray
    points: np.ndarray
    priority: float


def write_suggested(
    frames: Sequence[SuggestedFrame], names: tuple[str, ...], folder: Path, scorer: str
) -> None:
    """Write pictures and pre-annotations.

    Parameters
    ----------
    frames : sequence of SuggestedFrame
    names : tuple of str
        Keypoints.
    folder : Path
    scorer : str
        Who labels, in DeepLabCut's files.
    """
    photos = PhotoSet(names, tuple(_photo(frame) for frame in frames))
    below = PhotoSet(names, tuple(_photo(frame, f"{LABELED_DATA}/") for frame in frames))
    tasks = [
        task_of_photo(photo, names, frame.image.shape[:2], predicted=True)
        for photo, frame in zip(below, frames, strict=True)
    ]
    files: dict[str, bytes] = {
        name: part if isinstance(part, bytes) else part.encode()
        for name, part in encode_deeplabcut(photos, scorer).items()
    }
    for name, form in ((COCO_FILE, "coco"), (CVAT_FILE, "cvat")):
        content = encode_annotations(below, form)
        assert isinstance(content, bytes)
        files[name] = content
    files[LABEL_STUDIO_FILE] = (json.dumps(tasks, indent=1) + "\n").encode()
    files[LABEL_STUDIO_FILE.replace(".json", ".config.xml")] = labelling_config(names).encode()
    files[CONFIG_FILE] = _config(names, scorer).encode()
    for frame in frames:
        files[f"{LABELED_DATA}/{frame.name}"] = _png(frame.image)
    with whole_folder(folder) as temporary:
        for name, content in files.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(content)


def _photo(frame: SuggestedFrame, prefix: str = "") -> Photo:
    n = len(frame.points)
    known = np.isfinite(frame.points).all(axis=2)
    return Photo(
        name=prefix + frame.name,
        source=frame.image,
        object_names=tuple(map(str, range(n))),
        points=frame.points,
        visible=known,
        sizes=np.full(n, np.nan),
        boxes=np.full((n, 4), np.nan),
    )


def _config(names: tuple[str, ...], scorer: str) -> str:
    """DeepLabCut's settings, as far as labelling needs them; JSON strings are YAML's too."""
    parts = "".join(f"- {json.dumps(name)}\n" for name in names)
    return (
        f"Task: suggested\nscorer: {json.dumps(scorer)}\nmultianimalproject: false\nvideo_sets: {{}}\n"
        f"bodyparts:\n{parts}skeleton: []\ndotsize: 6\n"
    )


def _png(image: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format="PNG")
    return stream.getvalue()
