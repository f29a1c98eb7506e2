"""Figures of a trained detector: what it selected, how it responds, what it mined, how long it took."""

import io
import textwrap
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from ...features.patches import MARGIN_PX, WINDOW_PX
from ...models.keypoints.keypoint_classifier import KeypointClassifier
from .page import MAX_WIDTH_PX, SHARPNESS

POSITIVE, NEGATIVE = "#1b9e5a", "#d1342f"
SMALLEST_PT = 8.5
"""Of letters: 11.3 pixels of a page."""

_INCH_PX = 96
_STYLE: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": SMALLEST_PT,
    "ytick.labelsize": SMALLEST_PT,
    "legend.fontsize": SMALLEST_PT,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""Colours of curves, which the colour-blind can tell apart (Okabe and Ito)."""

_DASHES = "-", "--", "-.", ":"


def new_figure(
    width_px: int, height_px: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return an empty figure that takes so many pixels of a page."""
    with matplotlib.rc_context(_STYLE):
        return Figure(figsize=(width_px / _INCH_PX, height_px / _INCH_PX), layout=layout)


def png_of(figure: Figure) -> bytes:
    """Return a figure as PNG, sharp enough for `Page.figure`."""
    stream = io.BytesIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(stream, format="png", dpi=_INCH_PX * SHARPNESS)
    return stream.getvalue()


def mean_window(patches: np.ndarray) -> np.ndarray:
    """Return the mean of stored windows without their margin, (24, 24, 3) uint8."""
    inner = patches[:, MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]
    return np.rint(inner.mean(axis=0)).astype(np.uint8)


def strongest(classifier: KeypointClassifier, codes: np.ndarray) -> np.ndarray:
    """Return the features by the spread of their responses to examples, widest first, (k,) int64."""
    spread = [table[code].std() for table, code in zip(classifier.tables, codes, strict=True)]
    return np.argsort(-np.array(spread), kind="stable")


def contact_sheet(patches: np.ndarray, *, columns: int, zoom: int = 3, gap: int = 2) -> np.ndarray:
    """Return stored windows side by side on white, in reading order, uint8 RGB."""
    inner = patches[:, MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]
    columns = min(columns, max(len(inner), 1))
    inner = inner[: len(inner) // columns * columns]  # no row with empty places
    side = WINDOW_PX * zoom + gap
    n_rows = max(1, -(-len(inner) // columns))
    sheet = np.full((n_rows * side + gap, columns * side + gap, 3), 255, dtype=np.uint8)
    for i, window in enumerate(inner):
        top, left = i // columns * side + gap, i % columns * side + gap
        big = window.repeat(zoom, axis=0).repeat(zoom, axis=1)
        sheet[top : top + WINDOW_PX * zoom, left : left + WINDOW_PX * zoom] = big
    return sheet


def draw_features(
    classifier: KeypointClassifier, window: np.ndarray, order: np.ndarray, n: int = 12
) -> bytes:
    """Draw the strongest features on the mean positive window, and all of them as a map; PNG.

    Rectangles are green where they count up, red where they count down, and dotted where they are compared
    with. A feature that looks for edges has a line along them.
    """
    n = min(n, len(order))
    n -= n % 2 if n > 1 else 0  # two full rows
    columns = (n + 1) // 2 + 2
    cell_px = MAX_WIDTH_PX / 8
    figure = new_figure(round(cell_px * columns), 2.45 * cell_px, layout=None)
    grid = figure.add_gridspec(
        2, columns, wspace=0.08, hspace=0.22, left=0.005, right=0.995, top=0.91, bottom=0.01
    )
    heat = figure.add_subplot(grid[:, :2])
    heat.imshow(window.mean(axis=2), cmap="gray", extent=_EXTENT)
    heat.imshow(_attention(classifier, order), cmap="inferno", alpha=0.65, extent=_EXTENT)
    heat.set_title(f"where all {len(order)} features look", fontsize=9)
    heat.set_axis_off()
    for place, j in enumerate(order[:n].tolist()):
        axes = figure.add_subplot(grid[place // (columns - 2), 2 + place % (columns - 2)])
        axes.imshow(window, extent=_EXTENT, interpolation="nearest")
        _draw_feature(axes, classifier, j)
        axes.set_title(f"{place + 1}: {classifier.pool.channel(j).name}", fontsize=9, pad=3)
        axes.set_axis_off()
    return png_of(figure)


_EXTENT = (0, WINDOW_PX, WINDOW_PX, 0)


def _attention(classifier: KeypointClassifier, order: np.ndarray) -> np.ndarray:
    """How much response lies on each pixel of the window: spread of a feature over its pixels, summed."""
    heat = np.zeros((WINDOW_PX, WINDOW_PX))
    spread = np.ptp(classifier.model.responses.values[0], axis=1)
    for j in order.tolist():
        marks = [mark for mark in classifier.pool.draw(j) if mark.weight != 0]
        area = sum(mark.height * mark.width for mark in marks)
        for row, col, height, width, *_ in marks:
            heat[row : row + height, col : col + width] += spread[j] / area
    return heat


def _draw_feature(axes, classifier: KeypointClassifier, j: int) -> None:
    for row, col, height, width, weight, angle in classifier.pool.draw(j):
        colour = "white" if weight == 0 else POSITIVE if weight > 0 else NEGATIVE
        filled = weight != 0 and angle is None
        axes.add_patch(
            matplotlib.patches.Rectangle(
                (col, row),
                width,
                height,
                ec=colour,
                fc=colour if filled else "none",
                alpha=0.55 if filled else 1.0,
                lw=1.2,
                ls=":" if weight == 0 else "-",
            )
        )
        if angle is not None:
            dx, dy = 2.6 * np.cos(angle), 2.6 * np.sin(angle)
            x, y = col + width / 2, row + height / 2
            axes.plot([x - dx, x + dx], [y - dy, y + dy], color=colour, lw=2)


def plot_responses(
    classifier: KeypointClassifier, order: np.ndarray, positive: np.ndarray, negative: np.ndarray, n: int = 9
) -> bytes:
    """Plot the response to the strongest features over the distributions of the classes (Figure 5); PNG.

    Parameters
    ----------
    classifier : KeypointClassifier
    order : ndarray of int
        Features, strongest first.
    positive, negative : ndarray of shape (k, n), uint8
        Codes of examples.
    """
    columns = min(3, len(order))
    n = min(n, len(order)) // columns * columns
    responses = classifier.model.responses
    figure = new_figure(round(MAX_WIDTH_PX * columns / 3), 205 * (n // columns))
    for place, j in enumerate(order[:n].tolist()):
        axes = figure.add_subplot(n // columns, columns, place + 1)
        low, high = (float(ends[j]) for ends in (responses.low, responses.high))
        values = np.linspace(low, high, 256)
        density = axes.twinx()
        for codes, colour in ((negative[j], NEGATIVE), (positive[j], POSITIVE)):
            share = np.bincount(codes >> 3, minlength=32) / max(len(codes), 1)
            density.fill_between(values[4::8], share, color=colour, alpha=0.25, lw=0, step="mid")
        density.set_yticks([])
        density.set_ylim(0, None)
        axes.plot(values, classifier.tables[j], color="#1f3d7a", lw=1.8)
        axes.axhline(0, color="0.6", lw=0.6)
        axes.set_zorder(density.get_zorder() + 1)
        axes.patch.set_visible(False)
        if place % columns == 0:
            axes.set_ylabel("response")
        if place >= n - columns:
            axes.set_xlabel("value of the feature")
        name = classifier.pool[[j]].names()[0]
        axes.set_title("\n".join(textwrap.wrap(f"{place + 1}: {name}", 46)), fontsize=9, loc="left")
    return png_of(figure)


def plot_curves(curves: dict[str, list[list[float]]], marked: str = "") -> bytes:
    """Plot precision over recall, one line a name, each a list of (recall, precision); PNG.

    Each curve is thinner than the one before, so that those which lie on one another can all be seen; one
    that is marked is drawn thick, behind the others.
    """
    figure = new_figure(620, 380)
    axes = figure.add_subplot()
    widths = np.linspace(3.6, 1.2, max(len(curves), 2))
    for i, (name, points) in enumerate(curves.items()):
        if points:
            thick = name == marked
            axes.plot(
                *np.array(points).T,
                label=name,
                lw=8 if thick else widths[i],
                alpha=0.4 if thick else 1.0,
                zorder=2 if thick else 3,
                color=_LINES[i % len(_LINES)],
                ls="-" if thick else _DASHES[i // len(_LINES) % len(_DASHES)],
            )
    axes.set(xlim=(0, 1.01), ylim=(0, 1.01), xlabel="recall: share of the keypoints that are found")
    axes.set_ylabel("precision: share of the detections that are right")
    axes.grid(color="0.9")
    if any(curves.values()):
        figure.legend(loc="outside right upper", frameon=False)
    return png_of(figure)
