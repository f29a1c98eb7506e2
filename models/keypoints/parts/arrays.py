"""Parts as the arrays of a model file."""

import numpy as np

from ....features.errors import DataError
from ...model_files import ModelFile
from ..window_model import pack_window_models, read_counts, unpack_window_models
from .model import Part, PartModel
from .relations import Relations


def pack_parts(model: PartModel | None) -> dict[str, np.ndarray]:
    """Lay parts out as arrays; none if there are none."""
    if model is None:
        return {}
    relations = model.relations
    return {
        **pack_window_models([zoom for part in model.parts for zoom in part.zooms], "part_"),
        **pack_window_models([part.offset for part in model.parts], "part_offset_"),
        "part_zones": np.stack([part.zone for part in model.parts]),
        "part_mean": relations.mean,
        "part_parent": relations.parent.astype(np.int64),
        "part_slope": relations.slope,
        "part_covariance": relations.covariance,
        "part_frame": np.r_[model.box, model.px, model.scene_px or 0.0],
        "part_weights": model.weights,
        "part_seen": model.seen,
        "part_error": model.error,
        "part_whole": model.whole,
    }


def unpack_parts(file: ModelFile, n_keypoints: int) -> PartModel | None:
    """Read back what `pack_parts` laid out, checking presence, types, shapes and ranges."""
    if "part_zones" not in file.arrays:
        return None
    n = n_keypoints

    def array(name: str, *shape: int | None) -> np.ndarray:
        return file.array(name, dtype=np.float64, shape=shape)

    n_zooms, left = divmod(len(read_counts(file, "part_counts", (None,))), n)
    if left or not n_zooms:
        raise DataError("model file: parts with different numbers of zooms")
    zooms = unpack_window_models(file, "part_", 1, n * n_zooms)
    offsets = unpack_window_models(file, "part_offset_", 2, n)
    zones, frame = array("part_zones", n, 4), array("part_frame", 6)
    try:
        relations = Relations(
            array("part_mean", n, 2),
            file.array("part_parent", dtype=np.int64, shape=(n,)),
            array("part_slope", n, 2, 2),
            array("part_covariance", n, 2, 2),
        )
        parts = [Part(zooms[k * n_zooms : (k + 1) * n_zooms], offsets[k], zones[k]) for k in range(n)]
        return PartModel(
            tuple(parts),
            relations,
            frame[:4],
            float(frame[4]),
            float(frame[5]) or None,
            array("part_weights", n, n_zooms + 1),
            array("part_seen", n, 4),
            array("part_error", n, 4),
            array("part_whole", 2),
        )
    except DataError as error:
        raise DataError(f"model file: {error}") from None
