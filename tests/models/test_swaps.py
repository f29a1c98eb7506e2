"""Exchanges of selected columns, against all exchanges tried one by one."""

import numpy as np
import pytest

from annealed.models.swaps import Products, swap


def products_of(X, y):
    y = np.atleast_2d(y)
    n = len(X)
    return Products(y @ X / n, lambda j: X.T @ X[:, j] / n, np.mean(X**2, axis=0), float(np.sum(y**2) / n))


def error(X, y, columns, ridge=0.0):
    """Mean squared error with its ridge, by an augmented least-squares problem."""
    n, targets = len(X), np.atleast_2d(y).T
    A = np.vstack([X[:, columns], np.sqrt(n * ridge) * np.eye(len(columns))])
    b = np.vstack([targets, np.zeros((len(columns), targets.shape[1]))])
    rest = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.sum(rest**2) / n)


def naive_swap(X, y, kept, ridge=0.0, fixed=()):
    """Try every exchange, take the best, until none lowers the error."""
    kept = sorted(kept)
    while True:
        tried = [
            (error(X, y, sorted(set(kept) - {i} | {j}), ridge), i, j)
            for i in kept
            if i not in fixed
            for j in range(X.shape[1])
            if j not in kept
        ]
        best, i, j = min(tried)
        if not best < error(X, y, kept, ridge) - 1e-9:
            return kept
        kept = sorted(set(kept) - {i} | {j})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_swap_ends_where_trying_all_exchanges_ends(seed, ridge, n_outputs):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 15)) + 0.8 * rng.standard_normal((40, 1))
    X -= X.mean(axis=0)
    y = X[:, :n_outputs].T + X[:, 5] - X[:, 9] + rng.standard_normal((n_outputs, 40))
    y -= y.mean(axis=1, keepdims=True)
    kept = rng.choice(15, 4, replace=False)
    swapped = swap(products_of(X, y), kept, max_swaps=100, ridge=ridge)
    assert swapped.kept.tolist() == naive_swap(X, y, kept, ridge)
    A = X[:, swapped.kept]
    exact = np.linalg.solve(A.T @ A / 40 + ridge * np.eye(4), A.T @ y.T / 40).T
    np.testing.assert_allclose(swapped.coef, exact, atol=1e-10)


def test_columns_that_must_stay_stay(rng):
    X = rng.standard_normal((60, 10))
    y = X[:, 3] + X[:, 7]
    swapped = swap(products_of(X, y), np.array([0, 1]), max_swaps=9, fixed=np.array([True, False]))
    assert 0 in swapped.kept
    assert swapped.kept.tolist() == naive_swap(X, y, [0, 1], fixed=[0])
    assert swapped.left == [1]


def test_no_more_swaps_than_allowed(rng):
    X = rng.standard_normal((60, 10))
    y = X[:, 3] + 2 * X[:, 7]
    swapped = swap(products_of(X, y), np.array([0, 1]), max_swaps=1)
    assert 7 in swapped.kept
    assert 3 not in swapped.kept


def test_copies_and_constant_columns_are_not_taken_in(rng):
    X = rng.standard_normal((50, 6))
    X[:, 1] = X[:, 0]
    X[:, 2] = 0
    y = X[:, 0] + 0.5 * X[:, 5]
    swapped = swap(products_of(X, y), np.array([0, 3]), max_swaps=9)
    assert swapped.kept.tolist() == [0, 5]
