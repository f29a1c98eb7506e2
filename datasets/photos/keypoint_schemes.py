"""Keypoints of common annotation schemes by name, and the nine that the paper detects.

"left" and "right" are the viewer's, of an upright face, as AFLW has it.
"""

import numpy as np

AFLW_21 = (
    "left_brow_left_corner",
    "left_brow_center",
    "left_brow_right_corner",
    "right_brow_left_corner",
    "right_brow_center",
    "right_brow_right_corner",
    "left_eye_left_corner",
    "left_eye_center",
    "left_eye_right_corner",
    "right_eye_left_corner",
    "right_eye_center",
    "right_eye_right_corner",
    "left_ear",
    "left_nose",
    "nose_center",
    "right_nose",
    "right_ear",
    "left_mouth_corner",
    "mouth_center",
    "right_mouth_corner",
    "chin",
)
"""AFLW's points in their order; feature_id - 1 in its database."""

AFLW_19 = tuple(name for name in AFLW_21 if not name.endswith("_ear"))
"""AFLW without ears."""

POINTS_OF_68 = {
    "left_eye_center": range(36, 42),
    "right_eye_center": range(42, 48),
    "left_nose": range(31, 32),
    "right_nose": range(35, 36),
    "left_mouth_corner": range(48, 49),
    "right_mouth_corner": range(54, 55),
    "chin": range(8, 9),
}
"""Which of the 68 points of Multi-PIE, iBUG and 300-W each keypoint is the mean of."""


def from_68(points: np.ndarray) -> dict[str, np.ndarray]:
    """Derive the paper's keypoints, without ears, from the 68 points of a face, shape (68, 2)."""
    return {name: points[list(indices)].mean(axis=0) for name, indices in POINTS_OF_68.items()}


def names_for(n_points: int) -> tuple[str, ...] | None:
    """Return the names of an unnamed list of points, if a known scheme has that many."""
    return {21: AFLW_21, 19: AFLW_19}.get(n_points)
