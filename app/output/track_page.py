"""The page of a video: where its objects went, how fast, and what was seen of them."""

import numpy as np
from matplotlib.patheffects import withStroke

from ...models.keypoints.videos.object_tracks import ObjectTracks
from .figures import new_figure, png_of
from .overlay import COLOURS
from .page import MAX_WIDTH_PX, Page

MEDIAN_FRAMES = 9
"""Speeds are the median of so many."""

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
    page.figure(
        _plot_ways(tracks, first_frame),
        "The way of each object's centre over the first frame; the dot with its number is where it was last.",
    )
    page.heading("Speed")
    page.figure(
        _plot_speeds(tracks, frames_per_second),
        f"Speed of each object's centre, the median of {MEDIAN_FRAMES} frames.",
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
    figure = new_figure(760, 760 * height / width, layout=None)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(first_frame)
    centres = tracks.centres()
    for n in range(tracks.n_objects):
        axes.plot(*centres[:, n].T, color=_colour(n), lw=1.2, alpha=0.8)
        known = np.flatnonzero(np.isfinite(centres[:, n, 0]))
        if len(known):
            axes.plot(*centres[known[-1], n], "o", color=_colour(n), ms=6, mec="white")
            place = centres[known[-1], n]
            axes.annotate(
                str(n),
                place,
                xytext=(6, 4),
                textcoords="offset points",
                color="white",
                fontsize=11,
                path_effects=[withStroke(linewidth=3, foreground="black")],
            )
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axes.set_axis_off()
    return png_of(figure)


def _plot_speeds(tracks: ObjectTracks, frames_per_second: float | None) -> bytes:
    figure = new_figure(MAX_WIDTH_PX, 280)
    axes = figure.add_subplot()
    rate = frames_per_second or 1.0
    speeds = tracks.speeds() * rate
    for n in range(min(tracks.n_objects, _MOST_DRAWN)):
        axes.plot(tracks.frames / rate, _running_median(speeds[:, n]), color=_colour(n), lw=1, label=str(n))
    unit = ("time in seconds", "pixels a second") if frames_per_second else ("frame", "pixels a frame")
    axes.set(xlabel=unit[0], ylabel=unit[1])
    axes.set_ylim(0, None)
    axes.grid(color="0.9")
    if tracks.n_objects > 1:
        figure.legend(title="object", loc="outside right upper", frameon=False)
    return png_of(figure)


def _running_median(values: np.ndarray, width: int = MEDIAN_FRAMES) -> np.ndarray:
    """Median of the values around each that are known; NaN where none is."""
    padded = np.pad(values, width // 2, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    out = np.full(len(values), np.nan)
    known = np.isfinite(values)
    out[known] = [np.median(window[np.isfinite(window)]) for window in windows[known]]
    return out
