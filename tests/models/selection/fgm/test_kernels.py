"""Explicit maps against the kernels they stand for, and scores against the maps."""

import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.selection.fgm.kernels import (
    GaussianAtoms,
    GaussianMap,
    IntersectionAtoms,
    IntersectionMap,
    check_kernel_parameters,
)


@pytest.mark.parametrize("n_levels", [1, 7, 100, 255])
def test_thermometer_code_gives_the_smaller_level(rng, n_levels):
    x = rng.random((40, 1))
    code = IntersectionMap(np.zeros(1), np.ones(1), n_levels)
    columns = code(x, np.array([0]))
    levels = np.floor(x * n_levels) / n_levels
    np.testing.assert_allclose(columns @ columns.T, np.minimum(levels, levels.T), atol=1e-12)
    assert np.abs(columns @ columns.T - np.minimum(x, x.T)).max() <= 1 / n_levels


@pytest.mark.parametrize("theta", [0.5, 4.0, 20.0])
def test_fourier_columns_give_the_gaussian_kernel(rng, theta):
    x = rng.random((60, 1))
    kernel = np.exp(-theta * (x - x.T) ** 2)
    feature_map = GaussianMap(np.zeros(1), np.ones(1), theta, n_harmonics=12)
    columns = feature_map(x, np.array([0]))
    np.testing.assert_allclose(columns @ columns.T + feature_map.constant, kernel, atol=2e-3)


def test_eleven_columns_of_the_paper_are_near_the_kernel():
    x = np.linspace(0, 1, 50)[:, None]
    feature_map = GaussianMap(np.zeros(1), np.ones(1))
    columns = feature_map(x, np.array([0]))
    assert columns.shape == (50, 10)
    approximation = columns @ columns.T + feature_map.constant
    assert np.abs(approximation - np.exp(-4.0 * (x - x.T) ** 2)).max() < 0.01


@pytest.mark.parametrize("cls", [IntersectionAtoms, GaussianAtoms])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_are_the_norms_of_the_columns(rng, cls, n_outputs):
    X = rng.standard_normal((50, 9)) * np.geomspace(0.1, 100, 9) + 5
    X[:, 4] = 2.5
    atoms, dual = cls(X), rng.standard_normal((50, n_outputs))
    dual -= dual.mean(axis=0)
    columns = atoms.columns(np.arange(9))
    widths = atoms.widths(np.arange(9))
    expected = [np.sum((part.T @ dual) ** 2) for part in np.split(columns, np.cumsum(widths)[:-1], axis=1)]
    np.testing.assert_allclose(atoms.scores(dual), expected, atol=1e-10)
    chosen, scores = atoms.strongest(dual, 3)
    np.testing.assert_array_equal(chosen, np.argsort(-np.array(expected), kind="stable")[:3])
    np.testing.assert_allclose(scores, np.array(expected)[chosen])
    assert expected[4] < 1e-20  # a constant column has nothing to say


def test_blocks_do_not_change_gaussian_scores(rng):
    X, dual = rng.standard_normal((20, 10)), rng.standard_normal((20, 1))
    np.testing.assert_allclose(
        GaussianAtoms(X, block_size=3).scores(dual), GaussianAtoms(X, block_size=64).scores(dual)
    )


def test_intersection_scores_do_not_depend_on_threads(rng, with_threads):
    atoms, dual = IntersectionAtoms(rng.standard_normal((100, 33))), rng.standard_normal((100, 2))
    one, two = with_threads(lambda: atoms.scores(dual))
    np.testing.assert_array_equal(one, two)


def test_values_outside_the_range_clamp():
    X = np.array([[0.0], [1.0]])
    for feature_map in (IntersectionAtoms(X).map, GaussianAtoms(X).map):
        outside = feature_map(np.array([[-5.0], [9.0]]), np.array([0]))
        np.testing.assert_array_equal(outside, feature_map(X, np.array([0])))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ((0, 5, 1.0), "n_levels"),
        ((256, 5, 1.0), "n_levels"),
        ((100, 0, 1.0), "n_harmonics"),
        ((100, 5, 0.0), "theta"),
        ((100, 5, np.inf), "theta"),
    ],
)
def test_bad_kernel_parameters(parameters, match):
    with pytest.raises(ParameterError, match=match):
        check_kernel_parameters(*parameters)
