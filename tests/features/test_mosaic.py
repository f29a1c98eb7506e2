import numpy as np
import pytest

from annealed.features import mosaic
from annealed.features.pool import WindowPool


@pytest.fixture(scope="module")
def pool():
    every = WindowPool.default()
    return every[np.random.default_rng(0).permutation(len(every))[:60]]


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("kinds", ["all", "HOG", "Haar"])
def test_codes_are_those_of_the_kernels_for_many(pool, rng, n, kinds):
    if kinds != "all":
        pool = WindowPool.default()[np.r_[0:40] if kinds == "HOG" else np.r_[900:940]]
    patches = rng.integers(0, 256, (n, 26, 26, 3), dtype=np.uint8)
    lo = rng.uniform(0, 0.05, len(pool)).astype(np.float32)
    hi = lo + rng.uniform(0, 2000, len(pool)).astype(np.float32)
    np.testing.assert_array_equal(mosaic.codes_of_few(pool, patches, lo, hi), pool.codes(patches, lo, hi))


def test_many_windows_are_not_few_any_more(monkeypatch):
    monkeypatch.setattr(mosaic, "_n_taken", 0)
    assert mosaic.are_few(mosaic.FEW - 1)
    assert mosaic.are_few(1)
    assert not mosaic.are_few(1)
