"""The page of a video: where its objects went, how fast, and what was seen of them."""

import io

import numpy as np
from matplotlib.figure import Figure

from ...models.keypoints.videos.object_tracks import ObjectTracks
from .overlay import COLOURS
from .page import Page

_DPI = 110
_MOST_DRAWN = 8  # objects with a line of their own


def tracks_page(
    title: str, lead: str, tracks: ObjectTracks, first_frame: np.ndarray, frames_per_second: float | None
) -> str:
    """Return the page.

    Parameters
    ----------
    title, lead : str
    tracks : ObjectTracks
    first_frame : ndarray of shape (H, W, 3), uint8
    frames_per_second : float or None
        None if it is not known: speeds are then in pixels a frame.
    """
    page = Page(title, lead)
    page.heading("Trajectories")
    page.picture(_plot_ways(tracks, first_frame), "centre of each object over the first frame")
    page.heading("Speed")
    page.picture(
        _plot_speeds(tracks, frames_per_second), "speed of each object's centre, median of nine frames"
    )
    page.heading("Share of frames")
    page.text("In which a keypoint is seen, and in which an object was found or its gap filled.")
    rows = []
    for n, seen in enumerate(tracks.seen_share()):
        found = float(tracks.there[:, n].mean()) if len(tracks) else 0.0
        filled = float(tracks.filled[:, n].mean()) if len(tracks) else 0.0
        rows.append([f"object {n}", f"{found:.3f}", f"{filled:.3f}", *(f"{share:.3f}" for share in seen)])
    page.table(["", "found", "filled", *tracks.names], rows)
    return page.render()


def _colour(n: int) -> tuple[float, ...]:
    return tuple(value / 255 for value in COLOURS[(n + 2) % len(COLOURS)])


def _plot_ways(tracks: ObjectTracks, first_frame: np.ndarray) -> bytes:
    height, width = first_frame.shape[:2]
    figure = Figure(figsize=(8, 8 * height / width), dpi=_DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(first_frame)
    centres = tracks.centres()
    for n in range(tracks.n_objects):
        axes.plot(*centres[:, n].T, color=_colour(n), lw=1.2, alpha=0.8)
        known = np.flatnonzero(np.isfinite(centres[:, n, 0]))
        if len(known):
            axes.plot(*centres[known[-1], n], "o", color=_colour(n), ms=6, mec="white")
            axes.annotate(str(n), centres[known[-1], n], color="white", fontsize=9)
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axes.set_axis_off()
    return _png(figure)


def _plot_speeds(tracks: ObjectTracks, frames_per_second: float | None) -> bytes:
    figure = Figure(figsize=(9, 2.6), dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    rate = frames_per_second or 1.0
    speeds = tracks.speeds() * rate
    for n in range(min(tracks.n_objects, _MOST_DRAWN)):
        axes.plot(tracks.frames / rate, _running_median(speeds[:, n]), color=_colour(n), lw=1, label=str(n))
    unit = ("seconds", "pixels a second") if frames_per_second else ("frame", "pixels a frame")
    axes.set(xlabel=unit[0], ylabel=unit[1])
    axes.set_ylim(0, None)
    axes.grid(color="0.9")
    if tracks.n_objects > 1:
        axes.legend(fontsize=7, title="object")
    return _png(figure)


def _running_median(values: np.ndarray, width: int = 9) -> np.ndarray:
    """Median of the values around each that are known; NaN where none is."""
    padded = np.pad(values, width // 2, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    out = np.full(len(values), np.nan)
    known = np.isfinite(values)
    out[known] = [np.median(window[np.isfinite(window)]) for window in windows[known]]
    return out


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()
