import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from annealed.features.errors import ParameterError
from annealed.models import FSAClassifier, FSARegressor, plot_responses


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def model(rng):
    X = pd.DataFrame(rng.standard_normal((200, 6)), columns=list("abcdef"))
    y = np.abs(X["c"]) + 0.3 * X["e"] + 0.1 * X["a"]
    return FSARegressor(k=3, response="piecewise", n_bins=5, n_iter=60).fit(X, y)


def test_draws_each_selected_function_the_strongest_first(model):
    axes = plot_responses(model)
    assert [ax.get_title() for ax in axes] == ["c", "e", "a"]
    for ax, j in zip(axes, [1, 2, 0], strict=True):  # selected: a, c, e
        curve = ax.lines[-1]
        np.testing.assert_allclose(curve.get_xdata(), model.knots_[j])
        np.testing.assert_allclose(curve.get_ydata(), model.knot_values_[0, j])


def test_draws_no_more_than_asked_for(model):
    axes = plot_responses(model, n_features=2)
    assert [ax.get_title() for ax in axes] == ["c", "e"]


def test_hides_what_the_grid_has_too_many(rng):
    X = rng.standard_normal((100, 9))
    model = FSARegressor(k=5, response="piecewise", n_iter=30).fit(X, X[:, :5].sum(axis=1))
    axes = plot_responses(model)
    assert len(axes) == 5
    assert sum(ax.get_visible() for ax in axes[0].figure.axes) == 5


def test_draws_on_given_axes(model):
    _, axes = plt.subplots(1, 2)
    drawn = plot_responses(model, axes=axes)
    assert drawn == list(axes)


def test_draws_the_output_asked_for(rng):
    X = rng.standard_normal((150, 5))
    model = FSAClassifier(k=2, response="piecewise", n_iter=40).fit(X, np.argmax(X[:, :3], axis=1))
    strongest = np.argmax(model.model_.importance())
    curve = plot_responses(model, output=2)[0].lines[-1]
    np.testing.assert_allclose(curve.get_ydata(), model.knot_values_[2, strongest])


@pytest.mark.parametrize("output", [-1, 1])
def test_outputs_that_do_not_exist_are_refused(model, output):
    with pytest.raises(ParameterError, match=f"output must be from 0 to 0, got {output}"):
        plot_responses(model, output=output)


def test_linear_responses_are_refused(rng):
    X = rng.standard_normal((30, 4))
    model = FSARegressor(k=2, n_iter=20).fit(X, X[:, 0])
    with pytest.raises(ParameterError, match='needs an estimator fitted with response="piecewise"'):
        plot_responses(model)


def test_unfitted_models_are_refused():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        plot_responses(FSARegressor(response="piecewise"))


def test_importing_the_models_loads_no_plotting():
    code = "import sys; import annealed.models; print('matplotlib' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "False"
