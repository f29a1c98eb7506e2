"""What a target asks for: classes, labels or numbers.

classes    one column of text or of few whole numbers
labels     several columns of 0 and 1
targets    one or several columns of numbers
"""

import numpy as np
from sklearn.utils.multiclass import type_of_target

from ..features.errors import DataError

CLASSIFICATION, REGRESSION = "classification", "regression"
MOST_CLASSES = 100


def are_labels(y: np.ndarray) -> bool:
    """Return whether the targets are labels: 0 where a sample does not have one, 1 where it does."""
    return bool(np.isin(y, (0, 1)).all())


def holds_classes(y: np.ndarray) -> bool:
    """Return whether one column holds class labels: text, truth values or whole numbers."""
    return type_of_target(y, input_name="y") in ("binary", "multiclass")


def kind_of(y: np.ndarray) -> str:
    """Return "classes", "labels" or "targets", for y of shape (n_samples,) or (n_samples, n_targets).

    Whole numbers are classes only if there are few of them for the number of samples.
    """
    if y.ndim == 2:
        return "labels" if are_labels(y) else "targets"
    few = len(np.unique(y)) <= min(MOST_CLASSES, len(y) / 2)
    return "classes" if few and holds_classes(y) else "targets"


def encode_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, ascending, and each sample's class number; raise DataError if there is one only."""
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y must hold at least two classes, got one class: {classes[0]!r}")
    return classes, code.ravel()


def signs(code: np.ndarray, n_classes: int) -> np.ndarray:
    """Turn class numbers into one row of -1 and +1 for two classes, or into one row per class."""
    positive = code == 1 if n_classes == 2 else code == np.arange(n_classes)[:, None]
    return np.where(np.atleast_2d(positive), 1.0, -1.0)
