"""Screening rules on images: rejection, speed-up, and classification by sparse representation.

    scripts/experiments/reproduce_screening.py rejection [--data DIR] [--set mnist|yale-b] [--dictionary 2000]
    scripts/experiments/reproduce_screening.py src       [--data DIR] [--set mnist|yale-b] [--ratio 0.2]
    scripts/experiments/reproduce_screening.py memory    [--features 200000] [--memory-mb 64]

`rejection` prints, for each strength / strength_max, the share of the dictionary that each rule discards, and
the processor time of the lasso on the whole dictionary over that of screening and solving, summed over the
targets; Wang, Chen and Ramadge plot both. `src` classifies by the smallest residual over the classes, with
and without screening. `memory` screens a dictionary in a file that is larger than the stated bound.
"""

import argparse
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from annealed.datasets.tables.selection_sets import load_selection
from annealed.models.selection import ScreenedLasso

RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
RULES = ("sphere", "dome", "sequential-dome", "strong", "edpp", "dass")
DATA = Path("../shared/data/selection")


def unit_columns(images: np.ndarray) -> np.ndarray:
    """Return images as columns of norm 1, feature after feature in memory."""
    columns = np.asfortranarray(images.T, dtype=np.float64)
    return columns / np.linalg.norm(columns, axis=0)


def draw(data: Path, name: str, n_dictionary: int, n_targets: int, seed: int):
    """Return a dictionary, its labels, targets and theirs, all different images."""
    table = load_selection(name, data)
    order = np.random.default_rng(seed).permutation(len(table))
    first, second = order[:n_dictionary], order[n_dictionary : n_dictionary + n_targets]
    return unit_columns(table.X[first]), table.y[first], unit_columns(table.X[second]).T, table.y[second]


def fit(D, y, ratio, rule, tol=1e-8):
    """Return the fitted lasso, without intercept or scaling as in the paper, and its processor seconds."""
    model = ScreenedLasso(ratio=ratio, rule=rule, fit_intercept=False, standardize=False, tol=tol)
    begin = time.process_time()
    model.fit(D, y)
    return model, time.process_time() - begin


def rejection(options) -> None:
    """Print rejection and speed-up."""
    D, _, targets, _ = draw(options.data, options.set, options.dictionary, options.targets, options.seed)
    fit(D[:, :50], targets[0], 0.5, "dass")  # what is loaded on first use
    print(f"{options.set}: dictionary {D.shape[0]} x {D.shape[1]}, {len(targets)} targets")
    print(f"{'ratio':>6} {'rule':<16}{'rejected':>9}{'speed-up':>9}{'steps':>6}")
    for ratio in RATIOS:
        whole = sum(fit(D, y, ratio, "none")[1] for y in targets)
        for rule in RULES:
            fits = [fit(D, y, ratio, rule) for y in targets]
            share = np.mean([model.trace_.rejection(D.shape[1]) for model, _ in fits])
            gain = whole / sum(seconds for _, seconds in fits)
            steps = np.mean([len(model.trace_) for model, _ in fits])
            print(f"{ratio:>6.2f} {rule:<16}{share:>9.3f}{gain:>9.2f}{steps:>6.1f}", flush=True)


def classify(D: np.ndarray, labels: np.ndarray, y: np.ndarray, w: np.ndarray) -> int:
    """Return the class whose part of the representation leaves the smallest residual."""
    classes = np.unique(labels)
    residuals = [np.linalg.norm(y - D[:, labels == c] @ w[labels == c]) for c in classes]
    return int(classes[int(np.argmin(residuals))])


def src(options) -> None:
    """Print the accuracy of sparse-representation classification with and without screening."""
    D, labels, targets, truth = draw(
        options.data, options.set, options.dictionary, options.targets, options.seed
    )
    print(f"{options.set}: ratio {options.ratio}, {len(targets)} targets")
    for rule in ("none", *RULES):
        begin = time.process_time()
        found = [classify(D, labels, y, fit(D, y, options.ratio, rule)[0].coef_) for y in targets]
        seconds = time.process_time() - begin
        print(f"{rule:<16} accuracy {np.mean(np.array(found) == truth):.4f}, {seconds:.1f} s", flush=True)


def memory(options) -> None:
    """Print peak memory and time of a dictionary larger than the bound."""
    n = 1000
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dictionary"
        D = np.memmap(path, dtype=np.float32, mode="w+", shape=(n, options.features), order="F")
        for start in range(0, options.features, 5000):
            part = rng.standard_normal((n, min(5000, options.features - start)))
            D[:, start : start + 5000] = part / np.linalg.norm(part, axis=0)
        y = D[:, :20].astype(np.float64) @ rng.standard_normal(20)
        D.flush()
        del D
        print(f"file {path.stat().st_size / 1e6:.0f} MB, bound {options.memory_mb} MB")
        for rule in ("dass", "strong", "sequential-dome", "edpp"):
            D = np.memmap(path, dtype=np.float32, mode="r", shape=(n, options.features), order="F")
            model = ScreenedLasso(
                ratio=options.ratio,
                rule=rule,
                fit_intercept=False,
                standardize=False,
                memory_bytes=options.memory_mb << 20,
            )
            tracemalloc.start()
            begin = time.perf_counter()
            try:
                model.fit(D, y)
                what = f"{model.trace_.n_kept[-1]} features left, {len(model.trace_)} steps"
            except ValueError as error:
                what = f"not completed: {error}"
            seconds, peak = time.perf_counter() - begin, tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(f"{rule:<16} {seconds:6.1f} s, peak {peak / 1e6:.0f} MB, {what}", flush=True)


def main(arguments=None) -> None:
    """Run one of the experiments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("experiment", choices=("rejection", "src", "memory"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--set", choices=("mnist", "yale-b"), default="mnist")
    parser.add_argument("--dictionary", type=int, default=2000)
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--ratio", type=float, default=0.2)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--memory-mb", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    {"rejection": rejection, "src": src, "memory": memory}[options.experiment](options)


if __name__ == "__main__":
    main()
