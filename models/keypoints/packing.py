"""Classifiers and regressions of keypoints as the arrays of a model file.

What several keypoints have of a kind is laid out one after the other; counts say how many each has.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...features.errors import DataError
from ...features.pool import WindowPool
from ..model_files import ModelFile
from .keypoint_classifier import KeypointClassifier
from .refinement import OffsetRegressor

MAX_FEATURES = 1_000_000


def pack_classifiers(
    classifiers: Sequence[KeypointClassifier],
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Lay the classifiers out as the arrays and metadata of a file.

    The features and floors of all keypoints follow one another; `counts` says how many each has.
    """
    arrays = {
        "descriptors": np.concatenate([c.pool.descriptors for c in classifiers]),
        "low": np.concatenate([c.low for c in classifiers]),
        "high": np.concatenate([c.high for c in classifiers]),
        "knots": np.concatenate([c.knots for c in classifiers]),
        "floors": np.concatenate([c.floors for c in classifiers]),
        "rejection": np.concatenate([c.rejection.ravel() for c in classifiers]),
        "counts": np.array([[len(c.pool), len(c.floors)] for c in classifiers], dtype=np.int64),
        "intercepts": np.array([c.intercept for c in classifiers], dtype=np.float64),
        "thresholds": np.array([c.threshold for c in classifiers], dtype=np.float64),
    }
    return arrays, {"keypoints": [c.keypoint for c in classifiers]}


def unpack_classifiers(file: ModelFile) -> tuple[KeypointClassifier, ...]:
    """Read back what `pack_classifiers` laid out, checking presence, types, shapes and ranges."""
    names = file.metadata.get("keypoints")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError("model file: keypoints must be a list of names")
    n = len(names)
    counts = file.array("counts", dtype=np.int64, shape=(n, 2))
    intercepts = file.array("intercepts", dtype=np.float64, shape=(n,))
    thresholds = file.array("thresholds", dtype=np.float64, shape=(n,))
    check_counts("counts", counts)
    n_features, n_floors = counts.sum(axis=0).tolist()
    descriptors = file.array("descriptors", dtype=np.uint8, shape=(n_features, None))
    low = file.array("low", dtype=np.float32, shape=(n_features,))
    high = file.array("high", dtype=np.float32, shape=(n_features,))
    knots = file.array("knots", dtype=np.float32, shape=(n_features, None))
    floors = file.array("floors", dtype=np.float32, shape=(n_floors,))
    n_entries = int(np.prod(counts, axis=1).sum())
    rejection = file.array("rejection", dtype=np.float32, shape=(n_entries,), finite=False)
    classifiers = []
    feature = floor = entry = 0
    for i, (k, m) in enumerate(counts.tolist()):
        part = slice(feature, feature + k)
        classifiers.append(
            KeypointClassifier(
                keypoint=names[i],
                pool=WindowPool.from_descriptors(descriptors[part]),
                low=low[part],
                high=high[part],
                knots=knots[part],
                intercept=float(intercepts[i]),
                floors=floors[floor : floor + m],
                rejection=rejection[entry : entry + k * m].reshape(m, k),
                threshold=float(thresholds[i]),
            )
        )
        feature, floor, entry = feature + k, floor + m, entry + k * m
    return tuple(classifiers)


def pack_refiners(refiners: Sequence[OffsetRegressor]) -> dict[str, np.ndarray]:
    """Lay the regressions of offsets out as arrays; none if there are none."""
    if not refiners:
        return {}
    return {
        "offset_descriptors": np.concatenate([r.pool.descriptors for r in refiners]),
        "offset_low": np.concatenate([r.low for r in refiners]),
        "offset_high": np.concatenate([r.high for r in refiners]),
        # files have y before x
        "offset_knots": np.concatenate([r.knots[::-1] for r in refiners], axis=1),
        "offset_intercepts": np.stack([r.intercept[::-1] for r in refiners]).astype(np.float64),
        "offset_counts": np.array([len(r.pool) for r in refiners], dtype=np.int64),
    }


def unpack_refiners(file: ModelFile, n_keypoints: int) -> tuple[OffsetRegressor, ...]:
    """Read back what `pack_refiners` laid out, checking presence, types, shapes and ranges."""
    if "offset_counts" not in file.arrays:
        return ()
    counts = file.array("offset_counts", dtype=np.int64, shape=(n_keypoints,))
    check_counts("offset_counts", counts)
    n = int(counts.sum())
    descriptors = file.array("offset_descriptors", dtype=np.uint8, shape=(n, None))
    low = file.array("offset_low", dtype=np.float32, shape=(n,))
    high = file.array("offset_high", dtype=np.float32, shape=(n,))
    knots = file.array("offset_knots", dtype=np.float32, shape=(2, n, None))
    intercepts = file.array("offset_intercepts", dtype=np.float64, shape=(n_keypoints, 2))
    refiners = []
    for end, count, intercept in zip(np.cumsum(counts).tolist(), counts.tolist(), intercepts, strict=True):
        part = slice(end - count, end)
        pool = WindowPool.from_descriptors(descriptors[part])
        refiners.append(OffsetRegressor(pool, low[part], high[part], knots[::-1, part], intercept[::-1]))
    return tuple(refiners)


def check_counts(name: str, counts: np.ndarray) -> None:
    """Raise DataError if a count is zero, below or far too large, or there are none."""
    if not counts.size or counts.min() < 1 or counts.max() > MAX_FEATURES:
        raise DataError(f"model file: {name} must lie in 1..{MAX_FEATURES}, found {counts.tolist()}")
