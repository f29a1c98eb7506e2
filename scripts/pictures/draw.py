"""Draw the README's pictures of motions and of a table, from scikit-image's pictures and generated data.

Usage: python scripts/pictures/draw.py

Writes motions.jpg and curves.png beside this file.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from annealed import FSARegressor
from annealed.app.demonstration import find_motions
from annealed.models import plot_responses

HERE = Path(__file__).parent
WIDTH_PX = 760


def draw_motions() -> None:
    """Three frames of the demo's clip, a colour a motion."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = Image.fromarray(find_motions(Path(folder)).sheet)
    top = sheet.crop((0, 0, sheet.width, sheet.height // 2 - 2))
    small = top.resize((WIDTH_PX, round(top.height * WIDTH_PX / top.width)), Image.Resampling.LANCZOS)
    small.save(HERE / "motions.jpg", quality=85)


def draw_curves() -> None:
    """The four curves that make up a model of forty columns."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (2000, 40))
    y = np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + X[:, 2] ** 3 - X[:, 3] + 0.2 * rng.normal(size=len(X))
    model = FSARegressor(k=4, response="piecewise", random_state=0).fit(X, y)
    figure = Figure(figsize=(WIDTH_PX / 100, 1.9), dpi=100, layout="constrained")
    axes = figure.subplots(1, 4, sharey=True)
    plot_responses(model, n_features=4, axes=axes)
    for axis in axes:
        axis.set_xlabel("value")
        axis.set_title(axis.get_title().replace("x", "column "), fontsize=9)
    axes[0].set_ylabel("adds to the prediction")
    figure.savefig(HERE / "curves.png")


if __name__ == "__main__":
    draw_motions()
    draw_curves()
