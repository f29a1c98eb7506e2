"""Figures of a trained detector: what it selected, how it responds, what it mined, how long it took."""

import io

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from ...features.patches import MARGIN_PX, WINDOW_PX
from ...models.keypoints.keypoint_classifier import KeypointClassifier

POSITIVE, NEGATIVE = "#1b9e5a", "#d1342f"
_DPI = 110


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
    columns = (n + 1) // 2 + 2
    figure = Figure(figsize=(1.55 * columns, 3.7), dpi=_DPI)
    grid = figure.add_gridspec(
        2, columns, wspace=0.08, hspace=0.28, left=0.01, right=0.99, top=0.9, bottom=0.02
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
        axes.set_title(f"{place + 1}: {classifier.pool.channel(j).name}", fontsize=8, pad=2)
        axes.set_axis_off()
    return _png(figure)


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
    classifier: KeypointClassifier, order: np.ndarray, positive: np.ndarray, negative: np.ndarray, n: int = 8
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
    n = min(n, len(order))
    responses = classifier.model.responses
    figure = Figure(figsize=(11, 2.35 * -(-n // 4)), dpi=_DPI, layout="constrained")
    for place, j in enumerate(order[:n].tolist()):
        axes = figure.add_subplot(-(-n // 4), 4, place + 1)
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
        axes.tick_params(labelsize=7)
        axes.set_title(f"{place + 1}: {classifier.pool[[j]].names()[0]}", fontsize=6.5)
    return _png(figure)


def plot_curves(curves: dict[str, list[list[float]]]) -> bytes:
    """Plot precision over recall, one line a name, each a list of (recall, precision); PNG."""
    figure = Figure(figsize=(4.6, 3.6), dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    for name, points in curves.items():
        if points:
            axes.plot(*np.array(points).T, label=name, lw=1.6)
    axes.set(xlim=(0, 1.01), ylim=(0, 1.01), xlabel="recall", ylabel="precision")
    axes.grid(color="0.9")
    if any(curves.values()):
        axes.legend(fontsize=7, loc="lower left")
    return _png(figure)


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()
