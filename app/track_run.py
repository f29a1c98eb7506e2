"""Objects followed through videos: linked, smoothed, and written in every form that people open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..datasets.videos import frame_rate
from ..features.errors import DataError, WriteError
from ..models.keypoints.videos.object_tracks import ObjectTracks
from ..models.keypoints.videos.smoothing import MAX_GAP, smooth_tracks
from ..models.keypoints.videos.tracker import ObjectTracker
from ..models.whole_files import whole_file
from .detection_run import FRAMES_PER_SECOND, SLOWEST, DetectionRun, Finder
from .output.detection_files import DetectionWriter, Picture
from .output.object_track_files import write_coco, write_deeplabcut_csv, write_deeplabcut_h5, write_tidy
from .output.track_overlay import draw_followed, draw_legend
from .output.track_page import tracks_page
from .output.video_file import VideoFile
from .photo_inputs import is_video, pictures_of
from .progress import Bars, warn

ENDINGS = (".tracks.csv", "DLC_annealed.csv", "DLC_annealed.h5", ".tracks.coco.json", ".html")
"""Of the files of a video, after its name."""


@dataclass(frozen=True)
class TrackOptions:
    """How objects are followed.

    Attributes
    ----------
    n_objects : int or None
        None for whatever is found.
    smooth : bool
        False leaves trajectories as they were found, and gaps open.
    max_gap : int
        Frames of a gap that is filled.
    """

    n_objects: int | None = None
    smooth: bool = True
    max_gap: int = MAX_GAP


class TrackRun(DetectionRun):
    """Follows objects through videos, and detects in photos as `DetectionRun` does.

    An interruption ends the detection of a video; what was found by then is smoothed and written.
    """

    def __init__(
        self, finder: Finder, paths: Sequence[Path], every: int, bars: Bars, options: TrackOptions
    ) -> None:
        super().__init__(finder, paths, every, bars)
        self.options = options

    def detect(self, path: Path, writer: DetectionWriter, overlay: Path | None) -> None:
        """Follow the objects of a video, or detect in a photo; see `DetectionRun.detect`."""
        if not is_video(path) or overlay is None:
            super().detect(path, writer, overlay)
            return
        tracker = ObjectTracker(
            self.finder.detector, self.options.n_objects, self.finder.threshold, self.finder.raw
        )
        self._show(0, path)
        first: list[np.ndarray] = []
        try:
            self._follow(path, tracker, writer, first)
        finally:  # also of an interruption
            if first:
                self._write(path, tracker, first[0], overlay)
        self._finish_input(path)

    def _follow(
        self, path: Path, tracker: ObjectTracker, writer: DetectionWriter, first: list[np.ndarray]
    ) -> None:
        n_pictures = 0
        try:
            for frame, image in pictures_of(path, self.every):
                assert frame is not None
                followed = tracker.step(image, frame)
                if not first:
                    first.append(image)
                height, width = image.shape[:2]
                writer.write(Picture(str(path), frame, height, width, followed.found))
                n_pictures += 1
                self._count(path, n_pictures, len(followed))
            self._check_length(path, n_pictures)
        except DataError as error:
            text = str(error)
            warn(text if str(path) in text else f"{path}: {text}")
            self.n_skipped += n_pictures == 0

    def _write(self, path: Path, tracker: ObjectTracker, first: np.ndarray, overlay: Path) -> None:
        tracks = tracker.tracks()
        if self.options.smooth:
            tracks = smooth_tracks(tracks, self.options.max_gap)
        rate = frame_rate(path) or None
        shape = first.shape[:2]
        folder, stem = overlay.parent, overlay.stem
        tidy, dlc_csv, dlc_h5, coco, page = (folder / f"{stem}{ending}" for ending in ENDINGS)
        with whole_file(tidy) as temporary:
            write_tidy(tracks, temporary)
        with whole_file(dlc_csv) as temporary:
            write_deeplabcut_csv(tracks, temporary)
        try:
            with whole_file(dlc_h5) as temporary:
                write_deeplabcut_h5(tracks, temporary)
        except WriteError:
            raise
        except DataError as error:
            warn(str(error))
        with whole_file(coco) as temporary:
            write_coco(tracks, temporary, video=path.name, shape=(shape[0], shape[1]))
        lead = f"{len(tracks)} frames, {tracker.n_scans} of them scanned as a whole; {_how(self.options)}."
        with whole_file(page) as temporary:
            title = f"{path.name}: {tracks.n_objects} object{'s' * (tracks.n_objects != 1)}"
            temporary.write_text(tracks_page(title, lead, tracks, first, rate), encoding="utf-8")
        self._draw(path, tracks, rate, overlay)

    def _draw(self, path: Path, tracks: ObjectTracks, rate: float | None, overlay: Path) -> None:
        """Write the labelled video: the frames once more, with the trajectories drawn in."""
        pace = max(SLOWEST, (rate or FRAMES_PER_SECOND) / self.every)
        with _labelled(overlay, pace) as video:
            pictures = pictures_of(path, self.every)
            for t, (_, image) in zip(range(len(tracks)), pictures, strict=False):
                self.bars.update(f"drawing {path.name}", t + 1, len(tracks))
                picture = draw_followed(image, tracks, t)
                draw_legend(picture, tracks.names)
                video.write(picture)


def _how(options: TrackOptions) -> str:
    if not options.smooth:
        return "as found, not smoothed"
    return f"smoothed from both sides, gaps of up to {options.max_gap} frames filled"


@contextmanager
def _labelled(overlay: Path, pace: float) -> Iterator[VideoFile]:
    with whole_file(overlay, keep_interrupted=True) as temporary, VideoFile(temporary, pace) as video:
        yield video
