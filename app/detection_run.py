"""Detection in photos and videos one after the other, one picture in memory at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ..datasets.videos import frame_rate
from ..features.errors import DataError, WriteError
from ..models.keypoints.detector import KeypointDetector
from ..models.keypoints.objects.model import Objects
from ..models.whole_files import whole_file
from .output.crops import CROPS_ENDING, crops
from .output.detection_files import DetectionWriter, Found, Picture
from .output.overlay import draw_detections, draw_objects
from .photo_inputs import is_video, n_expected, pictures_of
from .progress import Bars, warn
from .wording import count

FRAMES_PER_SECOND = 25.0
"""Of the overlay of a video that does not state its own."""
SLOWEST = 0.1
"""Frames per second."""
SAVED_AS: dict[str, dict[str, Any]] = {end: {"quality": 95} for end in (".jpg", ".jpeg", ".webp")}
"""How pictures are saved, by the ending of their names, where Pillow's default will not do."""


@dataclass(frozen=True)
class Finder:
    """What is looked for in a picture, and how it is drawn.

    Attributes
    ----------
    detector : KeypointDetector
    threshold : float or None
        Lowest score; None for what training chose.
    raw : bool
        Find single detections though the detector knows objects.
    """

    detector: KeypointDetector
    threshold: float | None = None
    raw: bool = False

    @property
    def finds_objects(self) -> bool:
        """Whether objects are found, not single detections."""
        return not self.raw and self.detector.finds_objects

    def find(self, image: np.ndarray) -> Found:
        """Return what is in a picture, (H, W, 3) uint8."""
        if self.finds_objects:
            return self.detector.detect_objects(image, threshold=self.threshold)
        return self.detector.detect(image, threshold=self.threshold, raw=True)

    def draw(self, image: np.ndarray, found: Found) -> np.ndarray:
        """Return a copy of a picture with what was found drawn in."""
        if isinstance(found, Objects):
            return draw_objects(image, found)
        return draw_detections(image, found, self.detector.keypoint_names, object_px=self.detector.object_px)


class DetectionRun:
    """Detects in one input after the other, shows progress, reports what cannot be used, and counts.

    Parameters
    ----------
    finder : Finder
    paths : sequence of Path
        All inputs, for the progress bar.
    every : int
        Of a video, each `every`-th frame is used.
    bars : Bars
    """

    def __init__(self, finder: Finder, paths: Sequence[Path], every: int, bars: Bars) -> None:
        self.finder = finder
        self.every = every
        self.bars = bars
        self.crops: Path | None = None  # what the pictures of the next input's objects are named after
        self.n_found = self.n_photos = self.n_videos = self.n_frames = self.n_skipped = 0
        self._expected = {path: n_expected(path, every) for path in paths}
        self._done = 0

    def detect(self, path: Path, writer: DetectionWriter, overlay: Path | None) -> None:
        """Write what is found in a photo or video, and an overlay where wanted.

        What cannot be used is reported.
        """
        n_pictures = 0
        self._show(n_pictures, path)
        try:
            with _overlay(overlay, path, self.every) as save:
                for frame, image in pictures_of(path, self.every):
                    found = self.finder.find(image)
                    height, width = image.shape[:2]
                    writer.write(Picture(str(path), frame, height, width, found))
                    n_pictures += 1
                    self._count(path, n_pictures, len(found))
                    if save is not None:
                        save(self.finder.draw(image, found))
                    self._save_crops(frame, image, found)
            self._check_length(path, n_pictures)
        except WriteError:
            raise  # the next would not fare better
        except DataError as error:
            text = str(error)
            warn(text if str(path) in text else f"{path}: {text}")
            self.n_skipped += n_pictures == 0
        self._finish_input(path)

    def _save_crops(self, frame: int | None, image: np.ndarray, found: Found) -> None:
        """Write a picture of every object, where that is wanted."""
        if self.crops is None:
            return
        number = "" if frame is None else f"-frame{frame:06}"
        for i, crop in enumerate(crops(image, found, self.finder.detector.object_px)):
            place = self.crops.with_name(f"{self.crops.stem}{number}-{i}{CROPS_ENDING}")
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place) as temporary:
                Image.fromarray(crop).save(temporary, **SAVED_AS[CROPS_ENDING])

    def summary(self) -> str:
        """Return what was found in how many photos and videos, in words."""
        what = count(self.n_found, "object" if self.finder.finds_objects else "detection")
        places = [count(self.n_photos, "photo")] if self.n_photos or not self.n_videos else []
        if self.n_videos:
            places.append(f"{count(self.n_frames, 'frame')} of {count(self.n_videos, 'video')}")
        skipped = f", {self.n_skipped} skipped" if self.n_skipped else ""
        return f"{what} in {' and '.join(places)}{skipped}"

    def _finish_input(self, path: Path) -> None:
        self._done += self._expected[path]
        self._show(0, path)

    def _count(self, path: Path, n_pictures: int, n_found: int) -> None:
        """Count the n-th picture of an input, from 1."""
        self.n_found += n_found
        if is_video(path):
            self.n_frames += 1
            self.n_videos += n_pictures == 1
        else:
            self.n_photos += 1
        self._show(n_pictures, path)

    def _show(self, n_pictures: int, path: Path) -> None:
        """Show progress, an input counting as many pictures as it is expected to have."""
        done = self._done + min(n_pictures, self._expected[path])
        self.bars.update("detecting", done, sum(self._expected.values()))

    def _check_length(self, path: Path, n_pictures: int) -> None:
        """Report a video that ends early."""
        expected = self._expected[path]
        if n_pictures < expected:
            first = n_pictures * self.every
            warn(f"{path}: cannot be decoded from frame {first} on; {n_pictures} of {expected} frames used")


@contextmanager
def _overlay(overlay: Path | None, path: Path, every: int) -> Iterator[Callable[[np.ndarray], None] | None]:
    """Yield what saves the pictures that make up the overlay of a photo or video: one, or all in turn."""
    if overlay is None:
        yield None
    elif is_video(path):
        from .output.video_file import VideoFile

        overlay.parent.mkdir(parents=True, exist_ok=True)
        rate = max(SLOWEST, (frame_rate(path) or FRAMES_PER_SECOND) / every)  # as fast as the video
        with whole_file(overlay, keep_interrupted=True) as temporary, VideoFile(temporary, rate) as video:
            yield video.write
    else:
        ending = overlay.suffix.lower()
        overlay.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(overlay) as temporary:
            yield lambda picture: Image.fromarray(picture).save(temporary, **SAVED_AS.get(ending, {}))
