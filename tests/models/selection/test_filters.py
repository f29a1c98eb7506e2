"""Scores of features by hand and against naive twins."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.selection import FilterSelector
from annealed.models.selection.filters import (
    CRITERIA,
    discrete_information,
    f_statistic,
    mrmr_order,
    relieff,
)


def test_chi_squared_refuses_negative_values(rng):
    X = rng.random((30, 4))
    with pytest.raises(DataError, match="X has negative values"):
        FilterSelector(2, criterion="chi2").fit(X - 1, X[:, 0] > 0.5)


def test_relieff_is_its_definition(rng):
    """Naive twin: loops over samples, neighbours and features."""
    X, y = rng.random((25, 4)), rng.integers(0, 3, 25)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    prior = np.bincount(y) / 25
    expected = np.zeros(4)
    for i in range(25):
        for c in range(3):
            others = [j for j in range(25) if y[j] == c and j != i]
            others.sort(key=lambda j, i=i: np.abs(unit[i] - unit[j]).sum())
            others = others[:10]
            for j in others:
                factor = -1 if c == y[i] else prior[c] / (1 - prior[y[i]])
                for feature in range(4):
                    expected[feature] += factor * abs(unit[i, feature] - unit[j, feature]) / len(others) / 25
    np.testing.assert_allclose(relieff(X, y, True, None), expected, atol=1e-12)


def test_discrete_information_by_hand():
    code = np.array([0, 0, 1, 1])
    levels = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]])
    # a copy of the code, an independent column, a constant one
    np.testing.assert_allclose(discrete_information(levels, code), [np.log(2), 0, 0], atol=1e-15)


def test_mrmr_prefers_new_information_to_a_copy(rng):
    a, b = rng.integers(-1, 2, (2, 300)) * 10.0
    X = np.c_[a, a, b, rng.integers(-1, 2, 300)]
    order = mrmr_order(X, ((a > 0) * 2 + (b > 0)).astype(int), True, 2)
    assert set(order) == {0, 2}


def test_gini_of_a_pure_split_is_all_of_it():
    y = np.array([0, 0, 1, 1])
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    np.testing.assert_allclose(CRITERIA["gini"](X, y, True, None), [0.5, 0.0])


def test_f_of_constant_columns_comes_last():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 2.5], [0.0, 0.5]])
    assert np.isnan(f_statistic(X, np.array([0, 1, 1, 0]), True, None)[0])
    assert FilterSelector(1).fit(X, [0, 1, 1, 0]).get_support().tolist() == [False, True]
