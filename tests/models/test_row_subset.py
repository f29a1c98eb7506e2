import pickle

import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.rows import open_rows
from annealed.models.row_protocol import RowSource
from annealed.models.row_subset import RowSubset

N, M = 90, 5


@pytest.mark.parametrize("is_sparse", [False, True])
def test_blocks_are_the_rows_asked_for(rng, is_sparse):
    table = rng.standard_normal((N, M)).astype(np.float32)
    rows = np.sort(rng.permutation(N)[:31])
    subset = RowSubset(open_rows(sparse.csr_array(table) if is_sparse else table), rows)
    assert isinstance(subset, RowSource)
    for source in (subset, pickle.loads(pickle.dumps(subset.part(4, 25)))):
        first = 4
        for begin, values in source.blocks(4, 25, 7, np.array([0, 3])):
            assert begin == first
            first += values.shape[0]
            values = values.toarray() if is_sparse else values
            np.testing.assert_array_equal(values, table[rows[begin:first]][:, [0, 3]])
        assert first == 25
        assert source.n_rows == 31
        assert source.place(6) == f"X, row {rows[6]}"
    assert list(subset.blocks(3, 3, 7)) == []
