"""Files into arrays: annotation formats, trajectories, tables, simulated data, bundled samples."""

from .photos.keypoint_csv import load_keypoints
from .photos.photo_set import PhotoSet
from .tables.selection_sets import SELECTION_NAMES, load_selection
from .tables.simulated import (
    EquicorrelatedRows,
    make_correlated_classification,
    make_correlated_regression,
    make_equicorrelated_classification,
)
from .tables.table import Table

__all__ = [
    "SELECTION_NAMES",
    "EquicorrelatedRows",
    "PhotoSet",
    "Table",
    "load_keypoints",
    "load_selection",
    "make_correlated_classification",
    "make_correlated_regression",
    "make_equicorrelated_classification",
]
