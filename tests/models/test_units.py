"""Tables of any unit: the same columns, or one line that names those which cannot be worked with."""

import numpy as np
import pytest
from scipy import sparse

from annealed.features.errors import DataError
from annealed.models import FSAClassifier, FSARegressor
from annealed.models.selection import ScreenedLasso
from annealed.models.selection.filters import FilterSelector


@pytest.fixture
def table(rng):
    X = rng.standard_normal((200, 12))
    return X, (X[:, 3] + X[:, 7] > 0).astype(int)


def selected(X, y):
    return np.flatnonzero(FSAClassifier(2, random_state=0).fit(X, y).support_).tolist()


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e100])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_units_do_not_matter(table, scale, form):
    X, y = table
    assert selected(form(X * scale), y) == [3, 7]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_units_of_float32_do_not_matter(table, form):
    X, y = table
    for scale in (1e-20, 1e20):
        assert selected(form((X * scale).astype(np.float32)), y) == [3, 7]


@pytest.mark.parametrize("offset", [1e3, 1e9, 1e11])
def test_an_offset_does_not_matter_to_a_dense_table(table, offset):
    X, y = table
    assert selected(X + offset, y) == [3, 7]


@pytest.mark.parametrize(
    ("form", "scale", "offset", "message"),
    [
        (np.asarray, 1, 1e15, "the standard deviation is less than"),
        (sparse.csr_array, 1, 1e9, "less than 0.002 of the mean, .*or give a dense array"),
        (sparse.csr_array, 1, 1e4, "less than 0.002 of the mean"),
        (np.asarray, 1e200, 0, "values too large"),
        (sparse.csr_array, 1e200, 0, "values too large"),
        (np.asarray, 1e-200, 0, "values too small"),
        (sparse.csr_array, 1e-200, 0, "values too small"),
    ],
)
def test_columns_that_the_numbers_cannot_hold_are_left_out_with_a_word(table, form, scale, offset, message):
    X, y = table
    X[:, 3] = X[:, 3] * scale + offset
    with pytest.warns(UserWarning, match=f"column 3 of X left out: .*{message}"):
        assert 7 in selected(form(X), y)


def test_rounding_is_not_taken_for_variation(table):
    X, y = table
    X[:, 5] = 1 + np.where(X[:, 0] > 0, np.finfo(float).eps, 0)
    assert selected(X, y) == [3, 7]


@pytest.mark.parametrize("criterion", ["gini", "mutual-information", "pearson", "f", "relieff"])
@pytest.mark.parametrize("scale", [1e-20, 1e-10, 1e10])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_filters_do_not_see_the_unit(table, criterion, scale, task):
    X, y = table
    y = X[:, 3] + X[:, 7] if task == "regression" else y
    orders = [
        FilterSelector(2, criterion=criterion, task=task, random_state=0).fit(Z, y).support_
        for Z in (X, X * scale)
    ]
    np.testing.assert_array_equal(*orders)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("model", [FSARegressor(2), ScreenedLasso()])
def test_targets_that_cannot_be_squared_are_refused(table, model, scale):
    X, _ = table
    with pytest.raises(DataError, match=r"y has values of .* which cannot be squared"):
        model.fit(X, X[:, 3] * scale)


@pytest.mark.parametrize("weight", [None, "drawn"])
def test_a_long_constant_column_is_no_doubtful_one(rng, weight):
    """Its deviation is the rounding of as many sums as there are rows; nobody need be warned of it."""
    X = rng.standard_normal((20_000, 3))
    X[:, 1] = 0.1
    weight = weight and rng.random(len(X))
    model = FSARegressor(k=1, n_iter=2).fit(X, X[:, 0], sample_weight=weight)
    assert not model.support_[1]
