"""How a selection of features is judged: for classes by accuracy, for labels by the micro-averaged F1, for
targets by R^2, averaged over the columns (see `targets.kind_of`).

The judge is a ridge model on the selected features, its strength chosen by leaving one out. Labels are
numbers to it; one is predicted where its number is above a half.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from ...features.errors import DataError
from ..target_kinds import CLASSIFICATION, REGRESSION

MEASURES = {"classes": "accuracy", "labels": "micro F1", "targets": "R2"}
TASKS = {"classes": CLASSIFICATION, "labels": CLASSIFICATION, "targets": REGRESSION}
"""What a single column is to a selector."""

ALPHAS = np.geomspace(1e-2, 1e4, 13)


def folds(X, y: np.ndarray, kind: str, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test rows of each fold; the classes are spread over them evenly."""
    if n_folds < 2 or len(y) < 2 * n_folds:
        raise DataError(f"{n_folds} folds of {len(y)} rows; at least 2 folds of at least 2 rows are needed")
    smallest = 0
    if kind == "classes":
        classes, counts = np.unique(y, return_counts=True)
        if len(classes) < 2:
            raise DataError("the target must hold at least two classes, got one class")
        smallest = int(counts.min())
    with warnings.catch_warnings():
        if smallest < n_folds:  # rare classes are then missing from some folds
            warnings.simplefilter("ignore", UserWarning)
        maker = StratifiedKFold if smallest >= 2 else KFold
        return list(maker(n_folds, shuffle=True, random_state=seed).split(X, y))


def make_judge(X, kind: str):
    """Return the model that judges a selection, unfitted."""
    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    return make_pipeline(scaler, (RidgeClassifierCV if kind == "classes" else RidgeCV)(ALPHAS))


def measure(kind: str, truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return how well predictions agree with the truth: the larger, the better."""
    if kind == "classes":
        return float(accuracy_score(truth, predicted))
    if kind == "labels":
        return float(f1_score(truth, predicted > 0.5, average="micro", zero_division=0.0))
    return float(r2_score(truth, predicted))
