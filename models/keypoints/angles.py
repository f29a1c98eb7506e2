"""The angles at which photos are scanned, in degrees by which objects are turned clockwise."""

from collections.abc import Sequence

import numpy as np

from ...features.errors import ParameterError

UPRIGHT = (0.0,)
"""For objects that always stand upright."""

STEP_DEG = 45.0
"""Between two angles: a classifier is trained on objects that are turned by up to half of it either way."""

ALL_AROUND = tuple(np.arange(0.0, 360.0, STEP_DEG).tolist())
"""For objects that may be turned by any angle."""

MOST_ANGLES = 64


def check_angles(angles: Sequence[float]) -> None:
    """Accept angles that are finite and different, at least one of them and not too many."""
    if len(angles) > MOST_ANGLES:
        raise ParameterError(f"{len(angles)} angles; at most {MOST_ANGLES} are accepted")
    if not angles or not np.isfinite(angles).all() or len(set(angles)) != len(angles):
        raise ParameterError(f"angles must be different finite numbers of degrees, got {list(angles)}")


def angles_from(first: float, last: float) -> tuple[float, ...]:
    """Return the multiples of the step that see everything from the first to the last angle."""
    steps = np.arange(np.floor(first / STEP_DEG + 0.5), np.ceil(last / STEP_DEG - 0.5) + 1)
    return tuple((STEP_DEG * steps).tolist())
