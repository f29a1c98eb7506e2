import numpy as np

from annealed.models.designs import DenseDesign


def test_float32_columns_are_summed_in_float64():
    """A float32 sum of these would lose the ones beside the large number."""
    columns = np.ones((1, 1001), dtype=np.float32)
    columns[0, 0] = 1e8
    design = DenseDesign(columns)
    assert design.gradient(np.ones((1, 1001)), 0, 1001)[0, 0, 0] == 1e8 + 1000
    response = DenseDesign(columns[:, :1].repeat(9, axis=0)).response(
        np.array([1.0, 0, 0, 0, 0, 0, 0, 0, 1e-8])[None, :, None], np.zeros(1), 0, 1
    )
    assert response.dtype == np.float64
    assert response[0, 0] == 1e8 + 1


def test_rows_beyond_one_chunk(rng):
    """Responses are summed in chunks of 512 rows; the chunks start where the block does."""
    X = rng.standard_normal((1300, 6))
    design = DenseDesign(np.ascontiguousarray(X.T))
    beta = rng.standard_normal((1, 6, 1))
    response = design.block(100, 1290).response(beta, np.zeros(1))
    np.testing.assert_allclose(response[0], X[100:1290] @ beta[0, :, 0], rtol=1e-12, atol=1e-12)
