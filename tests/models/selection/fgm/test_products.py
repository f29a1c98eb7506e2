"""Second-order atoms against the expansion written out."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from annealed.models.selection.fgm import products
from annealed.models.selection.fgm.products import ProductAtoms

GAMMA, R = 0.7, 1.3


def expand(Z):
    """All atoms' columns in the documented order."""
    m = Z.shape[1]
    columns, pairs = [], []
    for i in range(m):
        columns += [np.sqrt(2 * GAMMA * R) * Z[:, i], GAMMA * Z[:, i] ** 2]
        pairs += [(-1, i), (i, i)]
        for j in range(i + 1, m):
            columns.append(np.sqrt(2) * GAMMA * Z[:, i] * Z[:, j])
            pairs.append((i, j))
    return np.stack(columns, axis=1), np.array(pairs)


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def case(request, rng):
    X = rng.standard_normal((25, 7)) * (rng.random((25, 7)) < 0.7)
    scale = rng.uniform(0.5, 2, 7)
    atoms = ProductAtoms(csr_array(X) if request.param else X, scale, GAMMA, R)
    return atoms, *expand(X * scale), X * scale


def to_array(columns):
    return columns if isinstance(columns, np.ndarray) else columns.toarray()


def test_numbers_pairs_and_columns_of_all_atoms(case):
    atoms, columns, pairs, _ = case
    everything = np.arange(atoms.n_atoms)
    assert atoms.n_atoms == columns.shape[1] == 7 * 10 // 2
    np.testing.assert_array_equal(atoms.pairs(everything), pairs)
    np.testing.assert_allclose(to_array(atoms.columns(everything)), columns, atol=1e-12)


def test_expansion_is_the_kernel_without_its_constant(case):
    _, columns, _, Z = case
    np.testing.assert_allclose(columns @ columns.T + R**2, (GAMMA * Z @ Z.T + R) ** 2, atol=1e-10)


@pytest.mark.parametrize("table_size", [1, 20, 10**6])
@pytest.mark.parametrize("count", [1, 6, 35])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_strongest_agrees_with_the_expansion(case, rng, monkeypatch, table_size, count, n_outputs):
    atoms, columns, _, _ = case
    monkeypatch.setattr(atoms, "block_size", max(1, table_size // 7))
    dual = rng.standard_normal((25, n_outputs))
    expected = ((columns.T @ dual) ** 2).sum(axis=1)
    chosen, scores = atoms.strongest(dual, count)
    order = np.argsort(-expected, kind="stable")[:count]
    np.testing.assert_array_equal(chosen, order)
    np.testing.assert_allclose(scores, expected[order], rtol=1e-9)


def test_blocks_keep_within_the_table(rng):
    atoms = ProductAtoms(rng.standard_normal((3, 50)), np.ones(50))
    assert atoms.block_size * 50 <= products.TABLE_SIZE
    atoms.block_size = 7
    numbers = [atoms._block_scores(np.ones((3, 1)), first)[0] for first in range(0, 50, 7)]
    np.testing.assert_array_equal(np.concatenate(numbers), np.arange(atoms.n_atoms))
    assert all(len(a) > len(b) for a, b in pairwise(numbers))
