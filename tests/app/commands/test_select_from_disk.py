"""`select-features` on tables that stay on disk, within a memory budget and on a cluster."""

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from annealed.app.cli import app
from annealed.models import load_model

N, M = 3000, 12


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, M)).astype(np.float32)
    return X, (X[:, 2] - X[:, 5] > 0).astype(np.int64)


def write_npy(folder, X, y):
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return folder / "X.npy", folder / "y.npy"


def write_sparse(folder, X, y):
    sparse.save_npz(folder / "X.npz", sparse.csr_array(X))
    np.save(folder / "y.npy", y)
    return folder / "X.npz", folder / "y.npy"


def write_hdf5(folder, X, y):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"], file["y"] = X, y
    return folder / "X.h5", "y"


def write_zarr(folder, X, y):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(folder / "X.zarr"), mode="w")
    group.create_array("X", data=X, chunks=(500, M))
    group.create_array("y", data=y)
    return folder / "X.zarr", "y"


def write_parquet(folder, X, y):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (folder / "table").mkdir()
    for p, rows in enumerate(np.array_split(np.arange(N), 3)):
        columns = {f"x{j}": X[rows, j] for j in range(M)} | {"y": y[rows]}
        parquet.write_table(pyarrow.table(columns), folder / "table" / f"{p}.parquet")
    return folder / "table", "y"


def select(table, target, out, *more):
    options = "--target", target, "-k", 2, "--out", out, "--memory-budget", "1MB"
    return invoke("select-features", table, *options, *more)


@pytest.mark.parametrize("write", [write_npy, write_sparse, write_hdf5, write_zarr, write_parquet])
def test_every_kind_of_table_is_selected_from(tmp_path, table, write):
    result = select(*write(tmp_path, *table), tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    names = {"x2", "x5"} if write is write_parquet else {"column 2", "column 5"}
    assert {line.split("\t")[1] for line in lines[:2]} == names
    assert lines[2].startswith("accuracy on 600 rows held out, with 2 features: 0.9")
    assert lines[3].startswith("accuracy on 600 rows held out, with none: 0.")
    model = load_model(tmp_path / "out" / "model.safetensors")
    assert model.get_support(indices=True).tolist() == [2, 5]
    assert not (tmp_path / "out.run").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_gives_the_file_of_one_process(tmp_path, table):
    pytest.importorskip("distributed")
    given = write_npy(tmp_path, *table)
    alone = select(*given, tmp_path / "alone", "--folds", 0)
    assert alone.exit_code == 0, alone.stderr
    result = select(*given, tmp_path / "both", "--folds", 0, "--cluster", "local:2")
    assert result.exit_code == 0, result.stderr
    assert "2 workers" in result.stderr
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("alone", "both")]
    assert models[0] == models[1]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--method", "mrmr"], "method 'mrmr' looks at a whole table at once"),
        (["--memory-budget", "10kB"], "memory_budget of 0.0 MB is too small"),
        (["--memory-budget", "much"], "memory_budget must be a number of bytes"),
        (["--folds", 1], "--folds is 1"),
        (["-k", 13], "12 features, so 1 to 12 are accepted"),
        (["--target", "gone.npy"], "gone.npy: no readable .npy file of targets"),
        (["--cluster", "local:0"], "local:N with 1 to 256 workers on this machine; got 'local:0'"),
        (["--cluster", "local"], "got 'local'"),
        (["--cluster", "nowhere"], "nowhere: no scheduler answers there"),
        (["--resume"], "no run to resume"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(tmp_path, table, monkeypatch, more, message):
    monkeypatch.setattr("annealed.models.cluster.context.CONNECT_S", 0.5)
    result = select(*write_npy(tmp_path, *table), tmp_path / "out", *more)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"X.npy", "y.npy"}


def test_a_run_that_is_there_is_not_begun_again(tmp_path, table):
    given = write_npy(tmp_path, *table)
    (tmp_path / "out.run").mkdir()
    (tmp_path / "out.run" / "fit-00.npz").write_bytes(b"damaged")
    result = select(*given, tmp_path / "out")
    assert result.exit_code == 2
    assert "out.run: holds a run already; continue it with --resume" in result.stderr
    result = select(*given, tmp_path / "out", "--resume")
    assert result.exit_code == 2
    assert "fit-00.npz: not a state of a run" in result.stderr
