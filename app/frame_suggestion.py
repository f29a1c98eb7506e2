"""Frames of videos to label next, with what a detector sees in them."""

from pathlib import Path

import numpy as np

from ..datasets.videos import stated_length, video_frames
from ..features.errors import DataError
from ..models.keypoints.detector import KeypointDetector
from ..models.keypoints.videos.object_tracks import SEEN
from ..models.keypoints.videos.smoothing import smooth_tracks
from ..models.keypoints.videos.suggestion import frame_priority, suggest_frames, thumbnail
from ..models.keypoints.videos.tracker import ObjectTracker
from .output.suggested_frames import SuggestedFrame
from .progress import Bars

LOOKED_AT = 1500
"""Frames of a video that are looked at, about."""


class Suggester:
    """Suggests frames of one video after the other; their names have different folders.

    Parameters
    ----------
    detector : KeypointDetector
    n_objects : int or None
    raw : bool
        Single keypoints instead of objects.
    every : int or None
        Look at each so many-th frame; None for about `LOOKED_AT` of a video.
    seed : int
    bars : Bars
    """

    def __init__(
        self,
        detector: KeypointDetector,
        n_objects: int | None,
        *,
        raw: bool,
        every: int | None,
        seed: int,
        bars: Bars,
    ) -> None:
        self.detector = detector
        self.n_objects = n_objects
        self.raw = raw
        self.every = every
        self.seed = seed
        self.bars = bars
        self._taken: set[str] = set()

    def suggest(self, path: Path, n: int) -> list[SuggestedFrame]:
        """Return the suggested frames of a video, in their order.

        Raises
        ------
        DataError
            If it cannot be read.
        """
        length = stated_length(path)
        every = self.every or max(1, length // LOOKED_AT)
        tracker = ObjectTracker(self.detector, self.n_objects, raw=self.raw)
        looks = []
        for i, image in enumerate(video_frames(path, step=every)):
            self.bars.update(f"looking at {path.name}", i, max(i, -(-length // every)))
            tracker.step(image, i * every)
            looks.append(thumbnail(image))
        found = tracker.tracks()
        priority = frame_priority(found, smooth_tracks(found))
        places = suggest_frames(priority, np.array(looks), n, seed=self.seed)
        folder = self._folder(path)
        images = _frames_at(path, found.frames[places])
        if len(images) < len(places):
            raise DataError(f"{path}: gave {len(images)} of {len(places)} frames when it was read once more")
        sure = found.likelihood >= SEEN
        points = np.where(sure[..., None], found.points, np.nan)
        digits = max(4, len(str(int(found.frames[-1]))))
        return [
            SuggestedFrame(
                f"{folder}/img{int(found.frames[t]):0{digits}}.png",
                images[int(found.frames[t])],
                points[t][found.there[t]],
                float(priority[t]),
            )
            for t in places.tolist()
        ]

    def _folder(self, path: Path) -> str:
        """A name for the video's folder that no other video has."""
        stem, n = path.stem, 1
        while stem.lower() in self._taken:
            n += 1
            stem = f"{path.stem}-{n}"
        self._taken.add(stem.lower())
        return stem


def _frames_at(path: Path, numbers: np.ndarray) -> dict[int, np.ndarray]:
    """Frames of a video by their numbers."""
    wanted, last = set(numbers.tolist()), int(numbers.max(initial=-1))
    images = {}
    for i, image in enumerate(video_frames(path)):
        if i in wanted:
            images[i] = image
        if i >= last:
            break
    return images
