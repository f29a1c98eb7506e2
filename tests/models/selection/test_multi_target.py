"""Votes by hand, targets that say nothing, and which methods need no votes."""

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.selection.multi_target import selects_jointly, target_weights, varying_targets, votes
from annealed.models.selection.registry import METHODS


def test_votes_by_hand():
    # 5: 1 + 1/2; 2: 1/2 + 1/2; 0: 1
    orders = [np.array([5, 2]), np.array([0, 5]), np.array([7, 2])]
    assert votes(orders, np.ones(3), 8, 2).tolist() == [5, 0]


def test_votes_by_weight():
    # 5: 3 + 1/2; 2: 3/2 + 5/2; 0: 1; 7: 5
    orders = [np.array([5, 2]), np.array([0, 5]), np.array([7, 2])]
    assert votes(orders, np.array([3.0, 1.0, 5.0]), 8, 3).tolist() == [7, 2, 5]


def test_labels_weigh_as_they_vary_and_other_targets_the_same():
    Y = np.array([[0, 1], [0, 0], [1, 1], [0, 0]])
    np.testing.assert_allclose(target_weights(Y), [np.sqrt(3) / 4, 0.5])
    assert target_weights(Y + 0.5).tolist() == [1, 1]


def test_places_after_k_and_features_without_votes_do_not_count():
    assert votes([np.array([3, 1, 0])], np.ones(1), 5, 2).tolist() == [3, 1]
    assert votes([np.array([3])], np.ones(1), 5, 2).tolist() == [3]


def test_targets_with_one_value_are_left_out():
    Y = np.array([[0, 1, 2], [0, 1, 3]])
    assert varying_targets(Y).tolist() == [2]
    with pytest.raises(DataError, match="one value only"):
        varying_targets(Y[:, :2])


def test_methods_with_shared_rows_select_jointly():
    joint = {name for name in METHODS if METHODS[name].installed and selects_jointly(name)}
    assert joint == {"fsa", "fsa-piecewise", "stable-fsa", "lp-inf", "l21"}
