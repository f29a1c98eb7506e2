"""Speed of the annealing core: nanoseconds a visit, seconds against area, and the ratio to plain NumPy.

    python scripts/benchmarks/bench_core.py [--quick]

A visit is one (sample, feature) pair looked at once, for a response or for a gradient. Kernels are warmed
first; each figure is the best of several repetitions. Output: Markdown tables on standard output.
"""

import argparse
import platform
import time

import numba
import numpy as np
from numba import njit
from scipy import sparse

from annealed.datasets.tables.simulated import make_correlated_classification
from annealed.features.threads import set_num_threads, share
from annealed.models.annealing import anneal
from annealed.models.designs import BinnedDesign, DenseDesign, SparseDesign
from annealed.models.losses import Lorenz
from annealed.models.schedules import InverseSchedule


def best_seconds(function, repetitions=7):
    """Return the least time of several calls, after one that warms up."""
    function()
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sum_rows(values, first, last, out):
    for j in range(first, last):
        total = 0.0
        for i in range(values.shape[1]):
            total += values[j, i]
        out[j] = total


def bandwidth_ns(values):
    """Nanoseconds a value to read an array once: the bound for a kernel that must read it."""
    out = np.empty(len(values))

    def read():
        share(len(values), lambda first, last: _sum_rows(values, first, last, out))

    return best_seconds(read) / values.size * 1e9


def designs(n_features, n_rows):
    """Yield (name, design, visits, array whose reading is the bound)."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n_features, n_rows))
    for dtype in (np.float64, np.float32):
        columns = values.astype(dtype)
        yield f"dense {columns.dtype}", DenseDesign(columns), columns.size, columns
    codes = rng.integers(0, 256, (n_features, n_rows), dtype=np.uint8)
    yield "binned, 10 bins", BinnedDesign(codes, 10), codes.size, codes
    table = sparse.random_array((n_rows, n_features), density=0.05, rng=rng, format="csr")
    yield "sparse, 5 % (a visit is an entry)", SparseDesign(table), table.nnz, table.data[None]


def visit_table(n_features, n_rows):
    """Print nanoseconds a visit for every design, with one and two threads."""
    print(f"\n### ns a visit, {n_features} features x {n_rows} rows\n")
    print("| design | threads | response | gradient | reading bound | response / bound | gradient / bound |")
    print("|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    residual = rng.standard_normal((1, n_rows))
    for name, design, visits, values in designs(n_features, n_rows):
        beta = rng.standard_normal((1, n_features, design.n_coefficients))
        block = design.block(0, n_rows)
        for threads in (1, 2):
            set_num_threads(threads)
            response = best_seconds(lambda: block.response(beta, np.zeros(1))) / visits * 1e9  # noqa: B023
            gradient = best_seconds(lambda: block.gradient(residual)) / visits * 1e9  # noqa: B023
            bound = bandwidth_ns(values)
            ratios = f"{response / bound:.2f} | {gradient / bound:.2f}"
            print(f"| {name} | {threads} | {response:.3f} | {gradient:.3f} | {bound:.3f} | {ratios} |")


def numpy_fsa(X, y, k, n_iter=500, mu=300, step=0.05):
    """Algorithm 1 with the Lorenz loss as one writes it in NumPy."""
    kept = np.arange(X.shape[1])
    beta = np.zeros(len(kept))
    for size in InverseSchedule(k, n_iter, mu).features_kept(X.shape[1]):
        gap = np.minimum(y * (X @ beta) - 1, 0)
        beta = beta - step * (X.T @ (y * 2 * gap / (1 + gap**2))) / len(y)
        if size < len(kept):
            strongest = np.sort(np.argsort(-np.abs(beta), kind="stable")[:size])
            X, beta, kept = X[:, strongest], beta[strongest], kept[strongest]
    return kept, beta


def run_table(cases):
    """Print seconds of whole runs beside the visits that the schedule implies, and plain NumPy's."""
    print("\n### Whole runs, Lorenz loss, one thread\n")
    print("| N | M | k | mu | visits (schedule) | seconds | ns a visit | plain NumPy | NumPy / annealed |")
    print("|---|---|---|---|---|---|---|---|---|")
    set_num_threads(1)
    for n, m, k, mu in cases:
        X, y, _ = make_correlated_classification(n, m, k, random_state=0)
        y = 2.0 * y - 1
        columns = np.ascontiguousarray(X.T)
        schedule = InverseSchedule(k, 500, mu)
        ours = best_seconds(
            lambda: anneal(DenseDesign(columns), Lorenz(y), None, schedule, tol=0),  # noqa: B023
            3,
        )
        plain = best_seconds(lambda: numpy_fsa(X, y, k, mu=mu), 3)  # noqa: B023
        visits = 2 * n * schedule.cost(m)
        row = f"{visits:.3g} | {ours:.4f} | {ours / visits * 1e9:.2f} | {plain:.4f} | {plain / ours:.2f}"
        print(f"| {n} | {m} | {k} | {mu} | {row} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}"
    print(f"{platform.processor() or platform.machine()}; {versions}")
    visit_table(500, 4_000 if quick else 100_000)
    cases = [(1000, 1000, 10, 300), (2000, 1000, 10, 300), (1000, 2000, 10, 300), (1000, 1000, 10, 30)]
    run_table(cases[:1] if quick else [*cases, (10_000, 1000, 10, 300), (1000, 10_000, 10, 300)])


if __name__ == "__main__":
    main()
