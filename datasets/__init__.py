"""Files into arrays: annotation formats, trajectories, tables, simulated data, bundled samples."""

from ..features.lazy import lazy_names

_HOME = {
    "EquicorrelatedRows": "tables.simulated",
    "PhotoSet": "photos.photo_set",
    "SELECTION_NAMES": "tables.selection_sets",
    "Table": "tables.table",
    "load_keypoints": "photos.keypoint_csv",
    "load_selection": "tables.selection_sets",
    "make_correlated_classification": "tables.simulated",
    "make_correlated_regression": "tables.simulated",
    "make_equicorrelated_classification": "tables.simulated",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
