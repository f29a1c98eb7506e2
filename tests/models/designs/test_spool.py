"""Arrays come back from a spool as they were, and nothing is left on the disk."""

import errno
import os
import shutil
from collections import namedtuple

import numpy as np
import pytest

from annealed.features.errors import DataError
from annealed.models.designs.spool import Spool
from annealed.models.designs.stored import Store


@pytest.mark.parametrize("shape", [(3, 5), (1, 4096), (0, 7), (100, 333)])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_arrays_come_back(tmp_path, rng, shape, dtype):
    spool = Spool(tmp_path)
    arrays = [(rng.standard_normal(shape) * 50).astype(dtype) for _ in range(3)]
    stored = [spool.append(array) for array in arrays]
    for _ in range(2):
        for array, spooled in zip(arrays, stored, strict=True):
            np.testing.assert_array_equal(spooled.values, array)
            spooled.release()


def test_a_spool_has_no_name_in_its_folder(tmp_path):
    spool = Spool(tmp_path)
    spool.append(np.ones(1000))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_in_one_line(tmp_path, monkeypatch):
    spool = Spool(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(DataError, match=r"GB are needed for a temporary copy .* TMPDIR names another folder"):
        spool.append(np.ones(1000))


def test_too_little_room_is_seen_before_anything_is_written(monkeypatch):
    usage = namedtuple("usage", "total used free")(10**9, 10**9, 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(DataError, match=r"0.10 GB are needed .* 0.00 GB are free"):
        Store(memory_bytes=10**6, expected_bytes=10**8)


def test_a_folder_that_is_not_there_ends_in_one_line(tmp_path):
    with pytest.raises(DataError, match="no place for temporary files"):
        Spool(tmp_path / "nothing")


def test_a_store_keeps_in_memory_what_fits():
    store = Store(memory_bytes=1000)
    assert not store.put(np.zeros((10, 10), dtype=np.float32)).is_spooled
    assert store.put(np.zeros((1000, 10), dtype=np.float32)).is_spooled
