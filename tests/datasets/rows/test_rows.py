"""Each kind of rows gives back the table that was written, in blocks of any size."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse

from annealed.datasets.rows import ArrayRows, FileRows, array_rows, open_rows
from annealed.features.errors import DataError
from annealed.models.row_protocol import RowSource

N, M = 137, 7


@pytest.fixture
def table(rng):
    return rng.standard_normal((N, M)).astype(np.float32)


def write_npy(folder, table):
    np.save(folder / "X.npy", table)
    return open_rows(folder / "X.npy")


def write_npy_by_columns(folder, table):
    np.save(folder / "X.npy", np.asfortranarray(table))
    return open_rows(folder / "X.npy")


def write_hdf5(folder, table):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=table, chunks=(20, 3))
        file["y"] = np.arange(N)
    return open_rows(folder / "X.h5")


def write_zarr(folder, table):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(folder / "X.zarr"), mode="w")
    group.create_array("X", shape=table.shape, dtype=table.dtype, chunks=(20, 3))[:] = table
    group.create_array("y", shape=N, dtype=np.int64)[:] = np.arange(N)
    return open_rows(folder / "X.zarr")


def write_parquet(folder, table):
    """Three files of several row groups."""
    pytest.importorskip("pyarrow")
    (folder / "table").mkdir()
    for number, rows in enumerate(np.split(np.arange(N), [30, 99])):
        write_part(folder / "table" / f"part-{number}.parquet", table[rows], y=rows)
    return open_rows(folder / "table", ["y"])


def write_part(path, table, row_group_size=17, **more):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {f"x{j}": column for j, column in enumerate(table.T)}
    parquet.write_table(pyarrow.table({**columns, **more}), path, row_group_size=row_group_size)


def write_sparse(folder, table):
    sparse.save_npz(folder / "X.npz", sparse.csr_array(table), compressed=False)
    return open_rows(folder / "X.npz")


def write_compressed_sparse(folder, table):
    sparse.save_npz(folder / "X.npz", sparse.csr_array(table))
    return open_rows(folder / "X.npz")


def wrap_dask(folder, table):
    return open_rows(pytest.importorskip("dask.array").from_array(table, chunks=(20, 3)))


def wrap_dask_frame(folder, table):
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table, columns=[f"x{j}" for j in range(M)])
    return open_rows(dataframe.from_pandas(frame.assign(y=np.arange(N)), npartitions=4), ["y"])


KINDS = [
    write_npy,
    write_npy_by_columns,
    write_hdf5,
    write_zarr,
    write_parquet,
    write_sparse,
    write_compressed_sparse,
    wrap_dask,
    wrap_dask_frame,
]


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


@pytest.mark.parametrize("make", KINDS)
def test_blocks_cover_the_rows_once_and_in_order(make, tmp_path, table):
    table[np.abs(table) < 0.5] = 0
    source = make(tmp_path, table)
    assert isinstance(source, RowSource)
    assert source.shape == (N, M)
    assert source.dtype == np.float32
    for start, stop, size in ((0, N, 50), (13, 121, 7), (40, 41, 64)):
        blocks = list(source.blocks(start, stop, size))
        assert [first for first, _ in blocks] == [
            start,
            *np.cumsum([len(dense(b)) for _, b in blocks])[:-1] + start,
        ]
        np.testing.assert_array_equal(np.concatenate([dense(b) for _, b in blocks]), table[start:stop])


@pytest.mark.parametrize("make", KINDS)
def test_some_columns_and_a_copy_elsewhere(make, tmp_path, table):
    source = pickle.loads(pickle.dumps(make(tmp_path, table)))
    columns = np.array([1, 2, 5])
    np.testing.assert_array_equal(dense(source.read(28, 101, columns)), table[28:101][:, columns])
    part = source.part(90, 120)
    np.testing.assert_array_equal(dense(part.read(95, 120)), table[95:120])
    assert part.n_rows == N


@pytest.mark.parametrize("make", [write_hdf5, write_zarr, write_parquet, wrap_dask_frame])
def test_named_columns(make, tmp_path, table):
    source = make(tmp_path, table)
    np.testing.assert_array_equal(source.column("y"), np.arange(N))


def test_parquet_ranges_are_those_of_the_values(tmp_path, table):
    low, high = write_parquet(tmp_path, table).ranges()
    np.testing.assert_array_equal(low, table.min(axis=0))
    np.testing.assert_array_equal(high, table.max(axis=0))


def test_parquet_leaves_text_and_missing_values_out_with_a_word(tmp_path, table):
    text, holes = ["a"] * N, [None, *range(1, N)]
    write_part(tmp_path / "t.parquet", table, label=["yes", *["no"] * (N - 1)], city=text, age=holes)
    source = open_rows(tmp_path / "t.parquet", ["label"])
    assert source.feature_names == tuple(f"x{j}" for j in range(M))
    assert [sentence.split(":")[0] for sentence in source.left_out] == [
        "column city is left out",
        "column age is left out",
    ]
    assert source.column("label")[:2].tolist() == ["yes", "no"]


def test_parquet_places(tmp_path, table):
    source = write_parquet(tmp_path, table)
    assert source.place(31).endswith("part-1.parquet, row 1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:, :-1], "column 'x6' is missing, but float in part-0.parquet"),
        (lambda t: t.astype(np.float64), "is double, but float in part-0.parquet"),
    ],
)
def test_files_with_other_columns_are_refused(tmp_path, table, change, message):
    write_part(tmp_path / "part-0.parquet", table)
    write_part(tmp_path / "part-1.parquet", change(table))
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path)


@pytest.mark.parametrize("make", [write_npy, write_hdf5, write_parquet])
def test_a_file_that_changes_or_vanishes_is_noticed(make, tmp_path, table):
    source = make(tmp_path, table)
    path = source.paths[0] if hasattr(source, "paths") else source.path
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        source.read(0, 5)
    path.write_bytes(content + b"more")
    with pytest.raises(DataError, match="changed while it was read"):
        source.read(0, 5)


def test_a_mapped_array_is_read_from_its_file(tmp_path, table):
    np.save(tmp_path / "X.npy", table)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for view in (mapped, mapped[20:]):
        source = array_rows(view)
        assert isinstance(source, FileRows)
        np.testing.assert_array_equal(source.read(3, 50), view[3:50])
    assert isinstance(array_rows(mapped[:, ::2]), ArrayRows)


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"no array")
    (tmp_path / "a.npz").write_bytes(b"no archive")
    (tmp_path / "a.parquet").write_bytes(b"no table")
    (tmp_path / "a.h5").write_bytes(b"no store")
    (tmp_path / "a.csv").write_text("x,y")
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "vector.npy", np.zeros(3))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    for name in (
        "a.npy",
        "a.npz",
        "a.parquet",
        "a.h5",
        "a.csv",
        "empty",
        "vector.npy",
        "text.npy",
        "nothing",
    ):
        with pytest.raises(DataError) as problem:
            open_rows(tmp_path / name)
        assert str(tmp_path / name) in str(problem.value)
        assert "\n" not in str(problem.value)
    with pytest.raises(DataError, match="a list cannot be read block by block"):
        open_rows([[1.0]])


def test_a_missing_package_is_named_with_its_extra(tmp_path, table, monkeypatch):
    write_hdf5(tmp_path, table)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(DataError, match=r"needs the package h5py: pip install 'annealed\[h5py\]'"):
        open_rows(tmp_path / "X.h5")


def zarr_vector(folder, compressor):
    """A Zarr store of version 2 with a matrix, and the vector `feature_names` packed by some codec."""
    folder.mkdir()
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    common = {"zarr_format": 2, "fill_value": 0, "order": "C", "filters": None}
    matrix = {**common, "shape": [4, 2], "chunks": [4, 2], "dtype": "<f8", "compressor": None}
    names = {**common, "shape": [2], "chunks": [2], "dtype": "<f8", "compressor": compressor}
    for name, array, value in (("X", matrix, np.ones((4, 2)).tobytes()), ("feature_names", names, b"?")):
        (folder / name).mkdir()
        (folder / name / ".zarray").write_text(json.dumps(array))
        (folder / name / ("0.0" if name == "X" else "0")).write_bytes(value)
    return folder


@pytest.mark.parametrize("codec", ["pickle", "json2", "msgpack2"])
def test_a_store_cannot_name_how_its_values_are_unpacked(tmp_path, codec):
    pytest.importorskip("zarr")
    with pytest.raises(DataError, match=r"cannot be opened|not accepted"):
        open_rows(zarr_vector(tmp_path / "a.zarr", {"id": codec}))


@pytest.mark.parametrize("kind", ["external", "link", "virtual"])
def test_hdf5_is_not_followed_into_other_files(tmp_path, kind):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "other.bin").write_bytes(np.ones(6).tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = np.ones((3, 2))
    with h5py.File(tmp_path / "X.h5", "w") as file:
        if kind == "external":
            file.create_dataset("X", (3, 2), float, external=[(str(tmp_path / "other.bin"), 0, 48)])
        elif kind == "link":
            file["X"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "X")
        else:
            layout = h5py.VirtualLayout((3, 2), float)
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "X", (3, 2))
            file.create_virtual_dataset("X", layout)
    with pytest.raises(DataError, match="not followed"):
        open_rows(tmp_path / "X.h5")


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("indptr", [0, 5, 2, 6], "do not follow one another"),
        ("indptr", [0, 1, 2, 9], "do not fit"),
        ("indices", [0, 1, 2, 0, 1, 9], "outside the matrix"),
        ("indices", [0.0, 1.0, 2.0, 0.0, 1.0, 2.0], "whole numbers"),
        ("shape", [3, 10**12], "ANNEALED_INPUT_MEMORY"),
        ("shape", [3, -3], "a matrix with rows and columns"),
        ("shape", [3, 3, 3], "as scipy.sparse.save_npz writes it"),
    ],
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_sparse_files_that_do_not_fit(tmp_path, member, value, message, save):
    matrix = sparse.csr_array(np.arange(9.0).reshape(3, 3) % 4 * (np.eye(3) < 1))
    arrays = {
        "indptr": [0, 2, 4, 6],
        "indices": [0, 1, 2, 0, 1, 2],
        "data": np.ones(6),
        "shape": matrix.shape,
    }
    save(tmp_path / "X.npz", format=np.array(b"csr"), **{**arrays, member: np.array(value)})
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path / "X.npz").read(0, 3)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_entries_of_a_sparse_file_in_any_order(tmp_path, save):
    arrays = {"indptr": [0, 3, 4], "indices": [2, 0, 2, 1], "data": [1.0, 2, 3, 4], "shape": [2, 3]}
    save(tmp_path / "X.npz", format=np.array(b"csr"), **{name: np.array(a) for name, a in arrays.items()})
    rows = open_rows(tmp_path / "X.npz").read(0, 2)
    np.testing.assert_array_equal(rows.toarray(), [[2, 0, 4], [0, 4, 0]])
