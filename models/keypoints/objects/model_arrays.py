"""Object models as the arrays of a model file."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....features.errors import DataError
from ...model_files import ModelFile
from ..window_model import pack_window_models, unpack_window_models
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
        **pack_window_models([s.model for s in stages], "align_"),
        "align_window": np.concatenate([s.window for s in stages]).astype(np.int64),
        "align_object_px": np.array([s.object_px for s in stages], dtype=np.float64),
    }


def _unpack_stages(file: ModelFile, n_keypoints: int) -> tuple[AlignmentStage, ...]:
    if "align_counts" not in file.arrays:
        return ()
    models = unpack_window_models(file, "align_", 2 * n_keypoints)
    ends = np.cumsum([len(model) for model in models])
    window = file.array("align_window", dtype=np.int64, shape=(int(ends[-1]),))
    object_px = file.array("align_object_px", dtype=np.float64, shape=(len(models),))
    return tuple(map(AlignmentStage, object_px.tolist(), np.split(window, ends[:-1]), models))
