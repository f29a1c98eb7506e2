"""Worst-case analysis of features and groups against naive search, and the checks of groups."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from annealed.features.errors import DataError, ParameterError
from annealed.models.selection.fgm.atoms import (
    FeatureAtoms,
    GroupAtoms,
    TreeAtoms,
    check_groups,
    top,
    tree_parents,
)


def naive_top(scores, count):
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], j))[:count]
    return order, [scores[j] for j in order]


@pytest.mark.parametrize("count", [1, 3, 10, 30])
def test_top_agrees_with_sorting(rng, count):
    for _ in range(20):
        scores = rng.integers(0, 6, rng.integers(1, 31)).astype(float)
        found = top(scores, count)
        expected = naive_top(scores, count)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


@pytest.fixture
def case(rng):
    X = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.5)
    return X, rng.uniform(0.5, 2, 12), rng.standard_normal((30, 2))


GROUPS = {
    "disjoint": [[0, 1, 2], [3], [4, 5, 6, 7], [8, 9], [10, 11]],
    "overlapping": [[0, 1, 2], [2, 3, 4], [4, 5], [0, 5, 6, 7, 8], [8, 9, 10], [11]],
    "tree": [list(range(8)), [0, 1, 2, 3], [0, 1], [0], [1], [4, 5], [8, 9, 10, 11], [8, 9], [10], [8]],
}


def make(case, groups, cls=GroupAtoms, weights=None, as_sparse=False):
    X, scale, _ = case
    members = check_groups(groups, 12)
    weights = np.ones(len(groups)) if weights is None else weights
    return cls(FeatureAtoms(csr_array(X) if as_sparse else X, scale), members, weights)


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_columns_have_the_norms_that_scores_tell(case, rng, name, as_sparse):
    groups = GROUPS[name]
    weights = rng.uniform(0.5, 2, len(groups))
    atoms = make(case, groups, weights=weights, as_sparse=as_sparse)
    X, scale, dual = case
    chosen, scores = atoms.strongest(dual, 3)
    expected = [
        np.sum((w * (X[:, g] * scale[g]).T @ dual) ** 2) for g, w in zip(groups, weights, strict=True)
    ]
    np.testing.assert_array_equal(chosen, naive_top(expected, 3)[0])
    np.testing.assert_allclose(scores, naive_top(expected, 3)[1])
    columns = atoms.columns(chosen)
    columns = columns.toarray() if as_sparse else columns
    np.testing.assert_allclose(columns, np.hstack([weights[g] * (X * scale)[:, groups[g]] for g in chosen]))
    np.testing.assert_array_equal(atoms.widths(chosen), [len(groups[g]) for g in chosen])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_feature_columns_and_scores(case, as_sparse):
    X, scale, dual = case
    atoms = FeatureAtoms(csr_array(X) if as_sparse else X, scale)
    chosen, scores = atoms.strongest(dual, 4)
    columns = atoms.columns(chosen)
    columns = columns.toarray() if as_sparse else columns
    np.testing.assert_allclose(columns, (X * scale)[:, chosen])
    np.testing.assert_allclose(scores, ((columns.T @ dual) ** 2).sum(axis=1))
    assert columns.dtype == np.float64


def random_tree(rng, n_features):
    """Nested halves of random sizes, in random order, some of them twice."""
    groups, pending = [], [np.arange(n_features)]
    while pending:
        group = pending.pop()
        groups.append(group)
        if len(group) > 1 and rng.random() < 0.9:
            cut = rng.integers(1, len(group))
            pending += [group[:cut], group[cut:]]
    return [groups[i] for i in rng.permutation(len(groups))]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_pruned_search_finds_what_the_full_one_finds(rng, count, weighted):
    saved = 0
    for _ in range(30):
        groups = random_tree(rng, 40)
        weights = rng.uniform(0.1, 1, len(groups)) if weighted else np.ones(len(groups))
        X = rng.standard_normal((20, 40)) * 10 ** rng.uniform(-2, 0, 40)
        X[:, rng.random(40) < 0.3] = 0  # ties of whole subtrees
        features = FeatureAtoms(X, np.ones(40))
        dual = rng.standard_normal((20, 1))
        tree = TreeAtoms(features, groups, weights)
        expected = GroupAtoms(features, groups, weights).strongest(dual, count)
        found = tree.strongest(dual, count)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
        scores = GroupAtoms(features, groups, weights).scores(dual)
        np.testing.assert_allclose(scores[found[0]], expected[1], rtol=1e-12)
        assert len(set(found[0].tolist())) == len(found[0])
        saved += len(groups) - tree.n_visited
    assert saved > 0


def test_pruning_passes_over_a_weak_subtree():
    """Proposition 2 by hand: the second root scores less than the best two, so its parts are not visited."""
    X = np.diag([3.0, 2.0, 1.0, 0.5])
    tree = TreeAtoms(
        FeatureAtoms(X, np.ones(4)), check_groups([[2, 3], [2], [3], [0, 1], [0], [1]], 4), np.ones(6)
    )
    chosen, scores = tree.strongest(np.ones((4, 1)), 2)
    np.testing.assert_array_equal(chosen, [3, 4])
    np.testing.assert_array_equal(scores, [13, 9])
    assert tree.n_visited == 4


def test_tree_parents_by_hand():
    groups = [np.array(group) for group in GROUPS["tree"]]
    np.testing.assert_array_equal(tree_parents(groups), [-1, 0, 1, 2, 2, 0, -1, 6, 6, 7])


def test_groups_that_cross_are_no_tree():
    with pytest.raises(ParameterError, match=r"partly overlaps"):
        tree_parents([np.array([0, 1]), np.array([1, 2])])


def test_check_groups_reads_numbers_of_groups():
    found = check_groups(np.array([7, 3, 7, 0]), 4)
    assert [group.tolist() for group in found] == [[3], [1], [0, 2]]


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        ([0, 1, 1], "3 entries for 4 features"),
        ([[0, 1], [3]], "1 are in none, the first is 2"),
        ([[0, 1, 2, 4], [3]], r"groups\[0\] must hold numbers from 0 to 3"),
        ([[0, 1, 2], [-1, 3]], r"groups\[1\] must hold numbers from 0"),
        ([[0, 1, 2, 3], []], r"groups\[1\] must hold numbers of features"),
        ([[0.5, 1], [0, 1, 2, 3]], r"groups\[0\] must hold numbers of features"),
    ],
)
def test_bad_groups(groups, match):
    with pytest.raises((DataError, ParameterError), match=match):
        check_groups(groups, 4)
