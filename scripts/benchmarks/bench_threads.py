"""Seconds of a fit on one thread and on all, on an idle machine and beside processes that keep it busy.

    python scripts/benchmarks/bench_threads.py [--busy N] [--tall]

Busy processes do nothing but count, at the priority of the fit; N is the number of CPUs by default. Kernels
are warmed first; each figure is the median of 7 fits, and beside it the ratio to one thread. What else the
machine does shows in the first table. Output: Markdown tables on standard output.
"""

import argparse
import multiprocessing
import os
import platform
import time
from contextlib import contextmanager

import numba
import numpy as np

from annealed.datasets.tables.simulated import make_correlated_classification
from annealed.features.threads import get_num_threads, set_num_threads
from annealed.models import FSAClassifier

REPETITIONS = 7


def count_forever():
    """Keep a CPU busy."""
    while True:
        pass


@contextmanager
def busy_processes(n):
    """Run so many of them beside the block."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=count_forever, daemon=True) for _ in range(n)]
    for process in processes:
        process.start()
    if n:
        time.sleep(1.0)  # until they have started
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()


def median_seconds(X, y):
    """Seconds of a fit, and processor seconds of all its threads."""
    classifier = FSAClassifier(k=10, loss="lorenz", random_state=0)
    classifier.fit(X, y)
    wall, used = [], []
    for _ in range(REPETITIONS):
        started, clock = time.perf_counter(), time.process_time()
        classifier.fit(X, y)
        wall.append(time.perf_counter() - started)
        used.append(time.process_time() - clock)
    return float(np.median(wall)), float(np.median(used))


def table(cases, n_busy, most_threads):
    print(f"\n### {n_busy} busy processes beside the fit\n")
    print("| N | M | threads | seconds | processor seconds | to one thread |")
    print("|---|---|---|---|---|---|")
    for n, m in cases:
        X, y, _ = make_correlated_classification(n, m, 10, random_state=0)
        one = None
        for n_threads in sorted({1, 2, most_threads}):
            set_num_threads(n_threads)
            with busy_processes(n_busy):
                seconds, used = median_seconds(X, y)
            one = one or seconds
            print(f"| {n} | {m} | {n_threads} | {seconds:.4f} | {used:.4f} | {seconds / one:.2f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cpus = os.cpu_count() or 1
    parser.add_argument("--busy", type=int, default=cpus, help="busy processes (default: one a CPU)")
    parser.add_argument("--tall", action="store_true", help="a table of 1,000,000 x 100, too")
    arguments = parser.parse_args()
    most_threads = get_num_threads()
    print(
        f"{platform.processor() or platform.machine()}, {cpus} CPUs, load {os.getloadavg()[0]:.1f}; "
        f"Python {platform.python_version()}, NumPy {np.__version__}, numba {numba.__version__}"
    )
    cases = [(1000, 1000), *([(1_000_000, 100)] if arguments.tall else [])]
    for n_busy in (0, arguments.busy):
        table(cases, n_busy, most_threads)


if __name__ == "__main__":
    main()
