"""Keypoint detectors: one or more classifiers that share a photo's pyramid and its maps."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...features.errors import DataError, ParameterError
from ...features.pyramid import Level, check_rgb, gaussian_pyramid
from ...features.windows import WINDOW_PX, WindowPool
from ..store import ModelFile, write_model_file
from .classifier import KeypointClassifier
from .detections import Detections, join_detections, make_detections
from .nms import Suppression, suppress
from .scan import FoundWindows, scan_photo

KIND = "keypoint-detector"
MAX_FEATURES = 1_000_000


@dataclass(frozen=True)
class PyramidRule:
    """Which scales of a photo are scanned.

    Attributes
    ----------
    scales_per_octave : int
    max_scale : float
        Of the largest level; 1 is the photo itself, 2 finds objects half as large, at four times the
        cost.
    """

    scales_per_octave: int = 4
    max_scale: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.scales_per_octave, int) and 1 <= self.scales_per_octave <= 64):
            raise ParameterError(
                f"scales_per_octave must be a whole number from 1 to 64, got {self.scales_per_octave}"
            )
        if not 0 < self.max_scale <= 8:
            raise ParameterError(f"max_scale must be above 0 and at most 8, got {self.max_scale}")

    def levels(self, image: np.ndarray) -> list[Level]:
        """Return the levels of a photo, at least one.

        Raises
        ------
        DataError
            If the photo is smaller than a window.
        """
        levels = gaussian_pyramid(image, scales_per_octave=self.scales_per_octave, max_scale=self.max_scale)
        if not levels:
            height, width = image.shape[:2]
            raise DataError(
                f"the photo has {width} x {height} pixels, less than a window of {WINDOW_PX} x {WINDOW_PX}"
            )
        return levels


@dataclass(frozen=True, eq=False)
class KeypointDetector:
    """Finds keypoints in photos, bottom up: every window of every scale is a candidate.

    Attributes
    ----------
    classifiers : tuple of KeypointClassifier
    object_px : float
        Typical size of the object (inter-eye distance of a face) in pixels of a window: where a
        detection has scale s, the object is about ``s * object_px`` pixels large.
    pyramid : PyramidRule
    suppression : Suppression
    metadata : dict
        What training recorded: configuration, data, scores on held-out photos.

    Examples
    --------
    >>> from annealed.models import load_model
    >>> detector = load_model("model.safetensors")  # doctest: +SKIP
    >>> detector.detect(image)[:5].x  # doctest: +SKIP
    """

    classifiers: tuple[KeypointClassifier, ...]
    object_px: float
    pyramid: PyramidRule = field(default_factory=PyramidRule)
    suppression: Suppression = field(default_factory=Suppression)
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.keypoint_names
        if not names or len(set(names)) != len(names):
            raise DataError(f"a detector needs classifiers of different keypoints, got {names}")
        if not (np.isfinite(self.object_px) and self.object_px > 0):
            raise DataError(f"object_px must be a finite number above 0, got {self.object_px}")

    @property
    def keypoint_names(self) -> tuple[str, ...]:
        """Names of the keypoints, in the order of the classifiers."""
        return tuple(classifier.keypoint for classifier in self.classifiers)

    def detect(self, image: np.ndarray, *, threshold: float | None = None, exact: bool = False) -> Detections:
        """Find keypoints in a photo.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
            RGB.
        threshold : float, optional
            Lowest score of a detection; by default each keypoint's own, chosen in training.
        exact : bool
            Compute the full sum of every window instead of giving most up early; slow.

        Returns
        -------
        Detections
            Best first.

        Raises
        ------
        DataError
            If the image is not an RGB photo, or is smaller than a window.
        """
        levels = self.pyramid.levels(check_rgb(image))
        return self.detect_levels(levels, threshold=threshold, exact=exact)

    def detect_levels(
        self,
        levels: Sequence[Level],
        *,
        threshold: float | None = None,
        exact: bool = False,
        parallel: bool = True,
    ) -> Detections:
        """Find keypoints in a photo whose pyramid is there already; see `detect` and `scan_photo`."""
        if threshold is not None and not np.isfinite(threshold):
            raise ParameterError(f"threshold must be a finite number, got {threshold}")
        floors = [c.threshold if threshold is None else threshold for c in self.classifiers]
        found = scan_photo(levels, self.classifiers, floors, exact=exact, parallel=parallel)
        parts = []
        for classifier, windows in zip(self.classifiers, found, strict=True):
            x, y, scale, score = _photo_columns(levels, windows)
            kept = suppress(x, y, scale, score, WINDOW_PX, self.suppression)
            parts.append(make_detections(*kept, classifier.keypoint))
        return join_detections(parts)

    def with_thresholds(self, thresholds: Sequence[float]) -> "KeypointDetector":
        """Return the detector with other detection thresholds, one a keypoint."""
        changed = [replace(c, threshold=float(t)) for c, t in zip(self.classifiers, thresholds, strict=True)]
        return replace(self, classifiers=tuple(changed))

    def save(self, path: str | os.PathLike) -> None:
        """Write the detector to one file, whole or not at all."""
        arrays, metadata = pack_classifiers(self.classifiers)
        metadata.update(
            window_px=WINDOW_PX,
            object_px=self.object_px,
            pyramid=vars(self.pyramid),
            suppression=vars(self.suppression),
            training=self.metadata,
        )
        write_model_file(path, KIND, arrays, metadata)

    @classmethod
    def from_model_file(cls, file: ModelFile) -> "KeypointDetector":
        """Build the detector that a model file holds, after checking everything in it."""
        metadata = file.metadata
        if metadata.get("window_px") != WINDOW_PX:
            raise DataError(
                f"model file: window_px is {metadata.get('window_px')!r}, this version reads {WINDOW_PX}"
            )
        try:
            pyramid = PyramidRule(**_numbers(metadata, "pyramid", PyramidRule))
            suppression = Suppression(**_numbers(metadata, "suppression", Suppression))
            object_px = float(metadata["object_px"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"model file: broken metadata ({error})") from None
        training = metadata.get("training")
        return cls(
            unpack_classifiers(file),
            object_px,
            pyramid,
            suppression,
            training if isinstance(training, dict) else {},
        )


def _photo_columns(levels: Sequence[Level], windows: FoundWindows) -> np.ndarray:
    """x, y, scale and score of windows, (4, n) float64 in photo pixels."""
    ratios = np.array([level.ratio for level in levels])
    ratio = ratios[windows.level]
    y, x = (np.stack([windows.row, windows.col]) + 0.5) / ratio.T - 0.5
    return np.stack([x, y, 1 / np.sqrt(np.prod(ratio, axis=1)), windows.score.astype(np.float64)])


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
    if counts.min() < 1 or counts.max() > MAX_FEATURES:
        raise DataError(f"model file: counts must lie in 1..{MAX_FEATURES}, found {counts.tolist()}")
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


def _numbers(metadata: dict[str, Any], key: str, rule: type) -> dict[str, Any]:
    """The numbers of one of the file's rules: exactly the fields that the rule has."""
    found = metadata[key]
    wanted = set(rule.__dataclass_fields__)  # type: ignore[attr-defined]
    if not isinstance(found, dict) or set(found) != wanted:
        raise ValueError(f"{key} must hold {sorted(wanted)}")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{key}.{name} is {value!r}, expected a number")
    return found
