"""Classifiers and regressions of keypoints as the arrays of a model file.

What several keypoints have of a kind is laid out one after the other; counts say how many each has.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...features.errors import DataError
from ..model_files import ModelFile
from .keypoint_classifier import KeypointClassifier
from .regions import WHOLE, RegionFinder
from .window_model import WindowModel, pack_window_models, read_counts, split_models, unpack_window_models

_SWAPPED = [1, 0]  # files have a regression's y before its x

MAX_OFFSET_PX = 10_000


def pack_classifiers(
    classifiers: Sequence[KeypointClassifier],
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Lay the classifiers out as the arrays and metadata of a file.

    The features and floors of all keypoints follow one another; `counts` says how many each has.
    """
    arrays = pack_window_models([c.model for c in classifiers])
    arrays |= {
        "knots": arrays["knots"][0],
        "intercepts": arrays["intercepts"][:, 0],
        "floors": np.concatenate([c.floors for c in classifiers]),
        "rejection": np.concatenate([c.rejection.ravel() for c in classifiers]),
        "counts": np.array([[len(c.model), len(c.floors)] for c in classifiers], dtype=np.int64),
        "thresholds": np.array([c.threshold for c in classifiers], dtype=np.float64),
    }
    return arrays, {"keypoints": [c.keypoint for c in classifiers]}


def unpack_classifiers(file: ModelFile) -> tuple[KeypointClassifier, ...]:
    """Read back what `pack_classifiers` laid out, checking presence, types, shapes and ranges."""
    names = file.metadata.get("keypoints")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError("model file: keypoints must be a list of names")
    n = len(names)
    counts = read_counts(file, "counts", (n, 2))
    n_features, n_floors = counts.sum(axis=0).tolist()
    knots = file.array("knots", dtype=np.float32, shape=(n_features, None))
    intercepts = file.array("intercepts", dtype=np.float64, shape=(n,))
    thresholds = file.array("thresholds", dtype=np.float64, shape=(n,))
    models = split_models(file, "", counts[:, 0], knots[None], intercepts[:, None])
    floors = np.split(file.array("floors", dtype=np.float32, shape=(n_floors,)), np.cumsum(counts[:-1, 1]))
    sizes = np.prod(counts, axis=1)
    entries = file.array("rejection", dtype=np.float32, shape=(int(sizes.sum()),), finite=False)
    rejections = np.split(entries, np.cumsum(sizes[:-1]))
    return tuple(
        KeypointClassifier(name, model, steps, rejection.reshape(len(steps), len(model)), float(threshold))
        for name, model, steps, rejection, threshold in zip(
            names, models, floors, rejections, thresholds, strict=True
        )
    )


def pack_refiners(refiners: Sequence[WindowModel]) -> dict[str, np.ndarray]:
    """Lay the regressions of offsets out as arrays; none if there are none."""
    return pack_window_models([r.with_outputs(_SWAPPED) for r in refiners], "offset_") if refiners else {}


def unpack_refiners(file: ModelFile, n_keypoints: int) -> tuple[WindowModel, ...]:
    """Read back what `pack_refiners` laid out, checking presence, types, shapes and ranges."""
    if "offset_counts" not in file.arrays:
        return ()
    models = unpack_window_models(file, "offset_", 2, n_keypoints)
    if not max(model.largest for model in models) <= MAX_OFFSET_PX:
        raise DataError(f"model file: an offset of more than {MAX_OFFSET_PX} pixels of a window")
    return tuple(model.with_outputs(_SWAPPED) for model in models)


def pack_regions(regions: RegionFinder | None) -> dict[str, np.ndarray]:
    """Lay the classifier of whole objects out as arrays; none if there is none."""
    if regions is None:
        return {}
    classifier = regions.classifier
    return {
        **pack_window_models([classifier.model], "region_"),
        "region_floors": classifier.floors,
        "region_rejection": classifier.rejection,
        "region_frame": np.array([regions.object_px, regions.octaves, regions.reach]),
    }


def unpack_regions(file: ModelFile) -> RegionFinder | None:
    """Read back what `pack_regions` laid out, checking presence, types, shapes and ranges."""
    if "region_counts" not in file.arrays:
        return None
    (model,) = unpack_window_models(file, "region_", 1, 1)
    floors = file.array("region_floors", dtype=np.float32, shape=(None,))
    shape = len(floors), len(model)
    rejection = file.array("region_rejection", dtype=np.float32, shape=shape, finite=False)
    frame = file.array("region_frame", dtype=np.float64, shape=(3,)).tolist()
    try:
        return RegionFinder(KeypointClassifier(WHOLE, model, floors, rejection, 0.0), *frame)
    except DataError as error:
        raise DataError(f"model file: {error}") from None
