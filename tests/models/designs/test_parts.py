"""Rows are dealt out to parts once each, and sums do not depend on who holds which part."""

import numpy as np
import pytest

from annealed.models.designs.parts import TreeSum, divide_rows, number_of_parts, total


def shuffled(seed=0):
    return np.random.RandomState(seed)


def test_every_row_that_takes_part_stands_at_one_position():
    included = np.ones(1000, dtype=bool)
    included[[3, 500, 501]] = False
    parts = divide_rows(included, 8, shuffled())
    order = parts.order()
    assert parts.n_rows == len(order) == 997
    np.testing.assert_array_equal(np.sort(order), np.flatnonzero(included))
    for p, (rows, positions) in enumerate(zip(parts.rows, parts.positions, strict=True)):
        assert rows.min() >= parts.bounds[p]
        assert rows.max() < parts.bounds[p + 1]
        assert (np.diff(positions) > 0).all()


def test_any_range_of_positions_has_its_share_of_every_part():
    parts = divide_rows(np.ones(6400, dtype=bool), 64, shuffled())
    for start in (0, 777, 5000):
        counts = [np.count_nonzero((start <= p) & (p < start + 640)) for p in parts.positions]
        assert min(counts) >= 9
        assert max(counts) <= 11


def test_the_order_depends_on_the_seed_alone():
    included = np.ones(500, dtype=bool)
    first, second = divide_rows(included, 4, shuffled()).order(), divide_rows(included, 4, shuffled()).order()
    np.testing.assert_array_equal(first, second)
    assert (first != divide_rows(included, 4, shuffled(1)).order()).any()


@pytest.mark.parametrize(
    ("n_rows", "part_bytes", "expected"),
    [(100, 1 << 30, 1), (1024, 1 << 30, 4), (10**6, 1 << 30, 64), (10**6, 1 << 22, 256), (4, 1, 4)],
)
def test_number_of_parts(n_rows, part_bytes, expected):
    assert number_of_parts(n_rows, 1000, part_bytes) == expected


@pytest.mark.parametrize("n_parts", [1, 2, 16])
def test_the_sum_has_the_same_bits_whoever_holds_the_parts(rng, n_parts):
    terms = [(rng.standard_normal(50) * 10.0 ** rng.integers(-8, 8), 1) for _ in range(n_parts)]
    terms[-1] = None if n_parts > 2 else terms[-1]  # a part without rows

    def summed(holders):
        trees = [TreeSum() for _ in range(holders.max() + 1)]
        for part in rng.permutation(n_parts):
            trees[holders[part]].add((0, int(part)), terms[part])
        return total(tree.sums for tree in trees)

    expected = summed(np.zeros(n_parts, dtype=int))
    for n_holders in (2, 3, 5):
        for holders in (rng.integers(n_holders, size=n_parts), np.arange(n_parts) * n_holders // n_parts):
            found = summed(holders)
            np.testing.assert_array_equal(found[0], expected[0])
            assert found[1] == expected[1]


def test_contiguous_parts_travel_as_few_sums():
    tree = TreeSum()
    for part in range(8, 16):
        tree.add((0, part), (1.0,))
    assert tree.sums == {(3, 1): (8.0,)}
