"""Weak signals: the share of relevant columns that the default estimators find, with and without what adapts.

    scripts/experiments/reproduce_weak_signals.py [--runs 16] [--rows 500] [--columns 1000] [--wide 50000]

Columns are independent and normal, ten of them matter equally, with random signs. Run r draws with seed r.
Printed are percents with standard errors, and the median of the processor's seconds a fit. Beside our
estimators are the correlation filter, the lasso's path (of labels as numbers), and abess if it is installed.
"""

import argparse
import time

import numpy as np
from common.peers import CLASSIFIERS, REGRESSORS, lasso
from common.weak_signals import N_RELEVANT, draw, labels

from annealed.models import FSAClassifier, FSARegressor
from annealed.models.selection import FilterSelector

K = N_RELEVANT


def found_by(estimator):
    """Return a function of X and y to the support that an estimator finds."""
    return lambda X, y: estimator.fit(X, y).get_support()


def on_numbers(X, y):
    return lasso(X, y.astype(float), K, 0).support


def peers(methods):
    """Return abess as a function of X and y, if it is installed."""
    method = methods["abess"]
    return {"abess": lambda X, y: method.fit(X, y, K, 0).support} if method.available else {}


def problems(arguments):
    """Yield a name, a function of the seed to (X, y, relevant), and the methods to compare."""
    rows, columns = arguments.rows, arguments.columns
    both = {"correlation filter": found_by(FilterSelector(K, criterion="pearson")), "lasso": on_numbers}
    regressors = {
        "no exchanges": found_by(FSARegressor(K, max_swaps=0)),
        "default": found_by(FSARegressor(K)),
        **both,
        **peers(REGRESSORS),
    }
    classifiers = {
        "lorenz": found_by(FSAClassifier(K, loss="lorenz")),
        "default": found_by(FSAClassifier(K)),
        **both,
        **peers(CLASSIFIERS),
    }

    def labelled(share, n_rows, r_squared):
        def make(seed):
            X, y, relevant = draw(seed, n_rows, columns, r_squared)
            return X, labels(y, share), relevant

        return make

    yield "quantity, R2 0.25", lambda seed: draw(seed, rows, columns, 0.25), regressors
    yield (
        f"quantity, 200 x {arguments.wide}, R2 0.8",
        lambda seed: draw(seed, 200, arguments.wide, 0.8),
        regressors,
    )
    yield "labels, R2 0.25 before the threshold", labelled(0.5, rows, 0.25), classifiers
    yield "5 % positives, R2 0.67 before", labelled(0.05, 2 * rows, 2 / 3), classifiers


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--wide", type=int, default=50_000)
    arguments = parser.parse_args(arguments)
    print("| data | method | found, % | s |\n|---|---|---|---|")
    for name, make, methods in problems(arguments):
        found = {label: [] for label in methods}
        seconds = {label: [] for label in methods}
        for seed in range(arguments.runs):
            X, y, relevant = make(seed)
            for label, find in methods.items():
                started = time.process_time()
                support = find(X, y)
                seconds[label].append(time.process_time() - started)
                found[label].append(100 * support[relevant].mean())
        for label, values in found.items():
            mean, error = np.mean(values), np.std(values) / np.sqrt(len(values))
            print(f"| {name} | {label} | {mean:.1f} ± {error:.1f} | {np.median(seconds[label]):.3f} |")


if __name__ == "__main__":
    main()
