"""Pictures of fitted models."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...features.errors import ParameterError
from ..additive import PiecewiseModel


def plot_responses(estimator, *, n_features: int = 12, output: int = 0, axes=None):
    """Draw the selected variables' piecewise linear responses, the strongest first (Figure 5).

    Parameters
    ----------
    estimator : fitted FSAClassifier, FSARegressor or FSARanker with response="piecewise"
    n_features : int
        Responses to draw at most.
    output : int
        Which class or target, where there are several.
    axes : sequence of matplotlib Axes, optional
        One per response; a new figure is made by default.

    Returns
    -------
    list of matplotlib Axes
    """
    check_is_fitted(estimator)
    model = estimator.model_
    if not isinstance(model, PiecewiseModel):
        raise ParameterError('plot_responses needs an estimator fitted with response="piecewise"')
    if not 0 <= output < len(model.values):
        raise ParameterError(f"output must be from 0 to {len(model.values) - 1}, got {output}")
    strongest = np.argsort(-model.importance(), kind="stable")[:n_features]
    names = estimator.get_feature_names_out()
    axes = _new_axes(len(strongest)) if axes is None else list(axes)
    knots = model.knots()
    for ax, j in zip(axes, strongest, strict=False):
        ax.axhline(0, color="0.8", linewidth=0.8)
        ax.plot(knots[j], model.values[output, j], marker=".", color="C0")
        ax.set_title(str(names[j]), fontsize=9)
    return axes[: len(strongest)]


def _new_axes(count: int) -> list:
    import matplotlib.pyplot as plt  # loaded here: importing the package must stay cheap

    n_columns = min(4, count)
    n_rows = -(-count // n_columns)
    size = (3 * n_columns, 2.2 * n_rows)
    figure, grid = plt.subplots(n_rows, n_columns, figsize=size, sharey=True, squeeze=False)
    axes = list(grid.ravel())
    for ax in axes[count:]:
        ax.set_visible(False)
    figure.tight_layout()
    return axes
