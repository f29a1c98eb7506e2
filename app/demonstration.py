"""What `annealed demo` shows beside its training: the models that ship, on pictures that need no download."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.photos.sample_photos import load_astronaut
from ..datasets.tracks.sample_clip import make_sample_clip
from ..datasets.tracks.video_tracks import track_video
from ..models.keypoints.objects.model import Objects
from ..models.model_files import load_model
from ..models.motion import disagreement, segment
from .output.motion_files import Input, summary
from .output.motion_overlay import TrackCanvas
from .output.motion_page import add_segmentation
from .output.overlay import COLOURS, draw_objects
from .output.page import Page
from .output.video_file import VideoFile
from .wording import count

CLIP = "clip.mp4"
_N_FRAMES, _N_POINTS, _FRAMES_PER_SECOND = 16, 100, 10


@dataclass(frozen=True, eq=False)
class Faces:
    """What the face model finds in the astronaut's portrait."""

    image: np.ndarray
    found: Objects

    def describe(self) -> str:
        """Return what was found, in words."""
        n = int(self.found.found[0].sum()) if len(self.found) else 0
        seen = f"{n} of {len(self.found.names)} keypoints seen"
        return f"{count(len(self.found), 'face')} in the portrait, with {seen}"

    def add(self, page: Page) -> None:
        """Add it to a page."""
        page.key({name: COLOURS[k % len(COLOURS)] for k, name in enumerate(self.found.names)})
        picture = draw_objects(self.image, self.found, words=False)
        page.picture(
            picture, f"The portrait of Eileen Collins (NASA) that comes with scikit-image: {self.describe()}."
        )


def find_faces() -> Faces:
    """Look for faces with the model that ships."""
    image = load_astronaut().read()
    return Faces(image, load_model("face").detect_objects(image))


@dataclass(frozen=True, eq=False)
class Motions:
    """What was found to move in the rendered clip, and what part of the tracks is wrong."""

    document: dict[str, Any]
    sheet: np.ndarray
    error: float

    def describe(self) -> str:
        """Return what was found, in words."""
        n = len(self.document["motions"])
        return f"{count(n, 'motion')} found, {100 * self.error:.0f} % of the tracks on the wrong one"

    def add(self, page: Page) -> None:
        """Add it to a page."""
        add_segmentation(page, self.document, self.sheet, None, level=3)


def find_motions(folder: Path) -> Motions:
    """Render a clip into a folder, track points through it and tell its motions apart."""
    clip = make_sample_clip(_N_FRAMES)
    path = folder / CLIP
    with VideoFile(path, _FRAMES_PER_SECOND) as video:
        for frame in clip.frames:
            video.write(frame)
    tracks = track_video(path, n_points=_N_POINTS).tracks
    result = segment(tracks.positions, tracks.visible, None, load_model("motions"))
    known = result.labels >= 0
    error = disagreement(result.labels[known], clip.labels(tracks.positions, tracks.visible)[known])
    sheet = TrackCanvas(tracks, path).sheet(result.labels, words=False)
    return Motions(summary(Input(path, tracks, path), result), sheet, float(error))
