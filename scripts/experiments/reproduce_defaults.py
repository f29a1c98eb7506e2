"""What the defaults of the linear estimators rest on: settings compared on tables and simulations.

    scripts/experiments/reproduce_defaults.py [--data DIR] [--folds 3] [--runs 6] [--out runs/defaults]
    scripts/experiments/reproduce_defaults.py --summary-only

A setting is a loss with its batches and ridge. Each is measured once on every problem: on a real table (at
most 300 rows, ten features, the judge of `compare-selectors`) on held-out rows, on a simulation by the share
of relevant columns found. A *rule* says which setting to take by what the training samples show: the share h
of the target that all columns explain. Problems are put into two halves by turns. Rules are compared by their
mean regret, the points (percent) that they lose to the best setting of each problem; the best one on the
first half is printed with its regret on the second, beside the default and each setting that is always taken.
"""

import argparse
import os
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from common.results import Results, markdown_table
from common.weak_signals import draw, labels
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from annealed.datasets.tables.selection_sets import SELECTION_NAMES, load_selection
from annealed.datasets.tables.simulated import make_correlated_classification, make_correlated_regression
from annealed.models import FSAClassifier, FSARegressor
from annealed.models.penalties import FadingRidge
from annealed.models.selection.judging import folds, make_judge, measure
from annealed.models.signal_share import signal_share
from annealed.models.target_kinds import encode_classes, kind_of, signs

K = 10
MAX_ROWS = 300
STRENGTHS = (0.1, 0.3, 1.0, 3.0)
DEFAULTS = {
    "labels": "lorenz of two classes if 0.35 <= h <= 0.75, else full (1 - h) / h in [0.3, 1]",
    "quantities": "ridge (1 - h) / h in [0.3, 3]",
}
"""The rules of `annealed.models.estimators.adaptive`, without its second fit where labels are clean."""

KEYS = ("problem", "part", "setting")
VALUES = ("task", "classes", "share", "score", "error")


def classifiers(n_rows, k=K):
    """Return the settings of a classifier by their names."""
    settings = {
        "lorenz": {"loss": "lorenz", "penalty": None},
        "logistic": {"loss": "logistic", "penalty": None},
    }
    for c in STRENGTHS:
        ridge = FadingRidge(c, n_rows, (k,), least=1.0)
        settings[f"full {c:g}"] = {"loss": "logistic", "batch_size": None, "penalty": ridge}
    return settings


def regressors(n_rows, k=K):
    """Return the settings of a regressor by their names."""
    return {
        "plain": {"penalty": None},
        **{f"ridge {c:g}": {"penalty": FadingRidge(c, n_rows)} for c in STRENGTHS},
    }


def simulations():
    """Yield a name and a function of the seed to (X, y, relevant columns)."""
    for n, k in ((300, 10), (1000, 30)):
        for noise in (0.0, 0.1):
            make = partial(make_correlated_classification, n, 1000, k, label_noise=noise)
            yield f"labels {n} x 1000, k = {k}, noise {noise:g}", make
    yield "regression 300 x 1000, k = 30", partial(make_correlated_regression, 300, 1000, 30)
    yield "weak quantity", lambda random_state: draw(random_state, 500, 1000, 0.25)
    yield "wide quantity", lambda random_state: draw(random_state, 200, 10_000, 0.8)

    def labelled(random_state, n_rows, r_squared, share):
        X, y, relevant = draw(random_state, n_rows, 1000, r_squared)
        return X, labels(y, share), relevant

    yield "weak labels", partial(labelled, n_rows=500, r_squared=0.25, share=0.5)
    yield "rare positives", partial(labelled, n_rows=1000, r_squared=2 / 3, share=0.05)


def measure_simulations(results, n_runs):
    for name, make in simulations():
        for seed in range(5000, 5000 + n_runs):
            X, y, relevant = make(random_state=seed)
            relevant = np.flatnonzero(relevant) if relevant.dtype == bool else relevant
            measure_settings(results, name, seed, X, y, len(relevant), partial(found, relevant))


def measure_tables(results, names, folder, n_folds):
    for name in names:
        table = load_selection(name, folder / "selection")
        if table.qid is not None:
            continue
        rows = np.sort(np.random.default_rng(0).permutation(len(table))[:MAX_ROWS])
        X, y = table.X[rows], table.y[rows]
        kind = kind_of(y)
        for fold, (train, test) in enumerate(folds(X, y, kind, n_folds, 0)):
            judge = partial(judge_on_rows, X, y, kind, train, test)
            measure_settings(results, name, fold, X[train], y[train], K, judge)


def judge_on_rows(X, y, kind, train, test, support):
    """Return the measure, on test rows, of a ridge model on some columns."""
    model = make_judge(X, kind).fit(X[train][:, support], y[train])
    return measure(kind, y[test], model.predict(X[test][:, support]))


def found(relevant, support):
    """Return the share of the relevant columns that are selected."""
    return np.isin(relevant, support).mean()


def measure_settings(results, problem, part, X, y, k, judge):
    """Fit with every setting and add its score."""
    is_labels = y.ndim == 1 and kind_of(y) == "classes"
    settings = (classifiers if is_labels else regressors)(X.shape[0], k)
    missing = [name for name in settings if (problem, part, name) not in results]
    if not missing:
        return
    if is_labels:
        classes, code = encode_classes(y)
        targets = signs(code, len(classes))
    else:
        targets = np.atleast_2d(y.T.astype(np.float64))
        targets = targets - targets.mean(axis=1, keepdims=True)
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    share, _ = signal_share(X, targets, np.random.default_rng(0))
    for name in missing:
        model = (FSAClassifier if is_labels else FSARegressor)(k, **settings[name]).fit(X, y)
        results.add(
            problem=problem,
            part=part,
            setting=name,
            task="labels" if is_labels else "quantities",
            classes=len(np.unique(y)) if is_labels else "",
            share=f"{share:.4f}",
            score=f"{100 * judge(model.get_support(indices=True)):.4f}",
            error=f"{100 * np.mean(model.predict(X) != y):.4f}" if is_labels else "",
        )


def noise_to_signal(share, least, most):
    """Return that strength of `STRENGTHS` which is next to (1 - h) / h, within bounds."""
    wanted = np.clip((1 - share) / share, least, most)
    return min(STRENGTHS, key=lambda strength: abs(np.log(strength / wanted)))


def label_rules():
    """Yield rules for labels: (name, function of share and whether there are two classes to a setting)."""
    for setting in classifiers(1):
        yield setting, lambda share, two, setting=setting: setting
    bounds = product((0.3, 0.35, 0.4), (0.65, 0.75, 0.85), (False, True))
    for (low, high, only_two), least, most in product(bounds, STRENGTHS, STRENGTHS):

        def rule(share, two, low=low, high=high, only_two=only_two, least=least, most=most):
            if low <= share <= high and (two or not only_two):
                return "lorenz"
            return f"full {noise_to_signal(share, least, most):g}"

        if least <= most:
            where = "of two classes " if only_two else ""
            yield (
                f"lorenz {where}if {low:g} <= h <= {high:g}, else full (1 - h) / h in [{least:g}, {most:g}]",
                rule,
            )


def quantity_rules():
    """Yield rules for quantities."""
    for setting in regressors(1):
        yield setting, lambda share, two, setting=setting: setting
    for least, most in product(STRENGTHS, STRENGTHS):

        def rule(share, two, least=least, most=most):
            return f"ridge {noise_to_signal(share, least, most):g}"

        if least < most:
            yield f"ridge (1 - h) / h in [{least:g}, {most:g}]", rule


def gather(results, task):
    """Return scores by setting and part, shares by part, and if there are two classes, for each problem."""
    problems = {}
    for row in results.select(task=task):
        problem = problems.setdefault(row["problem"], {"scores": {}, "shares": {}})
        problem["scores"].setdefault(row["setting"], {})[row["part"]] = float(row["score"])
        problem["shares"][row["part"]] = float(row["share"])
        problem["two"] = row["classes"] == "2"
    return problems


def regret(problem, rule):
    """Return the points that a rule loses to the best setting of a problem, in the mean of its parts."""
    parts = problem["shares"]
    best = max(np.mean(list(scores.values())) for scores in problem["scores"].values())
    taken = [problem["scores"][rule(share, problem["two"])][part] for part, share in parts.items()]
    return best - np.mean(taken)


def print_rules(results, task, rules):
    """Print the mean regrets of the settings, and of the rule that is best on the first half."""
    problems = gather(results, task)
    names = sorted(problems)
    halves = names[::2], names[1::2]
    lines = []
    for name, rule in rules:
        values = [[regret(problems[p], rule) for p in half] for half in halves]
        lines.append((np.mean(values[0]), np.mean(values[1]), name))
    fixed = set(classifiers(1)) | set(regressors(1))
    chosen = min((line for line in lines if line[2] not in fixed), key=lambda line: line[0])
    shown = [chosen, *(line for line in lines if line[2] in (*fixed, DEFAULTS[task]))]
    print(f"\n### {task}: mean regret over {len(halves[0])} + {len(halves[1])} problems\n")
    rows = [[name, f"{first:.2f}", f"{second:.2f}"] for first, second, name in shown]
    print(markdown_table(["rule", "half it was chosen on", "half kept apart"], rows))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("ANNEALED_DATA"))
    parser.add_argument("--sets", default=",".join(SELECTION_NAMES))
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--out", type=Path, default=Path("runs/defaults"))
    parser.add_argument("--summary-only", action="store_true")
    arguments = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    results = Results(arguments.out / "defaults.csv", KEYS, VALUES)
    if not arguments.summary_only:
        measure_simulations(results, arguments.runs)
        measure_tables(results, arguments.sets.split(","), arguments.data, arguments.folds)
    print_rules(results, "labels", label_rules())
    print_rules(results, "quantities", quantity_rules())


if __name__ == "__main__":
    main()
