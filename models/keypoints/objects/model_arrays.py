"""Object models as the arrays of a model file."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....features.errors import DataError
from ....features.pool import WindowPool
from ...model_files import ModelFile
from ..packing import check_counts
from .alignment import AlignmentStage
from .model import N_KEYPOINT_TERMS, N_POINT_TERMS, N_POSE_TERMS, ObjectModel
from .poses import AnglePrior
from .shape import RigidShape


def pack_object_model(model: ObjectModel | None) -> dict[str, np.ndarray]:
    """Lay an object model out as arrays; none if there is none."""
    if model is None:
        return {}
    return {
        "face_shape": model.shape.points,
        "face_shape_spread": model.shape.spread,
        "face_angles": model.shape.prior.mean,
        "face_angle_covariance": model.shape.prior.covariance,
        "face_spread": model.spread,
        "face_keypoint_weights": model.keypoint_weights,
        "face_pose_weights": model.pose_weights,
        "face_point_weights": model.point_weights,
        "face_intercept_threshold": np.array([model.intercept, model.threshold]),
        **_pack_stages(model.stages),
        **_pack_proposal(model),
    }


def unpack_object_model(file: ModelFile, n_keypoints: int) -> ObjectModel | None:
    """Read back what `pack_object_model` laid out, checking presence, types, shapes and ranges."""
    if "face_shape" not in file.arrays:
        return None
    n = n_keypoints

    def array(name: str, *shape: int) -> np.ndarray:
        return file.array(name, dtype=np.float64, shape=shape)

    try:
        prior = AnglePrior(array("face_angles", 3), array("face_angle_covariance", 3, 3))
        shape = RigidShape(array("face_shape", n, 3), array("face_shape_spread", n), prior)
        intercept, threshold = array("face_intercept_threshold", 2).tolist()
        model = ObjectModel(
            shape,
            array("face_spread", n),
            intercept,
            array("face_keypoint_weights", n, N_KEYPOINT_TERMS),
            array("face_pose_weights", N_POSE_TERMS),
            array("face_point_weights", 2, n, N_POINT_TERMS),
            threshold,
            _unpack_stages(file, n),
        )
        if "face_anchors" not in file.arrays:
            return model
        proposal = replace(
            model,
            intercept=float(array("face_proposal_intercept", 1)[0]),
            keypoint_weights=array("face_proposal_keypoint_weights", n, N_KEYPOINT_TERMS),
            pose_weights=array("face_proposal_pose_weights", N_POSE_TERMS),
            stages=(),
        )
        anchors = file.array("face_anchors", dtype=np.int64, shape=(None,))
        return replace(model, anchors=tuple(anchors.tolist()), proposal=proposal)
    except DataError as error:
        text = str(error)
        raise DataError(text if text.startswith("model file") else f"model file: {text}") from None


def _pack_proposal(model: ObjectModel) -> dict[str, np.ndarray]:
    """The anchors, and the weights that choose poses by them."""
    if model.proposal is None:
        return {}
    return {
        "face_anchors": np.array(model.anchors, dtype=np.int64),
        "face_proposal_intercept": np.array([model.proposal.intercept]),
        "face_proposal_keypoint_weights": model.proposal.keypoint_weights,
        "face_proposal_pose_weights": model.proposal.pose_weights,
    }


def _pack_stages(stages: Sequence[AlignmentStage]) -> dict[str, np.ndarray]:
    """The stages of alignment, one after the other."""
    if not stages:
        return {}
    return {
        "align_descriptors": np.concatenate([s.pool.descriptors for s in stages]),
        "align_window": np.concatenate([s.window for s in stages]).astype(np.int64),
        "align_low": np.concatenate([s.low for s in stages]),
        "align_high": np.concatenate([s.high for s in stages]),
        "align_knots": np.concatenate([s.knots for s in stages], axis=1),
        "align_intercepts": np.stack([s.intercept for s in stages]).astype(np.float64),
        "align_object_px": np.array([s.object_px for s in stages], dtype=np.float64),
        "align_counts": np.array([len(s.pool) for s in stages], dtype=np.int64),
    }


def _unpack_stages(file: ModelFile, n_keypoints: int) -> tuple[AlignmentStage, ...]:
    if "align_counts" not in file.arrays:
        return ()
    counts = file.array("align_counts", dtype=np.int64, shape=(None,))
    check_counts("align_counts", counts)
    n, n_outputs = int(counts.sum()), 2 * n_keypoints
    descriptors = file.array("align_descriptors", dtype=np.uint8, shape=(n, None))
    window = file.array("align_window", dtype=np.int64, shape=(n,))
    low = file.array("align_low", dtype=np.float32, shape=(n,))
    high = file.array("align_high", dtype=np.float32, shape=(n,))
    knots = file.array("align_knots", dtype=np.float32, shape=(n_outputs, n, None))
    intercepts = file.array("align_intercepts", dtype=np.float64, shape=(len(counts), n_outputs))
    object_px = file.array("align_object_px", dtype=np.float64, shape=(len(counts),))
    stages = []
    for i, (end, count) in enumerate(zip(np.cumsum(counts).tolist(), counts.tolist(), strict=True)):
        part = slice(end - count, end)
        pool = WindowPool.from_descriptors(descriptors[part])
        stages.append(
            AlignmentStage(
                float(object_px[i]), pool, window[part], low[part], high[part], knots[:, part], intercepts[i]
            )
        )
    return tuple(stages)
