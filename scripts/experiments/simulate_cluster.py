"""What a fit on a cluster would take: computed from costs that are measured here, nothing is fitted.

    python scripts/experiments/simulate_cluster.py --rows 1000000 --features 100000 -k 500 --workers 16

The costs of a visit (one value of one row, for response and gradient) are measured with one thread on a table
that fits memory. The rest is arithmetic: how many features the schedule keeps, how often batches go through
the rows until the survivors fit one process, what coefficients and sums of gradients weigh. Disks, the
seconds of a step's round trip and the threads of a worker are assumptions, stated on the first line. A
machine whose workers wait for each other, for the network or for memory is slower.
"""

import argparse
import time

import numpy as np

from annealed.models.designs import BinnedDesign, DenseDesign
from annealed.models.estimators.base import AUTO_BATCHES
from annealed.models.losses import Logistic
from annealed.models.schedules import InverseSchedule

MEASURED_ROWS, MEASURED_FEATURES, N_BINS = 20_000, 400, 10
RESIDENT_SHARE = 0.75  # of a process's memory, for survivors
FLOAT_BYTES = 8


def seconds_of_a_visit(design, n_times: int = 5) -> float:
    """Return the least processor time of a value and gradient, for each value of the design."""
    loss = Logistic(np.where(np.arange(design.n_rows) % 2, 1.0, -1.0))
    beta = np.full((1, design.n_features, design.n_coefficients), 0.01)
    seconds = []
    for _ in range(n_times + 1):  # the first call loads compiled code
        begin = time.process_time()
        design.value_and_gradient(loss, beta, np.zeros(1), 0, design.n_rows)
        seconds.append(time.process_time() - begin)
    return min(seconds) / (design.n_rows * design.n_features)


def simulate(given, n_coefficients: int, value_bytes: int, visit_s: float) -> dict[str, float]:
    """Return seconds and bytes of a fit, part by part."""
    schedule = InverseSchedule(given.k, given.iterations, given.mu)
    sizes = np.array(
        [given.features, *schedule.features_kept(given.features)[:-1]], dtype=float
    )  # at the start of each
    is_spread = sizes * given.rows * value_bytes > RESIDENT_SHARE * given.memory_gb * 1e9
    threads = given.workers * given.threads
    visits = given.rows * sizes
    n_steps = AUTO_BATCHES * int(is_spread.sum())
    of_step = 2 * FLOAT_BYTES * n_coefficients * sizes[is_spread] * AUTO_BATCHES  # out and back, one worker
    gathered = sizes[~is_spread][:1].sum() * given.rows * value_bytes
    network = given.network_gb_s * 1e9
    read = given.rows * given.features * 4 / given.workers / (given.disk_gb_s * 1e9)
    spilled = max(0.0, given.rows * given.features * value_bytes / given.workers - given.memory_gb * 1e9)
    return {
        "read": read + spilled / (given.disk_gb_s * 1e9),
        "sums": float(visits[is_spread].sum() * visit_s / threads),
        "steps": n_steps * given.step_ms / 1e3 + float(of_step.sum() * given.workers / network),
        "gather": gathered / network,
        "survivors": float(visits[~is_spread].sum() * visit_s / given.threads),
        "sums_mb": float(of_step.sum() * given.workers / 1e6),
        "sums_mb_worker": float(of_step.sum() / 1e6),
        "gather_mb": gathered / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("-k", type=int, default=500)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--threads", type=int, default=8, help="of a worker")
    parser.add_argument("--memory-gb", type=float, default=8 * 1.073741824, help="of a process")
    parser.add_argument("--disk-gb-s", type=float, default=1.0, help="of each worker")
    parser.add_argument(
        "--network-gb-s", type=float, default=1.0, help="of the process with the coefficients"
    )
    parser.add_argument("--step-ms", type=float, default=10.0, help="of a round trip to all workers")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--mu", type=float, default=300.0)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    shape = MEASURED_FEATURES, MEASURED_ROWS
    dense = seconds_of_a_visit(DenseDesign(rng.standard_normal(shape, dtype=np.float32)))
    binned = seconds_of_a_visit(BinnedDesign(rng.integers(0, 256, shape, dtype=np.uint8), N_BINS))
    print(
        f"assumed: {given.workers} workers of {given.threads} threads and {given.memory_gb:.2f} GB, disks of "
        f"{given.disk_gb_s:g} GB/s, a network of {given.network_gb_s:g} GB/s, {given.step_ms:g} ms a step"
    )
    print(f"measured, one thread: linear {dense * 1e9:.2f} ns a visit, piecewise {binned * 1e9:.2f} ns")
    print(f"{given.rows} x {given.features}, k = {given.k}; survivors trained {given.iterations} times")
    names = ("read", "sums", "steps", "gather", "survivors", "minutes", "sums MB", "a worker", "gather MB")
    print(f"{'':10}", *(f"{name:>10}" for name in names))
    for name, arguments in (("linear", (1, 4, dense)), ("piecewise", (N_BINS + 1, 1, binned))):
        cost = simulate(given, *arguments)
        seconds = [cost[part] for part in names[:5]]
        figures = [*seconds, sum(seconds) / 60, cost["sums_mb"], cost["sums_mb_worker"], cost["gather_mb"]]
        print(f"{name:10}", *(f"{figure:10.1f}" for figure in figures))


if __name__ == "__main__":
    main()
