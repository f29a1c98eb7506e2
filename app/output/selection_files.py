"""What the selection commands write: plots of score over k, and a model on the selected features."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse

from ...datasets.tables.table import Table
from ...models import FSAClassifier, FSARegressor
from ...models.selection.comparison import Score
from ...models.selection.judging import MEASURES

SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 1000)


def sizes_up_to(k: int) -> list[int]:
    """Return sizes to score, ascending, ending with k."""
    return [size for size in SIZES if size < k] + [k]


def save_model(path: Path, table: Table, features: np.ndarray, kind: str, method: str, seed: int) -> None:
    """Fit a model on the selected features and write it.

    For every method it is the annealed estimator, with nothing left to anneal: the features stay. For several
    labels it is the regressor, whose prediction is above a half where a label is likely.
    """
    estimator = FSAClassifier if kind == "classes" else FSARegressor
    piecewise = method == "fsa-piecewise"
    model = estimator(
        len(features),
        response="piecewise" if piecewise else "linear",
        always_keep=np.sort(features),
        random_state=seed,
    )
    X = table.X.toarray() if piecewise and sparse.issparse(table.X) else table.X
    model.fit(X, table.y)
    assert table.feature_names is not None
    model.feature_names_in_ = np.array(table.feature_names, dtype=object)
    names = [table.feature_names[j] for j in features]
    model.save(path, {"method": method, "table": table.name, "selected": names, "seed": seed})


def plot_scores(path: Path, scores: list[Score], kind: str) -> None:
    """Plot the mean score over k, one line per method; "all" is a level line. PNG."""
    figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    for i, method in enumerate(dict.fromkeys(score.method for score in scores)):
        points = [(score.k, score.mean) for score in scores if score.method == method]
        if method == "all":
            axes.axhline(points[0][1], color="0.5", ls="--", label="all features")
            continue
        # ten colours, then the same ones with other markers
        colour, line, marker = (
            ("0.6", ":", "o") if method == "random" else (f"C{i % 10}", "-", "osv^"[i // 10 % 4])
        )
        axes.plot(*np.array(points).T, marker=marker, ms=4, label=method, color=colour, ls=line)
    axes.set(xscale="log", xlabel="features (k)", ylabel=f"cross-validated {MEASURES[kind]}")
    sizes = sorted({score.k for score in scores if score.method != "all"})
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.grid(color="0.9")
    figure.legend(fontsize=7, loc="outside right upper")
    figure.savefig(path, format="png")
