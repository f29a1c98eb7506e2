import numpy as np
import pytest

from annealed.features.errors import ParameterError
from annealed.models.penalties import FadingRidge, Ridge, SecondDifference, TotalVariation

PENALTIES = [
    Ridge(0.3),
    Ridge(0.0),
    FadingRidge(0.4, n_rows=3),
    SecondDifference(strength=0.2, smoothness=0.7),
    SecondDifference(strength=0.0, smoothness=1.0),
    TotalVariation(strength=0.4, width=0.5),
]
SHAPES = [(1, 4, 6), (3, 2, 3), (2, 3, 2), (2, 5, 1)]


def naive_huber(d, width):
    return d**2 / (2 * width) if abs(d) <= width else abs(d) - width / 2


def naive_rho(penalty, b, n_features):
    """Rho of one block, as equations (13), (14) and (16) print it."""
    if isinstance(penalty, TotalVariation):
        jumps = [naive_huber(b[k] - b[k - 1], penalty.width) for k in range(1, len(b))]
        return penalty.strength * sum(jumps)
    if isinstance(penalty, FadingRidge):
        return penalty.strength * n_features / penalty.n_rows * sum(b**2)
    shrinkage = penalty.strength * sum(b**2)
    if isinstance(penalty, Ridge):
        return shrinkage
    bends = [(b[k + 1] + b[k - 1] - 2 * b[k]) ** 2 for k in range(1, len(b) - 1)]
    return shrinkage + penalty.smoothness * sum(bends)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_value_is_the_sum_of_the_equation_over_blocks(rng, penalty, shape):
    beta = rng.standard_normal(shape)
    expected = sum(naive_rho(penalty, b, shape[1]) for b in beta.reshape(-1, shape[2]))
    assert penalty.value(beta) == pytest.approx(expected, rel=1e-12)


def test_second_difference_by_hand():
    beta = np.array([[[0.0, 1.0, 0.0, 0.0]]])  # bends -2 and 1, norm squared 1
    assert SecondDifference(strength=10, smoothness=100).value(beta) == 10 + 100 * (4 + 1)


def test_total_variation_by_hand():
    beta = np.array([[[0.0, 0.5, 3.5]]])  # jumps 0.5, inside the width, and 3, beyond it
    assert TotalVariation(strength=2, width=1).value(beta) == 2 * (0.125 + 2.5)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_agrees_with_finite_differences(rng, penalty, shape):
    beta = rng.standard_normal(shape)
    gradient = np.zeros(shape)
    penalty.add_gradient(beta, gradient)
    numeric = np.empty(shape)
    for index in np.ndindex(shape):
        step = np.zeros(shape)
        step[index] = 1e-6
        numeric[index] = (penalty.value(beta + step) - penalty.value(beta - step)) / 2e-6
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_gradient_is_added(rng, penalty):
    beta, before = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3, 4))
    alone, both = np.zeros((2, 3, 4)), before.copy()
    penalty.add_gradient(beta, alone)
    penalty.add_gradient(beta, both)
    np.testing.assert_allclose(both, before + alone, rtol=1e-13)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("block_size", [1, 2, 3, 11, 64])
def test_curvature_bounds_the_largest_eigenvalue(penalty, block_size):
    """All are quadratic near zero: the Hessian's columns are the gradients at small unit steps."""
    hessian = np.zeros((block_size, block_size))
    size = 1e-3
    for k in range(block_size):
        beta, gradient = np.zeros((1, 1, block_size)), np.zeros((1, 1, block_size))
        beta[0, 0, k] = size
        penalty.add_gradient(beta, gradient)
        hessian[k] = gradient[0, 0] / size
    largest = np.linalg.eigvalsh(hessian)[-1]
    assert largest <= penalty.curvature(1) * (1 + 1e-12)
    if block_size == 64:  # and the bound is close for long blocks
        assert largest >= 0.99 * penalty.curvature(1)


def test_total_variation_bends_less_beyond_its_width(rng):
    """Away from zero the Huber function is linear, so the curvature at zero is the largest."""
    penalty = TotalVariation(strength=1.0, width=0.1)
    for _ in range(20):
        beta, direction = rng.standard_normal((1, 1, 8)), rng.standard_normal((1, 1, 8))
        ahead, behind = np.zeros((1, 1, 8)), np.zeros((1, 1, 8))
        penalty.add_gradient(beta + 1e-6 * direction, ahead)
        penalty.add_gradient(beta - 1e-6 * direction, behind)
        bent = np.sum(direction * (ahead - behind)) / 2e-6
        assert -1e-6 <= bent <= penalty.curvature(1) * np.sum(direction**2)


@pytest.mark.parametrize("level", [0.0, 3.0])
def test_smoothness_costs_nothing_on_straight_lines(level):
    line = np.linspace(level, 5.0, 7)[None, None]
    assert SecondDifference(strength=0, smoothness=1).value(line) == pytest.approx(0, abs=1e-28)


@pytest.mark.parametrize(
    ("penalty", "arguments", "message"),
    [
        (Ridge, {"strength": -1.0}, "strength must be a finite number of at least 0, got -1.0"),
        (Ridge, {"strength": np.nan}, "strength must be a finite number of at least 0, got nan"),
        (SecondDifference, {"strength": np.inf}, "strength must be a finite number of at least 0, got inf"),
        (SecondDifference, {"smoothness": -1.0}, "smoothness must be a finite number of at least 0, got -1"),
        (TotalVariation, {"strength": -1.0}, "strength must be a finite number of at least 0, got -1.0"),
        (TotalVariation, {"width": 0.0}, "width must be a finite number above 0, got 0.0"),
        (TotalVariation, {"width": np.nan}, "width must be a finite number above 0, got nan"),
    ],
)
def test_bad_parameters_are_refused(penalty, arguments, message):
    with pytest.raises(ParameterError, match=message):
        penalty(**arguments)


def test_fading_ridge_is_a_ridge_in_proportion_to_the_features_left(rng):
    penalty = FadingRidge(0.5, n_rows=20)
    beta = rng.standard_normal((2, 8, 1))
    assert penalty.value(beta) == pytest.approx(Ridge(0.5 * 8 / 20).value(beta))
    assert penalty.value(beta[:, :2]) == pytest.approx(Ridge(0.5 * 2 / 20).value(beta[:, :2]))
    assert penalty.curvature(8) == Ridge(0.5 * 8 / 20).curvature(8)
