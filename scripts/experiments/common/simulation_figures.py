"""Figures 1, 2, 3 and 6 of the paper; called by `reproduce_simulations.py --figures`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from annealed.datasets.tables.simulated import make_correlated_classification
from annealed.models import FSAClassifier
from annealed.models.annealing import Annealer
from annealed.models.designs import DenseDesign
from annealed.models.losses import Logistic
from annealed.models.schedules import InverseSchedule
from common.results import Results

LITERAL = {"loss": "logistic", "batch_size": None, "momentum": 0.0, "tol": 0.0}
"""Algorithm 1 as printed, for the paper's own axes."""

# (N, M) with k = 100: a line in N and a line in M, to about the memory of a laptop at 4 bytes a value.
SCALING_SIZES = (
    *((n, 10_000) for n in (1_000, 3_000, 10_000, 30_000, 100_000)),
    *((10_000, m) for m in (1_000, 3_000, 30_000, 100_000)),
)
SCALING_K = 100
LOGITBOOST_BYTES = 3 * 2**30
"""LogitBoost holds the table twice, 4 bytes a value; larger tables are left out."""


def draw(number, out):
    """Draw a figure into the folder `out` and return where it is."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    figure = {1: scaling, 2: coefficient_paths, 3: schedules, 6: stability}[number](out)
    path = out / f"figure{number}.png"
    figure.savefig(path, dpi=120, bbox_inches="tight")
    return path


def coefficient_paths(out):
    """Figure 2: every coefficient against the iteration; N = M = 1000, k = 10, eta = 20, mu = 300."""
    X, y, support = make_correlated_classification(1000, 1000, 10, random_state=0)
    design = DenseDesign(np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T))
    history = []

    def record(progress):
        beta = np.zeros(X.shape[1])
        beta[annealer.survivors.kept] = annealer.iterate.beta[0, :, 0]
        history.append(beta)

    options = {"batch_size": None, "momentum": 0.0, "learning_rate": 20.0, "tol": 0.0}
    annealer = Annealer(design, Logistic(2.0 * y - 1), None, callback=record, **options)
    annealer.run(InverseSchedule(k=10, n_iter=500, mu=300))
    history = np.array(history)
    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    axes.plot(history[:150, ~support], color="0.75", linewidth=0.5)
    axes.plot(history[:150, support], linewidth=1.2)
    axes.set(xlabel="iteration", ylabel="coefficient", title="Figure 2: grey, the 990 irrelevant variables")
    return figure


def schedules(out):
    """Figure 3: the number of variables kept, for six annealing rates; M = 1000, k = 10."""
    figure = Figure(figsize=(6, 4))
    axes = figure.subplots()
    for mu in (0, 1, 10, 100, 300, 1000):
        axes.plot(np.arange(1, 501), InverseSchedule(10, 500, mu).features_kept(1000), label=f"mu = {mu}")
    axes.set(xlabel="iteration", ylabel="variables kept", title="Figure 3")
    axes.legend()
    return figure


def stability(out, n_runs=10):
    """Figure 6: AUC against learning rate, annealing rate and iterations; N = M = 1000, k = 10."""
    data = [make_correlated_classification(2000, 1000, 10, random_state=seed) for seed in range(n_runs)]
    rates = (0.01, 0.1, 1, 3, 10, 30, 100, 300, 1000)
    annealing_rates = (1, 3, 10, 30, 100, 300, 1000)
    iterations = (10, 20, 50, 100, 200, 500, 1000)
    panels = [
        ("learning rate", rates, lambda eta: LITERAL | {"learning_rate": eta}, None),
        ("mu", annealing_rates, lambda mu: LITERAL | {"mu": mu, "learning_rate": mu / 10}, "mu"),
        ("iterations", iterations, lambda n: LITERAL | {"n_iter": n, "learning_rate": 20.0}, "n_iter"),
    ]
    figure = Figure(figsize=(13, 3.6), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for axis, (label, values, literal, ours) in zip(axes, panels, strict=True):
        axis.semilogx(values, [_mean_auc(data, literal(v)) for v in values], "o-", label="Algorithm 1")
        defaults = [{ours: v} if ours else {} for v in values]
        axis.semilogx(values, [_mean_auc(data, options) for options in defaults], "s--", label="default")
        axis.set(xlabel=label)
        axis.legend()
    axes[0].set(ylabel=f"AUC, mean of {n_runs} runs")
    figure.suptitle("Figure 6")
    return figure


def _mean_auc(data, options):
    areas = []
    for seed, (X, y, _) in enumerate(data):
        model = FSAClassifier(10, random_state=seed, **options).fit(X[:1000], y[:1000])
        areas.append(roc_auc_score(y[1000:], model.decision_function(X[1000:])))
    return np.mean(areas)


def scaling(out):
    """Figure 1 at sizes for a small machine: seconds, detection, AUC and peak memory against N and M."""
    results = _measured_scaling(out)
    figure = Figure(figsize=(16, 7), layout="constrained")
    axes = figure.subplots(2, 4)
    columns = ("seconds", "percent_correct", "auc", "peak_megabytes")
    lines = (("N", 0, 1), ("M", 1, 0))
    for row, (name, moving, fixed) in enumerate(lines):
        for method in ("fsa", "logitboost-tenth"):
            points = [
                (size[moving], entry)
                for size in SCALING_SIZES
                if size[fixed] == 10_000
                for entry in results.select(method=method, n_samples=size[0], n_features=size[1])
            ]
            points.sort(key=lambda point: point[0])
            for axis, column in zip(axes[row], columns, strict=True):
                axis.plot([x for x, _ in points], [float(e[column]) for _, e in points], "o-", label=method)
        for axis, column in zip(axes[row], columns, strict=True):
            axis.set(xscale="log", xlabel=f"{name} (the other: 10,000)", ylabel=column.replace("_", " "))
            if column == "seconds":
                axis.set(yscale="log")
                axis.legend()
    figure.suptitle(f"Figure 1, k = {SCALING_K}")
    return figure


def _measured_scaling(out):
    """Run `simulation_scaling.py` for the sizes that figure1.csv does not hold yet."""
    values = ("seconds", "reading_seconds", "percent_correct", "auc", "peak_megabytes")
    results = Results(out / "figure1.csv", ("method", "n_samples", "n_features"), values)
    script = Path(__file__).with_name("simulation_scaling.py")
    for n, m in SCALING_SIZES:
        for method in ("fsa", "logitboost-tenth"):
            too_large = method != "fsa" and 8 * n * m > LOGITBOOST_BYTES
            if (method, n, m) in results or too_large:
                continue
            print(f"figure 1: {method}, N={n}, M={m}", file=sys.stderr)
            size = ["--n-samples", str(n), "--n-features", str(m), "-k", str(SCALING_K)]
            run = [sys.executable, str(script), method, *size]
            point = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
            results.add(method=method, n_samples=n, n_features=m, **point)
    return results
