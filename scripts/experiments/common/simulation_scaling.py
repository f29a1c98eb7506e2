"""Measure one point of Figure 1: time, memory, detection and AUC on equally correlated data (section 3.1.3).

    python scripts/experiments/common/simulation_scaling.py fsa --n-samples 100000 --n-features 10000 -k 100

The rows come from a generator, as if from a file: `fsa` (Lorenz loss) reads the blocks it wants, again
and again, and keeps the survivors once they fit the memory budget; `logitboost-tenth` loads the whole
table first, as boosting must. Prints one line of JSON; a process of its own makes the peak memory its own.
"""

import argparse
import json
import resource
import time

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from annealed.datasets.tables.simulated import EquicorrelatedRows
from annealed.features.threads import set_num_threads
from annealed.models.annealing import anneal
from annealed.models.boosting import LogitBoost
from annealed.models.designs import BlockDesign, column_moments
from annealed.models.losses import Lorenz
from annealed.models.schedules import InverseSchedule

N_TEST = 2000


class TimedReader:
    """Read blocks of the data set and add up the time that takes."""

    def __init__(self, rows):
        self.rows = rows
        self.seconds = 0.0

    def __call__(self, start, stop, columns=None):
        started = time.perf_counter()
        block = self.rows.block(slice(start, stop), columns)
        self.seconds += time.perf_counter() - started
        return block


def fit_fsa(read, y, n_features, k, budget):
    """Anneal over blocks; return support and a function from rows of the support to scores."""
    n_samples = len(y)
    center, scale = column_moments(read, n_samples, n_features, block_rows=1024)
    design = BlockDesign(
        read, n_samples, n_features, center=center, scale=scale, block_rows=1024, memory_budget=budget
    )
    result = anneal(design, Lorenz(2.0 * y - 1), None, InverseSchedule(k))
    beta = result.beta[0, :, 0]
    return result.kept, lambda X: (X - center[result.kept]) / scale[result.kept] @ beta


def fit_logitboost(read, y, n_features, k, budget):
    """Load everything, then k rounds with a tenth of the learners each."""
    X = np.empty((len(y), n_features), dtype=np.float32)
    for start in range(0, len(y), 1024):
        X[start : start + 1024] = read(start, min(start + 1024, len(y)))
    model = LogitBoost(k, learner_fraction=0.1, random_state=0).fit(X, y)
    kept = model.get_support(indices=True)
    return kept, lambda X: X @ model.coef_[0, kept]


METHODS = {"fsa": fit_fsa, "logitboost-tenth": fit_logitboost}


def measure(method, n_samples, n_features, k, seed, budget):
    """Fit once and return what Figure 1 shows, as a dictionary."""
    rows = EquicorrelatedRows(n_samples + N_TEST, n_features, k, seed=seed)
    read = TimedReader(rows)
    y = rows.labels(slice(0, n_samples))
    started = time.perf_counter()
    kept, score = METHODS[method](read, y, n_features, k, budget)
    elapsed = time.perf_counter() - started
    test = slice(n_samples, None)
    return {
        "seconds": elapsed,
        "reading_seconds": read.seconds,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "percent_correct": 100 * rows.support[kept].sum() / k,
        "auc": roc_auc_score(rows.labels(test), score(rows.block(test, kept))),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--n-samples", type=int, required=True)
    parser.add_argument("--n-features", type=int, required=True)
    parser.add_argument("-k", type=int, required=True, help="relevant variables, and variables to select")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=256, help="memory for kept columns, MB (default 256)")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    set_num_threads(arguments.threads)
    with threadpool_limits(arguments.threads):
        measure(arguments.method, 200, 100, 3, 0, 2**20)  # compiles and warms
        point = measure(
            arguments.method,
            arguments.n_samples,
            arguments.n_features,
            arguments.k,
            arguments.seed,
            arguments.budget * 2**20,
        )
    print(json.dumps(point))


if __name__ == "__main__":
    main()
