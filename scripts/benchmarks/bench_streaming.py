"""Linear and piecewise fits past memory, beside peers that read blocks, on one table on disk.

    python scripts/benchmarks/bench_streaming.py --rows 1000000 --features 1000 --folder /data

It makes the table once (float32, .npy; half of the target's variance is noise), and fits each method in a
process of its own: in memory, streamed within --budget, scikit-learn's SGD by partial_fit, LightGBM with
Sequence objects and XGBoost with external memory (where they are installed). Printed for each: processor and
wall seconds, bytes read of the table and of temporary files, peak resident memory over that of the imports,
accuracy on rows apart.

Bytes are counted by the process (rchar of /proc/self/io) plus what a spool's columns say was looked at, and
so do not depend on what is in the page cache.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

N_RELEVANT = 20
BLOCK_ROWS = 5000
TEST_ROWS = 20_000
METHODS = ("in-memory", "in-memory-piecewise", "linear", "piecewise", "sgd", "lightgbm", "xgboost")


def make_table(folder: Path, n_rows: int, n_features: int, seed: int) -> None:
    """Write X.npy, y.npy and a test part of the same kind, block by block."""
    rng = np.random.default_rng(seed)
    coef = np.zeros(n_features, dtype=np.float32)
    coef[rng.choice(n_features, N_RELEVANT, replace=False)] = rng.choice([-1, 1], N_RELEVANT)
    for name, n in (("", n_rows), ("test-", TEST_ROWS)):
        X = np.lib.format.open_memmap(folder / f"{name}X.npy", "w+", np.float32, (n, n_features))
        y = np.empty(n, dtype=np.int8)
        for start in range(0, n, BLOCK_ROWS):
            rows = rng.standard_normal((min(BLOCK_ROWS, n - start), n_features), dtype=np.float32)
            score = rows @ coef / np.sqrt(N_RELEVANT) + rng.standard_normal(len(rows), dtype=np.float32)
            X[start : start + len(rows)] = rows
            y[start : start + len(rows)] = score > 0
        X.flush()
        np.save(folder / f"{name}y.npy", y)


def fit_annealed(folder: Path, k: int, budget: str | None, response: str):
    from annealed import FSAClassifier

    X = np.load(folder / "X.npy") if budget is None else str(folder / "X.npy")
    model = FSAClassifier(k, loss="logistic", response=response, memory_budget=budget)
    return model.fit(X, np.load(folder / "y.npy")).predict


def fit_sgd(folder: Path, k: int):
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    y, scaler, model = (
        np.load(folder / "y.npy"),
        StandardScaler(),
        SGDClassifier(loss="log_loss", random_state=0),
    )
    for _, rows in blocks(folder):
        scaler.partial_fit(rows)
    for _ in range(2):
        for start, rows in blocks(folder):
            model.partial_fit(scaler.transform(rows), y[start : start + len(rows)], classes=[0, 1])
    return lambda X: model.predict(scaler.transform(X))


def blocks(folder: Path):
    """Yield the table block by block, read and not mapped."""
    from annealed import open_rows

    rows = open_rows(folder / "X.npy")
    yield from rows.blocks(0, rows.n_rows, BLOCK_ROWS)


def fit_lightgbm(folder: Path, k: int):
    import lightgbm

    class Rows(lightgbm.Sequence):
        batch_size = BLOCK_ROWS

        def __init__(self):
            from annealed import open_rows

            self.rows = open_rows(folder / "X.npy")

        def __len__(self):
            return self.rows.n_rows

        def __getitem__(self, index):
            if isinstance(index, slice):
                return self.rows.read(index.start, index.stop).astype(np.float64)
            return self.rows.read(int(index), int(index) + 1)[0].astype(np.float64)

    settings = {"objective": "binary", "num_threads": 1, "verbosity": -1}
    data = lightgbm.Dataset(Rows(), label=np.load(folder / "y.npy"), params=settings, free_raw_data=True)
    model = lightgbm.train(settings, data, num_boost_round=100)
    return lambda X: np.asarray(model.predict(X)) > 0.5


def fit_xgboost(folder: Path, k: int):
    import tempfile

    import xgboost

    class Rows(xgboost.DataIter):
        def __init__(self, cache):
            super().__init__(cache_prefix=os.path.join(cache, "cache"))
            self.y, self.source = np.load(folder / "y.npy"), None

        def next(self, give):
            start, rows = next(self.source, (0, None))
            if rows is None:
                return False
            give(data=rows, label=self.y[start : start + len(rows)])
            return True

        def reset(self):
            self.source = blocks(folder)

    with tempfile.TemporaryDirectory() as cache:
        data = xgboost.ExtMemQuantileDMatrix(Rows(cache), nthread=1)
        settings = {"objective": "binary:logistic", "nthread": 1, "tree_method": "hist"}
        model = xgboost.train(settings, data, num_boost_round=100)
    return lambda X: model.predict(xgboost.DMatrix(X)) > 0.5


def run_one(method: str, folder: Path, k: int, budget: str) -> dict:
    """Fit in this process; return what it took."""
    import annealed.models
    from annealed.models.designs import stored

    spools = []
    begin = stored.Store.__init__

    def note(self, *arguments):
        begin(self, *arguments)
        spools.append(self)

    stored.Store.__init__ = note  # type: ignore[method-assign]
    fits = {
        "in-memory": lambda: fit_annealed(folder, k, None, "linear"),
        "in-memory-piecewise": lambda: fit_annealed(folder, k, None, "piecewise"),
        "linear": lambda: fit_annealed(folder, k, budget, "linear"),
        "piecewise": lambda: fit_annealed(folder, k, budget, "piecewise"),
        "sgd": lambda: fit_sgd(folder, k),
        "lightgbm": lambda: fit_lightgbm(folder, k),
        "xgboost": lambda: fit_xgboost(folder, k),
    }
    annealed.models.FSAClassifier(2).fit(
        np.random.default_rng(0).standard_normal((300, 4)), np.arange(300) % 2
    )
    base = resident_bytes()
    watch = PeakMemory()
    before, cpu, wall = bytes_read(), time.process_time(), time.perf_counter()
    predict = fits[method]()
    seconds, wall = time.process_time() - cpu, time.perf_counter() - wall
    n_read = bytes_read() - before + sum(spool.n_bytes_read for spool in spools)
    accuracy = np.mean(predict(np.load(folder / "test-X.npy")) == np.load(folder / "test-y.npy"))
    return {
        "cpu_s": seconds,
        "wall_s": wall,
        "read_gb": n_read / 1e9,
        "peak_gb": (watch.stop() - base) / 1e9,
        "accuracy": float(accuracy),
    }


class PeakMemory:
    """The largest resident memory from now on, looked at fifty times a second.

    Mapped pages of files count as long as they are there, as in what `ps` shows.
    """

    def __init__(self) -> None:
        self.peak = resident_bytes()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, resident_bytes())

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.peak


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--budget", default=None, help="of the streamed fits; a half of the table by default")
    parser.add_argument("--folder", type=Path, default=Path("runs/streaming"))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", choices=METHODS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    budget = given.budget or f"{given.rows * given.features * 2}"
    folder = given.folder / f"{given.rows}x{given.features}-{given.seed}"
    if given.one:
        print(json.dumps(run_one(given.one, folder, given.k, given.budget)))
        return
    if not (folder / "test-y.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        make_table(folder, given.rows, given.features, given.seed)
    size = given.rows * given.features * 4
    print(f"{given.rows} x {given.features} float32, {size / 1e9:.2f} GB; budget {budget}; k = {given.k}")
    names = ("cpu s", "wall s", "read GB", "x file", "peak GB", "accuracy")
    print(f"{'method':20}", *(f"{name:>8}" for name in names))
    for method in given.methods.split(","):
        row = measure(method, given, budget)
        if isinstance(row, str):
            print(f"{method:20} skipped: {row}")
            continue
        times_read = row["read_gb"] * 1e9 / size
        figures = row["cpu_s"], row["wall_s"], row["read_gb"], times_read, row["peak_gb"], row["accuracy"]
        print(f"{method:20}", *(f"{x:8.{2 if x > 1 else 3}f}" for x in figures), flush=True)


def measure(method: str, given, budget: str) -> dict | str:
    """Run one method in a process of its own with one thread; return what it took, or why it did not run."""
    command = [sys.executable, __file__, "--one", method, "--budget", budget, "-k", str(given.k)]
    command += ["--rows", str(given.rows), "--features", str(given.features)]
    command += ["--folder", str(given.folder), "--seed", str(given.seed)]
    threads = {"ANNEALED_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads})
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["killed"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
