"""Pictures of fitted models."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.errors import ParameterError
from ..additive import LinearModel
from ..curves import Axis, Term, curves_of
from .labels import labels_of

FEW = 2  # knots, up to which a quantity is drawn as bars, like a category


def plot_responses(estimator, *, n_features: int = 12, output: int = 0, axes=None):
    """Draw the terms of a fitted model, the strongest first (Figure 5).

    A quantity is a line through its knots, with the part of the training rows about each knot in grey below
    it; a category or a column of two values is a row of bars, as wide as they have rows; a pair is a map.
    What missing values add is a dotted line, if there were any.

    Parameters
    ----------
    estimator : fitted FSAClassifier, FSARegressor or FSARanker with response="piecewise"
    n_features : int
        Terms to draw at most.
    output : int
        Which class or target, where there are several.
    axes : sequence of matplotlib Axes, optional
        One per term; a new figure is made by default.

    Returns
    -------
    list of matplotlib Axes
    """
    check_is_fitted(estimator)
    model = estimator.model_
    if isinstance(model, LinearModel):
        raise ParameterError('plot_responses needs an estimator fitted with response="piecewise"')
    if not 0 <= output < len(model.intercept):
        raise ParameterError(f"output must be from 0 to {len(model.intercept) - 1}, got {output}")
    terms = curves_of(model).curves
    strength = [np.sqrt(np.sum(term.deviation() ** 2)) for term in terms]
    strongest = np.argsort(-np.array(strength), kind="stable")[:n_features]
    axes = _new_axes(len(strongest)) if axes is None else list(axes)
    names = estimator.get_feature_names_out() if hasattr(estimator, "get_feature_names_out") else None
    name_of = dict(zip(model.features.tolist(), [] if names is None else names, strict=False))
    for ax, t in zip(axes, strongest, strict=False):
        term = terms[t]
        labels = [labels_of(estimator, axis) for axis in term.axes]
        if len(term.axes) == 2:
            _draw_map(ax, term, output, labels)
        elif term.axes[0].is_category or len(term.axes[0].knots) <= FEW:
            _draw_bars(ax, term, output, labels[0])
        else:
            _draw_line(ax, term, output)
        ax.set_title(" x ".join(str(name_of.get(j, j)) for j in term.features), fontsize=9)
    return axes[: len(strongest)]


def _draw_line(ax, term: Term, output: int) -> None:
    knots, values = term.axes[0].knots, term.values[output]
    ax.axhline(0, color="0.8", linewidth=0.8)
    _draw_missing(ax, term, output)
    height = 0.2 * np.ptp(values[:-1])  # the rows' density takes the lower fifth
    density = term.weights[:-1] / np.maximum(_widths(knots), np.finfo(float).tiny)
    if density.max() > 0 and height > 0:
        # Of skewed columns all but a few bins would be invisible on a plain scale.
        share = np.sqrt(density / density.max())
        bottom = values[:-1].min() - 1.2 * height
        ax.fill_between(knots, bottom, bottom + height * share, color="0.85", linewidth=0)
    ax.plot(knots, values[:-1], marker=".", color="C0")


def _widths(knots: np.ndarray) -> np.ndarray:
    """Return half the distance between the neighbours of each knot."""
    gaps = np.concatenate([[0.0], np.diff(knots), [0.0]])
    return (gaps[:-1] + gaps[1:]) / 2


def _draw_bars(ax, term: Term, output: int, labels: Sequence[str]) -> None:
    widths = 0.1 + 0.8 * term.weights[:-1] / max(term.weights[:-1].max(), np.finfo(float).tiny)
    ax.axhline(0, color="0.8", linewidth=0.8)
    _draw_missing(ax, term, output)
    places = np.arange(len(labels))
    ax.bar(places, term.values[output, :-1], width=widths, color="C0")
    ax.set_xticks(places, labels, fontsize=7, rotation=90 if len(labels) > 5 else 0)


def _draw_missing(ax, term: Term, output: int) -> None:
    if term.weights[-1] > 0:
        ax.axhline(term.values[output, -1], color="C1", linestyle=":", linewidth=1.2)


def _draw_map(ax, term: Term, output: int, labels: Sequence[Sequence[str]]) -> None:
    values = term.values[output, :-1, :-1]
    most = max(np.abs(values).max(), np.finfo(float).tiny)
    first, second = (_positions(axis) for axis in term.axes)
    ax.pcolormesh(first, second, values.T, cmap="RdBu_r", vmin=-most, vmax=most, shading="nearest")
    for axis, texts, set_ticks in zip(term.axes, labels, (ax.set_xticks, ax.set_yticks), strict=True):
        if axis.is_category:
            set_ticks(np.arange(len(texts)), texts, fontsize=7)


def _positions(axis: Axis) -> np.ndarray:
    return np.arange(len(axis.knots)) if axis.is_category else axis.knots


def _new_axes(count: int) -> list:
    import matplotlib.pyplot as plt  # loaded here: importing the package must stay cheap

    n_columns = max(1, min(4, count))
    n_rows = max(1, -(-count // n_columns))
    size = (3 * n_columns, 2.2 * n_rows)
    figure, grid = plt.subplots(n_rows, n_columns, figsize=size, sharey=False, squeeze=False)
    axes = list(grid.ravel())
    for ax in axes[count:]:
        ax.set_visible(False)
    figure.tight_layout()
    return axes
