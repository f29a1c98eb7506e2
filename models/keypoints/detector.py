"""Keypoint detectors: one or more classifiers that share a photo's pyramid and its maps."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...features.errors import DataError, ParameterError
from ...features.pool import WINDOW_PX
from ...features.pyramid import Level, check_rgb, gaussian_pyramid
from ...features.threads import in_threads
from ...features.turning import Turn
from ..model_files import ModelFile, write_model_file
from .angles import UPRIGHT, check_angles
from .detections import Detections, join_detections, make_detections
from .keypoint_classifier import KeypointClassifier
from .nms import Suppression, suppress
from .objects.model import (
    Evidence,
    ObjectModel,
    Objects,
    apart_objects,
    best_objects,
    joined_objects,
    moved_objects,
    no_objects,
    objects_turned_back,
)
from .objects.model_arrays import pack_object_model, unpack_object_model
from .objects.search import BELOW, FLOOR, gather_evidence, objects_of
from .packing import (
    pack_classifiers,
    pack_refiners,
    pack_regions,
    unpack_classifiers,
    unpack_refiners,
    unpack_regions,
)
from .parts.arrays import pack_parts, unpack_parts
from .parts.model import PartModel
from .parts.whole import N_LOOKS, find_in_frames, find_in_scene, frames_of
from .refinement import refine
from .regions import Region, RegionFinder
from .scan import scan_photo, window_places
from .scan_limits import check_pixels
from .window_model import WindowModel

KIND = "keypoint-detector"
MAX_OBJECT_PX = 10_000
MAX_OCTAVES = 20

WEAKER = 4.0
"""Log-odds by which poses may fall short of the threshold whose parts are looked at."""

POSES_A_PLACE = 4
"""Poses of one place, turned differently, that are kept until their parts have been looked at."""

MOST_POSES = 24


@dataclass(frozen=True)
class PyramidConfig:
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
            If the photo is smaller than a window, or its levels are beyond the budget of `scan_limits`.
        """
        check_pixels(image.shape, self.scales_per_octave, self.max_scale)
        levels = gaussian_pyramid(image, scales_per_octave=self.scales_per_octave, max_scale=self.max_scale)
        if not levels:
            height, width = image.shape[:2]
            raise DataError(
                f"the photo has {width} x {height} pixels, less than a window of {WINDOW_PX} x {WINDOW_PX}"
            )
        return levels


@dataclass(frozen=True, eq=False)
class KeypointDetector:
    """Finds keypoints in photos: every window of every scale is a candidate, objects choose among them.

    Attributes
    ----------
    classifiers : tuple of KeypointClassifier
    object_px : float
        Typical size of the object (inter-eye distance of a face) in pixels of a window: where a
        detection has scale s, the object is about ``s * object_px`` pixels large.
    octaves : float
        Of the sizes around it that the classifiers are trained for.
    pyramid : PyramidConfig
    suppression : Suppression
    refiners : tuple of WindowModel
        One per classifier, to move detections to the exact place (refinement.py); or none.
    object_model : ObjectModel or None
        How keypoints make up an object; None for a detector of single keypoints only.
    parts : PartModel or None
        How keypoints look in the frame of their object, or of the scene, from coarse to fine; None: they are
        where the object model has them.
    regions : RegionFinder or None
        What looks for whole objects first; None: photos are scanned for keypoints.
    angles : tuple of float
        Degrees by which objects may be turned clockwise: photos are turned back by each and scanned.
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
    octaves: float = 1.0
    pyramid: PyramidConfig = field(default_factory=PyramidConfig)
    suppression: Suppression = field(default_factory=Suppression)
    refiners: tuple[WindowModel, ...] = ()
    object_model: ObjectModel | None = None
    parts: PartModel | None = None
    regions: RegionFinder | None = None
    angles: tuple[float, ...] = UPRIGHT
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.keypoint_names
        if not names or len(set(names)) != len(names):
            raise DataError(f"a detector needs classifiers of different keypoints, got {names}")
        if not 0.01 <= self.object_px <= MAX_OBJECT_PX:
            raise DataError(f"object_px must be a number from 0.01 to {MAX_OBJECT_PX}, got {self.object_px}")
        if not 0 < self.octaves <= MAX_OCTAVES:
            raise DataError(f"octaves must be above 0 and at most {MAX_OCTAVES}, got {self.octaves}")
        check_angles(self.angles)
        if self.refiners and len(self.refiners) != len(names):
            raise DataError(f"a detector of {len(names)} keypoints has {len(self.refiners)} refiners")
        if self.object_model is not None and len(self.object_model.spread) != len(names):
            raise DataError(
                f"a detector of {len(names)} keypoints has an object model of {len(self.object_model.spread)}"
            )

        if self.parts is not None and len(self.parts.parts) != len(names):
            raise DataError(f"a detector of {len(names)} keypoints has {len(self.parts.parts)} parts")

    @property
    def finds_objects(self) -> bool:
        """Whether it finds whole objects, not single keypoints only."""
        return self.object_model is not None or self.sees_scene

    @property
    def sees_scene(self) -> bool:
        """Whether keypoints are looked for in the whole picture, as those of one object."""
        return self.parts is not None and self.parts.scene_px is not None

    @property
    def object_threshold(self) -> float:
        """Lowest log-odds of an object that is reported, if no other is asked for."""
        return 0.0 if self.object_model is None or self.parts is not None else self.object_model.threshold

    @property
    def keypoint_names(self) -> tuple[str, ...]:
        """Names of the keypoints, in the order of the classifiers."""
        return tuple(classifier.keypoint for classifier in self.classifiers)

    def detect(
        self,
        image: np.ndarray,
        *,
        threshold: float | None = None,
        exact: bool = False,
        raw: bool = False,
    ) -> Detections:
        """Find keypoints in a photo: those of objects, or single ones.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
            RGB.
        threshold : float, optional
            Lowest score of an object (log-odds), or of a single detection; by default the model's, and each
            keypoint's own, chosen in training.
        exact : bool
            Compute the full sum of every window instead of giving most up early; slow.
        raw : bool
            Single detections, whether they make up an object or not. A model without an object model finds
            nothing else.

        Returns
        -------
        Detections
            Best first.

        Raises
        ------
        DataError
            If the image is not an RGB photo, or is smaller than a window.
        """
        if raw or not self.finds_objects:
            return self._detect_single(check_rgb(image), threshold=threshold, exact=exact)
        return self.detect_objects(image, threshold=threshold, exact=exact).detections

    def _detect_single(self, image: np.ndarray, *, threshold: float | None, exact: bool) -> Detections:
        """Single detections at all angles; those of one keypoint near one another are one."""
        parts = []
        for degrees in self.angles:
            turn = Turn(degrees, image.shape[:2])
            levels = self.pyramid.levels(image if degrees == 0 else turn.apply(image))
            found = self.detect_levels(levels, threshold=threshold, exact=exact)
            parts.append(found if degrees == 0 else turned_back(found, turn))
        if len(parts) == 1:
            return parts[0]
        every, kept = join_detections(parts), []
        for classifier in self.classifiers:
            found = every[every.keypoint == classifier.keypoint]
            columns = suppress(found.x, found.y, found.scale, found.score, WINDOW_PX, self.suppression)
            kept.append(make_detections(*columns, classifier.keypoint))
        return join_detections(kept)

    def detect_objects(
        self,
        image: np.ndarray,
        *,
        threshold: float | None = None,
        exact: bool = False,
        pyramid: PyramidConfig | None = None,
    ) -> Objects:
        """Find objects in a photo: box, pose and all keypoints of each, best first; see `detect`.

        Raises
        ------
        DataError
            If the model has no object model, the image is not an RGB photo or is smaller than a window.
        """
        image = check_rgb(image)
        lowest = self._lowest(threshold)
        if self.parts is None:
            return self._posed_objects(image, lowest, exact, pyramid)
        if self.sees_scene:
            found = find_in_scene(image, self.parts, self.keypoint_names, self.object_px)
        else:
            poses = self._poses_with_rivals(image, lowest, exact, pyramid)
            found = best_objects([self.objects_near(image, poses.points)])
        return found[found.scores >= lowest]

    def objects_near(
        self,
        image: np.ndarray,
        points: np.ndarray,
        sizes: np.ndarray | None = None,
        n_looks: int = N_LOOKS,
    ) -> Objects:
        """Find objects of a photo by their parts, near where their keypoints are thought to be.

        Parameters
        ----------
        image : ndarray of shape (H, W, 3), uint8
        points : ndarray of shape (n, n_keypoints, 2), float64
            x, y; NaN where unknown.
        sizes : ndarray of shape (n,), float64, optional
            As in `Objects`, where they are known better than by the points.
        n_looks : int
            Times that keypoints are looked for, each time from where they were found.

        Returns
        -------
        Objects
            In the order of the points, however unlikely they are.

        Raises
        ------
        DataError
            If the model has no parts that make up objects.
        """
        if self.parts is None or self.sees_scene:
            raise DataError("the model has no parts by which objects are found near a place")
        frames = frames_of(points, self.parts, sizes)
        return find_in_frames(image, frames, self.parts, self.keypoint_names, self.object_px, n_looks)

    def _lowest(self, threshold: float | None) -> float:
        """The threshold that is asked for, or the model's; refused if it is no number."""
        if not self.finds_objects:
            raise DataError(
                f"the model of {', '.join(self.keypoint_names)} finds single keypoints only: it has no "
                "object model, which takes at least three keypoints"
            )
        if threshold is None:
            return self.object_threshold
        if not np.isfinite(threshold):
            raise ParameterError(f"threshold must be a finite number, got {threshold}")
        return threshold

    def _poses_with_rivals(
        self, image: np.ndarray, lowest: float, exact: bool, pyramid: PyramidConfig | None
    ) -> Objects:
        """Objects by their poses at all angles, several of a place, also unlikely ones."""
        parts = self._at_all_angles(image, lowest - WEAKER, exact, pyramid)
        every = joined_objects(parts)
        return every[apart_objects(every, POSES_A_PLACE)[:MOST_POSES]]

    def _posed_objects(
        self, image: np.ndarray, lowest: float, exact: bool, pyramid: PyramidConfig | None
    ) -> Objects:
        """Objects by their poses at all angles, the best of each place."""
        parts = self._at_all_angles(image, lowest, exact, pyramid)
        return parts[0] if len(parts) == 1 else best_objects(parts)

    def _at_all_angles(
        self, image: np.ndarray, lowest: float, exact: bool, pyramid: PyramidConfig | None
    ) -> list[Objects]:
        """Objects that are found at each angle: by regions, unless certain levels are asked for."""
        by_region = self.regions is not None and pyramid is None and not exact
        parts = []
        for degrees in self.angles:
            turn = Turn(degrees, image.shape[:2])
            seen = image if degrees == 0 else turn.apply(image)
            if by_region:
                found = self._objects_in_regions(seen, lowest)
            else:
                levels = (pyramid or self.pyramid).levels(seen)
                found = self.detect_objects_levels(levels, threshold=lowest, exact=exact)
            parts.append(found if degrees == 0 else objects_turned_back(found, turn))
        return parts

    def _objects_in_regions(self, image: np.ndarray, threshold: float) -> Objects:
        """Objects of a photo, looked for where something like a whole one is seen."""
        assert self.regions is not None
        nothing = no_objects(self.keypoint_names)

        def look(region: Region) -> Objects:
            assert self.regions is not None
            corner, levels = self.regions.levels(
                image, region, self.object_px, self.pyramid.scales_per_octave
            )
            if not levels:
                return nothing
            objects = self.detect_objects_levels(levels, threshold=threshold, parallel=False)
            return moved_objects(objects, corner)

        found = self.regions.find(image, self.pyramid.max_scale)
        return best_objects([nothing, *in_threads(look, found)])

    def detect_objects_levels(
        self,
        levels: Sequence[Level],
        *,
        threshold: float | None = None,
        exact: bool = False,
        parallel: bool = True,
    ) -> Objects:
        """Find objects by their poses in a photo whose pyramid is there already; see `scan_photo`."""
        threshold = self._lowest(threshold)
        assert self.object_model is not None
        single = self.detections_for_objects(levels, exact=exact, parallel=parallel)
        poses, evidence = self.gather_objects(single, levels, self.object_model)
        found = objects_of(poses, evidence, self.object_model, self.keypoint_names, self.object_px)
        return found[found.scores >= threshold]

    def gather_objects(
        self, single: Detections, levels: Sequence[Level], model: ObjectModel, lowest: float | None = None
    ) -> tuple[np.ndarray, Evidence]:
        """Poses of a photo that may be objects, and the evidence for them, from single detections."""
        return gather_evidence(
            single, levels, self.classifiers, self.refiners, model, self.object_px, self.suppression, lowest
        )

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
        return self._single(
            levels, self.classifiers, floors, exact=exact, parallel=parallel, refiners=self.refiners
        )

    def _single(
        self,
        levels: Sequence[Level],
        classifiers: Sequence[KeypointClassifier],
        floors: Sequence[float],
        *,
        exact: bool,
        parallel: bool,
        refiners: Sequence[WindowModel] = (),
    ) -> Detections:
        """Single detections down to the floors, at exact places if refiners are given."""
        found = scan_photo(
            levels,
            classifiers,
            floors,
            exact=exact,
            sparse=not exact,
            octaves=self.octaves,
            parallel=parallel,
        )
        parts: list[Detections] = []
        for classifier, windows in zip(classifiers, found, strict=True):
            x, y, scale, score = window_places(levels, windows)
            x, y, scale, score = suppress(x, y, scale, score, WINDOW_PX, self.suppression)
            if refiners:
                x, y = refine(np.stack([x, y], axis=1), scale, levels, refiners[len(parts)]).T
            parts.append(make_detections(x, y, scale, score, classifier.keypoint))
        return join_detections(parts)

    def detections_for_objects(
        self, levels: Sequence[Level], *, exact: bool = False, parallel: bool = True
    ) -> Detections:
        """Single detections that objects are made of: also weak ones, not refined."""
        anchors = self.object_model.anchors if self.object_model is not None else ()
        scanned = [self.classifiers[k] for k in anchors] or self.classifiers
        floors = [max(FLOOR, classifier.threshold - BELOW) for classifier in scanned]
        return self._single(levels, scanned, floors, exact=exact, parallel=parallel)

    def with_thresholds(self, thresholds: Sequence[float]) -> "KeypointDetector":
        """Return the detector with other detection thresholds, one per keypoint."""
        changed = [replace(c, threshold=float(t)) for c, t in zip(self.classifiers, thresholds, strict=True)]
        return replace(self, classifiers=tuple(changed))

    def save(self, path: str | os.PathLike) -> None:
        """Write the detector to one file, whole or not at all."""
        arrays, metadata = pack_classifiers(self.classifiers)
        arrays.update(pack_refiners(self.refiners))
        arrays.update(pack_object_model(self.object_model))
        arrays.update(pack_parts(self.parts))
        arrays.update(pack_regions(self.regions))
        metadata.update(
            window_px=WINDOW_PX,
            object_px=self.object_px,
            octaves=self.octaves,
            pyramid=vars(self.pyramid),
            suppression=vars(self.suppression),
            angles=list(self.angles),
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
            pyramid = PyramidConfig(**_numbers(metadata, "pyramid", PyramidConfig))
            suppression = Suppression(**_numbers(metadata, "suppression", Suppression))
            object_px, octaves = float(metadata["object_px"]), float(metadata["octaves"])
            angles = tuple(float(degrees) for degrees in metadata.get("angles", UPRIGHT))
            check_angles(angles)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"model file: broken metadata ({error})") from None
        training = metadata.get("training")
        classifiers = unpack_classifiers(file)
        return cls(
            classifiers,
            object_px,
            octaves,
            pyramid,
            suppression,
            unpack_refiners(file, len(classifiers)),
            unpack_object_model(file, len(classifiers)),
            unpack_parts(file, len(classifiers)),
            unpack_regions(file),
            angles,
            training if isinstance(training, dict) else {},
        )


def turned_back(found: Detections, turn: Turn) -> Detections:
    """Detections in a turned photo as detections in the photo."""
    x, y = turn.to_photo(np.stack([found.x, found.y], axis=1)).T
    return replace(found, x=x, y=y)


def _numbers(metadata: dict[str, Any], key: str, settings: type) -> dict[str, Any]:
    """The numbers of some of the file's settings: exactly the fields that there are."""
    found = metadata[key]
    wanted = set(settings.__dataclass_fields__)  # type: ignore[attr-defined]
    if not isinstance(found, dict) or set(found) != wanted:
        raise ValueError(f"{key} must hold {sorted(wanted)}")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{key}.{name} is {value!r}, expected a number")
    return found
