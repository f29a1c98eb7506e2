"""How much a scan of one photo may cost, whatever a model file or an option asks for."""

import os

from ...features.errors import DataError, ParameterError

VARIABLE = "ANNEALED_SCAN_PIXELS"
DEFAULT_PIXELS = 500_000_000
"""Of all levels of a photo; three bytes each, and as much again for their maps."""

MAX_WINDOWS = 5_000_000
"""That are found in a photo, over all keypoints, before those of one place are joined."""

MAX_COMPARISONS = 4_000_000_000
"""Of windows with detections, when those of one place are joined; some seconds."""

TOO_MANY = "raise the threshold (--threshold, or that of the model)"


def pixel_budget() -> int:
    """Return how many pixels the levels of a photo may have together."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT_PIXELS
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ParameterError(f"{VARIABLE} is {text!r}; accepted are whole numbers of pixels")
    return int(text)


def check_pixels(shape: tuple[int, ...], scales_per_octave: int, max_scale: float) -> None:
    """Refuse a photo whose levels would have more pixels than the budget.

    Raises
    ------
    DataError
        It names the variable that raises the budget.
    """
    share = 1 / (1 - 0.25 ** (1 / scales_per_octave))  # of a geometric series
    n_pixels = shape[0] * shape[1] * max_scale**2 * share
    if n_pixels > pixel_budget():
        raise DataError(
            f"a photo of {shape[1]} x {shape[0]} pixels has {n_pixels:.2g} on the levels that the model asks "
            f"for ({scales_per_octave} an octave up to scale {max_scale:g}), more than {pixel_budget():.2g}; "
            f"shrink the photo, or set {VARIABLE}"
        )
