"""Files into arrays: annotation formats, trajectories, tables, simulated data, bundled samples."""

from .keypoint_csv import load_keypoints
from .photos import PhotoSet
from .selection import SELECTION_NAMES, load_selection
from .simulated import (
    EquicorrelatedRows,
    make_correlated_classification,
    make_correlated_regression,
    make_equicorrelated_classification,
)
from .tables import Table

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
